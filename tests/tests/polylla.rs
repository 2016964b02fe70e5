//! Polylla on random triangulations: both methods on a device and both references have the same result.

use glam::DVec2;
use gpu::orientation::is_counter_clockwise;
use gpu::point::Coordinates;
use proptest::prelude::*;
use proptest::sample::Index;
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{Neighbours, Repair, indexed};
use trioxide::mesh::{
    PolygonMesh, Polygons, PolyllaLists, PolyllaMesh, Segment, Ties, Triangulation,
};
use trioxide::polylla::{Constraints, polylla};
use trioxide::{Error, indexed, polylla};
use trioxide_reference as reference;
use trioxide_reference::indexed::IndexedTriangulation;
use trioxide_reference::random_mesh::{
    RING, RING_TRIANGLES, delaunay, triangulations, triangulations_with_regions,
};
use trioxide_verify::validate;

fn coordinates() -> impl Strategy<Value = (f64, f64)> {
    (0.0..1.0, 0.0..1.0)
}

/// Three points and more: often one triangle or two.
fn few_points() -> impl Strategy<Value = Triangulation> {
    prop::collection::vec(coordinates(), 3..6).prop_map(|points| delaunay(&points))
}

/// Points close to a line: no triangle has a height of more than a few millionths.
fn slivers() -> impl Strategy<Value = Triangulation> {
    let points = prop::collection::vec((0.0..1.0, 0.0..1e-6), 3..80);
    points.prop_map(|points| delaunay(&points))
}

/// Integer points on a circle, and some inside it.
fn cocircular() -> impl Strategy<Value = Triangulation> {
    let circle: Vec<(f64, f64)> = (-65..=65)
        .flat_map(|x: i32| (-65..=65).map(move |y: i32| (x, y)))
        .filter(|(x, y)| x * x + y * y == 65 * 65)
        .map(|(x, y)| (f64::from(x), f64::from(y)))
        .collect();
    let inside = prop::collection::vec((-9..9i8, -9..9i8), 0..12);
    (prop::sample::subsequence(circle, 3..36), inside).prop_map(|(mut points, inside)| {
        points.extend(inside.iter().map(|&(x, y)| (x.into(), y.into())));
        delaunay(&points)
    })
}

