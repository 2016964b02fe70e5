//! Random triangulations for property tests.

use glam::DVec2;
use proptest::prelude::*;
use spade::{DelaunayTriangulation, Point2, Triangulation as _};

use trioxide::mesh::Triangulation;

/// A region around a triangular hole that comes back to vertex 3 from the other side; found by searching small random
/// meshes.
pub const RING: [(f64, f64); 7] = [
    (15.0, 10.0),
    (12.0, 13.0),
    (11.0, 6.0),
    (13.0, 5.0),
    (12.0, 5.0),
    (4.0, 14.0),
    (13.0, 0.0),
];
/// Its triangles.
pub const RING_TRIANGLES: [[u32; 3]; 7] = [
    [2, 0, 1],
    [3, 0, 2],
    [5, 2, 1],
    [4, 6, 3],
    [4, 2, 6],
    [2, 5, 6],
    [3, 6, 0],
];

/// The Delaunay triangulation of `points`; equal points are one vertex.
pub fn delaunay(points: &[(f64, f64)]) -> Triangulation {
    let points = points.iter().map(|&(x, y)| Point2::new(x, y)).collect();
    let spade = DelaunayTriangulation::<Point2<f64>>::bulk_load(points).unwrap();
    Triangulation {
        points: spade
            .vertices()
            .map(|v| DVec2::new(v.position().x, v.position().y))
            .collect(),
        triangles: spade
            .inner_faces()
            .map(|face| face.vertices().map(|v| v.fix().index() as u32))
            .collect(),
        ..Default::default()
    }
}

/// Delaunay triangulations, about half with triangles taken out: holes, islands, pinch vertices, unused vertices.
/// Points are arbitrary, or on a small grid: equal lengths, cocircular points, right angles.
pub fn triangulations() -> impl Strategy<Value = Triangulation> {
    let arbitrary = prop::collection::vec((0.0..1.0, 0.0..1.0), 3..120);
    let on_grid = prop::collection::vec((0..9u8, 0..9u8), 3..60).prop_map(|points| {
        points
            .into_iter()
            .map(|(x, y)| (f64::from(x), f64::from(y)))
            .collect()
    });
    let points = prop_oneof![arbitrary, on_grid];
    let removed = prop::collection::vec(prop::bool::weighted(0.2), 1..200);
    (points, any::<bool>(), removed).prop_map(|(points, whole, removed)| {
        let mut mesh = delaunay(&points);
        let mut removed = removed.iter().cycle();
        mesh.triangles
            .retain(|_| whole || !removed.next().expect("cycles"));
        mesh
    })
}

/// Triangulations, each with a region id of each triangle.
pub fn triangulations_with_regions() -> impl Strategy<Value = Triangulation> {
    let ids = prop::collection::vec(0..3i32, 1..40);
    (triangulations(), ids).prop_map(|(mut mesh, ids)| {
        mesh.regions = Some(
            ids.iter()
                .copied()
                .cycle()
                .take(mesh.triangles.len())
                .collect(),
        );
        mesh
    })
}
