//! Was a mesh of tetrahedra refined as it should be?

use std::collections::{HashMap, HashSet};

use trioxide::Result;
use trioxide::refine_tets::Refined;
use trioxide::rules::{TetSummary, ensure, face_uses, invalid, sorted, tets};
use trioxide::volume::TetMesh;

/// Checks one level of refinement of a valid mesh: `fine` from `coarse`.
///
/// - Each new vertex is the midpoint of an edge, rounded once, each edge has one at most, and no divided edge is left.
/// - The children of each tetrahedron fill it: in its barycentric coordinates each has a positive volume, and these sum
///   up to its own. That is integer arithmetic, whatever the rounding of coordinates. The same for tagged triangles.
/// - The divided edges are closed: a tetrahedron or a face with a divided edge has its longest edge divided (of several
///   longest ones, any).
/// - The fine mesh is valid ([`tets`]), and its boundary consists of parts of the coarse mesh's boundary faces: so no
///   vertex hangs on a face or an edge.
/// - Regions and tags are the parents'.
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with the first element that breaks a rule.
pub fn refined_tets(coarse: &TetMesh, fine: &Refined) -> Result<TetSummary> {
    let (vertices, mesh) = (coarse.points.len(), &fine.mesh);
    check_lengths(coarse, fine)?;
    let midpoint_of = midpoints(coarse, fine)?;
    let divided = |a: u32, b: u32| midpoint_of.contains_key(&[a.min(b), a.max(b)]);
    check_closure(coarse, &divided)?;

    let summary = tets(mesh)?;
    fills(
        "tetrahedron",
        coarse.tetrahedra.as_slice(),
        mesh.tetrahedra.as_slice(),
        &fine.tetrahedron_parents,
        vertices,
        &fine.vertex_parents,
    )?;
    let triangles =
        |mesh: &TetMesh| -> Vec<[u32; 3]> { mesh.faces.iter().map(|face| face.vertices).collect() };
    fills(
        "tagged face",
        &triangles(coarse),
        &triangles(mesh),
        &fine.face_parents,
        vertices,
        &fine.vertex_parents,
    )?;
    check_children(coarse, fine, &divided)?;
    check_boundary(coarse, fine)?;
    Ok(summary)
}

/// Checks that the arrays fit each other, and that the fine mesh begins with the vertices of the coarse one.
fn check_lengths(coarse: &TetMesh, fine: &Refined) -> Result<()> {
    let (vertices, mesh) = (coarse.points.len(), &fine.mesh);
    let whole = || "the refined mesh".to_owned();
    let new = fine.vertex_parents.len();
    ensure(
        mesh.points.len() == vertices + new
            && fine.tetrahedron_parents.len() == mesh.tetrahedra.len()
            && fine.face_parents.len() == mesh.faces.len(),
        whole,
        || "has arrays whose lengths do not fit each other".to_owned(),
    )?;
    ensure(mesh.points[..vertices] == coarse.points, whole, || {
        "does not begin with the vertices of the coarse one".to_owned()
    })
}

/// Checks the new vertices. Returns the midpoint of each divided edge, by its ends in order.
fn midpoints(coarse: &TetMesh, fine: &Refined) -> Result<HashMap<[u32; 2], usize>> {
    let (vertices, mesh) = (coarse.points.len(), &fine.mesh);
    let new = fine.vertex_parents.len();
    let mut midpoint_of = HashMap::new();
    for (i, &[a, b]) in fine.vertex_parents.iter().enumerate() {
        let v = vertices + i;
        let vertex = || format!("vertex {v}");
        ensure(a < b && (b as usize) < vertices, vertex, || {
            format!("comes from {a} and {b}, which are no edge's ends in order")
        })?;
        let middle = (coarse.points[a as usize] + coarse.points[b as usize]) * 0.5;
        ensure(mesh.points[v] == middle, vertex, || {
            format!("is not the midpoint of {a} and {b}")
        })?;
        ensure(midpoint_of.insert([a, b], v).is_none(), vertex, || {
            format!("is another midpoint of {a} and {b}")
        })?;
    }
    let used: HashSet<u32> = mesh.tetrahedra.iter().flatten().copied().collect();
    if let Some(v) = (vertices..vertices + new).find(|&v| !used.contains(&(v as u32))) {
        return Err(invalid(format!("vertex {v}"), "is new and not used"));
    }
    Ok(midpoint_of)
}

