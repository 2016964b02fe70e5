//! Polylla on ranks gives the result of the single run: the same polygons, order and counts.

use crate::common::{Choice, PAIRS, RANKS, choices, constrained, random_cases};
use proptest::prelude::*;
use trioxide::generate::{self, Grid};
use trioxide::glam::{DVec2, Vec2};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{PolyllaLists, Triangulation};
use trioxide::polylla::{self, Angles, Constraints, polylla};
use trioxide::{Device, digest};
use trioxide_operations::polylla::Totals;
use trioxide_ranks::polylla::{Found, Options, Ordered, Points, find, part_to_find_in};
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Part, Ranks, Result};

const PLAIN: Options = Options {
    strict: false,
    angles: Angles {
        feature: None,
        flatness: None,
    },
};
const STRICT: Options = Options {
    strict: true,
    ..PLAIN
};

fn single<P: Point>(mesh: &Triangulation, options: Options) -> PolyllaLists {
    let on = Device::cpu(Some(1)).unwrap();
    let triangulation = DeviceTriangulation::<P>::upload(&on, mesh).unwrap();
    let constraints = Constraints::of(&on, &triangulation, mesh).unwrap();
    let options = polylla::Options {
        strict: options.strict,
        ..polylla::Options::default()
    };
    let result = polylla(&on, &triangulation, constraints.as_ref(), options).unwrap();
    result.download(&on).unwrap()
}

/// A digest as the command line gives it for one process.
fn digest_of(lists: &PolyllaLists) -> u64 {
    digest::of_polygons(lists.half_edges.len(), |i| {
        let vertices = lists.polygons.get(i).iter().map(|&v| v.into());
        digest::of_polygon(lists.half_edges[i].into(), vertices)
    })
}

/// The slices of all ranks, their counts, and their digest.
pub fn on_ranks<P: Points>(
    mesh: &Triangulation<P::Double>,
    size: usize,
    ownership: &Ownership,
    options: Options,
) -> Vec<Result<(Ordered, Totals, u64)>> {
    run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::of(mesh, ranks.rank(), size);
        let part = part_to_find_in::<P>(&ranks, &block, ownership)?;
        let found = find::<P>(&ranks, &on, part, options);
        let sizes = [mesh.points.len() as u64, mesh.triangles.len() as u64];
        found.map(|found| in_order(&ranks, &on, found, sizes))
    })
}

fn in_order(ranks: &Ranks, on: &Device, found: Found, sizes: [u64; 2]) -> (Ordered, Totals, u64) {
    let (counts, digest) = (found.totals, found.digest(ranks, on).unwrap());
    (
        found.into_ordered(ranks, on, sizes).unwrap(),
        counts,
        digest,
    )
}

/// Also of the polygons that are cut.
fn check<P: Points<Double = DVec2> + Point>(mesh: &Triangulation, size: usize, choice: Choice) {
    for options in [PLAIN, STRICT] {
        let expected = single::<P>(mesh, options);
        let results = on_ranks::<P>(mesh, size, &choice.of(size), options);
        let case = format!("{size} ranks, {choice:?}, {options:?}");
        compare(mesh.regions.as_deref(), &expected, results, &case);
    }
}

/// Compares the results of all ranks with the single run; `of_triangles` are the regions of the triangles.
pub fn compare(
    of_triangles: Option<&[i32]>,
    expected: &PolyllaLists,
    results: Vec<Result<(Ordered, Totals, u64)>>,
    case: &str,
) {
    let mut half_edges = Vec::new();
    let mut lists = Vec::new();
    let mut regions = Vec::new();
    for result in results {
        let (slice, counts, digest) = result.unwrap();
        assert_eq!(digest, digest_of(expected), "{case}");
        assert_eq!(counts, Totals::from(expected.counts), "{case}");
        half_edges.extend(slice.half_edges.iter().map(|&h| h as u32));
        lists.extend(slice.polygons.iter().map(<[u32]>::to_vec));
        assert_eq!(slice.regions.is_some(), of_triangles.is_some());
        regions.extend(slice.regions.unwrap_or_default());
    }
    assert_eq!(half_edges, expected.half_edges, "{case}");
    let expected_lists: Vec<_> = expected.polygons.iter().map(<[u32]>::to_vec).collect();
    assert_eq!(lists, expected_lists, "{case}");
    if let Some(of_triangles) = of_triangles {
        let region = |&h: &u32| of_triangles[h as usize / 3];
        let expected: Vec<i32> = expected.half_edges.iter().map(region).collect();
        assert_eq!(regions, expected);
    }
}

proptest! {
    #![proptest_config(random_cases(80))]
    #[test]
    fn any_mesh_any_owners(mesh in constrained(), size in prop::sample::select(&RANKS[..]), choice in choices()) {
        check::<DVec2>(&mesh, size, choice);
    }
}

#[test]
fn known_meshes_on_every_number_of_ranks() {
    let grid = trioxide::generate::grid(900).unwrap();
    let on = Device::cpu(None).unwrap();
    let random = trioxide::generate::random(&on, 700, 5).unwrap();
    let disk = trioxide::generate::disk(&on, 300, 6).unwrap();
    for mesh in [&grid, &random, &disk, &Triangulation::default()] {
        for (size, choice) in PAIRS {
            check::<DVec2>(mesh, size, choice);
        }
    }
    check::<Vec2>(&random, 3, Choice::Curve);
}

