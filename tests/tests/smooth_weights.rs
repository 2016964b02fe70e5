//! The weights of smoothing and HC's formula, derived in other ways than in the code that device and reference share.

use std::f64::consts::PI;

use glam::DVec3;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::{Faces, Mesh};
use trioxide::smooth::{self, Filter, Options, Weights};
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_reference::{smooth as reference, smooth_weights};

fn on() -> Device {
    Device::cpu(Some(2)).expect("threads")
}

fn near(ours: f64, expected: f64, what: &str) {
    let error = (ours - expected).abs();
    assert!(
        error <= 1e-9 * expected.abs().max(1.0),
        "{what}: {ours}, not {expected}"
    );
}

/// The angle between two vectors.
fn angle(a: DVec3, b: DVec3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

/// The part of `v` that is orthogonal to `axis`.
fn across(v: DVec3, axis: DVec3) -> DVec3 {
    let axis = axis.normalize();
    v - axis * axis.dot(v)
}

/// The power of two by which a node divides its edges: that of the largest coordinate of an edge to a neighbour.
fn unit(points: &[DVec3], rows: &[Vec<u32>], v: usize) -> f64 {
    let edges = rows[v].iter().map(|&u| points[u as usize] - points[v]);
    let largest = edges
        .map(|edge| edge.abs().max_element())
        .fold(0.0, f64::max);
    largest.log2().floor().exp2()
}

/// Compares each entry of `weights`, times the node's unit, with the sum of `part` over the cells that have both ends
/// of its edge; clamped at 0.
fn compare(
    rows: &[Vec<u32>],
    weights: &[Vec<f64>],
    cells: &[&[u32]],
    unit: impl Fn(usize) -> f64,
    part: impl Fn(u32, u32, &[u32]) -> f64,
) {
    let mut positive = 0;
    for (v, row) in rows.iter().enumerate() {
        for (&u, &weight) in row.iter().zip(&weights[v]) {
            let v = v as u32;
            let both = cells
                .iter()
                .filter(|cell| cell.contains(&v) && cell.contains(&u));
            let sum: f64 = both
                .map(|cell| {
                    let others: Vec<u32> =
                        cell.iter().copied().filter(|&w| w != v && w != u).collect();
                    part(v, u, &others)
                })
                .sum();
            let weight = weight * unit(v as usize);
            near(weight, sum.max(0.0), &format!("edge {v} - {u}"));
            positive += usize::from(weight > 0.0);
        }
    }
    assert!(positive > rows.len(), "{positive} weights are positive");
}

#[test]
fn cotangents_of_triangles_by_their_angles() {
    let mesh = generate::scan(300, 3).expect("enough points");
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("a scan has triangles")
    };
    let cells: Vec<&[u32]> = triangles.iter().map(|t| &t[..]).collect();
    let rows = reference::surface_neighbours(mesh.points.len(), cells.iter().copied());
    let weights = smooth_weights::cotangents(&mesh.points, &rows, cells.iter().copied());
    let at = |v: u32| mesh.points[v as usize];
    // Cotangents of angles have no unit.
    compare(
        &rows,
        &weights,
        &cells,
        |_| 1.0,
        |v, u, others| {
            let top = at(others[0]);
            // The angles of the triangle add up to a half turn.
            let angle = PI - angle(at(u) - at(v), top - at(v)) - angle(at(v) - at(u), top - at(u));
            1.0 / angle.tan()
        },
    );
}

#[test]
fn cotangents_of_tetrahedra_by_their_dihedral_angles() {
    let mesh = generate::tet_grid(216, 3).expect("enough nodes");
    let cells: Vec<&[u32]> = mesh.tetrahedra.iter().map(|t| &t[..]).collect();
    let rows = reference::neighbours(mesh.points.len(), cells.iter().copied());
    let weights = smooth_weights::cotangents(&mesh.points, &rows, cells.iter().copied());
    let at = |v: u32| mesh.points[v as usize];
    let unit = |v| unit(&mesh.points, &rows, v);
    compare(&rows, &weights, &cells, unit, |v, u, others| {
        let (start, edge) = (at(others[0]), at(others[1]) - at(others[0]));
        let angle = angle(across(at(v) - start, edge), across(at(u) - start, edge));
        edge.length() / angle.tan()
    });
}

