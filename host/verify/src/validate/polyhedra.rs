//! Are these the polyhedra of a mesh of tetrahedra? Nothing lost, nothing twice, each in one piece.

use std::collections::HashSet;

use glam::DVec3;

use trioxide::Result;
use trioxide::mesh::NONE;
use trioxide::polyhedra::Rule;
use trioxide::polyhedra_mesh::{PolyhedraLists, side_vertices};
use trioxide::rules::{ensure, invalid};
use trioxide::volume::TetMesh;

/// Checks the polyhedra of a valid mesh of tetrahedra ([`tets`](super::tets())).
///
/// - Each tetrahedron is in one polyhedron, and the tetrahedra of a polyhedron are in one piece.
/// - A face is in the surface of the polyhedra on both its sides, or of none: then both are the same. Boundary faces
///   are in one surface.
/// - By largest faces, the tetrahedra of a polyhedron are a tree of joints, without a cycle. So n tetrahedra have
///   2n + 2 sides.
/// - By cavities, a face in a surface has the same polyhedron on both sides only if it is constrained.
/// - With `constrained`: a polyhedron has one region, and tagged faces are in surfaces.
/// - The volume inside of each surface is that of the polyhedron's tetrahedra, but for rounding.
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with the first element that breaks a rule.
pub fn polyhedra(
    mesh: &TetMesh,
    lists: &PolyhedraLists,
    rule: Rule,
    constrained: bool,
) -> Result<()> {
    let tetrahedra = mesh.tetrahedra.len();
    let of_tet = polyhedron_of_each(tetrahedra, lists)?;
    let listed = listed_sides(lists, &of_tet)?;
    check_twins(mesh, lists)?;
    if rule == Rule::Cavity {
        check_barriers(lists, &of_tet, constrained)?;
    }
    let mut trees = Trees((0..tetrahedra).collect());
    for (side, &twin) in lists.twins.iter().enumerate() {
        let (t, name) = (side / 4, || format!("side {side}"));
        if listed[side] {
            ensure(twin == NONE || listed[twin as usize], name, || {
                format!("is in a surface, but side {twin} of the same face is not")
            })?;
            continue;
        }
        ensure(twin != NONE, name, || {
            "lies on the boundary, but in no surface".to_owned()
        })?;
        let other = twin as usize / 4;
        ensure(of_tet[t] == of_tet[other], name, || {
            format!(
                "is in no surface, but lies between polyhedra {} and {}",
                of_tet[t], of_tet[other]
            )
        })?;
        if side < twin as usize {
            let are_two = trees.join(t, other);
            ensure(are_two || rule == Rule::Cavity, name, || {
                "closes a cycle of joints".to_owned()
            })?;
        }
    }
    for p in 0..lists.len() {
        let tets = lists.tets_of(p);
        let root = trees.root(tets[0] as usize);
        for &t in tets {
            ensure(
                trees.root(t as usize) == root,
                || format!("polyhedron {p}"),
                || {
                    format!(
                        "is in pieces: tetrahedra {} and {t} are not joined",
                        tets[0]
                    )
                },
            )?;
        }
        check_volume(mesh, lists, p)?;
        if let Some(regions) = &mesh.regions
            && constrained
        {
            let region = |t: u32| regions[t as usize];
            let other = tets.iter().find(|&&t| region(t) != region(tets[0]));
            if let Some(&t) = other {
                return Err(invalid(
                    format!("polyhedron {p}"),
                    format!(
                        "has tetrahedra of regions {} and {}",
                        region(tets[0]),
                        region(t)
                    ),
                ));
            }
        }
    }
    let loose = |&side: &u32| constrained && !listed[side as usize];
    match lists.tagged.iter().position(loose) {
        None => Ok(()),
        Some(i) => Err(invalid(
            format!("tagged face {i}"),
            "lies inside of a polyhedron",
        )),
    }
}