/// Each rank makes its own rows; there may be fewer of them than ranks.
#[test]
fn grids_that_ranks_make_have_the_polygons_of_the_single_run() {
    fn check_grid<P>(mesh: &Triangulation, grid: Grid, size: usize, options: Options)
    where
        P: Points<Double = DVec2> + Point,
    {
        let results = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let part = Part::of_grid(&ranks, &grid).unwrap();
            let found = find::<P>(&ranks, &on, part, options);
            found.map(|found| {
                let sizes = [grid.vertices(), grid.triangles()];
                in_order(&ranks, &on, found, sizes)
            })
        });
        let expected = single::<P>(mesh, options);
        compare(
            None,
            &expected,
            results,
            &format!("{grid:?} on {size} ranks"),
        );
    }
    for n in [4, 9, 25, 64, 900] {
        let uniform = (generate::grid(n), Grid::uniform(n));
        let jittered = (generate::jittered(n, 3), Grid::jittered(n, 3));
        for (mesh, grid) in [uniform, jittered] {
            let (mesh, grid) = (mesh.unwrap(), grid.unwrap());
            for size in RANKS {
                check_grid::<DVec2>(&mesh, grid, size, STRICT);
                check_grid::<Vec2>(&mesh, grid, size, PLAIN);
            }
        }
    }
}

#[test]
fn meshes_full_of_ties() {
    for seed in 0..6 {
        let mesh = crate::common::lattice(14, 13, seed);
        for size in [2, 3, 7] {
            check::<DVec2>(&mesh, size, Choice::Curve);
        }
    }
}

/// Two spirals of triangles whose longest edges lead outwards. Each is one region that comes back to its vertices in
/// every turn, so that it is cut many times.
fn spirals(seed: u64) -> Triangulation {
    const TURN: u32 = 12;
    const POINTS: u32 = 60;
    let point = |i: u32| {
        let (k, second) = (f64::from(i % POINTS), f64::from(i / POINTS));
        let turns = k / f64::from(TURN);
        DVec2::from_angle(turns * std::f64::consts::TAU) * 3_f64.powf(turns)
            + DVec2::new(1000.0 * second, 0.0)
    };
    let strip = |i: u32| {
        let k = i % (POINTS - TURN - 1) + POINTS * (i / (POINTS - TURN - 1));
        let outer = k + TURN;
        [[k, outer, k + 1], [k + 1, outer, outer + 1]]
    };
    let triangles = (0..2 * (POINTS - TURN - 1)).flat_map(strip);
    let mut triangles: Vec<[u32; 3]> = triangles.collect();
    let mixed = |t: &[u32; 3]| {
        (u64::from(t[0] + 7 * t[1]) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15 | 1) >> 20
    };
    triangles.sort_by_key(mixed);
    Triangulation {
        points: (0..2 * POINTS).map(point).collect(),
        triangles,
        ..Triangulation::default()
    }
}

#[test]
fn polygons_that_visit_vertices_twice_are_cut_on_any_rank() {
    for seed in 0..4 {
        let mut mesh = spirals(seed);
        let is_odd = |t: &[u32; 3]| i32::from(t[0] < 60);
        mesh.regions = (seed % 2 == 0).then(|| mesh.triangles.iter().map(is_odd).collect());
        let whole = single::<DVec2>(&mesh, PLAIN).counts;
        assert_eq!((whole.polygons, whole.weakly_simple), (2, 2));
        assert!(single::<DVec2>(&mesh, STRICT).counts.polygons > 8);
        let more = [
            (2, Choice::Last),
            (3, Choice::Only(seed)),
            (4, Choice::Random(seed)),
            (7, Choice::Random(seed)),
        ];
        for (size, choice) in PAIRS.into_iter().chain(more) {
            check::<DVec2>(&mesh, size, choice);
        }
        check::<Vec2>(&mesh, 3, Choice::Curve);
    }
}

/// A ghost's longest edge may be decided by the id of a triangle that is not here: its owner says which edge it is.
///
/// Of triangle 4 two edges are equally long, and the one away from the hub is longest since triangle 0 is on its other
/// side. Rank 1 owns triangle 1 alone, and has all triangles at the hub, but not triangle 0: by itself it would take
/// the edge at the hub, find a single frontier edge there, and cut its own triangle off as if the hub were a barrier
/// tip.
#[test]
fn a_tie_of_a_ghost_falls_as_its_owner_says() {
    let hub = (0.0, 0.0);
    let rim = [
        (7.0, 1.0),
        (3.0, 6.0),
        (-3.0, 5.0),
        (-5.0, 0.0),
        (-2.0, -4.0),
        (2.0, -6.0),
    ];
    let points = [&[hub], &rim[..], &[(-8.0, -5.0)]].concat();
    let fan = (1..7).map(|i| [0, i, i % 6 + 1]);
    let mesh = Triangulation {
        points: points.into_iter().map(DVec2::from).collect(),
        triangles: [[5, 4, 7]].into_iter().chain(fan).collect(),
        ..Triangulation::default()
    };
    assert_eq!(single::<DVec2>(&mesh, PLAIN).counts.barrier_tips, 0);
    check::<DVec2>(&mesh, 2, Choice::Only(1));
}
