//! Polylla of surfaces in space on ranks gives the result of the single run.

use trioxide::Device;
use trioxide::glam::{DVec3, Vec3};
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::{PolyllaLists, Ties};
use trioxide::polylla::{self, Angles, Constraints, polylla};
use trioxide_ranks::polylla::{Options, Points};

use crate::common::Choice;
use crate::common::surfaces::{Surface, all, ring};
use crate::polylla::{compare, on_ranks};

/// Numbers of ranks with owners.
const PAIRS: [(usize, Choice); 4] = [
    (1, Choice::Curve),
    (2, Choice::RoundRobin),
    (3, Choice::Blocks),
    (5, Choice::Random(7)),
];

fn angles(feature: Option<f64>, flatness: Option<f64>) -> Angles {
    Angles { feature, flatness }
}

fn single<P>(mesh: &Surface, options: Options) -> PolyllaLists
where
    P: AnyPoint<Double = DVec3>,
{
    let on = Device::cpu(Some(1)).unwrap();
    let there = DeviceTriangulation::<P>::upload(&on, mesh).unwrap();
    let constraints = Constraints::of(&on, &there, mesh).unwrap();
    let constraints =
        Constraints::with_angles(&on, &there, constraints, options.angles, Ties::Edge).unwrap();
    let options = polylla::Options {
        strict: options.strict,
        ..polylla::Options::default()
    };
    let result = polylla(&on, &there, constraints.as_ref(), options).unwrap();
    result.download(&on).unwrap()
}

/// Returns the polygons of the single run, with which those of the ranks agree.
fn check<P: Points<Double = DVec3>>(
    (name, mesh): (&str, &Surface),
    size: usize,
    choice: Choice,
    options: Options,
) -> PolyllaLists {
    let expected = single::<P>(mesh, options);
    let results = on_ranks::<P>(mesh, size, &choice.of(size), options);
    let case = format!("{name}, {size} ranks, {choice:?}, {options:?}");
    compare(mesh.regions.as_deref(), &expected, results, &case);
    expected
}

#[test]
fn surfaces_on_every_number_of_ranks() {
    for (name, mesh) in &all() {
        for (size, choice) in PAIRS {
            for strict in [false, true] {
                let options = Options {
                    strict,
                    ..Options::default()
                };
                check::<DVec3>((name, mesh), size, choice, options);
            }
        }
        check::<Vec3>((name, mesh), 3, Choice::Curve, Options::default());
    }
}

#[test]
fn edges_stay_for_angles_on_any_rank() {
    let mut counts = Vec::new();
    for (name, mesh) in &all() {
        for (feature, flatness) in [
            (Some(25.0), None),
            (None, Some(12.0)),
            (Some(50.0), Some(20.0)),
        ] {
            let options = Options {
                strict: false,
                angles: angles(feature, flatness),
            };
            for (size, choice) in PAIRS {
                let found = check::<DVec3>((name, mesh), size, choice, options);
                counts.push(found.counts.polygons);
            }
            check::<Vec3>((name, mesh), 2, Choice::RoundRobin, options);
        }
    }
    // Each of the angles keeps other edges.
    let plain = single::<DVec3>(&all()[0].1, Options::default())
        .counts
        .polygons;
    let of_torus = [0, PAIRS.len(), 2 * PAIRS.len()].map(|i| counts[i]);
    assert!(
        of_torus.iter().all(|&count| count > plain),
        "{of_torus:?} {plain}"
    );
    assert!(
        of_torus[0] != of_torus[1] && of_torus[1] != of_torus[2],
        "{of_torus:?}"
    );
}

/// A tree of triangles that changes its rank at every step: the base goes down it in as many exchanges.
#[test]
fn a_long_region_is_flat_on_any_rank() {
    let mesh = ring(300);
    for flatness in [3.0, 10.0, 60.0, 180.0] {
        let options = Options {
            strict: true,
            angles: angles(None, Some(flatness)),
        };
        for (size, choice) in [
            (2, Choice::RoundRobin),
            (5, Choice::Random(9)),
            (7, Choice::Curve),
        ] {
            check::<DVec3>(("a long ring", &mesh), size, choice, options);
        }
    }
}