/// Four rows of triangles whose edges all have the squared length 1, as rounded.
fn equal_lengths() -> impl Strategy<Value = Triangulation> {
    // The neighbour of the root of 3/4 whose square rounds to 3/4; its multiples by 2 are exact.
    const HEIGHT: f64 = 0.866_025_403_784_438_7;
    (1..12u32).prop_map(|columns| {
        let vertex = |row: u32, column: u32| row * (columns + 1) + column;
        let mut mesh = Triangulation::default();
        for row in 0..5 {
            for column in 0..=columns {
                let x = f64::from(column) + f64::from(row) / 2.0;
                mesh.points
                    .push(DVec2::new(x, (f64::from(row) - 2.0) * HEIGHT));
            }
        }
        for row in 0..4 {
            for column in 0..columns {
                let [a, b] = [vertex(row, column), vertex(row, column + 1)];
                let [d, c] = [vertex(row + 1, column), vertex(row + 1, column + 1)];
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
        mesh
    })
}

/// A row of trapezia, each cut along one of its diagonals.
fn strip() -> impl Strategy<Value = Triangulation> {
    prop::collection::vec((0.1..5.0, any::<bool>()), 2..60).prop_map(|columns| {
        let mut mesh = Triangulation::default();
        for (i, &(height, _)) in columns.iter().enumerate() {
            let x = i as f64;
            mesh.points
                .extend([DVec2::new(x, 0.0), DVec2::new(x, height)]);
        }
        for (i, &(_, rising)) in columns.iter().enumerate().skip(1) {
            let right = 2 * i as u32;
            let [a, b, c, d] = [right - 2, right, right + 1, right - 1];
            mesh.triangles.extend(if rising {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
        mesh
    })
}

/// Triangles around vertex 0.
fn fan() -> impl Strategy<Value = Triangulation> {
    prop::collection::vec(0.1..10.0, 3..40).prop_map(|radii| {
        let n = radii.len() as u32;
        let angle = |i: usize| std::f64::consts::TAU * i as f64 / f64::from(n);
        let rim = radii.iter().enumerate();
        let mut points = vec![DVec2::ZERO];
        points.extend(rim.map(|(i, &radius)| radius * DVec2::from_angle(angle(i))));
        Triangulation {
            points,
            triangles: (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect(),
            ..Default::default()
        }
    })
}

/// Triangulations that are far from Delaunay: long regions with many tips.
fn flipped() -> impl Strategy<Value = Triangulation> {
    let points = prop::collection::vec(coordinates(), 4..70);
    let flips = prop::collection::vec(any::<Index>(), 0..300);
    (points, flips).prop_map(|(points, flips)| {
        let mut mesh = delaunay(&points);
        for flip in flips {
            let h = flip.index(3 * mesh.triangles.len().max(1));
            flip_edge(&mut mesh, h);
        }
        mesh
    })
}

/// Replaces edge `h % 3` of triangle `h / 3` by the other diagonal, if its two triangles form a convex quadrilateral.
fn flip_edge(mesh: &mut Triangulation, h: usize) {
    let edge = |t: &[u32; 3], k: usize| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
    let Some(t) = mesh.triangles.get(h / 3) else {
        return;
    };
    let [a, b, c] = edge(t, h % 3);
    let mut others = mesh.triangles.iter().enumerate();
    let Some((other, d)) = others.find_map(|(i, t)| {
        let k = (0..3).find(|&k| edge(t, k)[..2] == [b, a])?;
        Some((i, edge(t, k)[2]))
    }) else {
        return;
    };
    let flipped = [[a, d, c], [d, b, c]];
    if flipped.iter().all(|t| {
        let [p, q, r] = t.map(|v| mesh.points[v as usize]);
        is_counter_clockwise(p, q, r)
    }) {
        [mesh.triangles[h / 3], mesh.triangles[other]] = flipped;
    }
}

/// Any of these; most have holes and islands, regions and segments.
fn meshes() -> impl Strategy<Value = Triangulation> {
    prop_oneof![1 => triangulations_with_regions(), 8 => constrained_meshes()]
}

fn constrained_meshes() -> impl Strategy<Value = Triangulation> {
    let whole = prop_oneof![
        triangulations(),
        few_points(),
        slivers(),
        cocircular(),
        equal_lengths(),
        strip(),
        fan(),
        flipped(),
        flipped(),
    ];
    let removed = prop::collection::vec(prop::bool::weighted(0.1), 1..60);
    let regions = prop::option::of(prop::collection::vec(0..3i32, 1..40));
    let segments = prop::collection::vec(any::<Index>(), 0..8);
    (whole, prop::option::of(removed), regions, segments).prop_map(
        |(mut mesh, removed, regions, segments)| {
            if let Some(removed) = removed {
                let mut removed = removed.iter().cycle();
                mesh.triangles
                    .retain(|_| !removed.next().expect("it repeats"));
            }
            let n = mesh.triangles.len();
            mesh.regions = regions.map(|ids| ids.into_iter().cycle().take(n).collect());
            if n > 0 {
                let ends = |t: &[u32; 3]| Segment {
                    ends: [t[2], t[0]],
                    marker: 1,
                };
                let segment = |i: &Index| ends(&mesh.triangles[i.index(n)]);
                mesh.segments = segments.iter().map(segment).collect();
            }
            mesh
        },
    )
}

/// The lists of a run by half-edges.
fn lists(mesh: &PolyllaMesh) -> PolyllaLists {
    PolyllaLists {
        half_edges: mesh.half_edges.clone(),
        polygons: mesh.polygons.clone(),
        counts: mesh.counts,
    }
}

/// Runs all methods on `mesh` in one precision and compares.
fn compare<P: Point>(on: &Device, mesh: &Triangulation) -> Result<(), TestCaseError> {
    let resident = match DeviceTriangulation::<P>::upload(on, mesh).map_err(Error::from) {
        // A sliver can lose its area when it is rounded to f32.
        Err(Error::Invalid { rule, .. })
            if P::INSTANCE == "f32" && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        other => other.unwrap(),
    };
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let constrained = reference::constrained_edges(mesh, &half_edges).unwrap();
    let constrained = |h: u32| constrained[h as usize];

    let (expected, _) = reference::polylla(&points, &half_edges, constrained, Ties::Edge);
    validate::polygons::polylla(&mesh.points, &half_edges, &expected, constrained).unwrap();
    let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
    let (serial, _) = reference::indexed(&points, &arrays, constrained, Ties::Edge);
    prop_assert_eq!(&serial, &lists(&expected), "references");
    let polygons = &serial.polygons;
    validate::polygons::polygons_of(&mesh.points, &half_edges, polygons, constrained).unwrap();

    let constraints = Constraints::of(on, &resident, mesh).unwrap();
    let constraints = constraints.as_ref();
    let ours = polylla(on, &resident, constraints, polylla::Options::default());
    let ours = ours.unwrap().download_mesh(on, &resident).unwrap();
    prop_assert_eq!(&ours, &expected, "half-edges");
    let neighbours = Neighbours::new(on, &resident).unwrap();
    for repair in [Repair::Device, Repair::Host] {
        let options = indexed::Options {
            repair,
            ..Default::default()
        };
        let ours = indexed(on, &resident, &neighbours, constraints, options).unwrap();
        prop_assert_eq!(&ours.download(on).unwrap(), &serial, "{:?}", repair);
    }

    let strict = polylla::Options {
        strict: true,
        ..Default::default()
    };
    let strict = polylla(on, &resident, constraints, strict).unwrap();
    let short = polylla::ShortEdges {
        ratio: 0.4,
        keeps_convex: false,
        pinned: &[1],
    };
    let left = polylla::remove_short_edges(on, &resident, &strict, constraints, short).unwrap();
    let left = Left {
        polygons: left.download_lists(on).unwrap(),
        places: left.download_places(on).unwrap(),
        counts: left.counts(),
    };
    let strict = strict.download_mesh(on, &resident).unwrap();
    let found = validate::polygons::polylla(&mesh.points, &half_edges, &strict, constrained);
    prop_assert_eq!(found.unwrap().weakly_simple, 0);
    let mut expected = expected;
    reference::polylla::split_weakly_simple(&half_edges, &mut expected);
    prop_assert_eq!(&strict, &expected, "strict");
    let points: Vec<DVec2> = points.iter().map(|p| p.to_f64()).collect();
    let ends = reference::polylla::constrained_ends(&half_edges, constrained);
    let lists = &strict.polygons;
    let expected = reference::polylla::remove_short_edges(&points, lists, &ends, short);
    compare_short(mesh, points, &strict, &expected, short, &left)
}

/// Polygons without short edges, as a device gives them.
struct Left {
    polygons: Polygons,
    places: Vec<u32>,
    counts: polylla::ShortEdgeCounts,
}

fn compare_short(
    mesh: &Triangulation,
    points: Vec<DVec2>,
    before: &PolyllaMesh,
    expected: &reference::polylla::short_edges::Shortened,
    short: polylla::ShortEdges<'_>,
    left: &Left,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&left.polygons, &expected.polygons, "short edges");
    prop_assert_eq!(&left.places, &expected.places);
    prop_assert_eq!(left.counts, expected.counts);
    let region = |&h: &u32| mesh.regions.as_ref().map(|regions| regions[h as usize / 3]);
    let before = PolygonMesh {
        points,
        regions: before.half_edges.iter().map(region).collect(),
        polygons: before.polygons.clone(),
        segments: mesh.segments.clone(),
    };
    let found = validate::polygons::shortened(&before, &left.polygons, &left.places, short);
    prop_assert!(found.is_ok(), "{:?}", found);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn all_methods_agree(mesh in meshes()) {
        validate::triangulation(&mesh).unwrap();
        let on = Device::cpu(Some(1)).unwrap();
        compare::<DVec2>(&on, &mesh)?;
        compare::<glam::Vec2>(&on, &mesh)?;
    }
}

/// All edges of all triangles are equally long, so that this test covers ties.
#[test]
fn equal_lengths_are_equal() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    runner
        .run(&equal_lengths(), |mesh| {
            for [a, b, c] in &mesh.triangles {
                for (a, b) in [(a, b), (b, c), (c, a)] {
                    let [a, b] = [a, b].map(|&v| mesh.points[v as usize]);
                    prop_assert_eq!(Coordinates::distance_squared(a, b), 1.0);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// The ring with its triangles in any order, each from any of its vertices: its polygon is weakly simple.
fn weakly_simple() -> impl Strategy<Value = Triangulation> {
    let order = Just(RING_TRIANGLES.to_vec()).prop_shuffle();
    (order, prop::array::uniform7(0..3_usize)).prop_map(|(mut triangles, turns)| {
        let turned = triangles.iter_mut().zip(turns);
        turned.for_each(|(triangle, turn)| triangle.rotate_left(turn));
        Triangulation {
            points: RING.map(DVec2::from).to_vec(),
            triangles,
            ..Triangulation::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// A half of the cut may be smaller than the smallest half-edge of the polygon that it cuts; then no piece has that
    /// half-edge as its name.
    #[test]
    fn a_polygon_is_cut_where_its_cut_is_its_smallest_half_edge(mesh in weakly_simple()) {
        compare::<DVec2>(&Device::cpu(Some(1)).unwrap(), &mesh)?;
    }
}