/// Polyhedron of each tetrahedron.
fn polyhedron_of_each(tetrahedra: usize, lists: &PolyhedraLists) -> Result<Vec<usize>> {
    let mut of_tet = vec![usize::MAX; tetrahedra];
    for p in 0..lists.len() {
        let tets = lists.tets_of(p);
        ensure(
            !tets.is_empty(),
            || format!("polyhedron {p}"),
            || "has no tetrahedra".to_owned(),
        )?;
        for &t in tets {
            let place = of_tet.get_mut(t as usize).ok_or_else(|| {
                invalid(
                    format!("polyhedron {p}"),
                    format!("has tetrahedron {t} of {tetrahedra}"),
                )
            })?;
            ensure(
                *place == usize::MAX,
                || format!("tetrahedron {t}"),
                || format!("is in polyhedra {place} and {p}"),
            )?;
            *place = p;
        }
    }
    match of_tet.iter().position(|&p| p == usize::MAX) {
        None => Ok(of_tet),
        Some(t) => Err(invalid(format!("tetrahedron {t}"), "is in no polyhedron")),
    }
}

/// Whether each side is in the surface of its tetrahedron's polyhedron.
fn listed_sides(lists: &PolyhedraLists, of_tet: &[usize]) -> Result<Vec<bool>> {
    let mut listed = vec![false; 4 * of_tet.len()];
    for p in 0..lists.len() {
        for &side in lists.sides_of(p) {
            ensure(
                of_tet.get(side as usize / 4) == Some(&p),
                || format!("polyhedron {p}"),
                || format!("has side {side}, of a tetrahedron of another polyhedron"),
            )?;
            let place = &mut listed[side as usize];
            ensure(
                !*place,
                || format!("polyhedron {p}"),
                || format!("has side {side} twice"),
            )?;
            *place = true;
        }
    }
    Ok(listed)
}

/// Faces with one polyhedron on both sides are tagged: regions of the input differ across others.
fn check_barriers(lists: &PolyhedraLists, of_tet: &[usize], constrained: bool) -> Result<()> {
    let is_barrier = |side: u32| {
        let twin = lists.twins[side as usize];
        twin != NONE && of_tet[side as usize / 4] == of_tet[twin as usize / 4]
    };
    let tagged: HashSet<u32> = lists.tagged.iter().copied().collect();
    let is_tagged = |side: u32| {
        let twin = lists.twins[side as usize];
        constrained && (tagged.contains(&side) || tagged.contains(&twin))
    };
    let wrong = |&&side: &&u32| is_barrier(side) && !is_tagged(side);
    match lists.sides.iter().find(wrong) {
        None => Ok(()),
        Some(side) => Err(invalid(
            format!("side {side}"),
            "is in a surface, but has one polyhedron on both sides, and no tag",
        )),
    }
}

/// Twins are the two sides of one face.
fn check_twins(mesh: &TetMesh, lists: &PolyhedraLists) -> Result<()> {
    let sorted = |side| {
        let mut face = side_vertices(&mesh.tetrahedra, side);
        face.sort_unstable();
        face
    };
    ensure(
        lists.twins.len() == 4 * mesh.tetrahedra.len(),
        || "the list of twins".to_owned(),
        || format!("has {} entries", lists.twins.len()),
    )?;
    for (side, &twin) in lists.twins.iter().enumerate() {
        let side = side as u32;
        let is_pair = twin == NONE
            || lists.twins.get(twin as usize) == Some(&side) && sorted(side) == sorted(twin);
        ensure(
            is_pair,
            || format!("side {side}"),
            || format!("has twin {twin}, which is another face"),
        )?;
    }
    Ok(())
}

/// Six times the volume under a triangle, seen from `from`.
fn six_volumes(from: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    (a - from).cross(b - from).dot(c - from)
}

