//! Untangling and improving: promises on random meshes, and any number of threads.

use glam::{DVec3, Vec3};
use gpu::smooth::Vector;
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::generate::{random_tets, tangled_tets};
use trioxide::smooth::{
    BoundaryRule, DeviceMesh, Goal, UntangleOptions, Untangling, measure_ratios, untangle,
};
use trioxide::volume::VolumeMesh;
use trioxide_verify::validate::untangle::{is_inverted, untangled_volume};

fn cpu(threads: usize) -> Device {
    Device::cpu(Some(threads)).expect("threads can be started")
}

fn options(goal: Goal, max_sweeps: u32) -> UntangleOptions {
    UntangleOptions {
        goal,
        boundary: BoundaryRule::Fixed,
        max_sweeps,
        keep_going: true,
    }
}

fn run<P: Vector>(
    threads: usize,
    mesh: &VolumeMesh,
    options: &UntangleOptions,
) -> (VolumeMesh, Untangling) {
    let on = cpu(threads);
    let resident = DeviceMesh::<P>::upload(&on, mesh).expect("a mesh");
    let done = untangle(&on, &resident, &[], options).expect("not all cells are inverted");
    let points = on.download(done.points()).expect("the points");
    let after = VolumeMesh {
        points: points.into_iter().map(P::to_f64).collect(),
        ..mesh.clone()
    };
    (after, done.report().clone())
}

fn rounded(mesh: VolumeMesh) -> VolumeMesh {
    let points = mesh.points.iter().map(|&p| p.as_vec3().as_dvec3());
    VolumeMesh {
        points: points.collect(),
        ..mesh
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A grid of which any part is inverted becomes valid, then better; in both precisions, on any number of threads.
    #[test]
    fn a_tangled_grid_becomes_valid(
        n in 64usize..1000,
        seed in any::<u64>(),
        share in 0.01f64..0.25,
    ) {
        let mesh: VolumeMesh = tangled_tets(n, share, seed).unwrap().into();
        let goal = options(Goal::UntangledAndImproved, 100);
        let (after, report) = run::<DVec3>(1, &mesh, &goal);
        prop_assert!(report.inverted_before > 0 && report.inverted.is_empty());
        untangled_volume(&mesh, &after, &[], goal.boundary, &report).unwrap();
        for threads in [2, 16] {
            prop_assert_eq!(&run::<DVec3>(threads, &mesh, &goal), &(after.clone(), report.clone()));
        }
        // Nodes that are not in a ring keep their bits.
        let moved = mesh.points.iter().zip(&after.points).filter(|(a, b)| a != b);
        prop_assert!(moved.count() <= report.moved as usize);
        let mesh = rounded(mesh);
        let (after, report) = run::<Vec3>(2, &mesh, &goal);
        untangled_volume(&mesh, &after, &[], goal.boundary, &report).unwrap();
    }

    /// Improving never makes the worst cell worse, nor the smallest and the largest angle; the report has the ratios.
    #[test]
    fn improving_keeps_the_worst(
        n in 30usize..300,
        seed in any::<u64>(),
        sweeps in 0u32..10,
        slides in any::<bool>(),
    ) {
        let mesh: VolumeMesh = random_tets(n, seed).unwrap().into();
        let goal = UntangleOptions {
            boundary: [BoundaryRule::Fixed, BoundaryRule::Slide][usize::from(slides)],
            ..options(Goal::Improved, sweeps)
        };
        let (after, report) = run::<DVec3>(2, &mesh, &goal);
        untangled_volume(&mesh, &after, &[], goal.boundary, &report).unwrap();
        prop_assert!(report.improving_sweeps <= sweeps);
        let on = cpu(1);
        let resident = DeviceMesh::<DVec3>::upload(&on, &after).unwrap();
        let ratios = measure_ratios(&on, resident.cells(), resident.points()).unwrap();
        prop_assert_eq!(ratios, report.ratios[1].clone());
    }
}

/// The generator's part of inverted cells, by other arithmetic.
#[test]
fn a_part_of_a_tangled_grid_is_inverted() {
    for share in [0.01, 0.1, 0.3, 0.4] {
        let mesh: VolumeMesh = tangled_tets(8000, share, 1).unwrap().into();
        let cells = mesh.cells.iter();
        let inverted = cells.filter(|cell| is_inverted(&mesh.points, cell)).count();
        let part = inverted as f64 / mesh.cells.len() as f64;
        assert!((part - share).abs() < 1e-3, "{part}, not {share}");
    }
    for share in [0.0, 0.41, f64::NAN] {
        let said = tangled_tets(1000, share, 1).unwrap_err().to_string();
        assert!(
            said.contains("inverted tetrahedra cannot be made"),
            "{said}"
        );
    }
    let said = tangled_tets(8, 0.1, 1).unwrap_err().to_string();
    assert!(said.contains("ask for at least 27"), "{said}");
}
