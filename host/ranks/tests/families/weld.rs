//! Welding on ranks gives the sequential weld's arrays, bit for bit.

use std::time::{Duration, Instant};

use crate::common::clouds::{
    Input, carrying, chain, crowded, inputs, mixed, options, rests, scan, shuffled, strip,
};
use crate::common::{Choice, PAIRS, RANKS, choices, random_cases};
use proptest::prelude::*;
use trioxide::Device;
use trioxide::glam::DVec3;
use trioxide::mesh::{Segment, VertexAttributes};
use trioxide::weld::{Guards, Options, Position};
use trioxide_ranks::Ranks;
use trioxide_ranks::threads::run;
use trioxide_ranks::weld::{Plan, Rest, Wanted, Welded, epsilon_for_ratio, weld};
use trioxide_reference as reference;

proptest! {
    #![proptest_config(random_cases(120))]
    #[test]
    fn any_mesh_any_owners(
        input in inputs(),
        mut options in options(),
        size in prop::sample::select(&RANKS[..]),
        choice in choices(),
        rest in rests(),
    ) {
        if input.attributes == VertexAttributes::default() {
            options.guards = Guards::default();
        }
        input.check(size, &options, choice, rest);
    }
}

#[test]
fn scans_on_every_number_of_ranks() {
    let scan = scan(1500);
    // The spacing is about 0.07.
    for epsilon in [0.0, 0.01, 0.07, 0.3] {
        scan.check_all(&Options::new(epsilon));
    }
    carrying(shuffled(&scan)).check_all(&Options::new(0.1));
}

/// Results that are not wanted are left out, and the others are the same.
#[test]
fn what_is_wanted() {
    let mut input = carrying(shuffled(&scan(600)));
    input.segments = vec![Segment {
        ends: [3, 577],
        marker: 4,
    }];
    for keep_degenerate in [false, true] {
        let options = Options {
            keep_degenerate,
            ..Options::new(0.1)
        };
        for (size, choice) in [(1, Choice::Curve), (3, Choice::Curve), (4, Choice::Blocks)] {
            let welded = |map, mesh| -> Vec<Welded> {
                let wanted = Wanted { map, mesh };
                let slices = input.weld_wanting(size, &options, choice, Rest::Gathered, wanted);
                slices.into_iter().map(Result::unwrap).collect()
            };
            let all = welded(true, true);
            for (map, mesh) in [(false, false), (true, false), (false, true)] {
                for (slice, all) in welded(map, mesh).into_iter().zip(&all) {
                    let mut expected = all.clone();
                    if !map {
                        expected.map.clear();
                        expected.representatives.clear();
                    }
                    if !mesh {
                        expected.points.clear();
                        expected.attributes = VertexAttributes::default();
                        expected.corners.clear();
                        expected.regions = None;
                    }
                    assert_eq!(slice, expected, "{size} ranks, {choice:?}, {map}, {mesh}");
                }
            }
        }
    }
}

#[test]
fn a_grid_copied_several_times() {
    let grid = trioxide::generate::grid(400).unwrap();
    let n = grid.points.len() as u32;
    let copies = 0..4_u32;
    let points = copies
        .clone()
        .flat_map(|_| grid.points.iter().map(|p| p.extend(0.0)));
    let faces = copies.flat_map(|k| {
        let faces = grid.triangles.iter();
        faces.map(move |face| face.map(|v| v + k * n))
    });
    let copied = Input::new(points.collect(), faces.collect());
    for input in [copied.clone(), shuffled(&copied)] {
        for epsilon in [0.0, 0.01, 0.051] {
            input.check_all(&Options::new(epsilon));
        }
        input.check_all(&Options {
            keep_degenerate: true,
            position: Position::First,
            ..Options::new(0.0)
        });
    }
}

#[test]
fn points_that_coincide() {
    let same = Input::new(vec![DVec3::new(0.1, 0.2, 0.3); 200], strip(200));
    let far = (0..90).map(|i| DVec3::X * f64::from(i % 3) * 1e18 + DVec3::Y * f64::from(i % 5));
    let zeros = (0..64)
        .map(|i| DVec3::from_array([1, 2, 4].map(|bit| if i & bit == 0 { 0.0 } else { -0.0 })));
    let far = Input::new(far.collect(), strip(90));
    let zeros = Input::new(zeros.collect(), strip(64));
    for input in [same, far, zeros] {
        for epsilon in [0.0, 1.0] {
            input.check_all(&Options::new(epsilon));
        }
    }
}

