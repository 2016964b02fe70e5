//! Refinement on ranks gives the result of the single run: the same points, triangles and numbers.

use crate::common::{Choice, PAIRS, RANKS, choices, constrained, lattice, random_cases};
use proptest::prelude::*;
use trioxide::Device;
use trioxide::glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{Refinement, Triangulation};
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking};
use trioxide_ranks::ownership::Position;
use trioxide_ranks::refine::{Elements, Options, Refined, Whole, gather};
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Ranks, Result};

/// The result of the single run.
struct Single<P> {
    whole: Whole<P>,
    counts: Elements,
    end: End,
}

fn single<P: AnyPoint>(mesh: &Triangulation<P::Double>, options: &Options) -> Single<P::Double> {
    let on = Device::cpu(Some(1)).unwrap();
    let options = refine::Options {
        marking: options.marking.clone(),
        seed: options.seed,
        rounds: options.rounds,
        max_triangles: options.max_triangles.map(|most| most as u32),
        history: false,
    };
    let mut fine = DeviceEdgeMesh::<P>::upload(&on, mesh).unwrap();
    let end = refine::refine(&on, &mut fine, &options).unwrap();
    let level = fine.level();
    Single {
        whole: Whole {
            mesh: fine.triangulation(&on, mesh.regions.as_deref()).unwrap(),
            ancestors: on.download_rows(&fine.ancestors(&on).unwrap()).unwrap(),
            rounds: fine.rounds(&on).unwrap(),
        },
        counts: Elements {
            vertices: level.vertices.into(),
            edges: level.edges.into(),
            triangles: level.triangles.into(),
        },
        end,
    }
}

type OfRank<P> = (Refined<P>, Option<Whole<P>>);

fn on_ranks<P: AnyPoint>(
    mesh: &Triangulation<P::Double>,
    options: &Options,
    size: usize,
    ownership: &Ownership,
) -> Vec<Result<OfRank<P::Double>>>
where
    P::Double: Position,
{
    run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::of(mesh, ranks.rank(), size);
        let refined = trioxide_ranks::refine::refine::<P>(&ranks, &on, &block, options, ownership)?;
        let whole = gather(&ranks, &refined)?;
        Ok((refined, whole))
    })
}

/// Compares with the single run: the blocks, and the mesh that rank 0 gathers. Returns how often the ranks exchanged
/// edges.
fn check<P: AnyPoint>(
    mesh: &Triangulation<P::Double>,
    options: &Options,
    size: usize,
    choice: Choice,
) -> u64
where
    P::Double: Position,
{
    let options = &Options {
        record: true,
        ..options.clone()
    };
    let expected = single::<P>(mesh, options);
    let said = format!("{size} ranks, {choice:?}, {options:?}");
    let (mut points, mut corners, mut regions) = (Vec::new(), Vec::new(), Vec::new());
    let mut exchanges = 0;
    let results = on_ranks::<P>(mesh, options, size, &choice.of(size));
    for (rank, result) in results.into_iter().enumerate() {
        let (refined, whole) = result.unwrap();
        assert_eq!(refined.counts, expected.counts, "{said}");
        assert_eq!(refined.end, expected.end, "{said}");
        assert_eq!(refined.segments, expected.whole.mesh.segments, "{said}");
        assert_eq!(refined.regions.is_some(), mesh.regions.is_some());
        points.extend(refined.points);
        corners.extend(refined.corners.iter().map(|&v| v as u32));
        regions.extend(refined.regions.unwrap_or_default());
        exchanges = refined.exchanges;
        assert_eq!(whole.is_some(), rank == 0);
        if let Some(whole) = whole {
            assert_eq!(whole.mesh, expected.whole.mesh, "{said}");
            assert_eq!(whole.ancestors, expected.whole.ancestors, "{said}");
            let rounds = whole.rounds.iter().zip(&expected.whole.rounds);
            assert_eq!(whole.rounds.len(), expected.whole.rounds.len());
            for (round, expected) in rounds {
                assert_same_round(round, expected);
            }
        }
    }
    let mesh = expected.whole.mesh;
    assert_eq!(bits(&points), bits(&mesh.points), "{said}");
    assert_eq!(corners, mesh.triangles.as_flattened(), "{said}");
    assert_eq!(regions, mesh.regions.unwrap_or_default(), "{said}");
    exchanges
}

