//! Nested levels on ranks equal the single run's.

use gpu::point::DoublePoint;
use proptest::prelude::*;
use trioxide::Device;
use trioxide::generate;
use trioxide::glam::{DVec2, DVec3};
use trioxide::levels::{self, Goal};
use trioxide::mesh::{PolygonMesh, Polygons, Triangulation};
use trioxide_mesh::random::mix;
use trioxide_ranks::levels::{Nested, levels as on_ranks};
use trioxide_ranks::ownership::Position;
use trioxide_ranks::polylla::{Options, Ordered, Points, find, part_to_find_in};
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Ranks};

use crate::common::surfaces::{all, beside, sphere, torus};
use crate::common::{constrained, lattice};

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
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn any_mesh(mesh in constrained(), size in prop::sample::select(&SIZES[..])) {
        check(&mesh, &[size], ALL);
    }
}