#[test]
fn coordinates_and_distances_of_all_sizes() {
    for (spacing, epsilons) in [
        (1e295, [1e295, f64::MAX]),
        (5e-324, [5e-324, 1e-300]),
        (1.0, [1e-9, 1e9]),
    ] {
        let points = (0..60).map(|i| DVec3::splat(f64::from(i * 7 % 60) * spacing));
        let line = Input::new(points.collect(), strip(60));
        for epsilon in epsilons {
            line.check_all(&Options::new(epsilon));
        }
    }
}

#[test]
fn nothing_and_ranks_without_points() {
    for points in 0..4 {
        let line = (0..points).map(|i| DVec3::X * f64::from(i)).collect();
        Input::new(line, strip(points as usize)).check_all(&Options::new(1.0));
    }
    let mut cloud = Input::new(vec![DVec3::ONE, DVec3::ZERO], Vec::new());
    cloud.regions = Some(Vec::new());
    cloud.check_all(&Options::new(0.5));
}

#[test]
fn a_chain_that_crosses_ranks_takes_a_round_a_crossing_or_is_gathered() {
    let options = Options::new(1.0);
    let in_buckets = Options {
        tuning: crowded(),
        ..options
    };
    for size in [2, 3, 7] {
        let rounds = chain(60).check(size, &options, Choice::RoundRobin, Rest::Exchanged);
        // Two links a round at most: a representative, and the member that it makes of the next.
        assert!((30..=62).contains(&rounds.count), "{rounds:?}");
        assert_eq!(rounds.gathered, 0);
        // A bucket passes a ghost near a representative before the state of the ghost arrives: fewer rounds may do.
        let rounds = chain(60).check(size, &in_buckets, Choice::RoundRobin, Rest::Exchanged);
        assert!(rounds.count <= 62, "{rounds:?}");
    }
    // The whole mesh is one chain: rank 0 takes half a part after the other.
    for size in [2, 4] {
        let rounds = chain(600).check(size, &options, Choice::RoundRobin, Rest::Gathered);
        assert!((3..20).contains(&rounds.count), "{rounds:?}");
        assert!(rounds.gathered >= 590, "{rounds:?}");
    }
    // Beside points that are decided at once the chain is few.
    let mut beside = chain(60);
    let apart = (0..4000).map(|i| DVec3::new(3.0 * f64::from(i), 50.0, 0.0));
    beside.points.extend(apart);
    let owner = |id: u64, size: usize| match id {
        0..60 => id as usize % size,
        _ => id as usize * size / 4060,
    };
    for size in [2, 3, 7] {
        let results = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let plan = Plan {
                ownership: trioxide_ranks::Ownership::Given(std::sync::Arc::new(move |id| {
                    owner(id, size)
                })),
                rest: Rest::Gathered,
                ..Plan::default()
            };
            beside.on_rank(&ranks, |block, carried| {
                weld(&ranks, &on, &block, &carried, &options, &plan).unwrap()
            })
        });
        let rounds = results[0].rounds;
        assert!(rounds.count < 5, "{rounds:?}");
        assert!((40..200).contains(&rounds.gathered), "{rounds:?}");
        let map: Vec<u64> = results.into_iter().flat_map(|slice| slice.map).collect();
        let expected = reference::weld(&beside.points, &beside.faces, &options).unwrap();
        let expected: Vec<u64> = expected.map.iter().map(|&v| v.into()).collect();
        assert_eq!(map, expected);
    }
}

/// A point may have more lower neighbours than its list holds. It may wait for neighbours in the list although its rank
/// knows a representative near it, so rank 0, which decides the rest, needs this representative too.
#[test]
fn the_rest_is_decided_with_the_representatives_that_are_known() {
    let unit = |i: u64| (mixed(i) >> 11) as f64 / (1_u64 << 53) as f64;
    let points = (0..160).map(|i| DVec3::new(unit(3 * i), unit(3 * i + 1), unit(3 * i + 2)));
    let cloud = Input::new(points.collect(), Vec::new());
    let mut gathered = 0;
    for size in RANKS {
        for epsilon in [0.3, 0.5, 2.0] {
            let options = Options::new(epsilon);
            let rounds = cloud.check(size, &options, Choice::Curve, Rest::Gathered);
            gathered += rounds.gathered;
        }
    }
    assert!(gathered > 0);
}

