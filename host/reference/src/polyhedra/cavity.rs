//! Polyhedra by cavities, one seed after the other: [`gpu::polyhedra::cavity`] has the definition.

use std::collections::{BTreeMap, HashSet, VecDeque};

use glam::DVec3;

use trioxide::mesh::NONE;
use trioxide::polyhedra_mesh::{PolyhedraCounts, PolyhedraLists};
use trioxide::volume::TetMesh;

/// The polyhedra of a mesh with these points, whose faces have these twins. No polyhedron crosses a side that is
/// `constrained`, or on the boundary.
pub(super) fn polyhedra(
    mesh: &TetMesh,
    points: &[DVec3],
    twins: &[u32],
    constrained: &[bool],
) -> PolyhedraLists {
    let owners = owners(mesh, points, twins, constrained);
    let mut regions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (t, &owner) in owners.iter().enumerate() {
        regions.entry(owner).or_default().push(t as u32);
    }
    let owner_behind = |side: u32| match twins[side as usize] {
        NONE => NONE,
        twin => owners[twin as usize / 4],
    };
    let mut lists = PolyhedraLists {
        tet_offsets: vec![0],
        side_offsets: vec![0],
        ..PolyhedraLists::default()
    };
    let (mut barriers, mut with_barriers) = (HashSet::new(), HashSet::new());
    for (&owner, tets) in &regions {
        for side in tets.iter().flat_map(|&t| 4 * t..4 * t + 4) {
            if constrained[side as usize] || owner_behind(side) != owner {
                lists.sides.push(side);
                if owner_behind(side) == owner {
                    barriers.insert(side.min(twins[side as usize]));
                    with_barriers.insert(owner);
                }
            }
        }
        lists.tets.extend(tets);
        lists.tet_offsets.push(lists.tets.len() as u32);
        lists.side_offsets.push(lists.sides.len() as u32);
    }
    lists.counts = PolyhedraCounts {
        regions: regions.len() as u32,
        polyhedra: regions.len() as u32,
        barrier_faces: barriers.len() as u32,
        barrier_faces_left: barriers.len() as u32,
        regions_with_barriers: with_barriers.len() as u32,
        most_tetrahedra: regions.values().map(Vec::len).max().unwrap_or(0) as u32,
        ..PolyhedraCounts::default()
    };
    lists
}

/// The owner of each tetrahedron.
fn owners(mesh: &TetMesh, points: &[DVec3], twins: &[u32], constrained: &[bool]) -> Vec<u32> {
    let spheres: Vec<Option<(DVec3, f64)>> = mesh
        .tetrahedra
        .iter()
        .map(|&tetrahedron| sphere(points, tetrahedron))
        .collect();
    let radius = |t: u32| spheres[t as usize].map_or(f64::INFINITY, |(_, radius)| radius);
    let mut order: Vec<u32> = (0..spheres.len() as u32).collect();
    order.sort_by(|&a, &b| radius(a).total_cmp(&radius(b)).then(a.cmp(&b)));
    let has = |seed: u32, t: u32| match (spheres[seed as usize], spheres[t as usize]) {
        (Some((centre, radius)), Some((other, _))) => squared(other - centre) < radius,
        _ => false,
    };
    let mut owners = vec![NONE; spheres.len()];
    for seed in order {
        if owners[seed as usize] != NONE {
            continue;
        }
        owners[seed as usize] = seed;
        let mut queue = VecDeque::from([seed]);
        while let Some(t) = queue.pop_front() {
            for side in (4 * t..4 * t + 4).filter(|&side| !constrained[side as usize]) {
                let next = twins[side as usize] / 4;
                if owners[next as usize] == NONE && has(seed, next) {
                    owners[next as usize] = seed;
                    queue.push_back(next);
                }
            }
        }
    }
    owners
}

fn squared(d: DVec3) -> f64 {
    d.x * d.x + d.y * d.y + d.z * d.z
}

/// Circumcentre and squared circumradius; `None` if the tetrahedron is flat.
fn sphere(points: &[DVec3], mut tetrahedron: [u32; 4]) -> Option<(DVec3, f64)> {
    tetrahedron.sort_unstable();
    let [a, b, c, d] = tetrahedron.map(|v| points[v as usize]);
    let edges = [b - a, c - a, d - a];
    // Of each edge the product of the other two, in cyclic order.
    let products = [1, 2, 0].map(|i| {
        let (p, q) = (edges[i], edges[(i + 1) % 3]);
        DVec3::new(
            p.y * q.z - p.z * q.y,
            p.z * q.x - p.x * q.z,
            p.x * q.y - p.y * q.x,
        )
    });
    let [u, vw] = [edges[0], products[0]];
    let twice = 2.0 * (u.x * vw.x + u.y * vw.y + u.z * vw.z);
    let lengths = edges.map(squared);
    let coordinate = |k: usize| {
        let sum = lengths[0] * products[0][k] + lengths[1] * products[1][k];
        (sum + lengths[2] * products[2][k]) / twice
    };
    let from_a = DVec3::new(coordinate(0), coordinate(1), coordinate(2));
    let radius = squared(from_a);
    radius.is_finite().then_some((a + from_a, radius))
}

#[cfg(test)]
mod tests {
    use trioxide::polyhedra::{Options, Rule};

    use super::*;

    const CAVITY: Options = Options {
        rule: Rule::Cavity,
        by: trioxide::polyhedra::Measure::Area,
        constrained: true,
        count_pinched: true,
        strict: false,
    };

    #[test]
    fn a_corner_of_a_cube_has_its_centre_in_the_middle() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let (centre, radius) = sphere(&points, [3, 0, 2, 1]).unwrap();
        assert_eq!((centre, radius), (DVec3::splat(0.5), 0.75));
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE.with_z(0.0)];
        assert_eq!(sphere(&flat, [0, 1, 2, 3]), None);
    }

    /// The centres of a cube's six tetrahedra are the same point, and the next one's is outside of their sphere.
    #[test]
    fn cubes_of_a_grid_are_whole() {
        let mesh = trioxide::generate::tet_grid(27, 1).unwrap();
        let mut exact = mesh.clone();
        // Coordinates of whole numbers: nothing is rounded.
        for point in &mut exact.points {
            *point = (*point * 2.0).round();
        }
        let lists = super::super::polyhedra::<DVec3>(&exact, CAVITY);
        assert_eq!(lists.len(), 8);
        assert!((0..8).all(|p| lists.tets_of(p).len() == 6 && lists.sides_of(p).len() == 12));
    }

    /// Two tetrahedra with a face in common: the one of the smaller sphere absorbs the other one, unless the face is
    /// constrained.
    #[test]
    fn a_small_sphere_absorbs_a_large_one() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::splat(1.0)];
        let mut mesh = TetMesh {
            points,
            tetrahedra: vec![[1, 3, 2, 4], [0, 1, 2, 3]],
            ..TetMesh::default()
        };
        let sizes = |mesh: &TetMesh| {
            let lists = super::super::polyhedra::<DVec3>(mesh, CAVITY);
            (0..lists.len()).map(|p| lists.tets_of(p).len()).collect()
        };
        let together: Vec<usize> = sizes(&mesh);
        assert_eq!(together, [2]);
        mesh.regions = Some(vec![1, 2]);
        let apart: Vec<usize> = sizes(&mesh);
        assert_eq!(apart, [1, 1]);
    }
}
