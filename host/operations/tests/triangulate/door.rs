//! Outlines as people have them: crossing segments, gaps, rings without holes, slits.

use trioxide::delaunay::refinement::Keep;
use trioxide::random::SplitMix64;
use trioxide_operations::triangulate::Holes;

use super::hostile::outline_of;
use super::*;

/// Rings of squares around a center, and other segments.
fn squares(sizes: &[f64], more: &[[[f64; 2]; 2]]) -> Outline {
    let corner = |r: f64| [[-r, -r], [r, -r], [r, r], [-r, r]];
    let mut points: Vec<[f64; 2]> = sizes.iter().flat_map(|&r| corner(r)).collect();
    let mut segments: Vec<[u32; 2]> = (0..sizes.len() as u32)
        .flat_map(|i| (0..4).map(move |k| [4 * i + k, 4 * i + (k + 1) % 4]))
        .collect();
    for ends in more {
        let ends = ends.map(|p| match points.iter().position(|&q| q == p) {
            Some(v) => v as u32,
            None => {
                points.push(p);
                points.len() as u32 - 1
            }
        });
        segments.push(ends);
    }
    outline_of(&points, &segments)
}

fn total(mesh: &Triangulation) -> f64 {
    mesh.triangles.iter().map(|t| area(mesh, t)).sum()
}

