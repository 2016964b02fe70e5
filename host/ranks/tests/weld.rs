//! Welding on ranks gives the sequential weld's arrays, bit for bit.

mod common;

use common::{Choice, RANKS, choices};
use proptest::prelude::*;
use trioxide::glam::{DVec2, DVec3};
use trioxide::mesh::{Segment, VertexAttributes};
use trioxide::weld::{Carried, Guards, Options, Position, Tuning, weld_segments};
use trioxide::{Device, reference};
use trioxide_ranks::block::{Blocks, Whole};
use trioxide_ranks::threads::run;
use trioxide_ranks::weld::{Plan, Rest, Rounds, Welded, epsilon_for_ratio, weld};
use trioxide_ranks::{Block, Ranks, Result};

/// A mesh, or a cloud without triangles, and what its vertices carry.
#[derive(Clone, Debug, Default)]
struct Input {
    points: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    attributes: VertexAttributes,
    locked: Vec<bool>,
    regions: Option<Vec<i32>>,
    segments: Vec<Segment>,
}

impl Input {
    fn new(points: Vec<DVec3>, faces: Vec<[u32; 3]>) -> Self {
        Self {
            points,
            faces,
            ..Self::default()
        }
    }

    fn whole(&self) -> Whole<'_, DVec3> {
        Whole {
            points: &self.points,
            corners: self.faces.as_flattened(),
            size: 3,
            regions: self.regions.as_deref(),
            segments: &self.segments,
        }
    }

    fn carried(&self) -> Carried<'_> {
        Carried {
            attributes: &self.attributes,
            locked: &self.locked,
            regions: self.regions.as_deref(),
        }
    }

    /// Calls `work` with what a rank's block has.
    fn on_rank<R>(&self, ranks: &Ranks, work: impl FnOnce(Block<DVec3>, Carried) -> R) -> R {
        let range = Blocks::new(self.points.len() as u64, ranks.size()).range(ranks.rank());
        let range = range.start as usize..range.end as usize;
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = &self.attributes;
        let attributes = VertexAttributes {
            normals: normals.as_ref().map(|all| all[range.clone()].to_vec()),
            colors: colors.as_ref().map(|all| all[range.clone()].to_vec()),
            uvs: uvs.as_ref().map(|all| all[range.clone()].to_vec()),
        };
        let locked = match self.locked.is_empty() {
            true => &[],
            false => &self.locked[range],
        };
        let carried = Carried {
            attributes: &attributes,
            locked,
            regions: None,
        };
        work(Block::of(self.whole(), ranks.rank(), ranks.size()), carried)
    }

    fn weld(
        &self,
        size: usize,
        options: &Options,
        choice: Choice,
        rest: Rest,
    ) -> Vec<Result<Welded>> {
        run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let plan = Plan {
                ownership: choice.of(size),
                rest,
            };
            self.on_rank(&ranks, |block, carried| {
                weld(&ranks, &on, &block, &carried, options, &plan)
            })
        })
    }

    /// On ranks, against the sequential weld.
    fn check(&self, size: usize, options: &Options, choice: Choice, rest: Rest) -> Rounds {
        let expected =
            reference::weld_carrying(&self.points, &self.faces, &self.carried(), options).unwrap();
        let slices: Vec<Welded> = (self.weld(size, options, choice, rest).into_iter())
            .map(Result::unwrap)
            .collect();
        let case = format!("{size} ranks, {choice:?}, {rest:?}, {options:?}");
        let narrow = |list: &[u64]| -> Vec<u32> { list.iter().map(|&v| v as u32).collect() };
        fn all<T>(slices: &[Welded], of: impl Fn(&Welded) -> Vec<T>) -> Vec<T> {
            slices.iter().flat_map(of).collect()
        }
        let map = all(&slices, |slice| narrow(&slice.map));
        assert_eq!(map, expected.map, "{case}");
        let representatives = all(&slices, |slice| narrow(&slice.representatives));
        assert_eq!(representatives, expected.representatives, "{case}");
        let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
            points
                .iter()
                .map(|p| p.to_array().map(f64::to_bits))
                .collect()
        };
        let points = all(&slices, |slice| bits(&slice.points));
        assert_eq!(points, bits(&expected.points), "{case}");
        let corners = all(&slices, |slice| narrow(&slice.corners));
        assert_eq!(corners, expected.faces.as_flattened(), "{case}");
        let regions = all(&slices, |slice| slice.regions.clone().unwrap_or_default());
        assert_eq!(regions, expected.regions.clone().unwrap_or_default());
        let normals = |of: &VertexAttributes| bits(of.normals.as_deref().unwrap_or_default());
        let flat = |of: &VertexAttributes| {
            let uvs = of.uvs.iter().flatten();
            let uvs = uvs.flat_map(|uv| uv.to_array()).map(f64::to_bits);
            let colors = of.colors.iter().flatten();
            let colors = colors.map(|&color| u32::from_le_bytes(color).into());
            (uvs.collect::<Vec<_>>(), colors.collect::<Vec<u64>>())
        };
        let (mut uvs, mut colors) = (Vec::new(), Vec::new());
        for slice in &slices {
            let (more_uvs, more_colors) = flat(&slice.attributes);
            uvs.extend(more_uvs);
            colors.extend(more_colors);
            let there = |a: &VertexAttributes| [a.normals.is_some(), a.uvs.is_some()];
            assert_eq!(there(&slice.attributes), there(&self.attributes));
            assert_eq!(slice.clusters, expected.points.len() as u64);
            assert_eq!(slice.faces, expected.faces.len() as u64);
            let map = |v: u32| expected.map.get(v as usize).copied();
            let (segments, _) =
                weld_segments(&self.segments, map, options.keep_degenerate).unwrap();
            assert_eq!(slice.segments, segments, "{case}");
        }
        let of_all = all(&slices, |slice| normals(&slice.attributes));
        assert_eq!(of_all, normals(&expected.attributes), "{case}");
        assert_eq!((uvs, colors), flat(&expected.attributes), "{case}");
        slices[0].rounds
    }

    /// On every number of ranks.
    fn check_all(&self, options: &Options) {
        for size in RANKS {
            for choice in [Choice::Curve, Choice::RoundRobin, Choice::Halves] {
                self.check(size, options, choice, Rest::Gathered);
            }
        }
        self.check(4, options, Choice::Curve, Rest::Exchanged);
        self.check(3, options, Choice::Last, Rest::Exchanged);
    }
}