fn bits<P: Position>(points: &[P]) -> Vec<[u64; 3]> {
    let bits = |p: &P| p.coordinates().map(f64::to_bits);
    points.iter().map(bits).collect()
}

fn assert_same_round(round: &Refinement, expected: &Refinement) {
    assert_eq!(round.divided, expected.divided);
    assert_eq!(round.ends, expected.ends);
    assert_eq!(round.parents, expected.parents);
}

/// As a surface in space.
fn lifted(mesh: &Triangulation) -> Triangulation<DVec3> {
    let lift = |p: &DVec2| p.extend(0.1 * (p.x * 3.0 + p.y * p.y));
    Triangulation {
        points: mesh.points.iter().map(lift).collect(),
        triangles: mesh.triangles.clone(),
        regions: mesh.regions.clone(),
        segments: mesh.segments.clone(),
    }
}

/// Every seventh triangle is divided along its first edge, and a triangle fills the gap to its neighbour.
fn with_lines(mut mesh: Triangulation<DVec3>) -> Triangulation<DVec3> {
    for t in (0..mesh.triangles.len()).step_by(7) {
        let [a, b, c] = mesh.triangles[t];
        let [p, q] = [a, b].map(|v| mesh.points[v as usize]);
        let middle = mesh.points.len() as u32;
        mesh.points.push(p + (q - p) * 0.3);
        mesh.triangles[t] = [a, middle, c];
        mesh.triangles.extend([[middle, b, c], [a, b, middle]]);
    }
    mesh
}

fn of_rounds(marking: Marking, rounds: u32) -> Options {
    Options {
        marking,
        seed: 3,
        rounds,
        ..Options::default()
    }
}

/// Every kind of marking, for a mesh of `triangles` triangles in the unit square or on a grid of 9 by 9.
fn markings(triangles: usize) -> impl Strategy<Value = Marking> {
    let fraction = (0.0..1.1).prop_map(|fraction: f64| Marking::Fraction(fraction.min(1.0)));
    let corner = (-0.5..4.0, -0.5..4.0, 0.0..4.0);
    let disk = corner
        .clone()
        .prop_map(|(x, y, r)| Marking::Disk([x, y, r]));
    let ball = corner
        .clone()
        .prop_map(|(x, y, r)| Marking::Ball([x, y, 0.3, r]));
    let boxes = corner.prop_map(|(x, y, r)| Marking::Box([x, y, x + r, y + 0.7]));
    let flags = prop::collection::vec(prop::bool::weighted(0.1), triangles);
    prop_oneof![
        1 => Just(Marking::All),
        3 => fraction,
        2 => disk,
        1 => ball,
        1 => boxes,
        1 => (0.0..0.6).prop_map(Marking::Area),
        1 => (0.0..50.0).prop_map(Marking::Angle),
        2 => flags.prop_map(Marking::Flags),
    ]
}

fn marked() -> impl Strategy<Value = (Triangulation, Options)> {
    let most = prop::option::weighted(0.2, 10..800_u64);
    (constrained(), 0..5_u32, most).prop_flat_map(|(mesh, rounds, max_triangles)| {
        let marking = markings(mesh.triangles.len());
        (Just(mesh), marking, any::<u64>()).prop_map(move |(mesh, marking, seed)| {
            let options = Options {
                seed,
                max_triangles,
                ..of_rounds(marking, rounds)
            };
            (mesh, options)
        })
    })
}

proptest! {
    #![proptest_config(random_cases(100))]
    #[test]
    fn any_mesh_any_marks_any_owners(
        (mesh, options) in marked(),
        size in prop::sample::select(&RANKS[..]),
        choice in choices(),
        in_space in any::<bool>(),
    ) {
        match in_space {
            false => check::<DVec2>(&mesh, &options, size, choice),
            true => check::<DVec3>(&lifted(&mesh), &options, size, choice),
        };
    }
}

