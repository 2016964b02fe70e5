//! Problems with known solutions on polyhedra.

use super::*;
use trioxide::generate;
use trioxide::polyhedra::{Measure, Options};
use trioxide_mesh::mesh::Polygons;
use trioxide_mesh::polyhedra::PolyhedraBuilder;
use trioxide_mesh::volume::TetMesh;
use trioxide_reference as reference;

fn polyhedra(mesh: &TetMesh, options: Options) -> PolyhedralMesh {
    let lists = reference::polyhedra::<DVec3>(mesh, options);
    PolyhedralMesh::new(mesh, &lists).unwrap()
}

fn solved(mesh: &PolyhedralMesh, problem: SpaceProblem) -> Errors {
    let solution = solve_in_space(mesh, problem.source, problem.solution).unwrap();
    errors_in_space(mesh, &solution.values, problem.solution, problem.gradient)
}

#[test]
fn the_rule_is_exact_for_degree_4() {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    for i in 0..5u32 {
        for j in 0..5 - i {
            let sum: f64 = keast()
                .iter()
                .map(|(weight, x)| weight * x[0].powi(i as i32) * x[1].powi(j as i32))
                .sum();
            let exact = 6.0 * factorial(i) * factorial(j) / factorial(i + j + 3);
            assert!((sum - exact).abs() < 1e-14, "{i} {j}: {sum} {exact}");
        }
    }
}

/// On the polyhedra of every generator, including pinched ones and barrier faces.
#[test]
fn linear_functions_are_reproduced() {
    let meshes = [
        generate::tet_grid(1000, 1).unwrap(),
        generate::random_tets(1500, 3).unwrap(),
    ];
    for mesh in meshes {
        for (by, strict) in [
            (Measure::Area, false),
            (Measure::Area, true),
            (Measure::Circumradius, false),
        ] {
            let options = Options {
                by,
                strict,
                ..Options::default()
            };
            let polyhedra = polyhedra(&mesh, options);
            assert!(polyhedra.len() < mesh.tetrahedra.len() / 2);
            let errors = solved(&polyhedra, SpaceProblem::PATCH);
            assert!(errors.max_vertex < 1e-10, "{options:?}: {errors:?}");
            assert!(errors.l2 < 1e-10 && errors.h1 < 1e-9, "{errors:?}");
        }
    }
}

#[test]
fn errors_fall_with_second_order() {
    let error = |side: usize| {
        let mesh = generate::tet_grid(side * side * side, 1).unwrap();
        solved(&polyhedra(&mesh, Options::default()), SpaceProblem::SINE)
    };
    let (coarse, fine) = (error(7), error(13));
    let order = |coarse: f64, fine: f64| (coarse / fine).log2();
    assert!(order(coarse.l2, fine.l2) > 1.7, "{coarse:?} {fine:?}");
    assert!(order(coarse.h1, fine.h1) > 0.8, "{coarse:?} {fine:?}");
}

/// Cubes of a grid; with `bend`, their squares are bent.
fn cubes(side: usize, bend: bool) -> PolyhedralMesh {
    let at = |i: usize| {
        [
            i % (side + 1),
            i / (side + 1) % (side + 1),
            i / (side + 1).pow(2),
        ]
    };
    let vertex = |[x, y, z]: [usize; 3]| (z * (side + 1) + y) * (side + 1) + x;
    let mut builder = PolyhedraBuilder::default();
    for i in 0..side.pow(3) {
        let [x, y, z] = [i % side, i / side % side, i / side / side];
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let corner = |k: usize| vertex([x + k % 2, y + k / 2 % 2, z + k / 4]) as u32;
        builder.push(&faces.map(|face| face.map(corner))).unwrap();
    }
    let point = |i: usize| {
        let place = at(i);
        let inside = place.iter().all(|&k| k > 0 && k < side);
        let shift = if bend && inside {
            0.2 * (i % 3) as f64 - 0.2
        } else {
            0.0
        };
        (DVec3::from_array(place.map(|k| k as f64)) + shift) / side as f64
    };
    PolyhedralMesh {
        points: (0..(side + 1).pow(3)).map(point).collect(),
        ..builder.finish().unwrap()
    }
}

#[test]
fn faces_may_be_polygons() {
    let mesh = generate::tet_grid(64, 1).unwrap();
    let merged = polyhedra(&mesh, Options::default()).merge_coplanar();
    assert!(merged.faces.iter().any(|face| face.len() > 3));
    let bent = [&merged, &cubes(4, false), &cubes(4, true)].map(bent_faces);
    assert_eq!(bent, [0, 0, 120]);
    for mesh in [merged, cubes(4, false), cubes(4, true)] {
        let errors = solved(&mesh, SpaceProblem::PATCH);
        assert!(errors.max_vertex < 1e-12 && errors.h1 < 1e-11, "{errors:?}");
    }
    let error = |side| solved(&cubes(side, true), SpaceProblem::SINE);
    let (coarse, fine) = (error(6), error(12));
    assert!((coarse.l2 / fine.l2).log2() > 1.6, "{coarse:?} {fine:?}");
}

/// An L whose first corner sees all of it, an arrow, and a comb that no vertex sees all of.
#[test]
fn faces_are_cut_around_a_vertex_that_sees_them() {
    let plane = |corners: &[(f64, f64)]| -> Vec<DVec3> {
        corners
            .iter()
            .map(|&(x, y)| DVec3::new(x, y, 1.0))
            .collect()
    };
    let points = plane(&[(0., 0.), (2., 0.), (2., 1.), (1., 1.), (1., 2.), (0., 2.)]);
    assert_eq!(middle(&points, &[0, 1, 2, 3, 4, 5]), 0);
    assert_eq!(middle(&points, &[5, 4, 3, 2, 1, 0]), 5);
    assert_eq!(middle(&points, &[1, 2, 3, 4, 5, 0]), 5);
    // Of an arrow the reflex corner sees all, and the tip.
    let arrow = plane(&[(0., 2.), (-2., -1.), (0., 0.), (2., -1.)]);
    assert_eq!(middle(&arrow, &[0, 1, 2, 3]), 0);
    let arrow: Vec<DVec3> = [1, 2, 3, 0].map(|i| arrow[i]).to_vec();
    assert_eq!(middle(&arrow, &[0, 1, 2, 3]), 1);
    let comb = plane(&[
        (0., 0.),
        (9., 0.),
        (9., 5.),
        (8., 1.),
        (4., 1.),
        (4., 5.),
        (3., 1.),
        (0., 5.),
    ]);
    assert_eq!(middle(&comb, &[0, 1, 2, 3, 4, 5, 6, 7]), 0);
}

#[test]
fn a_face_has_three_vertices() {
    let mut mesh = cubes(1, false);
    mesh.faces = Polygons {
        offsets: vec![0, 2],
        vertices: vec![0, 1],
    };
    (mesh.offsets, mesh.sides) = (vec![0, 1], vec![0]);
    let error = solve_in_space(&mesh, |_| 0.0, |_| 0.0).unwrap_err();
    assert!(
        error.to_string().contains("face 0 has 2 vertices"),
        "{error}"
    );
}
