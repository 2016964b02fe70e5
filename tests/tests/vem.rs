//! Virtual elements on Polylla's meshes: the patch test, and the order of convergence.

use glam::DVec2;
use trioxide::mesh::{PolygonMesh, Ties, Triangulation};
use trioxide::{Device, generate};
use trioxide_operations::polylla as operation;
use trioxide_reference as reference;
use trioxide_vem::{Errors, Preconditioner, Problem, errors, mesh_size, solve};

fn polylla(mesh: Triangulation) -> PolygonMesh {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let (output, _) = reference::polylla(&mesh.points, &half_edges, |_| false, Ties::Edge);
    PolygonMesh {
        points: mesh.points,
        polygons: output.polygons,
        regions: None,
        segments: Vec::new(),
    }
}

/// `mesh` without the triangles whose centroid is in one of three disks: two holes and a bite.
fn with_holes(mut mesh: Triangulation) -> Triangulation {
    let holes = [(0.3, 0.35, 0.15), (0.7, 0.6, 0.2), (1.0, 0.0, 0.25)];
    mesh.triangles.retain(|triangle| {
        let [a, b, c] = triangle.map(|v| mesh.points[v as usize]);
        let centroid = (a + b + c) / 3.0;
        holes
            .iter()
            .all(|&(x, y, radius)| centroid.distance(DVec2::new(x, y)) > radius)
    });
    mesh
}

fn run(mesh: &PolygonMesh, problem: Problem, preconditioner: Preconditioner) -> Errors {
    let solution = solve(mesh, problem.source, problem.solution, preconditioner).unwrap();
    assert!(solution.unknowns > 0);
    errors(mesh, &solution.values, problem.solution, problem.gradient)
}

#[test]
fn linear_functions_are_reproduced_on_every_generators_meshes() {
    let on = Device::cpu(None).unwrap();
    let meshes = [
        ("grid", generate::grid(900)),
        ("random", generate::random(&on, 5000, 1)),
        ("disk", generate::disk(&on, 3000, 2)),
        ("grid with holes", generate::grid(2500).map(with_holes)),
        (
            "random with holes",
            generate::random(&on, 5000, 3).map(with_holes),
        ),
    ];
    for (name, mesh) in meshes {
        let mesh = polylla(mesh.unwrap());
        for preconditioner in [Preconditioner::Algebraic, Preconditioner::Nested] {
            let errors = run(&mesh, Problem::PATCH, preconditioner);
            assert!(errors.max_vertex < 1e-10, "{name}: {errors:?}");
            assert!(errors.l2 < 1e-10, "{name}: {errors:?}");
            assert!(errors.h1 < 1e-9, "{name}: {errors:?}");
        }
    }
}

/// Orders in n^(-1/2) with which the L2 and H1 errors fall, by least squares over meshes of n points for each of
/// `counts`.
fn orders(counts: [usize; 4], mesh: impl Fn(usize) -> Triangulation) -> [f64; 2] {
    let mut samples = Vec::new();
    for n in counts {
        let mesh = polylla(mesh(n));
        let errors = run(&mesh, Problem::SINE, Preconditioner::Algebraic);
        println!("{n} points, h = {:.4}: {errors:?}", mesh_size(&mesh));
        // Not the largest diameter, which is noise on random meshes.
        let size = 1.0 / (n as f64).sqrt();
        samples.push([size.ln(), errors.l2.ln(), errors.h1.ln()]);
    }
    let mean = |k: usize| samples.iter().map(|s| s[k]).sum::<f64>() / samples.len() as f64;
    [1, 2].map(|k| {
        let (x, y) = (mean(0), mean(k));
        let products = samples.iter().map(|s| (s[0] - x) * (s[k] - y));
        let squares = samples.iter().map(|s| (s[0] - x).powi(2));
        products.sum::<f64>() / squares.sum::<f64>()
    })
}

#[test]
fn errors_fall_with_second_and_first_order_on_random_meshes() {
    let counts = [1000, 4000, 16_000, 64_000];
    let on = Device::cpu(None).unwrap();
    let [l2, h1] = orders(counts, |n| generate::random(&on, n, 7).unwrap());
    assert!((1.8..2.3).contains(&l2), "L2 order {l2}");
    assert!((0.9..1.3).contains(&h1), "H1 order {h1}");
}

#[test]
fn errors_fall_with_second_and_first_order_around_holes() {
    let counts = [1024, 4096, 16_384, 65_536];
    let [l2, h1] = orders(counts, |n| with_holes(generate::grid(n).unwrap()));
    assert!((1.8..2.3).contains(&l2), "L2 order {l2}");
    assert!((0.9..1.3).contains(&h1), "H1 order {h1}");
}

#[test]
fn meshes_without_short_edges_are_as_accurate() {
    let on = Device::cpu(None).unwrap();
    for (n, seed) in [(1000, 7), (10_000, 7), (10_000, 8)] {
        let mesh = generate::random(&on, n, seed).unwrap();
        let [before, after] = [None, Some(0.1)].map(|min_edge| {
            let options = operation::Options {
                strict: true,
                min_edge,
                ..operation::Options::default()
            };
            let (polygons, report) = operation(&on, mesh.clone().into(), &options).unwrap();
            let removed = report.totals.removed_vertices;
            assert!(removed.is_none_or(|removed| removed > n as u64 / 100));
            let polygons = polygons.into_polygon_mesh().unwrap();
            assert_eq!(
                polygons.points.len() as u64,
                n as u64 - removed.unwrap_or(0)
            );
            run(&polygons, Problem::SINE, Preconditioner::Algebraic)
        });
        println!("{n} points: {before:?}, without short edges {after:?}");
        assert!(after.l2 <= 1.1 * before.l2, "{n}: {before:?} {after:?}");
        assert!(after.h1 <= 1.1 * before.h1, "{n}: {before:?} {after:?}");
    }
}
