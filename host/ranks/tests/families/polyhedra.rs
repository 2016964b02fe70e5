//! Polyhedra on ranks are those of the single run: same tetrahedra, same sides, same order, same counts.

use crate::common::tets::{equal_edges, meshes, mixed};
use crate::common::{Choice, PAIRS, RANKS, choices};
use proptest::prelude::*;
use trioxide::glam::{DVec3, Vec3};
use trioxide::polyhedra::{Measure, Options, Rule};
use trioxide::polyhedra_mesh::PolyhedraLists;
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::TetMesh;
use trioxide::{Device, polyhedra};
use trioxide_operations::polyhedra::Totals;
use trioxide_ranks::block::Whole;
use trioxide_ranks::polyhedra as on_ranks;
use trioxide_ranks::tets::Input;
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ranks, Result};

fn results<P: SpacePoint>(
    mesh: &TetMesh,
    options: Options,
    size: usize,
    choice: Choice,
) -> Vec<Result<(Totals, Option<PolyhedraLists>)>> {
    let tagged: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
    let whole = Whole {
        points: &mesh.points,
        corners: mesh.tetrahedra.as_flattened(),
        size: 4,
        regions: mesh.regions.as_deref(),
        segments: &[],
    };
    run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = &Block::of(whole, ranks.rank(), size);
        let tagged = &tagged[..];
        let input = Input { block, tagged };
        let found = on_ranks::polyhedra::<P>(&ranks, &on, input, options, &choice.of(size))?;
        Ok((found.totals, found.gather(&ranks, &on)?))
    })
}

fn single<P: SpacePoint>(mesh: &TetMesh, options: Options) -> trioxide::Result<PolyhedraLists> {
    let on = Device::cpu(Some(1)).unwrap();
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(&on, mesh)?;
    polyhedra::polyhedra(&on, &tets, &faces, options)?.download(&on, &faces)
}

/// Compares with the single run.
fn check<P: SpacePoint>(mesh: &TetMesh, options: Options, size: usize, choice: Choice) {
    let said = format!("{size} ranks, {choice:?}, {options:?}");
    let results = results::<P>(mesh, options, size, choice);
    let expected = match single::<P>(mesh, options) {
        Ok(expected) => expected,
        Err(error) => {
            for result in results {
                assert_eq!(result.unwrap_err().to_string(), error.to_string(), "{said}");
            }
            return;
        }
    };
    let alone = (0..expected.len()).filter(|&p| expected.tets_of(p).len() == 1);
    let alone = alone.count() as u64;
    for (rank, result) in results.into_iter().enumerate() {
        let (counts, lists) = result.unwrap();
        assert_eq!(counts.single_tetrahedra, alone, "{said}");
        assert_eq!(counts.faces, expected.faces() as u64, "{said}");
        assert_eq!(counts.pinched, expected.counts.pinched.map(u64::from));
        assert_eq!(lists.is_some(), rank == 0);
        let Some(lists) = lists else { continue };
        assert_eq!(lists.counts, expected.counts, "{said}");
        assert_eq!(lists.tets, expected.tets, "{said}");
        assert!(lists == expected, "{said}");
    }
}

fn options() -> impl Strategy<Value = Options> {
    let measures = prop_oneof![Just(Measure::Area), Just(Measure::Circumradius)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (measures, flags).prop_map(|(by, (constrained, count_pinched, strict))| Options {
        rule: Rule::LargestFaces,
        by,
        constrained,
        count_pinched,
        strict,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 96 }))]

    #[test]
    fn polyhedra_are_those_of_the_single_run(
        mesh in meshes(),
        options in options(),
        size in prop::sample::select(&RANKS[..]),
        choice in choices(),
    ) {
        check::<DVec3>(&mesh, options, size, choice);
    }
}

/// Tetrahedra in a row that grow, so that all are one region, which each owner's walk leaves again and again.
fn chain(n: u32) -> TetMesh {
    let point = |i: u32| {
        let (x, radius) = (f64::from(i), 16.0 + 0.01 * f64::from(i));
        match i % 3 {
            0 => DVec3::new(x, radius, 0.0),
            1 => DVec3::new(x, -radius / 2.0, radius),
            _ => DVec3::new(x, -radius / 2.0, -radius),
        }
    };
    let points: Vec<DVec3> = (0..n + 3).map(point).collect();
    let tetrahedron = |i: u32| {
        let corners = [i, i + 1, i + 2, i + 3];
        let [a, b, c, d] = corners.map(|v| points[v as usize]);
        match (b - a).cross(c - a).dot(d - a) > 0.0 {
            true => corners,
            false => [i, i + 2, i + 1, i + 3],
        }
    };
    TetMesh {
        tetrahedra: (0..n).map(tetrahedron).collect(),
        points,
        ..TetMesh::default()
    }
}

#[test]
fn one_region_over_all_ranks() {
    let mesh = chain(400);
    let expected = single::<DVec3>(&mesh, Options::default()).unwrap();
    let counts = expected.counts;
    assert!(
        counts.regions < 5 && counts.most_tetrahedra > 20,
        "{counts:?}"
    );
    for (size, choice) in PAIRS.into_iter().chain([(4, Choice::Random(5))]) {
        check::<DVec3>(&mesh, Options::default(), size, choice);
        let strict = Options {
            strict: true,
            ..Options::default()
        };
        check::<DVec3>(&mesh, strict, size, choice);
    }
}

#[test]
fn every_owner_on_meshes_with_tips_and_pinched_polyhedra() {
    let random = trioxide::generate::random_tets(700, 3).unwrap();
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let counts = single::<DVec3>(&random, Options::default()).unwrap().counts;
    assert!(
        counts.barrier_tips > 20 && counts.pinched > Some(0),
        "{counts:?}"
    );
    let tied = mixed(&equal_edges(200), 4, 1, 30);
    for mesh in [&random, &tied, &TetMesh::default()] {
        for choice in [
            Choice::Curve,
            Choice::Blocks,
            Choice::RoundRobin,
            Choice::Halves,
            Choice::Last,
            Choice::Only(7),
            Choice::Random(1),
        ] {
            check::<DVec3>(mesh, Options::default(), 4, choice);
            check::<Vec3>(mesh, strict, 7, choice);
        }
    }
}

#[test]
fn broken_meshes_are_refused_in_the_words_of_the_single_run() {
    let good = trioxide::generate::tet_grid(100, 1).unwrap();
    let broken = |break_it: fn(&mut TetMesh)| {
        let mut mesh = good.clone();
        break_it(&mut mesh);
        mesh
    };
    for mesh in [
        broken(|mesh| mesh.tetrahedra[30] = mesh.tetrahedra[31]),
        broken(|mesh| mesh.tetrahedra[50].swap(0, 1)),
        broken(|mesh| mesh.tetrahedra[70][2] = 4000),
        broken(|mesh| mesh.points[20].x = f64::NAN),
        broken(|mesh| mesh.faces[3].vertices = [0, 1, 99]),
        broken(|mesh| mesh.faces[3].vertices[1] = 7000),
    ] {
        assert!(single::<DVec3>(&mesh, Options::default()).is_err());
        check::<DVec3>(&mesh, Options::default(), 3, Choice::Curve);
        check::<DVec3>(&mesh, Options::default(), 2, Choice::RoundRobin);
    }
}