#[test]
fn known_meshes_on_every_number_of_ranks() {
    let grid = trioxide::generate::grid(400).unwrap();
    let on = Device::cpu(None).unwrap();
    let random = trioxide::generate::random(&on, 500, 5).unwrap();
    let disk = trioxide::generate::disk(&on, 200, 6).unwrap();
    let few = Marking::Fraction(0.02);
    for mesh in [&grid, &random, &disk, &Triangulation::default()] {
        for (size, choice) in PAIRS {
            check::<DVec2>(mesh, &of_rounds(Marking::All, 2), size, choice);
            check::<DVec2>(mesh, &of_rounds(few.clone(), 4), size, choice);
        }
    }
    for choice in [Choice::Curve, Choice::RoundRobin] {
        let options = of_rounds(Marking::Angle(28.0), 3);
        check::<Vec2>(&random, &options, 3, choice);
        check::<Vec3>(&lifted(&random), &options, 3, choice);
        // A triangle on a line along every seventh edge.
        let lines = with_lines(lifted(&random));
        check::<DVec3>(&lines, &of_rounds(Marking::Fraction(0.3), 2), 3, choice);
    }
}

#[test]
fn meshes_of_the_fixtures() {
    let fixture = |name: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        trioxide::formats::read(&folder.join(name)).unwrap()
    };
    for name in [
        "pinched_annulus.off",
        "square_with_hole.ele",
        "two_regions.ele",
    ] {
        let mesh = fixture(name).into_triangulation().unwrap();
        for (size, choice) in PAIRS.into_iter().chain([(3, Choice::Only(2))]) {
            check::<DVec2>(&mesh, &of_rounds(Marking::All, 4), size, choice);
            check::<DVec2>(&mesh, &of_rounds(Marking::Area(0.01), 30), size, choice);
        }
    }
    let octahedron = fixture("octahedron_text.ply").into_surface().unwrap();
    for size in [3, 7] {
        check::<DVec3>(
            &octahedron,
            &of_rounds(Marking::All, 5),
            size,
            Choice::RoundRobin,
        );
    }
}

/// Equally long edges: the smaller edge id decides, of edges that rounds before have numbered.
#[test]
fn meshes_full_of_ties() {
    for seed in 0..4 {
        let mesh = lattice(9, 8, seed);
        for size in [2, 3, 7] {
            for choice in [Choice::Curve, Choice::Random(seed)] {
                check::<DVec2>(&mesh, &of_rounds(Marking::All, 3), size, choice);
                let few = Options {
                    seed,
                    ..of_rounds(Marking::Fraction(0.1), 4)
                };
                check::<DVec2>(&mesh, &few, size, choice);
            }
        }
    }
}

/// A strip whose every triangle's longest edge leads to the next triangle: the edges grow all along it.
fn strip(n: u32) -> Triangulation {
    let point = |i: u32| {
        let x = 1.1_f64.powi(i as i32);
        DVec2::new(x, f64::from(i % 2) * x)
    };
    let triangle = |i: u32| match i % 2 {
        0 => [i, i + 2, i + 1],
        _ => [i, i + 1, i + 2],
    };
    Triangulation {
        points: (0..n + 2).map(point).collect(),
        triangles: (0..n).map(triangle).collect(),
        ..Default::default()
    }
}

/// One mark at the small end divides every edge on the way to the large one. With the triangles dealt in turn, the path
/// leaves a rank at every step.
#[test]
fn a_path_that_crosses_ranks_at_every_step_is_followed_to_its_end() {
    let n = 150;
    let mesh = strip(n);
    let mark = Marking::Ids(vec![0]);
    let divided = single::<DVec2>(&mesh, &of_rounds(mark.clone(), 1)).counts;
    assert!(
        divided.vertices > u64::from(n) + 100,
        "a long path: {divided:?}"
    );
    for size in [2, 3, 4, 7] {
        for rounds in [1, 3] {
            let options = of_rounds(mark.clone(), rounds);
            let exchanges = check::<DVec2>(&mesh, &options, size, Choice::RoundRobin);
            let along = check::<DVec2>(&mesh, &options, size, Choice::Curve);
            // With few ranks each has all triangles, as ghosts of its own.
            if size == 7 {
                assert!(exchanges > 20, "{exchanges} exchanges");
                assert!(along < exchanges, "{along} along the curve");
            }
        }
        check::<DVec2>(&mesh, &of_rounds(mark.clone(), 2), size, Choice::Random(7));
    }
}