fn strip(points: usize) -> Vec<[u32; 3]> {
    (0..points.saturating_sub(2) as u32)
        .map(|i| [i, i + 1, i + 2])
        .collect()
}

fn mixed(i: u64) -> u64 {
    let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 29
}

fn scan(n: usize) -> Input {
    let mesh = trioxide_generate::scan(n, 1).unwrap();
    let trioxide::mesh::Faces::Triangles(faces) = mesh.faces else {
        panic!("triangles")
    };
    Input::new(mesh.points, faces)
}

/// The same mesh with its vertices in another order.
fn shuffled(input: &Input) -> Input {
    let mut order: Vec<u32> = (0..input.points.len() as u32).collect();
    order.sort_by_key(|&v| mixed(v.into()));
    let mut place = vec![0; order.len()];
    for (i, &v) in order.iter().enumerate() {
        place[v as usize] = i as u32;
    }
    Input::new(
        order.iter().map(|&v| input.points[v as usize]).collect(),
        (input.faces.iter())
            .map(|face| face.map(|v| place[v as usize]))
            .collect(),
    )
}

/// All attributes, a few locks, and regions.
fn carrying(mut input: Input) -> Input {
    let n = input.points.len() as u64;
    let unit = |i: u64, k: u64| (mixed(7 * i + k) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let normal = |i| DVec3::new(unit(i, 0), unit(i, 1), unit(i, 2));
    input.attributes = VertexAttributes {
        normals: Some((0..n).map(normal).collect()),
        colors: Some((0..n).map(|i| (mixed(i) as u32).to_le_bytes()).collect()),
        uvs: Some((0..n).map(|i| DVec2::new(unit(i, 3), unit(i, 4))).collect()),
    };
    input.locked = (0..n).map(|i| mixed(i).is_multiple_of(19)).collect();
    let faces = input.faces.len() as i32;
    input.regions = (faces > 0).then(|| (0..faces).map(|i| i % 5).collect());
    input
}

/// Clouds, about half on a small grid: equal points, distances of exactly epsilon; triangles of any vertices, some twice.
fn inputs() -> impl Strategy<Value = Input> {
    let arbitrary = prop::collection::vec((0.0..1.0, 0.0..1.0, 0.0..0.2), 0..160);
    let on_grid = prop::collection::vec((0..8_u8, 0..6_u8, 0..2_u8), 0..160).prop_map(|points| {
        let points = points.into_iter();
        let point = |(x, y, z): (u8, u8, u8)| {
            let [x, y, z] = [x, y, z].map(f64::from);
            (x / 8.0, y / 8.0, z / 8.0)
        };
        points.map(point).collect::<Vec<(f64, f64, f64)>>()
    });
    let corner = || any::<prop::sample::Index>();
    let faces = prop::collection::vec((corner(), corner(), corner(), any::<bool>()), 0..80);
    let segments = prop::collection::vec((corner(), corner(), 0..2_i32), 0..6);
    let points = prop_oneof![arbitrary, on_grid];
    let input = (points, faces, segments).prop_map(|(points, faces, segments)| {
        let n = points.len();
        let mut input = Input::new(points.into_iter().map(DVec3::from).collect(), Vec::new());
        for (a, b, c, twice) in faces.into_iter().filter(|_| n > 0) {
            let [a, b, c] = [a, b, c].map(|corner| corner.index(n) as u32);
            input.faces.push([a, b, c]);
            if twice {
                input.faces.push([b, c, a]);
            }
        }
        let segment = |(a, b, marker): (prop::sample::Index, prop::sample::Index, i32)| Segment {
            ends: [a, b].map(|end| end.index(n) as u32),
            marker,
        };
        let segments = segments.into_iter().filter(|_| n > 0);
        input.segments = segments.map(segment).collect();
        input
    });
    (input, any::<bool>()).prop_map(|(input, carries)| match carries {
        true => carrying(input),
        false => input,
    })
}

fn options() -> impl Strategy<Value = Options> {
    let epsilon = prop::sample::select(vec![0.0, 0.05, 0.125, 0.25, 0.3, 2.0]);
    let guards = prop::option::weighted(0.3, (10.0..170.0, 0.1..1.0, 60..255_u8));
    let is_crowded = prop::bool::weighted(0.3);
    (epsilon, any::<bool>(), any::<bool>(), guards, is_crowded).prop_map(
        |(epsilon, is_first, keep_degenerate, guards, is_crowded)| {
            let mut options = Options {
                position: match is_first {
                    true => Position::First,
                    false => Position::Mean,
                },
                keep_degenerate,
                ..Options::new(epsilon)
            };
            if let Some((normals, uvs, colors)) = guards {
                options.guards = Guards {
                    normals: Some(normals),
                    uvs: Some(uvs),
                    colors: Some(colors),
                };
            }
            if is_crowded {
                options.tuning = crowded();
            }
            options
        },
    )
}

/// As if all cells were crowded.
fn crowded() -> Tuning {
    Tuning {
        most_in_bucket: 0,
        ..Tuning::default()
    }
}

fn rests() -> impl Strategy<Value = Rest> {
    prop_oneof![Just(Rest::Gathered), Just(Rest::Exchanged)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
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

#[test]
fn a_grid_copied_several_times() {
    let grid = trioxide_generate::grid(400).unwrap();
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

/// A chain of lower neighbours whose ids run along it, and whose points two or more ranks own by turns.
fn chain(n: u32) -> Input {
    let points = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
    Input::new(points, strip(n as usize))
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
        // Buckets pass ghosts near representatives: they need not be told of these.
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

/// A point with more lower neighbours than its list holds may wait for those in the list beside a representative that its rank knows: who
/// decides the rest needs that one too.
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

/// A line whose ids go back and forth: chains between all ranks, in all directions.
#[test]
fn chains_in_all_directions() {
    for (step, epsilon) in [(7, 1.0), (13, 2.5), (59, 1.0), (29, 6.0)] {
        let n = 180;
        let points = (0..n).map(|i| DVec3::X * f64::from(i * step % n));
        let line = Input::new(points.collect(), strip(n as usize));
        for rest in [Rest::Gathered, Rest::Exchanged] {
            for size in RANKS {
                for choice in [Choice::Curve, Choice::RoundRobin, Choice::Random(5)] {
                    line.check(size, &Options::new(epsilon), choice, rest);
                }
            }
        }
    }
}

/// A member's representative may be no ghost of another rank that has the member: the rank must not count it to a cluster of its own.
#[test]
fn members_of_clusters_elsewhere_stay_out_of_the_mean() {
    // 0 takes 2, and 1 would take it: rank 1 owns 1 alone, and has 2 as a ghost, but not 0, since the points at -1.5 put cubes' bounds at
    // multiples of 2 from there.
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
fn faults_are_the_same_on_all_ranks() {
    let good = chain(50);
    let bad_point = |mut input: Input| {
        input.points[40].y = f64::NAN;
        input.points[31].z = 1e299;
        input
    };
    let bad_face = |mut input: Input| {
        input.faces[44] = [1, 2, 50];
        input.faces[40][0] = 1 << 30;
        input
    };
    let bad_segment = |mut input: Input| {
        input.segments = [[0, 1], [3, 77]]
            .map(|ends| Segment { ends, marker: 0 })
            .to_vec();
        input
    };
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
    let one = Options::new(1.0);
    for (input, options, cause) in [
        (bad_point(good.clone()), one, "vertex 31 has a coordinate"),
        (bad_face(good.clone()), one, "face 40 has a vertex index"),
        (bad_face(bad_point(good.clone())), one, "vertex 31 has"),
        (bad_segment(good.clone()), one, "segment 1 has a vertex"),
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