#[test]
fn crossings_get_vertices_that_carry_data() {
    let mut mesh = Mesh {
        points: [
            (0.0, 0.0, 1.0),
            (4.0, 0.0, 1.0),
            (4.0, 4.0, 5.0),
            (0.0, 4.0, 9.0),
        ]
        .map(DVec3::from)
        .to_vec(),
        segments: [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
            .iter()
            .zip(1..)
            .map(|(&ends, marker)| Segment { ends, marker })
            .collect(),
        ..Mesh::default()
    };
    mesh.fields
        .points
        .push(Field::scalars("heat", vec![0.0, 8.0, 2.0, 4.0]));
    mesh.fields
        .points
        .push(Field::scalars("tag", vec![5, 6, 7, 8]));
    mesh.fields
        .sides
        .push(Field::scalars("side", vec![10, 11, 12, 13, 14, 15]));
    let (outline, _) = OutlineMesh::of_mesh(mesh);
    let options = Options {
        resolve: true,
        ..Options::default()
    };
    let on = Device::cpu(Some(2)).unwrap();
    let (mesh, report) = operation(&on, outline.clone(), &options).unwrap();
    assert_eq!(
        report.notes,
        ["1 pair of segments crosses: 1 vertex is added where they meet"]
    );
    let totals = report.totals;
    assert_eq!(
        (totals.input_vertices, totals.vertices, totals.crossings),
        (4, 5, 1)
    );
    assert_eq!(mesh.points[4], DVec3::new(2.0, 2.0, 3.0));
    let values = |name| mesh.fields.points.get(name).unwrap().values.f64(4);
    assert_eq!((values("heat"), values("tag")), (1.0, 5.0));
    let parts: Vec<_> = mesh.segments.iter().map(|s| (s.ends, s.marker)).collect();
    assert_eq!(
        parts[4..],
        [([0, 4], 5), ([4, 2], 5), ([1, 4], 6), ([4, 3], 6)]
    );
    assert_eq!(
        mesh.fields.sides.get("side").unwrap().values,
        Values::from(vec![10, 11, 12, 13, 14, 14, 15, 15])
    );
    // The same on a device, where parts have their segments.
    let points: Vec<DVec2> = outline.mesh.points.iter().map(|p| p.truncate()).collect();
    let ends: Vec<[u32; 2]> = outline.mesh.segments.iter().map(|s| s.ends).collect();
    let limits = ResidentLimits {
        segments: Some(on.upload(&ends).unwrap()),
        ..ResidentLimits::default()
    };
    let found = resident(&on, &on.upload(&points).unwrap(), &limits, &options).unwrap();
    let pieces = found.pieces.unwrap();
    assert_eq!(
        on.download(&pieces.parents).unwrap(),
        [0, 1, 2, 3, 4, 4, 5, 5]
    );
    assert_eq!((found.totals, found.notes), (totals, report.notes));
    assert_eq!(
        on.download(&found.points.unwrap()).unwrap()[4],
        DVec2::splat(2.0)
    );
}

#[test]
fn inner_rings_are_holes() {
    let inner = Options {
        holes: Holes::Inner,
        ..Options::default()
    };
    // A square of half the side around a corner of the third ring touches it at a vertex.
    let touching: Vec<[[f64; 2]; 2]> = [[2.0, 2.0], [2.5, 2.0], [2.5, 2.5], [2.0, 2.5]]
        .windows(2)
        .map(|pair| [pair[0], pair[1]])
        .chain([[[2.0, 2.5], [2.0, 2.0]]])
        .collect();
    for (case, outline, expected) in [
        ("alone", squares(&[4.0], &[]), 64.0),
        ("a hole", squares(&[4.0, 3.0], &[]), 64.0 - 36.0),
        (
            "an island",
            squares(&[4.0, 3.0, 2.0], &[]),
            64.0 - 36.0 + 16.0,
        ),
        (
            "a lake on it",
            squares(&[4.0, 3.0, 2.0, 1.0], &[]),
            64.0 - 36.0 + 16.0 - 4.0,
        ),
        (
            "borders of regions",
            squares(&[4.0, 2.0], &[[[3.0, -4.0], [3.0, 4.0]]]),
            64.0 - 16.0,
        ),
        (
            "a hole with borders",
            squares(&[4.0, 3.0], &[[[0.0, -3.0], [0.0, 3.0]]]),
            64.0 - 36.0,
        ),
        (
            "an open line in it",
            squares(&[4.0], &[[[-1.0, 0.0], [1.0, 1.0]]]),
            64.0,
        ),
        (
            "rings at one vertex",
            squares(&[4.0, 2.0], &touching),
            64.0 - 16.0 - 0.25,
        ),
    ] {
        let mesh = triangulate(&outline, &inner).unwrap();
        assert_eq!(total(&mesh), expected, "{case}");
        let convex = Options {
            convex: true,
            ..inner.clone()
        };
        assert_eq!(
            total(&triangulate(&outline, &convex).unwrap()),
            expected,
            "{case}"
        );
    }
    // Given points are left out.
    let mut outline = squares(&[4.0, 3.0], &[]);
    outline.holes = vec![DVec2::splat(3.5)];
    let (mesh, notes) = with_notes(&outline, &inner).unwrap();
    assert_eq!((total(&mesh), notes.len()), (28.0, 1), "{notes:?}");
    outline.segments.truncate(4);
    let reason = triangulate(&outline, &Options::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        reason,
        "hole 0 at [3.5, 3.5] takes all of the outline, so it encloses no triangle: a hole needs a ring of segments around it \
         within the outline, or use `holes` inner"
    );
}

#[test]
fn what_encloses_no_triangle_is_said_with_the_place() {
    let reason = |points: &[[f64; 2]], segments: &[[u32; 2]], duplicates| {
        let options = Options {
            duplicates,
            ..Options::default()
        };
        let refused = triangulate(&outline_of(points, segments), &options);
        refused.unwrap_err().to_string()
    };
    let first = Duplicates::First;
    let square = [
        [0.0, 0.0],
        [4.0, 0.0],
        [4.0, 4.0],
        [0.0, 4.0],
        [0.0, 0.5],
        [-0.25, 1.0],
    ];
    let ring = [[0, 1], [1, 2], [2, 3], [3, 4]];
    for (segments, expected) in [
        (
            ring.to_vec(),
            "gap of 0.5 between vertex 0 at [0, 0] and vertex 4 at [0, 0.5]: close it by a segment, or leave",
        ),
        // The end runs past the start, beside the first segment's line.
        (
            [&ring[..3], &[[3, 5]]].concat(),
            "gap of 1.0307764064044151 between vertex 0 at [0, 0] and vertex 5 at [-0.25, 1]",
        ),
        (
            vec![[0, 1], [2, 3]],
            "gap of 4 between vertex 0 at [0, 0] and vertex 3 at [0, 4]: close it by a segment; 2 other ends",
        ),
    ] {
        let reason = reason(&square, &segments, first);
        assert!(reason.contains(expected), "{reason}");
    }
    let beside = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [2.0, 1e-9]];
    let reason_beside = reason(&beside, &[[0, 1], [1, 2], [2, 3], [3, 4]], first);
    let expected = "between vertex 4 at [2, 0.000000001] and the segment from vertex 0 at [0, 0] to vertex 1 at [4, 0]";
    assert!(reason_beside.contains(expected), "{reason_beside}");
    let twice = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.0, 0.0]];
    assert!(reason(&twice, &[[0, 3]], first).contains("all of its segments join equal points"));
    for (points, expected) in [
        (&square[..2], "there are 2;"),
        (&[[1.0; 2]; 5][..], "there is 1 of different places;"),
        (
            &[[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]][..],
            "all 3 lie on the line through ",
        ),
    ] {
        let reason = reason(points, &[], first);
        assert!(
            reason.starts_with("the points span no triangle: ") && reason.contains(expected),
            "{reason}"
        );
    }
}

