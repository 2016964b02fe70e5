//! Nested levels on ranks equal the single run's.

use gpu::point::DoublePoint;
use proptest::prelude::*;
use trioxide::glam::{DVec2, DVec3};
use trioxide::levels::{self, Goal};
use trioxide::mesh::{PolygonMesh, Polygons, Triangulation};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh};
use trioxide::refine_tets::DeviceTets;
use trioxide::volume::TetMesh;
use trioxide::{Device, generate, polyhedra};
use trioxide_mesh::random::mix;
use trioxide_ranks::block::Whole;
use trioxide_ranks::levels::{Nested, Surfaces, levels as on_ranks, levels_of_polyhedra};
use trioxide_ranks::ownership::Position;
use trioxide_ranks::polylla::{Options, Ordered, Points, find, part_to_find_in};
use trioxide_ranks::tets::Input;
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Ranks, polyhedra as polyhedra_on_ranks};

use crate::common::surfaces::{all, beside, sphere, torus};
use crate::common::tets::{equal_edges, meshes, mixed};
use crate::common::{Choice, choices, constrained, lattice, random_cases};

/// The whole list of the polygons' slices.
fn joined(slices: &[Ordered], has_regions: bool) -> (Polygons, Option<Vec<i32>>) {
    let mut polygons = Polygons::default();
    let mut regions = Vec::new();
    for slice in slices {
        for polygon in slice.polygons.iter() {
            polygons.vertices.extend(polygon);
            polygons.offsets.push(polygons.vertices.len() as u32);
        }
        regions.extend(slice.regions.iter().flatten());
    }
    (polygons, has_regions.then_some(regions))
}

/// Compares the levels of any number of ranks with those of one process. Returns their number of pieces.
fn check<P>(mesh: &Triangulation<P>, sizes: &[usize], goal: Goal) -> Vec<usize>
where
    P: Points<Double = P> + Position + DoublePoint,
{
    let on = Device::cpu(Some(1)).unwrap();
    let mut counts = Vec::new();
    for &size in sizes {
        let results = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let block = Block::of(mesh, ranks.rank(), size);
            let part = part_to_find_in::<P>(&ranks, &block, &Ownership::Near).unwrap();
            let found = find::<P>(&ranks, &on, part, Options::default()).unwrap();
            let elements = [mesh.points.len() as u64, mesh.triangles.len() as u64];
            let ordered = found.into_ordered(&ranks, &on, elements).unwrap();
            let nested = on_ranks(&ranks, &block, &ordered, goal).unwrap();
            let whole = nested.gather(&ranks);
            assert_eq!(whole.is_some(), ranks.rank() == 0);
            (ordered, nested, whole)
        });
        let (slices, nested): (Vec<Ordered>, Vec<(Nested, _)>) = results
            .into_iter()
            .map(|(ordered, nested, whole)| (ordered, (nested, whole)))
            .unzip();
        let (polygons, regions) = joined(&slices, mesh.regions.is_some());
        let whole = PolygonMesh {
            points: mesh.points.clone(),
            polygons,
            regions,
            segments: mesh.segments.clone(),
        };
        let expected = levels::levels(&on, &whole, goal).unwrap();
        counts = (0..=expected.levels())
            .map(|level| expected.pieces(level))
            .collect();
        for (of_rank, _) in &nested {
            assert_eq!(of_rank.counts, counts, "{size} ranks");
            assert_eq!(of_rank.is_stuck, expected.is_stuck, "{size} ranks");
        }
        assert!(nested[0].1.as_ref() == Some(&expected), "{size} ranks");
    }
    counts
}

/// As many levels as there are.
const ALL: Goal = Goal {
    levels: None,
    until: Some(1),
};

const SIZES: [usize; 4] = [1, 2, 3, 5];