/// Finite elements: the stiffness of an edge is minus the integral of the product of the gradients of both hat
/// functions, computed here by solving for the gradients.
#[test]
fn cotangents_of_tetrahedra_are_the_stiffness_of_linear_elements() {
    let mesh = generate::tet_grid(125, 5).expect("enough nodes");
    let cells: Vec<&[u32]> = mesh.tetrahedra.iter().map(|t| &t[..]).collect();
    let rows = reference::neighbours(mesh.points.len(), cells.iter().copied());
    let weights = smooth_weights::cotangents(&mesh.points, &rows, cells.iter().copied());
    let at = |v: u32| mesh.points[v as usize];
    let unit = |v| unit(&mesh.points, &rows, v);
    compare(&rows, &weights, &cells, unit, |v, u, others| {
        let (a, b, c) = (at(u) - at(v), at(others[0]) - at(v), at(others[1]) - at(v));
        // Rows of the inverse are the gradients of the barycentric coordinates.
        let inverse = glam::DMat3::from_cols(a, b, c).inverse();
        let gradient = |k: usize| inverse.row(k);
        let own = -(gradient(0) + gradient(1) + gradient(2));
        let volume = a.dot(b.cross(c)).abs() / 6.0;
        -6.0 * volume * own.dot(gradient(0))
    });
}

#[test]
fn inverse_lengths_by_hypotenuses() {
    let mesh = generate::random_tets(200, 7).expect("enough points");
    let rows = reference::neighbours(mesh.points.len(), mesh.tetrahedra.iter().map(|t| &t[..]));
    let weights = smooth_weights::inverse_lengths(&mesh.points, &rows);
    for (v, row) in rows.iter().enumerate() {
        for (&u, &weight) in row.iter().zip(&weights[v]) {
            let d = mesh.points[u as usize] - mesh.points[v];
            let length = d.x.hypot(d.y).hypot(d.z) / unit(&mesh.points, &rows, v);
            near(weight * length, 1.0, "a length");
        }
    }
}

/// Coordinates are harmonic functions: if no cotangent sum is negative, nodes in the plane are at the mean already. The
/// mesh is random, so that equal weights do move them.
#[test]
fn a_delaunay_triangulation_is_at_rest_under_cotangents() {
    let mesh = Mesh::from(generate::random(&on(), 2000, 9).expect("enough points"));
    let moved = |weights| {
        let options = Options {
            weights,
            max_iterations: 3,
            ..Options::default()
        };
        let ours = smooth::run_surface::<DVec3>(&on(), &mesh, &[], &options).expect("a mesh");
        assert!(ours.moving > 1000);
        ours.moves.max_displacement
    };
    assert!(moved(Weights::Cotangent) < 1e-9);
    assert!(moved(Weights::Uniform) > 1e-4);
}