/// Checks that each tetrahedron and each face with a divided edge has its longest edge divided.
fn check_closure(coarse: &TetMesh, divided: &dyn Fn(u32, u32) -> bool) -> Result<()> {
    let length =
        |a: u32, b: u32| coarse.points[a as usize].distance_squared(coarse.points[b as usize]);
    for (t, tetrahedron) in coarse.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = *tetrahedron;
        for simplex in [
            &[a, b, c, d][..],
            &[b, c, d],
            &[a, c, d],
            &[a, b, d],
            &[a, b, c],
        ] {
            let edges = simplex.iter().enumerate().flat_map(|(i, &a)| {
                let others = simplex[i + 1..].iter();
                others.map(move |&b| (length(a, b), divided(a, b)))
            });
            let longest = edges.clone().map(|(length, _)| length).fold(0.0, f64::max);
            let mut of_longest = edges.clone().filter(|&(length, _)| length == longest);
            ensure(
                !edges.clone().any(|(_, divided)| divided)
                    || of_longest.any(|(_, divided)| divided),
                || format!("tetrahedron {t} of the coarse mesh"),
                || {
                    format!(
                        "has a divided edge between the vertices {simplex:?}, but their longest is whole"
                    )
                },
            )?;
        }
    }
    Ok(())
}

/// Checks that no divided edge is left, and that regions and tags are the parents'.
fn check_children(
    coarse: &TetMesh,
    fine: &Refined,
    divided: &dyn Fn(u32, u32) -> bool,
) -> Result<()> {
    let mesh = &fine.mesh;
    for (t, &[a, b, c, d]) in mesh.tetrahedra.iter().enumerate() {
        for (a, b) in [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)] {
            ensure(
                !divided(a, b),
                || format!("tetrahedron {t}"),
                || format!("has the edge {a}-{b} whole, which is divided"),
            )?;
        }
        let parent = fine.tetrahedron_parents[t] as usize;
        let kept = match (&coarse.regions, &mesh.regions) {
            (Some(coarse), Some(fine)) => coarse[parent] == fine[t],
            (coarse, fine) => coarse.is_none() && fine.is_none(),
        };
        ensure(
            kept,
            || format!("tetrahedron {t}"),
            || format!("is not in the region of its parent {parent}"),
        )?;
    }
    for (i, (face, &parent)) in mesh.faces.iter().zip(&fine.face_parents).enumerate() {
        ensure(
            face.tag == coarse.faces[parent as usize].tag,
            || format!("tagged face {i}"),
            || format!("does not have the tag of its parent {parent}"),
        )?;
    }
    Ok(())
}

/// Checks that a boundary face's three vertices lie in one boundary face of the parent.
fn check_boundary(coarse: &TetMesh, fine: &Refined) -> Result<()> {
    let (vertices, mesh) = (coarse.points.len(), &fine.mesh);
    let boundary = |tetrahedra: &[[u32; 4]]| -> Vec<([u32; 3], u64)> {
        let uses = face_uses(tetrahedra);
        let single = uses
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|group| group.len() == 1);
        single.map(|group| group[0]).collect()
    };
    let coarse_boundary: HashSet<[u32; 3]> = boundary(&coarse.tetrahedra)
        .into_iter()
        .map(|(face, _)| face)
        .collect();
    for (face, usage) in boundary(&mesh.tetrahedra) {
        let parent = fine.tetrahedron_parents[(usage / 8) as usize] as usize;
        let corners = coarse.tetrahedra[parent];
        let mut support = [0; 4];
        for v in face {
            let weights = weights(v, &corners, vertices, &fine.vertex_parents).unwrap_or([1; 4]);
            support = std::array::from_fn(|k| support[k] + weights[k]);
        }
        let on: Vec<u32> = (0..4)
            .filter(|&k| support[k] != 0)
            .map(|k| corners[k])
            .collect();
        let on_boundary =
            <[u32; 3]>::try_from(on).is_ok_and(|on| coarse_boundary.contains(&sorted(on)));
        ensure(
            on_boundary,
            || format!("face {}-{}-{}", face[0], face[1], face[2]),
            || {
                format!(
                    "has a tetrahedron on one side only, {}, but lies inside of the coarse mesh: a vertex hangs",
                    usage / 8
                )
            },
        )?;
    }
    Ok(())
}

/// Checks that the children of each simplex fill it.
fn fills<const N: usize>(
    what: &str,
    coarse: &[[u32; N]],
    fine: &[[u32; N]],
    parents: &[u32],
    coarse_vertices: usize,
    vertex_parents: &[[u32; 2]],
) -> Result<()> {
    let mut volumes = vec![0i64; coarse.len()];
    for (i, child) in fine.iter().enumerate() {
        let element = || format!("{what} {i}");
        let parent = parents[i] as usize;
        ensure(parent < coarse.len(), element, || {
            format!("has the parent {parent}, of {}", coarse.len())
        })?;
        let mut matrix = Vec::with_capacity(N);
        for &v in child {
            let Some(weights) = weights(v, &coarse[parent], coarse_vertices, vertex_parents) else {
                return Err(invalid(
                    element(),
                    format!("has vertex {v}, which is not of its parent {parent}"),
                ));
            };
            matrix.push(weights.to_vec());
        }
        let volume = determinant(&matrix);
        ensure(volume > 0, element, || {
            format!("is flat or inverted in its parent {parent}")
        })?;
        volumes[parent] += volume;
    }
    let whole = 1i64 << N;
    match volumes.iter().position(|&volume| volume != whole) {
        None => Ok(()),
        Some(parent) => Err(invalid(
            format!("{what} {parent} of the coarse mesh"),
            format!(
                "is filled by its children to {} parts of {whole}",
                volumes[parent]
            ),
        )),
    }
}