/// A spiral: the path of longest edges passes each part of the plane again and again.
#[test]
fn a_path_that_comes_back_again_and_again_is_followed_to_its_end() {
    let n = 300;
    let mut mesh = strip(n);
    for (i, p) in mesh.points.iter_mut().enumerate() {
        // Two lanes, and an angle such that each way across is a little longer than the one before.
        let (turns, lane) = (i as f64 * 0.1, (i % 2) as f64);
        let radius = 1.005_f64.powi(i as i32) * (1.0 + 0.25 * lane);
        *p = DVec2::from_angle(turns - 0.012 * lane) * radius;
    }
    for corners in &mut mesh.triangles {
        let [a, b, c] = corners.map(|v| mesh.points[v as usize]);
        if (b - a).perp_dot(c - a) < 0.0 {
            corners.swap(1, 2);
        }
    }
    let first = Marking::Ids(vec![0]);
    let divided = single::<DVec2>(&mesh, &of_rounds(first.clone(), 1)).counts;
    assert!(
        divided.vertices > u64::from(n) + 250,
        "a long path: {divided:?}"
    );
    for size in [2, 4, 7] {
        let exchanges = check::<DVec2>(&mesh, &of_rounds(first.clone(), 1), size, Choice::Curve);
        assert!(exchanges > 5, "{exchanges} exchanges");
    }
    for seed in 0..3 {
        let few = Options {
            seed,
            ..of_rounds(Marking::Fraction(0.03), 5)
        };
        for size in [2, 4, 7] {
            check::<DVec2>(&mesh, &few, size, Choice::Curve);
            check::<DVec2>(&mesh, &few, size, Choice::RoundRobin);
        }
    }
}

#[test]
fn faults_of_markings_are_the_same_on_all_ranks() {
    let mesh = trioxide::generate::grid(100).unwrap();
    let disk = of_rounds(Marking::Disk([0.0, 0.0, -1.0]), 1);
    // One triangle more than the mesh has: as many words of flags.
    let other = of_rounds(Marking::Flags(vec![false; 163]), 1);
    for (options, cause) in [
        (&disk, "a disk of radius -1"),
        (
            &other,
            "the marks are for 163 triangles; the mesh has 162 triangles",
        ),
    ] {
        for (size, choice) in [(1, Choice::Curve), (7, Choice::RoundRobin)] {
            for result in on_ranks::<DVec2>(&mesh, options, size, &choice.of(size)) {
                let said = result.unwrap_err().to_string();
                assert!(said.contains(cause), "{said}");
            }
        }
    }
}

/// Halves of halves end where two neighbouring numbers have none between them: the first triangle of all, not of a
/// rank, is named.
#[test]
fn a_mesh_as_fine_as_the_precision_names_the_triangle_of_the_single_run() {
    let on = Device::cpu(Some(1)).unwrap();
    let tiny = Triangulation {
        points: [(1.0, 1.0), (1.0 + 1e-6, 1.0), (1.0, 1.0 + 1e-6), (0.0, 1.5)]
            .map(DVec2::from)
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..Default::default()
    };
    let options = of_rounds(Marking::All, 8);
    let expected = {
        let mut fine = DeviceEdgeMesh::<Vec2>::upload(&on, &tiny).unwrap();
        let options = refine::Options {
            marking: Marking::All,
            rounds: 8,
            ..refine::Options::default()
        };
        let error = refine::refine(&on, &mut fine, &options);
        error.unwrap_err().to_string()
    };
    assert!(
        expected.contains("of the refined mesh is degenerate"),
        "{expected}"
    );
    for (size, choice) in [
        (1, Choice::Curve),
        (2, Choice::RoundRobin),
        (3, Choice::Curve),
    ] {
        for result in on_ranks::<Vec2>(&tiny, &options, size, &choice.of(size)) {
            let fault = result.unwrap_err();
            assert_eq!(fault.to_string(), expected);
            assert_eq!(fault.rule(), trioxide_ranks::refine::DEGENERATE);
        }
    }
}
