//! Laplacian smoothing: the promises of each form, and the quality of cells that can be computed by hand.

use std::collections::BTreeSet;
use std::f64::consts::SQRT_2;

use glam::DVec3;
use gpu::smooth::{cell_quality, dihedral_cosine, radius_ratio, shuffled};
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Mesh;
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::{
    self, Blocks, BoundaryRule, DeviceMesh, Filter, Form, Layout, Options, Renumber, Smoothed,
    Weights,
};
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_verify::validate::smooth::{smoothed_surface, smoothed_volume};

const LAYOUTS: [Layout; 3] = [Layout::Soa, Layout::Aos, Layout::Aligned];

fn on(threads: usize) -> Device {
    Device::cpu(Some(threads)).expect("threads")
}

fn smoothed(mesh: &VolumeMesh, threads: usize, options: &Options) -> Smoothed {
    smooth::run::<DVec3>(&on(threads), mesh, &[], options).expect("a valid mesh")
}

/// Random points in the cube; tetrahedra whose nodes are displaced by up to `amount`, which inverts some.
fn shaken(n: usize, seed: u64, amount: f64) -> TetMesh {
    let mut mesh = generate::random_tets(n, seed).expect("enough points");
    let on_side = |x: f64| x == 0.0 || x == 1.0;
    for (v, p) in mesh.points.iter_mut().enumerate() {
        if !p.to_array().into_iter().any(on_side) {
            let noise = |salt: u32| f64::from(shuffled(3 * v as u32 + salt)) / f64::from(u32::MAX);
            *p += amount * (DVec3::new(noise(0), noise(1), noise(2)) - 0.5);
        }
    }
    mesh
}

/// Neighbours of each node, and whether it is on a face of only one tetrahedron, computed with sets.
fn relations(mesh: &TetMesh) -> (Vec<BTreeSet<u32>>, Vec<bool>) {
    let mut neighbours = vec![BTreeSet::new(); mesh.points.len()];
    let mut faces = BTreeSet::new();
    for t in &mesh.tetrahedra {
        for (k, &a) in t.iter().enumerate() {
            neighbours[a as usize].extend(t.iter().filter(|&&b| b != a));
            let mut face: Vec<u32> = (0..4).filter(|&i| i != k).map(|i| t[i]).collect();
            face.sort_unstable();
            if !faces.remove(&face) {
                faces.insert(face);
            }
        }
    }
    let mut stays = vec![false; mesh.points.len()];
    for v in faces.into_iter().flatten() {
        stays[v as usize] = true;
    }
    (neighbours, stays)
}

