//! Sequential indexed Polylla (gpu-polylla-imr22).
//!
//! The same labels, polygons and repair as in [`mod@super::polylla`], which has the theory, from other arrays:
//! triangles with their neighbours instead of half-edges. `gpu::indexed` lists the differences from the paper. The
//! index 3t + k stands for edge k of triangle t, from its vertex k on, and is called a half-edge.
//!
//! Here the repair takes one broken polygon after the other and splits it until it is done: the paper's mixed version,
//! which `--repair host` runs after the labels and the traversal of a device.

use std::time::{Duration, Instant};

use super::polylla::Point;
use trioxide::indexed::by_host::{PolygonArrays, barrier_tips, reparation};
use trioxide::mesh::{NONE, Polygons, PolyllaCounts, PolyllaLists, Ties};

pub use trioxide::indexed::by_host::IndexedTriangulation;

/// Time of each phase, by name: the paper's kernels, and our ordering of the polygons.
pub type PhaseTimes = [(&'static str, Duration); 6];

/// Polygonal mesh of a triangulation, and the time of each phase.
///
/// `points` are the vertices of `mesh`. `constrained(h)` says whether the edge of half-edge `h` must stay; it must be
/// the same for both of its halves. With [`Ties::First`], a region may have no terminal edge: it is lost.
pub fn indexed<P: Point>(
    points: &[P],
    mesh: &IndexedTriangulation,
    constrained: impl Fn(u32) -> bool,
    ties: Ties,
) -> (PolyllaLists, PhaseTimes) {
    let mut start = Instant::now();
    let mut lap = || std::mem::replace(&mut start, Instant::now()).elapsed();

    let max = label_max(points, mesh, ties);
    let label_max = lap();
    let seeds = label_seed(mesh, &max, &constrained);
    let label_seed = lap();
    let mut frontier = label_frontier(mesh, &max, &constrained);
    let label_frontier = lap();
    // The count is no part of the paper's phases.
    let frontier_edges = (0..mesh.half_edges())
        .filter(|&h| frontier[h as usize] && mesh.opposite(h).is_none_or(|back| h < back))
        .count();
    lap();
    let (polygons, broken) = traversal(mesh, &max, &seeds, &frontier);
    let traversal = lap();
    let (parts, tips) = reparation(mesh, &mut frontier, &polygons, &broken);
    let reparation = lap();
    let mut lists = order(&polygons, &broken, &parts, mesh.trivertex.len());
    let order = lap();
    lists.counts.regions = seeds.len() as u32;
    lists.counts.frontier_edges = frontier_edges as u32;
    lists.counts.barrier_tips = tips;
    let times = [
        ("label max", label_max),
        ("label seed", label_seed),
        ("label frontier", label_frontier),
        ("traversal", traversal),
        ("reparation", reparation),
        ("order polygons", order),
    ];
    (lists, times)
}

/// Half-edge of each triangle's longest edge (Algorithm 2, LabelMax).
fn label_max<P: Point>(points: &[P], mesh: &IndexedTriangulation, ties: Ties) -> Vec<u32> {
    let length = |h: u32| {
        let [a, b] = [mesh.origin(h), mesh.target(h)].map(|v| points[v as usize]);
        a.distance_squared(b)
    };
    let id = |h: u32| match ties {
        Ties::Edge => mesh.opposite(h).map_or(h, |back| h.min(back)),
        Ties::First => h,
    };
    (0..mesh.half_edges())
        .step_by(3)
        .map(|h| {
            [h + 1, h + 2].into_iter().fold(h, |best, g| {
                let longer = length(g) > length(best);
                let first = length(g) == length(best) && id(g) < id(best);
                if longer || first { g } else { best }
            })
        })
        .collect()
}

/// The seed triangles, ascending (LabelSeed): the smaller triangle at a terminal edge; on the boundary, and along a
/// constrained edge, each triangle whose longest edge it is.
fn label_seed(
    mesh: &IndexedTriangulation,
    max: &[u32],
    constrained: impl Fn(u32) -> bool,
) -> Vec<u32> {
    (0..max.len() as u32)
        .filter(|&t| {
            let h = max[t as usize];
            match mesh.opposite(h) {
                Some(back) if !constrained(h) => t < back / 3 && max[back as usize / 3] == back,
                _ => true,
            }
        })
        .collect()
}

/// Whether each half-edge belongs to a frontier edge (LabelFrontier).
fn label_frontier(
    mesh: &IndexedTriangulation,
    max: &[u32],
    constrained: impl Fn(u32) -> bool,
) -> Vec<bool> {
    (0..mesh.half_edges())
        .map(|h| match mesh.opposite(h) {
            Some(back) if !constrained(h) => {
                max[h as usize / 3] != h && max[back as usize / 3] != back
            }
            _ => true,
        })
        .collect()
}

/// The polygon of each seed, and whether each has barrier tips (Algorithm 3).
fn traversal(
    mesh: &IndexedTriangulation,
    max: &[u32],
    seeds: &[u32],
    frontier: &[bool],
) -> (PolygonArrays, Vec<u32>) {
    let mut polygons = PolygonArrays::default();
    for &seed in seeds {
        let terminal = max[seed as usize];
        let h = if frontier[terminal as usize] {
            terminal
        } else {
            mesh.successor(frontier, terminal, &mut |_| {})
        };
        polygons.construct(mesh, frontier, h);
    }
    let broken = (0..seeds.len() as u32)
        .filter(|&i| barrier_tips(polygons.polygon(i)).next().is_some())
        .collect();
    (polygons, broken)
}

/// The `polygons` that are not `broken` and the `parts`, in the order of their smallest half-edges.
fn order(
    polygons: &PolygonArrays,
    broken: &[u32],
    parts: &PolygonArrays,
    vertices: usize,
) -> PolyllaLists {
    let mut whole = vec![true; polygons.starts.len()];
    for &i in broken {
        whole[i as usize] = false;
    }
    let mut all: Vec<(u32, &[u32])> = (0..polygons.starts.len() as u32)
        .filter(|&i| whole[i as usize])
        .map(|i| (polygons.starts[i as usize], polygons.polygon(i)))
        .collect();
    all.extend(
        (0..parts.starts.len() as u32).map(|i| (parts.starts[i as usize], parts.polygon(i))),
    );
    all.sort_unstable();

    let mut lists = PolyllaLists {
        polygons: Polygons {
            offsets: vec![0],
            vertices: Vec::new(),
        },
        counts: PolyllaCounts {
            polygons: all.len() as u32,
            ..Default::default()
        },
        ..Default::default()
    };
    // The last polygon that visited each vertex.
    let mut visited_by = vec![NONE; vertices];
    for (start, polygon) in all {
        let repeats = polygon.iter().fold(false, |repeats, &v| {
            repeats | (std::mem::replace(&mut visited_by[v as usize], start) == start)
        });
        lists.counts.weakly_simple += u32::from(repeats);
        lists.half_edges.push(start);
        lists.polygons.push(polygon);
    }
    lists
}

#[cfg(test)]
mod tests {
    use glam::DVec2;
    use proptest::prelude::*;

    use super::*;
    use crate as reference;
    use crate::random_mesh::triangulations_with_regions;

    #[test]
    fn neighbours_of_a_square() {
        //  3---2
        //  | / |    edge 2 of triangle 0, from vertex 2 to vertex 0, is edge 0 of triangle 1
        //  0---1
        let mesh = IndexedTriangulation::new(&[[0, 1, 2], [0, 2, 3]], 5);
        assert_eq!(mesh.neighbours, [[NONE, NONE, 1], [0, NONE, NONE]]);
        assert_eq!(mesh.trivertex, [0, 0, 0, 1, NONE]);
        assert_eq!(
            (mesh.opposite(2), mesh.opposite(3), mesh.opposite(0)),
            (Some(3), Some(2), None)
        );
        assert_eq!(mesh.spoke(2, 0), Some(2));
        assert_eq!(mesh.spoke(2, 1), None);
    }

    #[test]
    fn a_tip_across_the_end_of_the_list_is_found() {
        // The tip 7 is first, last, or between.
        for polygon in [[7, 1, 2, 3, 1], [1, 2, 3, 1, 7], [3, 1, 7, 1, 2]] {
            let found: Vec<_> = barrier_tips(&polygon)
                .map(|(k, v)| (polygon[k], v))
                .collect();
            assert_eq!(found, [(7, 1)]);
        }
    }

    #[test]
    fn the_mesh_array_of_a_square() {
        let mesh = IndexedTriangulation::new(&[[0, 1, 2], [0, 2, 3]], 4);
        let points = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(DVec2::from);
        let max = label_max(&points, &mesh, Ties::Edge);
        assert_eq!(max, [2, 3]);
        let seeds = label_seed(&mesh, &max, |_| false);
        assert_eq!(seeds, [0]);
        let frontier = label_frontier(&mesh, &max, |_| false);
        assert_eq!(frontier, [true, true, false, false, true, true]);
        let (polygons, broken) = traversal(&mesh, &max, &seeds, &frontier);
        assert_eq!(polygons.mesh, [4, 0, 1, 2, 3]);
        assert_eq!((polygons.positions, polygons.starts), (vec![0], vec![0]));
        assert!(broken.is_empty());
    }

    proptest! {
        #[test]
        fn polygons_are_those_of_the_half_edges(mesh in triangulations_with_regions()) {
            let he = reference::half_edges(&mesh.triangles, mesh.points.len());
            let constrained = reference::constrained_edges(&mesh, &he).unwrap();
            let constrained = |h: u32| constrained[h as usize];
            let (expected, _) = reference::polylla(&mesh.points, &he, constrained, Ties::Edge);
            let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
            let (ours, _) = indexed(&mesh.points, &arrays, constrained, Ties::Edge);
            prop_assert_eq!(ours.counts, expected.counts);
            prop_assert_eq!(ours.half_edges, expected.half_edges);
            prop_assert_eq!(ours.polygons, expected.polygons);
        }
    }
}