/// Each corner of a triangle soup lies on the boundary. Buckets that compared locked points with each other took
/// minutes for this.
#[test]
fn locked_points_that_coincide_take_linear_time() {
    let mut soup = Input::new(vec![DVec3::ONE; 60_000], strip(60_000));
    soup.locked = (0..60_000).map(|v| v != 59_999).collect();
    let start = Instant::now();
    soup.check(2, &Options::new(0.0), Choice::Blocks, Rest::Gathered);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// A line whose ids go back and forth: chains between all ranks, in all directions.
#[test]
fn chains_in_all_directions() {
    for (step, epsilon) in [(7, 1.0), (13, 2.5), (59, 1.0), (29, 6.0)] {
        let n = 180;
        let points = (0..n).map(|i| DVec3::X * f64::from(i * step % n));
        let line = Input::new(points.collect(), strip(n as usize));
        for rest in [Rest::Gathered, Rest::Exchanged] {
            for (size, choice) in PAIRS.into_iter().chain([(4, Choice::Random(5))]) {
                line.check(size, &Options::new(epsilon), choice, rest);
            }
        }
    }
}

/// A member's representative may be no ghost of another rank that has the member: the rank must not count it to a
/// cluster of its own.
#[test]
fn members_of_clusters_elsewhere_stay_out_of_the_mean() {
    // 0 takes 2, and 1 would take it: rank 1 owns 1 alone, and has 2 as a ghost, but not 0, since the points at -1.5
    // put cubes' bounds at multiples of 2 from there.
    let mut points = [0.0, 1.8, 1.0].map(|x| DVec3::X * x).to_vec();
    points.extend([DVec3::X * -1.5; 100]);
    let line = Input::new(points, Vec::new());
    let rounds = line.check(2, &Options::new(1.0), Choice::Only(1), Rest::Exchanged);
    assert!(rounds.count > 0);
}

#[test]
fn the_epsilon_of_a_ratio_is_that_of_the_single_run() {
    for input in [scan(800), carrying(shuffled(&scan(500))), chain(40)] {
        for ratio in [0.0, 0.1, 0.5] {
            let guards = match input.attributes.normals {
                Some(_) => Guards {
                    normals: Some(100.0),
                    ..Guards::default()
                },
                None => Guards::default(),
            };
            let carried = input.carried();
            let expected =
                reference::weld::epsilon_for_ratio(&input.points, &carried, &guards, ratio);
            let expected = expected.unwrap();
            for size in [1, 2, 3] {
                let found = run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let on = Device::cpu(Some(1)).unwrap();
                    let plan = Plan::default();
                    input.on_rank(&ranks, |block, carried| {
                        epsilon_for_ratio(&ranks, &on, &block, &carried, &guards, ratio, &plan)
                    })
                });
                for found in found {
                    assert_eq!(found.unwrap(), expected, "{size} ranks, {ratio}");
                }
            }
        }
    }
}

#[test]
fn faults_of_options_are_the_same_on_all_ranks() {
    let good = chain(50);
    let guarded = Options {
        guards: Guards {
            normals: Some(20.0),
            ..Guards::default()
        },
        ..Options::new(1.0)
    };
    let by_lists = Options {
        method: trioxide::weld::Method::Dependency,
        ..Options::new(1.0)
    };
    for (input, options, cause) in [
        (good.clone(), guarded, "there is a tolerance of normals"),
        (good.clone(), by_lists, "by the method grid alone"),
        (good.clone(), Options::new(-1.0), "epsilon is -1"),
    ] {
        // Of the last choice one rank has points, and fails alone while the others wait for it.
        for (size, choice) in [
            (1, Choice::Curve),
            (3, Choice::Curve),
            (7, Choice::RoundRobin),
            (4, Choice::Only(u64::MAX)),
        ] {
            for result in input.weld(size, &options, choice, Rest::Gathered) {
                let said = result.unwrap_err().to_string();
                assert!(said.contains(cause), "{said}");
            }
        }
    }
}
