//! Refinement of tetrahedra on ranks gives the result of the single run: the same points, tetrahedra, tagged triangles
//! and numbers.

use crate::common::tets::{equal_edges, meshes, mixed};
use crate::common::{Choice, PAIRS, RANKS, choices, random_cases};
use proptest::prelude::*;
use trioxide::Device;
use trioxide::glam::{DVec3, Vec3};
use trioxide::refine_tets::{self, DividedEdges, Marking, Options, Refined, SpacePoint};
use trioxide::volume::TetMesh;
use trioxide_ranks::block::Whole as Mesh;
use trioxide_ranks::refine_tets::{self as on_ranks, Level, Whole};
use trioxide_ranks::tets::Input;
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ranks, Result};

/// The mesh that rank 0 gathers, the levels, and whether tetrahedra were dealt anew.
type OfRank = (Option<Whole>, Vec<Level>, bool);

fn results<P: SpacePoint>(
    mesh: &TetMesh,
    options: &Options,
    size: usize,
    choice: Choice,
) -> Vec<Result<OfRank>> {
    let tagged: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
    let whole = Mesh {
        points: &mesh.points,
        corners: mesh.tetrahedra.as_flattened(),
        size: 4,
        regions: None,
        segments: &[],
    };
    run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::of(whole, ranks.rank(), size);
        let ownership = choice.of(size);
        let (block, tagged) = (&block, &tagged[..]);
        let settings = on_ranks::Options {
            marking: options.marking.clone(),
            seed: options.seed,
            edges: options.edges,
            rounds: options.rounds,
            max_tetrahedra: options.max_tetrahedra.map(|most| most as u64),
            record: true,
        };
        let input = Input { block, tagged };
        let run = on_ranks::refine::<P>(&ranks, &on, input, &settings, &ownership)?;
        let levels = run.levels.clone();
        let counts = run.counts;
        let whole = run.gather(&ranks, &on, block)?;
        if let Some(whole) = &whole {
            assert_eq!(counts.vertices, whole.points.len() as u64);
            assert_eq!(counts.tetrahedra, whole.tetrahedra.len() as u64);
            assert_eq!(counts.faces, whole.faces.len() as u64);
        }
        let traffic = ranks.traffic();
        let is_dealt = traffic.iter().any(|phase| phase.phase == "balance");
        Ok((whole, levels, is_dealt))
    })
}

fn single<P: SpacePoint>(mesh: &TetMesh, options: &Options) -> refine_tets::Result<Refined> {
    refine_tets::run::<P>(&Device::cpu(Some(1)).unwrap(), mesh, options)
}

/// Compares with the single run. Returns how often the ranks exchanged edges, and whether tetrahedra were dealt anew.
fn check<P: SpacePoint>(
    mesh: &TetMesh,
    options: &Options,
    size: usize,
    choice: Choice,
) -> (u64, bool) {
    let said = format!("{size} ranks, {choice:?}, {options:?}");
    let results = results::<P>(mesh, options, size, choice);
    let expected = match single::<P>(mesh, options) {
        Ok(expected) => expected,
        Err(error) => {
            let error = trioxide::Error::from(error).to_string();
            for result in results {
                assert_eq!(result.unwrap_err().to_string(), error, "{said}");
            }
            return (0, false);
        }
    };
    let mut counted = (0, false);
    for (rank, result) in results.into_iter().enumerate() {
        let (whole, levels, is_dealt) = result.unwrap();
        let of_level = |level: &refine_tets::Level| {
            let counts = [
                level.divided_edges,
                level.divided_tetrahedra,
                level.tetrahedra,
            ];
            counts.map(u64::from)
        };
        let counts = |level: &Level| {
            [
                level.divided_edges,
                level.divided_tetrahedra,
                level.tetrahedra,
            ]
        };
        let expected_levels: Vec<_> = expected.levels.iter().map(of_level).collect();
        assert_eq!(
            levels.iter().map(counts).collect::<Vec<_>>(),
            expected_levels,
            "{said}"
        );
        counted = (levels.iter().map(|level| level.exchanges).sum(), is_dealt);
        assert_eq!(whole.is_some(), rank == 0);
        let Some(whole) = whole else { continue };
        assert_eq!(bits(&whole.points), bits(&expected.mesh.points), "{said}");
        assert_eq!(whole.tetrahedra, expected.mesh.tetrahedra, "{said}");
        assert_eq!(
            whole.tetrahedron_parents, expected.tetrahedron_parents,
            "{said}"
        );
        assert_eq!(whole.face_parents, expected.face_parents, "{said}");
        let ends: Vec<[u32; 2]> = whole
            .rounds
            .iter()
            .flat_map(|round| round.ends.clone())
            .collect();
        assert_eq!(ends, expected.vertex_parents, "{said}");
        assert_eq!(whole.into_mesh(mesh), expected.mesh, "{said}");
    }
    counted
}

