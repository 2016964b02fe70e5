//! Datasets in space.

use std::collections::HashMap;

use glam::DVec3;

use crate::{cloud, scan};
use trioxide_mesh::digest::digest;
use trioxide_mesh::edges::Edges;
use trioxide_mesh::mesh::{Faces, Mesh};

fn triangles(mesh: &Mesh) -> &[[u32; 3]] {
    match &mesh.faces {
        Faces::Triangles(triangles) => triangles,
        Faces::Polygons(_) => panic!("there are polygons"),
    }
}

#[test]
fn a_scan_is_a_closed_surface_of_any_size() {
    for n in (16..300).chain([1000, 4321]) {
        let mesh = scan(n, n as u64).unwrap();
        assert_eq!(mesh.points.len(), n);
        let triangles = triangles(&mesh);
        assert_eq!(triangles.len(), 2 * n - 4);
        // Each half-edge appears once, with its twin: closed, oriented and manifold. By Euler's formula it is a sphere.
        let mut half_edges = HashMap::new();
        for &[a, b, c] in triangles {
            for edge in [(a, b), (b, c), (c, a)] {
                assert!(half_edges.insert(edge, ()).is_none(), "{n}: {edge:?} twice");
            }
        }
        assert!(
            half_edges
                .keys()
                .all(|&(a, b)| half_edges.contains_key(&(b, a)))
        );
        assert_eq!(Edges::of(&mesh.faces).count + 2, n + triangles.len());
        assert!(triangles.iter().flatten().all(|v| (*v as usize) < n));
    }
}

#[test]
fn a_scan_faces_outward_and_runs_in_rows() {
    let mesh = scan(20_000, 3).unwrap();
    let points = &mesh.points;
    let outward = triangles(&mesh)
        .iter()
        .filter(|t| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(c - a).dot(a + b + c) > 0.0
        })
        .count();
    // Noise inverts a few triangles, as in a scan.
    assert!(outward * 1000 > 995 * 2 * 20_000, "{outward}");
    let volume: f64 = triangles(&mesh)
        .iter()
        .map(|t| t.map(|v| points[v as usize]))
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum();
    assert!((2.0..8.0).contains(&volume), "{volume}");

    // Uniform: edges are near the documented spacing.
    let spacing = (4.0 * std::f64::consts::PI / 20_000.0).sqrt();
    let steps: Vec<f64> = points.windows(2).map(|p| p[0].distance(p[1])).collect();
    let near = steps.iter().filter(|d| **d < 3.0 * spacing).count();
    assert!(near * 100 > 98 * steps.len(), "{near}");
    // Rows: neighbours in space are a row's length apart, about sqrt(pi n).
    let heights = |range: std::ops::Range<usize>| {
        let directions = points[range].iter().map(|p| p.normalize().z);
        directions.fold((2.0f64, -2.0f64), |(a, b), z| (a.min(z), b.max(z)))
    };
    let (low, high) = heights(10_000..10_200);
    assert!(high - low < 4.0 * spacing, "{low} to {high}");
    assert!(heights(0..100).0 > 0.95 && heights(19_900..20_000).1 < -0.95);
}

#[test]
fn a_cloud_is_in_centimetres_and_in_strips() {
    for n in [1, 2, 99, 5000] {
        let mesh = cloud(n, 1).unwrap();
        assert_eq!((mesh.points.len(), mesh.faces.len()), (n, 0));
    }
    let mesh = cloud(60_000, 6).unwrap();
    for x in mesh.points.iter().flat_map(|p| p.to_array()) {
        assert_eq!(((x / 0.01).round() * 0.01).to_bits(), x.to_bits());
    }
    // The site is about square and has the documented density: one or a few returns per pulse.
    let [min, max] = mesh
        .points
        .iter()
        .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[min, max], p| {
            [min.min(*p), max.max(*p)]
        });
    let extent = max - min;
    assert!((0.9..1.25).contains(&(extent.x / extent.y)), "{extent}");
    let density = 60_000.0 / (extent.x * extent.y);
    assert!((20.0..60.0).contains(&density), "{density}");
    assert!((2.0..90.0).contains(&extent.z), "{extent}");
    // Neighbours in the file are neighbours on the ground, except the trees' returns and the ends of strips.
    let steps = mesh.points.windows(2).map(|p| p[0].distance(p[1]));
    let near = steps.filter(|step| *step < 1.0).count();
    assert!(near * 10 > 7 * mesh.points.len(), "{near}");
    // Several returns: some points lie well over their successor, at the same y.
    let several = mesh
        .points
        .windows(2)
        .filter(|p| p[0].y == p[1].y && p[0].z > p[1].z + 1.0);
    assert!(several.count() > 1000);
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let digests = || {
        let (scan, cloud) = (scan(30_000, 42).unwrap(), cloud(30_000, 42).unwrap());
        [
            digest(&scan.points),
            digest(triangles(&scan)),
            digest(&cloud.points),
        ]
    };
    let pool = |threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    };
    let expected = [
        "1a364dfd0a2b2d2c9ef1e45bc27b0be1",
        "ba157de80bbe6d769df8e4af6d3ec8f4",
        "31d396a2b515e844673d5a5c315fb4c4",
    ];
    for threads in [1, 2, 5] {
        assert_eq!(
            pool(threads).install(digests),
            expected,
            "{threads} threads"
        );
    }
    let other = scan(30_000, 43).unwrap();
    assert_ne!(digest(&other.points), expected[0]);
}

#[test]
fn sizes_out_of_range_are_refused() {
    assert!(scan(15, 0).unwrap_err().to_string().contains("at least 16"));
    assert!(scan(1 << 31, 0).is_err());
    assert!(cloud(0, 0).is_err() && cloud(u32::MAX as usize, 0).is_err());
}
