//! Is this a conforming mesh of tetrahedra? Was it refined as it should?

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::{ensure, invalid};
use crate::Result;
use crate::refine_tets::Refined;
use crate::volume::{TetMesh, orientation};

/// What a valid mesh of tetrahedra has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TetSummary {
    /// Faces that two tetrahedra share.
    pub interior_faces: usize,
    /// Faces of one tetrahedron.
    pub boundary_faces: usize,
}

/// Checks a mesh of tetrahedra: indices, coordinates, orientation (exact), faces.
///
/// A face belongs to one tetrahedron, or to one on each side; a tagged triangle is a face.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the first element that breaks a rule.
pub fn tets(mesh: &TetMesh) -> Result<TetSummary> {
    check_arrays(mesh)?;
    tet_faces(mesh)
}

/// Checks the faces of a mesh of tetrahedra that are positively oriented and have vertices in range, as [`tets`] does.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the first face that breaks a rule.
pub fn tet_faces(mesh: &TetMesh) -> Result<TetSummary> {
    let uses = face_uses(&mesh.tetrahedra);
    let groups = || uses.chunk_by(|a, b| a.0 == b.0);
    for group in groups() {
        let names = || {
            let names: Vec<String> = group.iter().map(|&(_, f)| (f / 8).to_string()).collect();
            names.join(", ")
        };
        let face = || {
            let [a, b, c] = group[0].0;
            format!("face {a}-{b}-{c}")
        };
        ensure(group.len() <= 2, face, || {
            format!(
                "belongs to {} tetrahedra ({}), but at most two can share a face",
                group.len(),
                names()
            )
        })?;
        // Bit 2 of a use is the side of the face that its tetrahedron lies on.
        ensure(
            group.len() == 1 || (group[0].1 ^ group[1].1) & 4 != 0,
            face,
            || format!("has tetrahedra {} on the same side: they overlap", names()),
        )?;
    }
    let faces: HashSet<[u32; 3]> = match mesh.faces.is_empty() {
        true => HashSet::new(),
        false => uses.iter().map(|&(face, _)| face).collect(),
    };
    for (i, face) in mesh.faces.iter().enumerate() {
        ensure(
            faces.contains(&sorted(face.vertices)),
            || format!("tagged face {i}"),
            || "is no face of a tetrahedron".to_owned(),
        )?;
    }
    let interior_faces = groups().filter(|group| group.len() == 2).count();
    Ok(TetSummary {
        interior_faces,
        boundary_faces: uses.len() - 2 * interior_faces,
    })
}

fn check_arrays(mesh: &TetMesh) -> Result<()> {
    let vertices = mesh.points.len();
    if let Some(v) = mesh.points.par_iter().position_first(|p| !p.is_finite()) {
        return Err(invalid(
            format!("vertex {v}"),
            "has a coordinate that is no finite number",
        ));
    }
    let broken = mesh
        .tetrahedra
        .par_iter()
        .enumerate()
        .find_map_first(|(t, tetrahedron)| {
            let rule = if let Some(v) = tetrahedron.iter().find(|&&v| v as usize >= vertices) {
                format!("has vertex {v}, but the mesh has {vertices} vertices")
            } else if orientation(&mesh.points, tetrahedron) > 0.0 {
                return None;
            } else if orientation(&mesh.points, tetrahedron) < 0.0 {
                "is inverted: swap two of its vertices".to_owned()
            } else {
                "is flat: its volume is zero".to_owned()
            };
            Some(invalid(format!("tetrahedron {t}"), rule))
        });
    if let Some(error) = broken {
        return Err(error);
    }
    let regions = mesh
        .regions
        .as_ref()
        .map_or(mesh.tetrahedra.len(), Vec::len);
    ensure(
        regions == mesh.tetrahedra.len(),
        || "mesh".to_owned(),
        || {
            format!(
                "has region ids for {regions} tetrahedra of {}",
                mesh.tetrahedra.len()
            )
        },
    )
}

fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// The faces of all tetrahedra, sorted: vertices ascending, and the use: eight times the tetrahedron, plus 4 if the face,
/// seen from outside of it, runs against that order, plus the corner opposite to it.
fn face_uses(tetrahedra: &[[u32; 4]]) -> Vec<([u32; 3], u64)> {
    let mut uses: Vec<_> = tetrahedra
        .par_iter()
        .enumerate()
        .flat_map_iter(|(t, &[a, b, c, d])| {
            let faces = [[b, c, d], [a, d, c], [a, b, d], [a, c, b]];
            faces.into_iter().enumerate().map(move |(k, face)| {
                // Odd permutations turn the face around.
                let [x, y, z] = face;
                let odd = (x > y) ^ (y > z) ^ (x > z);
                (sorted(face), 8 * t as u64 + 4 * u64::from(odd) + k as u64)
            })
        })
        .collect();
    uses.par_sort_unstable();
    uses
}

/// Vertices of a parent's corners, for each vertex of a child: (2, 0, 0, 0) is a corner, (1, 1, 0, 0) the middle of an edge.
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

/// Checks one level of refinement of a valid mesh: `fine` from `coarse`.
///
/// - Each new vertex is the midpoint of an edge, rounded once, each edge has one at most, and no divided edge is left.
/// - The children of each tetrahedron fill it: in its barycentric coordinates each has a positive volume, and these sum up
///   to its own. That is integer arithmetic, whatever the rounding of coordinates. The same for tagged triangles.
/// - The divided edges are closed: where a tetrahedron or a face of it has one, its longest edge is one (of several as long, any).
/// - The fine mesh is valid ([`tets`]), and it has no boundary but parts of the coarse mesh's boundary faces: so no vertex
///   hangs on a face or an edge.
/// - Regions and tags are the parents'.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the first element that breaks a rule.
pub fn refined_tets(coarse: &TetMesh, fine: &Refined) -> Result<TetSummary> {
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
    })?;

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

    let divided = |a: u32, b: u32| midpoint_of.contains_key(&[a.min(b), a.max(b)]);
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

    // A boundary face's three vertices lie in one boundary face of the parent.
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
    Ok(summary)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::reference;
    use crate::refine_tets::{Marking, Options};
    use crate::volume::TaggedTriangle;

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
            marking: Marking::Fraction {
                fraction: 0.1,
                seed: 3,
            },
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
        // A tetrahedron in the place of its children: its neighbours' vertices hang.
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