/// Weights of a parent's corners, for each vertex of a child: (2, 0, 0, 0) is a corner, (1, 1, 0, 0) the middle of an
/// edge.
type Weights<const N: usize> = [i64; N];

/// Weights of vertex `v` of the fine mesh in a simplex of the coarse one with the vertices `parent`.
fn weights<const N: usize>(
    v: u32,
    parent: &[u32; N],
    coarse_vertices: usize,
    vertex_parents: &[[u32; 2]],
) -> Option<Weights<N>> {
    let mut weights = [0; N];
    let mut add = |corner: u32, weight: i64| {
        let place = parent.iter().position(|&p| p == corner)?;
        weights[place] += weight;
        Some(())
    };
    match (v as usize).checked_sub(coarse_vertices) {
        None => add(v, 2)?,
        Some(new) => {
            let [a, b] = vertex_parents[new];
            add(a, 1)?;
            add(b, 1)?;
        }
    }
    Some(weights)
}

/// Determinant by expansion along the first row.
fn determinant(matrix: &[Vec<i64>]) -> i64 {
    let Some((first, rest)) = matrix.split_first() else {
        return 1;
    };
    let minor = |column: usize| {
        let without = |row: &Vec<i64>| {
            let mut row = row.clone();
            row.remove(column);
            row
        };
        determinant(&rest.iter().map(without).collect::<Vec<_>>())
    };
    first
        .iter()
        .enumerate()
        .filter(|(_, x)| **x != 0)
        .map(|(column, x)| {
            if column % 2 == 0 {
                x * minor(column)
            } else {
                -x * minor(column)
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;
    use trioxide::refine_tets::{Marking, Options};
    use trioxide::volume::TaggedTriangle;
    use trioxide_reference as reference;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn broken_meshes_are_refused() {
        let mesh = generate::tet_grid(27, 1).unwrap();
        assert!(tets(&mesh).is_ok());
        let broken = |change: fn(&mut TetMesh)| {
            let mut mesh = mesh.clone();
            change(&mut mesh);
            message(tets(&mesh))
        };
        assert!(broken(|m| m.points[3].y = f64::NAN).contains("vertex 3"));
        assert!(broken(|m| m.tetrahedra[5][1] = 27).contains("tetrahedron 5 has vertex 27"));
        assert!(broken(|m| m.tetrahedra[4].swap(0, 1)).contains("tetrahedron 4 is inverted"));
        assert!(broken(|m| m.tetrahedra[4][1] = m.tetrahedra[4][0]).contains("flat"));
        assert!(broken(|m| m.regions = Some(vec![1])).contains("1 tetrahedra of 48"));
        assert!(broken(|m| m.tetrahedra.push(m.tetrahedra[0])).contains("face"));
        let tag = |vertices| TaggedTriangle { vertices, tag: 1 };
        assert!(tag([0, 1, 26]).tag == 1);
        assert!(
            broken(|m| m.faces.push(TaggedTriangle {
                vertices: [0, 1, 26],
                tag: 1
            }))
            .contains("is no face of a tetrahedron")
        );
    }

    #[test]
    fn broken_refinements_are_refused() {
        let coarse = generate::tet_grid(64, 1).unwrap();
        let options = Options {
            marking: Marking::Fraction(0.1),
            seed: 3,
            ..Default::default()
        };
        let fine = reference::refine_tets::<glam::DVec3>(&coarse, &options).unwrap();
        refined_tets(&coarse, &fine).unwrap();
        let broken = |change: &dyn Fn(&mut Refined)| {
            let mut fine = fine.clone();
            change(&mut fine);
            message(refined_tets(&coarse, &fine))
        };
        let last = fine.mesh.tetrahedra.len() - 1;
        broken(&|m| m.mesh.points[64].x += 1e-9);
        broken(&|m| m.tetrahedron_parents[last] = 0);
        broken(&|m| {
            m.mesh.tetrahedra.pop();
            m.tetrahedron_parents.pop();
        });
        // A tetrahedron in place of its children: its neighbours' vertices hang.
        let divided = fine.tetrahedron_parents[last];
        let hanging = broken(&|m| {
            m.mesh.tetrahedra[divided as usize] = coarse.tetrahedra[divided as usize];
            let parents = std::mem::take(&mut m.tetrahedron_parents);
            let tetrahedra = std::mem::take(&mut m.mesh.tetrahedra);
            for (t, (parent, tetrahedron)) in parents.into_iter().zip(tetrahedra).enumerate() {
                if parent != divided || t == divided as usize {
                    m.tetrahedron_parents.push(parent);
                    m.mesh.tetrahedra.push(tetrahedron);
                }
            }
        });
        assert!(
            hanging.contains("whole") || hanging.contains("hangs") || hanging.contains("no face"),
            "{hanging}"
        );
    }
}