fn measured(mesh: &VolumeMesh, points: &[DVec3]) -> Quality3d {
    let on = on(1);
    let resident = DeviceMesh::<DVec3>::upload(&on, mesh).expect("a valid mesh");
    let points = on.upload(points).expect("the CPU");
    quality(&on, resident.cells(), &points).expect("the CPU")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_boundary_stays_and_form_a_has_the_same_bits_everywhere(
        n in 8usize..500,
        seed in 0u64..1000,
        sweeps in 1u32..40,
        threads in 2usize..4,
    ) {
        let tets = shaken(n, seed, 0.1);
        let (neighbours, stays) = relations(&tets);
        let mut expected = tets.points.clone();
        for _ in 0..sweeps {
            let before = expected.clone();
            for v in (0..expected.len()).filter(|&v| !stays[v] && !neighbours[v].is_empty()) {
                let sum = neighbours[v].iter().fold(DVec3::ZERO, |sum, &u| sum + before[u as usize]);
                expected[v] = sum * (1.0 / neighbours[v].len() as f64);
            }
        }
        let mesh: VolumeMesh = tets.into();
        for layout in LAYOUTS {
            for blocks in [Blocks::One, Blocks::Many] {
                for renumber in [Renumber::Off, Renumber::On] {
                    let options = Options { layout, blocks, renumber, max_iterations: sweeps, ..Options::default() };
                    let ours = smoothed(&mesh, threads, &options);
                    prop_assert_eq!(&ours.points, &expected);
                    prop_assert!(ours.moves.sweeps == sweeps || ours.moves.converged);
                }
            }
        }
        for (v, &stays) in stays.iter().enumerate() {
            prop_assert!(!stays || expected[v] == mesh.points[v]);
        }
    }

    #[test]
    fn exact_form_b_is_gauss_seidel_in_the_order_of_ids(
        n in 8usize..500,
        seed in 0u64..1000,
        sweeps in 1u32..20,
        threads in 1usize..4,
    ) {
        let tets = shaken(n, seed, 0.1);
        let (neighbours, stays) = relations(&tets);
        let mut expected = tets.points.clone();
        for _ in 0..sweeps {
            for v in (0..expected.len()).filter(|&v| !stays[v] && !neighbours[v].is_empty()) {
                let sum = neighbours[v].iter().fold(DVec3::ZERO, |sum, &u| sum + expected[u as usize]);
                expected[v] = sum * (1.0 / neighbours[v].len() as f64);
            }
        }
        let mesh: VolumeMesh = tets.into();
        for layout in LAYOUTS {
            let options = Options { form: Form::BExact, layout, max_iterations: sweeps, ..Options::default() };
            prop_assert_eq!(&smoothed(&mesh, threads, &options).points, &expected);
        }
    }

    #[test]
    fn coloured_form_b_does_not_depend_on_threads(n in 8usize..500, seed in 0u64..1000) {
        let mesh: VolumeMesh = shaken(n, seed, 0.1).into();
        let options = |layout, renumber| Options {
            form: Form::BColoured, layout, renumber, max_iterations: 7, ..Options::default()
        };
        let first = smoothed(&mesh, 1, &options(Layout::Aos, Renumber::Off));
        for threads in 2..4 {
            for layout in LAYOUTS {
                prop_assert_eq!(&smoothed(&mesh, threads, &options(layout, Renumber::On)), &first);
            }
        }
    }

    #[test]
    fn the_guard_turns_no_cell_around_and_lowers_no_worst_quality(
        n in 27usize..400,
        seed in 0u64..1000,
        amount in 0.0f64..0.4,
        sweeps in 1u32..12,
        threads in 1usize..4,
    ) {
        let tets = shaken(n, seed, amount);
        let turned = |points: &[DVec3], t: &[u32; 4]| {
            let [a, b, c, d] = t.map(|v| points[v as usize]);
            (b - a).cross(c - a).dot(d - a) <= 0.0
        };
        let mesh: VolumeMesh = tets.clone().into();
        let options = Options { form: Form::BColoured, guard: true, max_iterations: sweeps, ..Options::default() };
        let ours = smoothed(&mesh, threads, &options);
        let (before, after) = (measured(&mesh, &mesh.points), measured(&mesh, &ours.points));
        prop_assert!(after.worst_jacobian >= before.worst_jacobian);
        prop_assert!(after.inverted <= before.inverted);
        for t in &tets.tetrahedra {
            let certainly = measured_positive(&tets.points, t);
            prop_assert!(!certainly || !turned(&ours.points, t));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_promised_of_volumes_holds(
        n in 8usize..400,
        seed in 0u64..1000,
        amount in 0.0f64..0.3,
        way in 0usize..6,
        weights in prop::sample::select(vec![Weights::Uniform, Weights::InverseLength, Weights::Cotangent]),
        slides in any::<bool>(),
        has_regions in any::<bool>(),
        fixed_of in 1usize..9,
        sweeps in 1u32..12,
    ) {
        let (form, blocks, guard, method) = [
            (Form::A, Blocks::Many, false, Filter::Laplacian),
            (Form::A, Blocks::One, false, Filter::TAUBIN),
            (Form::A, Blocks::Many, false, Filter::HC),
            (Form::B, Blocks::Many, false, Filter::Laplacian),
            (Form::BExact, Blocks::Many, false, Filter::Laplacian),
            (Form::BColoured, Blocks::Many, true, Filter::Laplacian),
        ][way];
        let options = Options {
            form,
            blocks,
            guard,
            method,
            weights,
            boundary: if slides { BoundaryRule::Slide } else { BoundaryRule::Fixed },
            max_iterations: sweeps,
            ..Options::default()
        };
        let mut before: VolumeMesh = shaken(n, seed, amount).into();
        if has_regions {
            let left = |cell: &[u32]| cell.iter().all(|&v| before.points[v as usize].x < 0.6);
            before.regions = Some(before.cells.iter().map(|cell| i32::from(left(cell))).collect());
        }
        let fixed: Vec<bool> = (0..before.points.len()).map(|v| v % fixed_of == 1).collect();
        let ours = smooth::run::<DVec3>(&on(2), &before, &fixed, &options).expect("a valid mesh");
        let after = VolumeMesh { points: ours.points, ..before.clone() };
        let kept = smoothed_volume(&before, &after, &fixed, &options);
        prop_assert!(kept.is_ok(), "{options:?}: {kept:?}");
    }

    #[test]
    fn what_is_promised_of_surfaces_holds(
        n in 16usize..900,
        seed in 0u64..1000,
        is_scan in any::<bool>(),
        method in prop::sample::select(vec![Filter::Laplacian, Filter::TAUBIN, Filter::HC]),
        slides in any::<bool>(),
        sweeps in 1u32..12,
    ) {
        let before: Mesh = if is_scan {
            generate::scan(n, seed).expect("enough points")
        } else {
            generate::jittered(n, seed).expect("enough points").into()
        };
        let options = Options {
            method,
            boundary: if slides { BoundaryRule::Slide } else { BoundaryRule::Fixed },
            max_iterations: sweeps,
            ..Options::default()
        };
        let fixed: Vec<bool> = (0..before.points.len()).map(|v| v % 7 == 1).collect();
        let ours = smooth::run_surface::<DVec3>(&on(2), &before, &fixed, &options).expect("a valid mesh");
        let after = Mesh { points: ours.points, ..before.clone() };
        let kept = smoothed_surface(&before, &after, &fixed, &options);
        prop_assert!(kept.is_ok(), "{options:?}: {kept:?}");
    }
}

fn measured_positive(points: &[DVec3], t: &[u32; 4]) -> bool {
    cell_quality(4, |k| points[t[k as usize] as usize]).is_positive
}

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-12, "{ours}, not {expected}");
}

