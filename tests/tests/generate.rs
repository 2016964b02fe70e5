//! Meshes of random points: their definition, their order, and the same bits everywhere.

use std::collections::HashSet;
use std::f64::consts::TAU;

use glam::DVec2;
use trioxide::digest::digest;
use trioxide::generate::{disk, disk_points, random, random_points};
use trioxide::mesh::Triangulation;
use trioxide::{Device, reorder};
use trioxide_verify::validate;

fn cpu() -> Device {
    Device::cpu(Some(2)).unwrap()
}

/// Checks that the mesh is the Delaunay triangulation of `n` points. Returns the ends of boundary edges.
fn check(mesh: &Triangulation, n: usize) -> Vec<[DVec2; 2]> {
    assert_eq!(mesh.points.len(), n);
    validate::delaunay(&mesh.points, &mesh.triangles).unwrap();
    let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    let all: HashSet<[u32; 2]> = mesh.triangles.iter().flat_map(sides).collect();
    let boundary = all.iter().filter(|&&[a, b]| !all.contains(&[b, a]));
    boundary
        .map(|ends| ends.map(|v| mesh.points[v as usize]))
        .collect()
}

fn area(mesh: &Triangulation) -> f64 {
    let areas = mesh.triangles.iter().map(|triangle| {
        let [a, b, c] = triangle.map(|v| mesh.points[v as usize]);
        (b - a).perp_dot(c - a) / 2.0
    });
    areas.sum()
}

#[test]
fn random_covers_the_square() {
    for (n, seed) in [(4, 0), (5, 1), (6, 2), (20, 3), (1000, 4), (20_000, 5)] {
        let mesh = random(&cpu(), n, seed).unwrap();
        // Points on one side of the square are exactly collinear.
        for [a, b] in check(&mesh, n) {
            let shared = (a.x == b.x && (a.x == 0.0 || a.x == 1.0))
                || (a.y == b.y && (a.y == 0.0 || a.y == 1.0));
            assert!(shared, "{a} {b}");
        }
        assert!((area(&mesh) - 1.0).abs() < 1e-12);
        let tolerance = (0.4 / n as f64).sqrt();
        for x in mesh.points.iter().flat_map(DVec2::to_array) {
            assert!(x == 0.0 || x == 1.0 || (tolerance..=1.0 - tolerance).contains(&x));
        }
    }
}

#[test]
fn disk_covers_the_disk() {
    for (n, seed) in [(3, 0), (4, 1), (13, 2), (14, 2), (50, 3), (20_000, 4)] {
        let mesh = disk(&cpu(), n, seed).unwrap();
        let boundary = check(&mesh, n);
        for point in boundary.iter().flatten() {
            assert!((point.length() - 1.0).abs() < 1e-15);
        }
        let m = boundary.len() as f64;
        let polygon = m / 2.0 * (TAU / m).sin();
        assert!((area(&mesh) - polygon).abs() < 1e-12);
    }
}

#[test]
fn vertices_are_the_drawn_points_along_the_curve() {
    let on = cpu();
    let meshes = [
        (random(&on, 5000, 9), random_points(5000, 9)),
        (disk(&on, 5000, 9), disk_points(5000, 9)),
    ];
    for (mesh, drawn) in meshes {
        let mesh = mesh.unwrap();
        let drawn = on.upload(&drawn.unwrap()).unwrap();
        let ordered = reorder::vertices(&on, &drawn).unwrap();
        let ordered: Vec<DVec2> = on.download_rows(ordered.points()).unwrap();
        assert_eq!(mesh.points, ordered);
        // Each triangle is at its lowest vertex, and begins there.
        assert!(mesh.triangles.is_sorted());
        let mut corners = mesh.triangles.iter();
        assert!(corners.all(|&[a, b, c]| a < b && a < c));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_everywhere() {
    let digests = |threads| {
        let on = Device::cpu(Some(threads)).unwrap();
        let meshes = [
            random(&on, 10_000, 42),
            random(&on, 10_000, 43),
            disk(&on, 10_000, 42),
        ];
        meshes.map(|mesh| {
            let mesh = mesh.unwrap();
            [digest(&mesh.points), digest(&mesh.triangles)]
        })
    };
    let expected = [
        [
            "34824cc9b9689ec446e279d0c556daa6",
            "ce5e80b9e6cb71e8c81749dbcd23695c",
        ],
        [
            "7d742a9ca7c68b40f59c102a4d0551b8",
            "55c7c2654b8dfbb451dde30637ca8e7a",
        ],
        [
            "3c4483fa63beaa8129c3a93ca3f43584",
            "0704e49681aa8b9d2d14fca81f51de11",
        ],
    ];
    for threads in [1, 3] {
        assert_eq!(digests(threads), expected);
    }
}

#[test]
fn point_counts_out_of_range_are_refused() {
    let on = cpu();
    assert!(random(&on, 3, 0).is_err() && disk(&on, 2, 0).is_err());
    for error in [
        random(&on, (1 << 28) + 1, 0).unwrap_err(),
        disk(&on, usize::MAX, 0).unwrap_err(),
    ] {
        assert!(error.to_string().contains("at most 268435455"), "{error}");
    }
}