#[test]
fn known_meshes_on_every_number_of_ranks() {
    let on = Device::cpu(None).unwrap();
    let mut random = generate::random(&on, 900, 4).unwrap();
    assert!(check(&random, &SIZES, ALL).len() > 5);
    // Nearly every border is one of two ranks.
    let key = |&[a, b, c]: &[u32; 3]| mix(u64::from(a) << 40 ^ u64::from(b) << 20 ^ u64::from(c));
    random.triangles.sort_by_key(key);
    check(&random, &SIZES, ALL);
    check(
        &random,
        &[3],
        Goal {
            levels: Some(2),
            until: None,
        },
    );
    check(
        &random,
        &[2],
        Goal {
            levels: Some(9),
            until: Some(50),
        },
    );
    check(&random, &[2], Goal::default());
    check(&generate::grid(400).unwrap(), &SIZES, ALL);
    check(&generate::disk(&on, 300, 6).unwrap(), &[3], ALL);
    check(&lattice(14, 13, 5), &[2, 7], ALL);
    let regions = (0..random.triangles.len() as i32).map(|i| i % 3 / 2);
    random.regions = Some(regions.collect());
    check(&random, &[4], ALL);
    // Ranks without pieces.
    check(&generate::grid(9).unwrap(), &[7], ALL);
    check::<DVec2>(
        &Triangulation::default(),
        &[2],
        Goal {
            levels: Some(3),
            until: None,
        },
    );
}

#[test]
fn surfaces_on_every_number_of_ranks() {
    for (_, mesh) in all() {
        check::<DVec3>(&mesh, &[2, 5], ALL);
    }
    let several = beside(&[sphere(20, 21), torus(20, 17, true), torus(18, 19, false)]);
    assert!(check(&several, &SIZES, ALL).len() > 4);
}

proptest! {
    #![proptest_config(random_cases(40))]
    #[test]
    fn any_mesh(mesh in constrained(), size in prop::sample::select(&SIZES[..])) {
        check(&mesh, &[size], ALL);
    }
}

/// How polyhedra are made, and joined to levels.
#[derive(Clone, Copy, Debug)]
struct Solid {
    options: polyhedra::Options,
    is_merged: bool,
    goal: Goal,
    owners: Choice,
}

const SOLID: Solid = Solid {
    options: polyhedra::Options {
        rule: polyhedra::Rule::LargestFaces,
        by: polyhedra::Measure::Area,
        constrained: true,
        count_pinched: true,
        strict: false,
    },
    is_merged: false,
    goal: ALL,
    owners: Choice::Near,
};

/// The polyhedra of one process, with the faces and constraints that levels go by.
fn single(on: &Device, mesh: &TetMesh, solid: Solid) -> (PolyhedraLists, PolyhedralMesh) {
    let (tets, faces) = DeviceTets::<DVec3>::upload_with_faces(on, mesh).unwrap();
    let lists = polyhedra::polyhedra(on, &tets, &faces, solid.options).unwrap();
    let lists = lists.download(on, &faces).unwrap();
    let mut free = mesh.clone();
    if !solid.options.constrained {
        (free.regions, free.faces) = (None, Vec::new());
    }
    let whole = PolyhedralMesh::new(&free, &lists).unwrap();
    match solid.is_merged {
        true => (lists, whole.merge_coplanar()),
        false => (lists, whole),
    }
}

/// Compares the levels of polyhedra of any number of ranks, and their order, with those of one process. Returns their
/// number of pieces.
fn check_solid(mesh: &TetMesh, sizes: &[usize], solid: Solid) -> Vec<usize> {
    let on = Device::cpu(Some(1)).unwrap();
    let (lists, whole) = single(&on, mesh, solid);
    let expected = levels::levels_of_polyhedra(&on, &whole, solid.goal).unwrap();
    let counts: Vec<usize> = (0..=expected.levels())
        .map(|level| expected.pieces(level))
        .collect();
    let tagged: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
    let tags: Vec<i32> = mesh.faces.iter().map(|face| face.tag).collect();
    let of_cells = Whole {
        points: &mesh.points,
        corners: mesh.tetrahedra.as_flattened(),
        size: 4,
        regions: mesh.regions.as_deref(),
        segments: &[],
    };
    for &size in sizes {
        let results = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let block = &Block::of(of_cells, ranks.rank(), size);
            let tagged = &tagged[..];
            let input = Input { block, tagged };
            let (options, owners) = (solid.options, solid.owners.of(size));
            let found =
                polyhedra_on_ranks::polyhedra::<DVec3>(&ranks, &on, input, options, &owners);
            let slice = found.unwrap().ordered(&ranks, &on).unwrap();
            let surfaces = Surfaces {
                constrained: options.constrained,
                merged: solid.is_merged.then_some(&tags),
            };
            let nested = levels_of_polyhedra(&ranks, input, &slice, surfaces, solid.goal).unwrap();
            let whole = nested.gather(&ranks);
            assert_eq!(whole.is_some(), ranks.rank() == 0);
            (slice, nested, whole)
        });
        let slices = || results.iter().map(|(slice, ..)| slice);
        let tets: Vec<u32> = slices().flat_map(|slice| slice.tets.clone()).collect();
        assert_eq!(tets, lists.tets, "{size} ranks, {solid:?}");
        let sides: Vec<&[u32]> = slices()
            .flat_map(|slice| (0..slice.len()).map(|p| slice.sides_of(p)))
            .collect();
        let in_order: Vec<&[u32]> = (0..lists.len()).map(|p| lists.sides_of(p)).collect();
        assert_eq!(sides, in_order, "{size} ranks, {solid:?}");
        for (_, of_rank, _) in &results {
            assert_eq!(of_rank.counts, counts, "{size} ranks, {solid:?}");
            assert_eq!(of_rank.is_stuck, expected.is_stuck, "{size} ranks");
        }
        let (.., found) = &results[0];
        assert!(found.as_ref() == Some(&expected), "{size} ranks, {solid:?}");
    }
    counts
}