fn jacobian(corners: &[[f64; 3]]) -> f64 {
    cell_quality(corners.len() as u32, |k| corners[k as usize].into()).jacobian
}

fn is_positive(corners: &[[f64; 3]]) -> bool {
    cell_quality(corners.len() as u32, |k| corners[k as usize].into()).is_positive
}

#[test]
fn a_regular_tetrahedron_is_the_best() {
    let corners = [[1., 1., 1.], [-1., 1., -1.], [1., -1., -1.], [-1., -1., 1.]];
    let points = corners.map(DVec3::from);
    near(jacobian(&corners), 1.0);
    near(radius_ratio(points), 1.0);
    near(dihedral_cosine(points), 1.0 / 3.0);
    assert!(is_positive(&corners));
}

#[test]
fn the_corner_of_a_cube_by_hand() {
    let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
    let points = corners.map(DVec3::from);
    // Determinant 1; edges 1, root 2 and root 2 at three of the corners.
    near(jacobian(&corners), SQRT_2 / 2.0);
    // Circumradius root 3 / 2; inradius 1 / (3 + root 3).
    near(radius_ratio(points), (1.0 + 3f64.sqrt()) / 2.0);
    // Between the face x + y + z = 1 and the others.
    near(dihedral_cosine(points), 1.0 / 3f64.sqrt());
    let turned = [corners[0], corners[2], corners[1], corners[3]];
    near(jacobian(&turned), -SQRT_2 / 2.0);
    assert!(is_positive(&corners) && !is_positive(&turned));
}

#[test]
fn cells_without_volume_are_the_worst() {
    let flat = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [1., 1., 0.]];
    assert_eq!(jacobian(&flat), 0.0);
    assert_eq!(radius_ratio(flat.map(DVec3::from)), f64::INFINITY);
    near(dihedral_cosine(flat.map(DVec3::from)), 1.0);
    let point = [[1.0; 3]; 4];
    assert_eq!(jacobian(&point), 0.0);
    assert_eq!(radius_ratio(point.map(DVec3::from)), f64::INFINITY);
    near(dihedral_cosine(point.map(DVec3::from)), 1.0);
    assert_eq!(jacobian(&[[1.0; 3]; 8]), 0.0);
    assert!(!is_positive(&flat) && !is_positive(&point) && !is_positive(&[[1.0; 3]; 6]));
}

#[test]
fn hexahedra_by_hand() {
    let cube = |shear: f64| {
        [
            [0, 0, 0],
            [1, 0, 0],
            [1, 1, 0],
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 1],
            [1, 1, 1],
            [0, 1, 1],
        ]
        .map(|place| {
            let [x, y, z] = place.map(f64::from);
            [x + shear * z, y, z]
        })
    };
    near(jacobian(&cube(0.0)), 1.0);
    // One of the three edges at each corner tilts by 45 degrees.
    near(jacobian(&cube(1.0)), SQRT_2 / 2.0);
    let mut dented = cube(0.0);
    dented[6] = [0.4, 0.4, 0.4];
    // At the corner: det of (-0.6, 0.4, 0.4) and its cyclic permutations, over their lengths cubed.
    let corner = 0.2 / 0.68f64.powf(1.5);
    assert!(jacobian(&dented) <= -corner && !is_positive(&dented));
}

#[test]
fn wedges_and_pyramids_by_hand() {
    let wedge = |x: f64, y: f64| {
        [
            [0., 0., 0.],
            [1., 0., 0.],
            [x, y, 0.],
            [0., 0., 2.],
            [1., 0., 2.],
            [x, y, 2.],
        ]
    };
    near(jacobian(&wedge(0.5, 0.75f64.sqrt())), 1.0);
    // The sine of 45 degrees over the sine of 60.
    near(jacobian(&wedge(0.0, 1.0)), (2.0f64 / 3.0).sqrt());
    // All edges have the same length.
    let height = 0.5f64.sqrt();
    let pyramid = [
        [0., 0., 0.],
        [1., 0., 0.],
        [1., 1., 0.],
        [0., 1., 0.],
        [0.5, 0.5, height],
    ];
    near(jacobian(&pyramid), 1.0);
    let mut turned = pyramid;
    turned[4][2] = -height;
    near(jacobian(&turned), -1.0);
    assert!(is_positive(&pyramid) && !is_positive(&turned));
}

#[test]
fn memory_is_asked_for_before() {
    let mesh: VolumeMesh = generate::tet_grid(4096, 1).expect("enough nodes").into();
    let on = on(1);
    smooth::run::<DVec3>(&on, &mesh, &[], &Options::default()).expect("a valid mesh");
    let needed = DeviceMesh::<DVec3>::bytes_needed(4096, 4 * mesh.cells.len(), true);
    let peak = on.peak_bytes();
    assert!(
        needed <= peak && peak < 2 * needed,
        "{needed} asked for, {peak} taken"
    );
}
