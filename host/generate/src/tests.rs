use std::collections::HashSet;

use glam::{DVec2, dvec2};
use robust::Coord;

use super::*;
use trioxide_mesh::mesh::Triangulation;

mod space;

/// FNV-1a over the bits of points and triangles.
fn digest(mesh: &Triangulation) -> u64 {
    let coordinates = mesh
        .points
        .iter()
        .flat_map(|p| [p.x.to_bits(), p.y.to_bits()]);
    let vertices = mesh.triangles.iter().flatten().map(|&v| u64::from(v));
    coordinates
        .chain(vertices)
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn coord(point: DVec2) -> Coord<f64> {
    Coord {
        x: point.x,
        y: point.y,
    }
}

fn corners(mesh: &Triangulation, triangle: [u32; 3]) -> [Coord<f64>; 3] {
    triangle.map(|v| coord(mesh.points[v as usize]))
}

/// Checks that every triangle is strictly counter-clockwise, every point is used and distinct, every edge is in at most
/// two triangles and in opposite directions, and Euler's formula. Returns the boundary edges.
fn check(mesh: &Triangulation) -> Vec<[u32; 2]> {
    let mut edges = HashSet::new();
    for &triangle in &mesh.triangles {
        let [a, b, c] = corners(mesh, triangle);
        assert!(robust::orient2d(a, b, c) > 0.0, "{triangle:?}");
        let [a, b, c] = triangle;
        for edge in [[a, b], [b, c], [c, a]] {
            assert!(edges.insert(edge), "half-edge {edge:?} twice");
        }
    }
    let used: HashSet<u32> = mesh.triangles.iter().flatten().copied().collect();
    assert_eq!(used.len(), mesh.points.len());
    let places: HashSet<[u64; 2]> = mesh
        .points
        .iter()
        .map(|p| p.to_array().map(f64::to_bits))
        .collect();
    assert_eq!(places.len(), mesh.points.len());

    let boundary: Vec<[u32; 2]> = edges
        .iter()
        .copied()
        .filter(|&[a, b]| !edges.contains(&[b, a]))
        .collect();
    let edge_count = (edges.len() + boundary.len()) / 2;
    assert_eq!(mesh.points.len() + mesh.triangles.len(), edge_count + 1);
    boundary
}

#[test]
fn grid_has_its_counts_and_orientation() {
    for (n, side) in [
        (3, 2),
        (4, 2),
        (9, 3),
        (100, 10),
        (110, 10),
        (111, 11),
        (10_000, 100),
    ] {
        let mesh = grid(n).unwrap();
        assert_eq!(mesh.points.len(), side * side);
        assert_eq!(mesh.triangles.len(), 2 * (side - 1) * (side - 1));
        assert_eq!(check(&mesh).len(), 4 * (side - 1));
    }
    let mesh = grid(9).unwrap();
    assert_eq!(
        mesh.points[3..6],
        [dvec2(0.0, 0.5), dvec2(0.5, 0.5), dvec2(1.0, 0.5)]
    );
    assert_eq!(mesh.triangles[2..4], [[1, 2, 5], [1, 5, 4]]);
}

#[test]
fn grid_diagonals_are_longest_in_f64_and_f32() {
    // Rounding of a coordinate matters more in larger grids.
    for side in [2, 3, 7, 100, 999, 1000] {
        let mesh = grid(side * side).unwrap();
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let points = triangle.map(|v| mesh.points[v as usize]);
            let squared = |i: usize| points[i].distance_squared(points[(i + 1) % 3]);
            let single = |i: usize| {
                points[i]
                    .as_vec2()
                    .distance_squared(points[(i + 1) % 3].as_vec2())
            };
            let (diagonal, legs) = if t % 2 == 0 { (2, [0, 1]) } else { (0, [1, 2]) };
            for leg in legs {
                assert!(
                    squared(leg) < squared(diagonal),
                    "side {side}, triangle {t}"
                );
                assert!(single(leg) < single(diagonal), "side {side}, triangle {t}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_everywhere() {
    let points_alone = |points| Triangulation {
        points,
        ..Triangulation::default()
    };
    let digests = [
        grid(10_000).unwrap(),
        points_alone(random_points(10_000, 42).unwrap()),
        points_alone(random_points(10_000, 43).unwrap()),
        points_alone(disk_points(10_000, 42).unwrap()),
    ]
    .map(|mesh| format!("{:016x}", digest(&mesh)));
    assert_eq!(
        digests,
        [
            "0386a220114a89a6",
            "fae7c0ec1d217e23",
            "891fe258512db652",
            "bea737a38c8a721f"
        ]
    );
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let again = one_thread.install(|| grid(10_000).unwrap());
    assert_eq!(format!("{:016x}", digest(&again)), digests[0]);
}

#[test]
fn points_are_uniform() {
    let n = 40_000;
    let mut counts = [0.0f64; 16];
    for point in random_points(n, 11).unwrap() {
        let [column, row] = point.to_array().map(|x| ((x * 4.0) as usize).min(3));
        counts[4 * row + column] += 1.0;
    }
    // Moving points to the border does not leave a cell. Chi-squared with 15 degrees of freedom exceeds 44 once in
    // 10,000.
    let expected = n as f64 / 16.0;
    let chi_squared: f64 = counts
        .iter()
        .map(|count| (count - expected).powi(2) / expected)
        .sum();
    assert!(chi_squared < 44.0, "{chi_squared}");
}

#[test]
fn point_counts_out_of_range_are_refused() {
    assert!(grid(2).is_err() && random_points(3, 0).is_err() && disk_points(2, 0).is_err());
    for error in [
        grid(MAX_POINTS + 1).unwrap_err(),
        grid(MAX_POINTS).unwrap_err(), // Rounds up to a larger square.
        random_points(MAX_POINTS + 1, 0).unwrap_err(),
        disk_points(usize::MAX, 0).unwrap_err(),
    ] {
        assert!(error.to_string().contains("at most 715827882"), "{error}");
    }
}