/// Weights compare a mesh with no fixed length: scaled by a power of two it moves as before, bit for bit.
#[test]
fn small_and_large_meshes_move_as_the_unit_cube_does() {
    let cube: VolumeMesh = generate::tet_grid(216, 1).expect("enough nodes").into();
    let scan = generate::scan(300, 3).expect("enough points");
    for weights in [Weights::InverseLength, Weights::Cotangent] {
        let options = Options {
            weights,
            max_iterations: 4,
            ..Options::default()
        };
        let smoothed = |factor: f64| {
            let (mut cube, mut scan) = (cube.clone(), scan.clone());
            cube.points.iter_mut().for_each(|p| *p *= factor);
            scan.points.iter_mut().for_each(|p| *p *= factor);
            let volumes = [
                smooth::run::<DVec3>(&on(), &cube, &[], &options).expect("a mesh"),
                reference::volume::<DVec3>(&cube, &[], &options).expect("a mesh"),
            ];
            let surfaces = [
                smooth::run_surface::<DVec3>(&on(), &scan, &[], &options).expect("a mesh"),
                reference::surface::<DVec3>(&scan, &[], &options).expect("a mesh"),
            ];
            assert_eq!(volumes[0].points, volumes[1].points);
            assert_eq!(surfaces[0].points, surfaces[1].points);
            [volumes, surfaces].map(|[ours, _]| {
                assert!(ours.moves.max_displacement > 0.0, "{factor:e}");
                let back = ours.points.iter().map(|p| *p / factor);
                (
                    back.collect::<Vec<_>>(),
                    ours.moves.max_displacement / factor,
                )
            })
        };
        let expected = smoothed(1.0);
        for exponent in [-33, -300, 60, 300] {
            let ours = smoothed(2f64.powi(exponent));
            assert!(ours == expected, "{weights:?} times 2^{exponent}");
        }
        let small = smoothed(1e-10);
        for (ours, expected) in small.iter().zip(&expected) {
            near(ours.1, expected.1, "the largest move of a mesh times 1e-10");
        }
    }
}

/// As in the plane; cubes with any lengths of edges, split along their diagonals, have no obtuse dihedral angle.
#[test]
fn stretched_cubes_are_at_rest_under_cotangents() {
    let mut mesh: TetMesh = generate::tet_grid(512, 1).expect("enough nodes");
    let place = |x: f64| {
        // Rounds back to the grid, then makes steps unequal.
        let step = (x * 7.0).round();
        step + 0.3 * step * step
    };
    for p in &mut mesh.points {
        *p = DVec3::new(place(p.x), 2.0 * place(p.y), 0.5 * place(p.z));
    }
    let mesh: VolumeMesh = mesh.into();
    let moved = |weights| {
        let options = Options {
            weights,
            max_iterations: 1,
            ..Options::default()
        };
        let ours = smooth::run::<DVec3>(&on(), &mesh, &[], &options).expect("a mesh");
        assert_eq!(ours.moving, 216);
        ours.moves.max_displacement
    };
    assert!(moved(Weights::Cotangent) < 1e-12);
    assert!(moved(Weights::Uniform) > 0.1);
}

/// HC step by step in its authors' notation, with lists of p, q, o and b.
#[test]
fn hc_is_its_authors_algorithm() {
    let mesh = generate::scan(1000, 11).expect("enough points");
    let count = mesh.points.len();
    let rows =
        reference::surface_neighbours(count, (0..mesh.faces.len()).map(|f| mesh.faces.get(f)));
    let mean = |values: &[DVec3], v: usize| {
        let sum: DVec3 = rows[v].iter().map(|&u| values[u as usize]).sum();
        sum / rows[v].len() as f64
    };
    for (alpha, beta) in [(0.0, 0.5), (0.1, 0.6), (0.7, 0.2), (1.0, 1.0), (0.0, 0.0)] {
        let o = mesh.points.clone();
        let mut p = o.clone();
        for _ in 0..7 {
            let q = p.clone();
            let mut b = vec![DVec3::ZERO; count];
            for v in 0..count {
                p[v] = mean(&q, v);
                b[v] = p[v] - (alpha * o[v] + (1.0 - alpha) * q[v]);
            }
            for v in 0..count {
                p[v] -= beta * b[v] + (1.0 - beta) * mean(&b, v);
            }
        }
        let options = Options {
            method: Filter::Hc { alpha, beta },
            max_iterations: 7,
            ..Options::default()
        };
        let ours = smooth::run_surface::<DVec3>(&on(), &mesh, &[], &options).expect("a mesh");
        assert_eq!(ours.moving as usize, count);
        for (v, (ours, expected)) in ours.points.iter().zip(&p).enumerate() {
            let far = ours.distance(*expected);
            assert!(far < 1e-12, "{alpha} {beta}: node {v} is {far} away");
        }
    }
}