fn bits(points: &[DVec3]) -> Vec<[u64; 3]> {
    let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
    points.iter().map(bits).collect()
}

fn of_rounds(marking: Marking, rounds: u32) -> Options {
    Options {
        marking,
        seed: 3,
        rounds,
        ..Options::default()
    }
}

/// Every kind of marking, for a mesh of `tetrahedra` tetrahedra in a box of about 1 to 4.
fn markings(tetrahedra: usize) -> impl Strategy<Value = Marking> {
    let corner = (-0.5..2.0, -0.5..2.0, -0.5..2.0, 0.0..2.0);
    let ball = corner
        .clone()
        .prop_map(|(x, y, z, radius)| Marking::Ball([x, y, z, radius]));
    let boxes = corner
        .prop_map(|(x, y, z, size)| Marking::BoxInSpace([x, y, z, x + size, y + size, z + size]));
    let flags = prop::collection::vec(prop::bool::weighted(0.1), tetrahedra);
    prop_oneof![
        1 => Just(Marking::All),
        2 => (0.0..1.0).prop_map(Marking::Fraction),
        2 => (0.0..0.02).prop_map(Marking::Fraction),
        2 => ball,
        1 => boxes,
        1 => (0.0..0.1).prop_map(Marking::Volume),
        2 => flags.prop_map(Marking::Flags),
    ]
}

fn marked() -> impl Strategy<Value = (TetMesh, Options)> {
    let most = prop::option::weighted(0.2, 10..1500_usize);
    let every = prop::bool::weighted(0.2);
    (meshes(), 0..4_u32, most, every).prop_flat_map(|(mesh, rounds, max_tetrahedra, every)| {
        let marking = markings(mesh.tetrahedra.len());
        (Just(mesh), marking, any::<u64>()).prop_map(move |(mesh, marking, seed)| {
            let edges = match every {
                true => DividedEdges::Every,
                false => DividedEdges::Longest,
            };
            let rounds = if every { rounds.min(2) } else { rounds };
            let options = Options {
                seed,
                edges,
                max_tetrahedra,
                ..of_rounds(marking, rounds)
            };
            (mesh, options)
        })
    })
}

proptest! {
    #![proptest_config(random_cases(80))]
    #[test]
    fn any_mesh_any_marks_any_owners(
        (mesh, options) in marked(),
        size in prop::sample::select(&RANKS[..]),
        choice in choices(),
        is_short in prop::bool::weighted(0.2),
    ) {
        match is_short {
            false => check::<DVec3>(&mesh, &options, size, choice),
            true => check::<Vec3>(&mesh, &options, size, choice),
        };
    }
}

#[test]
fn known_meshes_on_every_number_of_ranks() {
    let grid = trioxide::generate::tet_grid(216, 1).unwrap();
    let random = trioxide::generate::random_tets(200, 2).unwrap();
    let tied = mixed(&equal_edges(125), 5, 0, 60);
    let few = Marking::Fraction(0.01);
    for mesh in [&grid, &random, &tied, &TetMesh::default()] {
        for (size, choice) in PAIRS.into_iter().chain([(3, Choice::Last)]) {
            check::<DVec3>(mesh, &of_rounds(Marking::All, 2), size, choice);
            check::<DVec3>(mesh, &of_rounds(few.clone(), 4), size, choice);
        }
    }
}

/// Where marks lie together one part grows, until all are dealt anew.
#[test]
fn parts_that_grow_are_dealt_anew() {
    let mut mesh = trioxide::generate::tet_grid(216, 2).unwrap();
    mesh.regions = None;
    let corner = Marking::Ball([0.0, 0.0, 0.0, 0.3]);
    for size in [2, 4, 7] {
        for choice in [Choice::Curve, Choice::Blocks] {
            let options = of_rounds(corner.clone(), 9);
            let (_, is_dealt) = check::<DVec3>(&mesh, &options, size, choice);
            assert!(is_dealt || size == 2, "{size} ranks, {choice:?}");
        }
    }
}