#[test]
fn a_kept_boundary_gets_no_vertices() {
    let outline = squares(&[4.0, 1.0], &[[[0.0, 1.0], [0.0, 4.0]]]);
    for (keep, of_boundary, of_others) in [(Keep::Outer, 5, true), (Keep::All, 5, false)] {
        for (angle, area) in [(None, 0.05), (Some(25.0), 0.05)] {
            let options = Options {
                angle,
                area: Some(area),
                keep_boundary: keep,
                ..Options::default()
            };
            let (mesh, notes) = with_notes(&outline, &options).unwrap();
            super::hostile::check("kept", &outline, &mesh, Some(64.0));
            let is_outer = |s: &&Segment| s.marker <= 4;
            let outer = mesh.segments.iter().filter(is_outer).count();
            assert_eq!(
                (outer, mesh.segments.len() > 11),
                (of_boundary, of_others),
                "{keep:?}"
            );
            assert_eq!(notes.len(), usize::from(angle.is_some()), "{notes:?}");
            let largest = mesh
                .triangles
                .iter()
                .map(|t| self::area(&mesh, t))
                .fold(0.0, f64::max);
            assert!(largest <= area, "{largest}");
        }
    }
}

#[test]
fn regions_in_one_area_and_larger_areas_are_noted() {
    let mut outline = squares(&[4.0, 1.0], &[]);
    let region = |at: f64, id, largest_area| Region {
        largest_area,
        ..Region::new(DVec2::splat(at), id)
    };
    outline.regions = vec![
        region(2.0, 1, None),
        region(0.0, 2, Some(0.5)),
        region(3.0, 3, Some(9.0)),
        region(0.25, 4, None),
    ];
    let options = Options {
        area: Some(0.25),
        ..Options::default()
    };
    let (_, notes) = with_notes(&outline, &options).unwrap();
    assert_eq!(
        notes,
        [
            "region 2 at [3, 3] is left out, since region 0 at [2, 2] is in the same area; so is 1 other",
            "1 region keeps its own largest area 0.5, above the 0.25 of all triangles",
        ]
    );
}

/// The sign of an orientation.
fn side(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let coord = |p: DVec2| robust::Coord { x: p.x, y: p.y };
    let side = robust::orient2d(coord(a), coord(b), coord(c));
    f64::from(i8::from(side > 0.0) - i8::from(side < 0.0))
}

#[test]
fn the_boundary_beside_a_slit_stays_simple() {
    let mut random = SplitMix64::new(5);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    for case in 0..30 {
        let (x, y) = (0.2 + 0.6 * unit(), 0.2 + 0.6 * unit());
        let mut other = x;
        (0..1 + case % 10).for_each(|_| other = other.next_down());
        let tip = [0.2 + 0.6 * unit(), y];
        let points = [
            [0.0, 0.0],
            [1.0, 0.0],
            [1.0, 1.0],
            [x, 1.0],
            tip,
            [other, 1.0],
            [0.0, 1.0],
        ];
        let segments: Vec<[u32; 2]> = (0..7).map(|v| [v, (v + 1) % 7]).collect();
        let options = Options {
            area: Some(0.01),
            max_vertices: Some(5000),
            ..Options::default()
        };
        let mesh = triangulate(&outline_of(&points, &segments), &options).unwrap();
        let places: std::collections::HashSet<[u64; 2]> = mesh
            .points
            .iter()
            .map(|p| [p.x + 0.0, p.y + 0.0].map(f64::to_bits))
            .collect();
        assert_eq!(places.len(), mesh.points.len(), "{points:?}: a place twice");
        let at = |v: u32| mesh.points[v as usize];
        for t in &mesh.triangles {
            assert!(side(at(t[0]), at(t[1]), at(t[2])) > 0.0, "{points:?}");
        }
        for (i, one) in mesh.segments.iter().enumerate() {
            let [a, b] = one.ends.map(at);
            for other in &mesh.segments[..i] {
                let [c, d] = other.ends.map(at);
                let is_parted =
                    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0;
                assert!(!is_parted, "{points:?}: {one:?} crosses {other:?}");
            }
        }
    }
}