#[test]
fn polyhedra_on_every_number_of_ranks() {
    let strict = Solid {
        options: polyhedra::Options {
            strict: true,
            ..SOLID.options
        },
        ..SOLID
    };
    let free = Solid {
        options: polyhedra::Options {
            constrained: false,
            ..strict.options
        },
        ..SOLID
    };
    let merged = Solid {
        is_merged: true,
        ..strict
    };
    let random = generate::random_tets(200, 4).unwrap();
    assert!(check_solid(&random, &SIZES, SOLID).len() > 4);
    check_solid(&random, &[3], strict);
    let goal = Goal {
        levels: Some(9),
        until: Some(50),
    };
    check_solid(&random, &[2], Solid { goal, ..SOLID });
    let goal = Goal::default();
    check_solid(&random, &[2], Solid { goal, ..SOLID });
    // All areas tie, and many triangles lie in one plane.
    let grid = equal_edges(125);
    let faces = |solid: Solid| {
        let on = Device::cpu(None).unwrap();
        single(&on, &grid, solid).1.faces.len()
    };
    assert!(faces(merged) < faces(strict));
    assert!(check_solid(&grid, &SIZES, merged).len() > 3);
    check_solid(&grid, &[5], SOLID);
    // Nearly every border is one of two ranks; regions, tagged faces, some twice, and holes.
    for (mesh, seed, solid, size) in [
        (&random, 2, SOLID, 5),
        (&random, 2, strict, 2),
        (&random, 3, free, 3),
        (&grid, 4, merged, 5),
    ] {
        check_solid(&mixed(mesh, seed, 1, 30), &[size], solid);
    }
    // Two components, which join to two pieces at least.
    let mut both = grid.clone();
    let (count, right) = (both.points.len() as u32, DVec3::new(50.0, 0.0, 0.0));
    both.points
        .extend(grid.points.iter().map(|&point| point + right));
    let moved = grid.tetrahedra.iter().map(|tet| tet.map(|v| v + count));
    both.tetrahedra.extend(moved);
    assert!(*check_solid(&both, &[3], free).last().unwrap() >= 2);
    // Ranks without pieces, and more tags than there are sides of faces.
    let mut cube = generate::tet_grid(8, 1).unwrap();
    check_solid(&cube, &[7], SOLID);
    cube.faces = cube.faces.repeat(4);
    check_solid(&cube, &[2], merged);
    check_solid(&TetMesh::default(), &[2], SOLID);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 96 }))]
    #[test]
    fn any_polyhedra(
        mesh in meshes(),
        flags in any::<[bool; 3]>(),
        size in prop::sample::select(&SIZES[..]),
        owners in choices(),
    ) {
        let [constrained, strict, is_merged] = flags;
        let options = polyhedra::Options { constrained, strict, ..SOLID.options };
        check_solid(&mesh, &[size], Solid { options, is_merged, owners, ..SOLID });
    }
}