/// Tetrahedra in a row, each with an edge that is longer than all of the ones before.
fn row(n: u32) -> TetMesh {
    let corner = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)];
    let point = |i: u32| {
        let scale = 1.1_f64.powi(i as i32);
        let (y, z) = corner[i as usize % 3];
        DVec3::new(2.0, y, z) * scale
    };
    let mut mesh = TetMesh {
        points: (0..n + 3).map(point).collect(),
        tetrahedra: (0..n).map(|i| [i, i + 1, i + 2, i + 3]).collect(),
        ..TetMesh::default()
    };
    mesh.orient();
    mesh
}

/// One mark at the small end divides edges all the way to the large one.
#[test]
fn a_closure_that_crosses_ranks_at_every_step_is_followed_to_its_end() {
    let n = 90;
    let mesh = row(n);
    let first = Marking::Ids(vec![0]);
    let divided = single::<DVec3>(&mesh, &of_rounds(first.clone(), 1)).unwrap();
    assert!(divided.levels[0].divided_tetrahedra == n, "all are divided");
    for size in [2, 3, 7, 16] {
        let options = of_rounds(first.clone(), 2);
        let (exchanges, _) = check::<DVec3>(&mesh, &options, size, Choice::RoundRobin);
        let (along, _) = check::<DVec3>(&mesh, &options, size, Choice::Curve);
        // With few ranks each has all tetrahedra, as ghosts of its own.
        if size == 16 {
            assert!(exchanges > 10, "{exchanges} exchanges");
            assert!(along < exchanges, "{along} along the curve");
        }
        check::<DVec3>(&mesh, &options, size, Choice::Random(7));
    }
}

#[test]
fn faults_are_those_of_the_single_run() {
    let mut good = trioxide::generate::tet_grid(64, 1).unwrap();
    good.faces.truncate(9);
    let with = |change: &dyn Fn(&mut TetMesh)| {
        let mut mesh = good.clone();
        change(&mut mesh);
        mesh
    };
    let all = of_rounds(Marking::All, 1);
    let is_flat = with(&|mesh| {
        for p in &mut mesh.points {
            *p = DVec3::ONE + (*p * 3.0).round() * f64::EPSILON;
        }
    });
    let ball = Marking::Ball([0.0, 0.0, 0.0, -1.0]);
    for (mesh, options, cause) in [
        (with(&|m| m.points[57].y = f64::NAN), &all, "vertex 57 "),
        (
            with(&|m| m.points.push(DVec3::INFINITY)),
            &all,
            "vertex 64 ",
        ),
        (with(&|m| m.points[3].x = 1e300), &all, "vertex 3 "),
        (
            with(&|m| m.tetrahedra[140][2] = 64),
            &all,
            "tetrahedron 140 ",
        ),
        (
            with(&|m| m.tetrahedra[33].swap(0, 1)),
            &all,
            "tetrahedron 33 ",
        ),
        (
            with(&|m| m.tetrahedra[9] = m.tetrahedra[100]),
            &all,
            "face ",
        ),
        (
            with(&|m| m.faces[4].vertices = [0, 1, 63]),
            &all,
            "tagged face 4 ",
        ),
        (
            with(&|m| m.faces[5].vertices = [0, 1, 64]),
            &all,
            "tagged face 5 ",
        ),
        (is_flat, &all, "level 1: tetrahedron "),
        (good.clone(), &of_rounds(ball, 1), "ball"),
        (
            good.clone(),
            &of_rounds(Marking::Flags(vec![true; 9]), 1),
            "9 entries",
        ),
    ] {
        let error = single::<DVec3>(&mesh, options).unwrap_err();
        let said = trioxide::Error::from(error).to_string();
        assert!(said.contains(cause), "{said}");
        for (size, choice) in [
            (1, Choice::Curve),
            (3, Choice::Curve),
            (7, Choice::RoundRobin),
            (4, Choice::Last),
        ] {
            check::<DVec3>(&mesh, options, size, choice);
        }
    }
}