fn check_volume(mesh: &TetMesh, lists: &PolyhedraLists, p: usize) -> Result<()> {
    let point = |v: u32| mesh.points[v as usize];
    let tets = lists.tets_of(p);
    let from = point(mesh.tetrahedra[tets[0] as usize][0]);
    let (mut inside, mut size) = (0.0, 0.0);
    for &side in lists.sides_of(p) {
        let volume = six_volumes(from, side_vertices(&mesh.tetrahedra, side).map(point));
        inside += volume;
        size += volume.abs();
    }
    let own: f64 = tets
        .iter()
        .map(|&t| {
            let [a, b, c, d] = mesh.tetrahedra[t as usize].map(point);
            six_volumes(a, [b, c, d])
        })
        .sum();
    ensure(
        (inside - own).abs() <= 1e-9 * size.max(own),
        || format!("polyhedron {p}"),
        || {
            format!(
                "has volume {} inside, but tetrahedra of {}",
                inside / 6.0,
                own / 6.0
            )
        },
    )
}

/// Trees that grow together.
struct Trees(Vec<usize>);

impl Trees {
    fn root(&mut self, mut t: usize) -> usize {
        while self.0[t] != t {
            self.0[t] = self.0[self.0[t]];
            t = self.0[t];
        }
        t
    }

    /// Joins the trees of two tetrahedra. Returns whether they were two.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;
    use trioxide::polyhedra::Options;
    use trioxide_reference as reference;

    /// A validator that accepts everything would prove nothing.
    #[test]
    fn broken_polyhedra_are_refused() {
        let mesh = generate::random_tets(200, 1).unwrap();
        let lists = reference::polyhedra::<DVec3>(&mesh, Options::default());
        polyhedra(&mesh, &lists, Rule::LargestFaces, true).unwrap();
        let broken = |change: &dyn Fn(&mut PolyhedraLists)| {
            let mut lists = lists.clone();
            change(&mut lists);
            polyhedra(&mesh, &lists, Rule::LargestFaces, true)
                .unwrap_err()
                .to_string()
        };
        let large = (0..lists.len())
            .find(|&p| lists.tets_of(p).len() > 2)
            .unwrap();
        let first = lists.tet_offsets[large] as usize;
        let side = lists.side_offsets[large] as usize;
        assert!(broken(&|l| l.tets[first] = l.tets[first + 1]).contains("is in polyhedra"));
        assert!(broken(&|l| l.sides[side] = l.sides[side + 1]).contains("twice"));
        assert!(broken(&|l| l.tet_offsets[large] += 1).contains("another polyhedron"));
        assert!(broken(&|l| l.twins[0] = 1).contains("twin"));
        assert!(
            broken(&|l| {
                l.tets.swap(first, 0);
            })
            .contains("another polyhedron")
        );
        // A side that is left out is an open surface.
        assert!(
            broken(&|l| {
                l.sides.remove(side);
                l.side_offsets[large + 1..]
                    .iter_mut()
                    .for_each(|end| *end -= 1);
            })
            .contains("side")
        );
        let cavities = Options {
            rule: Rule::Cavity,
            ..Options::default()
        };
        let cavities = reference::polyhedra::<DVec3>(&mesh, cavities);
        polyhedra(&mesh, &cavities, Rule::Cavity, true).unwrap();
        let error = polyhedra(&mesh, &cavities, Rule::LargestFaces, true).unwrap_err();
        assert!(error.to_string().contains("cycle"), "{error}");
        // A face inside of a cavity is in no surface.
        let mut inside = cavities;
        let inner = |&side: &u32| !inside.sides.contains(&side);
        let side = (0..inside.twins.len() as u32).find(inner).unwrap();
        let has = |&p: &usize| inside.tets_of(p).contains(&(side / 4));
        let p = (0..inside.len()).find(has).unwrap();
        let twin = inside.twins[side as usize];
        let end = inside.side_offsets[p + 1] as usize;
        inside.sides.splice(end..end, [side, twin]);
        let ends = &mut inside.side_offsets[p + 1..];
        ends.iter_mut().for_each(|end| *end += 2);
        let error = polyhedra(&mesh, &inside, Rule::Cavity, true).unwrap_err();
        assert!(error.to_string().contains("both sides"), "{error}");
        let mut tagged = mesh.clone();
        tagged.regions = Some((0..mesh.tetrahedra.len() as i32).collect());
        let error = polyhedra(&tagged, &lists, Rule::LargestFaces, true)
            .unwrap_err()
            .to_string();
        assert!(error.contains("regions"), "{error}");
    }
}
