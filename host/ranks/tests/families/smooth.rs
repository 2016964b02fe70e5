//! Smoothing on ranks moves the nodes of the single run to the same bits.

use crate::common::{Choice, PAIRS, RANKS, choices, constrained, random_cases};
use gpu::point::MeshPoint;
use gpu::smooth::Vector;
use proptest::prelude::*;
use trioxide::Device;
use trioxide::glam::{DVec3, Vec3};
use trioxide::mesh::Mesh;
use trioxide::smooth::{Filter, Form, Moves, Options, Renumber, Smoothed, Weights};
use trioxide::volume::{Cells, VolumeMesh};
use trioxide_ranks::block::Whole;
use trioxide_ranks::smooth::smooth;
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Ranks};

/// A rank's part of the result: the number of moving nodes, the moves, and the points of its block.
fn smoothed<P: Vector + MeshPoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    fixed: &[bool],
    options: &Options,
    ownership: &Ownership,
) -> (u64, Moves, Vec<DVec3>) {
    let smoothed = smooth::<P>(ranks, on, block, fixed, options, ownership).unwrap();
    let points = smoothed.points(ranks, on, block).unwrap();
    (smoothed.moving, smoothed.moves, points)
}

/// On ranks, against the single run's result.
fn check(
    whole: Whole<DVec3>,
    expected: &Smoothed,
    fixed: &[bool],
    options: &Options,
    size: usize,
    choice: Choice,
    is_short: bool,
) {
    let results = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::of(whole, ranks.rank(), size);
        let smooth = match is_short {
            true => smoothed::<Vec3>,
            false => smoothed::<DVec3>,
        };
        smooth(&ranks, &on, &block, fixed, options, &choice.of(size))
    });
    let mut points = Vec::new();
    for (moving, moves, of_rank) in results {
        assert_eq!(moving, u64::from(expected.moving));
        assert_eq!(moves, expected.moves, "{size} ranks, {choice:?}");
        points.extend(of_rank);
    }
    let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
        points
            .iter()
            .map(|p| p.to_array().map(f64::to_bits))
            .collect()
    };
    assert_eq!(
        bits(&points),
        bits(&expected.points),
        "{size} ranks, {choice:?}"
    );
}

fn options() -> impl Strategy<Value = Options> {
    let weights = prop_oneof![
        Just(Weights::Uniform),
        Just(Weights::InverseLength),
        Just(Weights::Cotangent)
    ];
    let method = prop_oneof![Just(Filter::Laplacian), Just(Filter::TAUBIN)];
    let renumber = prop_oneof![Just(Renumber::Off), Just(Renumber::On)];
    let tolerance = prop_oneof![Just(0.0), Just(0.01), Just(100.0)];
    let form = prop_oneof![Just(Form::A), Just(Form::BColoured)];
    (form, weights, method, renumber, tolerance, 0..9_u32).prop_map(
        |(form, weights, method, renumber, tolerance, max_iterations)| Options {
            form,
            weights,
            method,
            renumber,
            tolerance,
            max_iterations,
            ..Options::default()
        },
    )
}

/// A mesh of the plane, lifted to a surface.
fn lifted() -> impl Strategy<Value = Mesh> {
    constrained().prop_map(|planar| {
        let mut mesh = Mesh::from(planar);
        for p in &mut mesh.points {
            p.z = 0.1 * (p.x * 3.0 + p.y * p.y);
        }
        mesh
    })
}

proptest! {
    #![proptest_config(random_cases(60))]
    #[test]
    fn any_surface_any_owners(
        (mesh, fixed) in (lifted(), 2..9_usize).prop_map(|(mesh, each)| {
            // One of two to seven nodes, or no list.
            let fixed = (0..mesh.points.len()).map(|v| v % each == 0).collect();
            (mesh, if each < 8 { fixed } else { Vec::new() })
        }),
        options in options(),
        size in prop::sample::select(&RANKS[..]),
        choice in choices(),
    ) {
        let on = Device::cpu(Some(1)).unwrap();
        let expected = trioxide::smooth::run_surface::<DVec3>(&on, &mesh, &fixed, &options).unwrap();
        let surface = mesh.clone().into_surface().unwrap();
        check((&surface).into(), &expected, &fixed, &options, size, choice, false);
    }
}

#[test]
fn tetrahedra_on_every_number_of_ranks() {
    let mut mesh = VolumeMesh::from(trioxide::generate::tet_grid(1000, 3).unwrap());
    mesh.regions = Some((0..mesh.cells.len() as i32).map(|i| i / 2500).collect());
    let Cells::Tetrahedra(tetrahedra) = &mesh.cells else {
        panic!("tetrahedra")
    };
    let whole = Whole {
        points: &mesh.points,
        corners: tetrahedra.as_flattened(),
        size: 4,
        regions: mesh.regions.as_deref(),
        segments: &[],
    };
    let on = Device::cpu(Some(1)).unwrap();
    let sweeps = [
        (Form::A, false, Weights::Uniform),
        (Form::A, false, Weights::Cotangent),
        (Form::BColoured, false, Weights::Uniform),
        (Form::BColoured, false, Weights::Cotangent),
        (Form::BColoured, true, Weights::Uniform),
    ];
    for (form, guard, weights) in sweeps {
        let options = Options {
            max_iterations: 7,
            form,
            guard,
            weights,
            ..Options::default()
        };
        let expected = trioxide::smooth::run::<DVec3>(&on, &mesh, &[], &options).unwrap();
        assert!(expected.moving > 100);
        let short = trioxide::smooth::run::<Vec3>(&on, &mesh, &[], &options).unwrap();
        for (size, choice) in PAIRS {
            check(whole, &expected, &[], &options, size, choice, false);
        }
        check(whole, &short, &[], &options, 3, Choice::Curve, true);
    }
}

#[test]
fn options_that_need_more_than_neighbours_are_refused() {
    let surface = Mesh::from(trioxide::generate::grid(100).unwrap())
        .into_surface()
        .unwrap();
    for options in [
        Options {
            form: Form::BExact,
            ..Options::default()
        },
        Options {
            method: Filter::HC,
            ..Options::default()
        },
        Options {
            boundary: trioxide::smooth::BoundaryRule::Slide,
            ..Options::default()
        },
    ] {
        let faults = run(2, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let block = Block::of(&surface, ranks.rank(), 2);
            let owners = Choice::Curve.of(2);
            smooth::<DVec3>(&ranks, &on, &block, &[], &options, &owners).map(drop)
        });
        for fault in faults {
            let said = fault.unwrap_err().to_string();
            assert!(said.starts_with("several processes smooth by"), "{said}");
        }
    }
}
