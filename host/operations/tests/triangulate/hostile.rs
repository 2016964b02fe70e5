//! Hard outlines. Checks depend only on the results, not on the triangulator.

use std::collections::HashSet;

use robust::{Coord, orient2d};
use trioxide::half_edges::rules::check_triangulation;
use trioxide::random::SplitMix64;

use super::*;

pub(crate) fn outline_of(points: &[[f64; 2]], segments: &[[u32; 2]]) -> Outline {
    let segments = segments.iter().zip(1..);
    Outline {
        points: points.iter().map(|&p| p.into()).collect(),
        segments: segments
            .map(|(&ends, marker)| Segment { ends, marker })
            .collect(),
        ..Outline::default()
    }
}

/// Segments around the first `count` points.
fn around(count: u32) -> Vec<[u32; 2]> {
    (0..count).map(|v| [v, (v + 1) % count]).collect()
}

fn total_area(mesh: &Triangulation) -> f64 {
    mesh.triangles.iter().map(|t| area(mesh, t)).sum()
}

fn largest_area(mesh: &Triangulation) -> f64 {
    let areas = mesh.triangles.iter().map(|t| area(mesh, t));
    areas.fold(0.0, f64::max)
}

fn angle(degrees: f64) -> Options {
    Options {
        angle: Some(degrees),
        ..Options::default()
    }
}

/// The ends of a segment, the smaller first.
fn sorted_ends(segment: &Segment) -> [u32; 2] {
    let [a, b] = segment.ends;
    [a.min(b), a.max(b)]
}

/// Whether two segments have more than a point in common.
fn overlap(outline: &Outline, one: &Segment, other: &Segment) -> bool {
    let [a, b] = one.ends.map(|v| outline.points[v as usize]);
    let [c, d] = other.ends.map(|v| outline.points[v as usize]);
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    let is_on = |p: DVec2| orient2d(coord(a), coord(b), coord(p)) == 0.0;
    let along = |p: DVec2| (p - a).dot(b - a);
    let (low, high) = (along(c).min(along(d)), along(c).max(along(d)));
    is_on(c) && is_on(d) && low < along(b) && high > 0.0
}

/// Checks a result, and the chain of each segment: all markers differ. If the area is known, no segment may be left
/// out.
pub(crate) fn check(
    case: &str,
    outline: &Outline,
    mesh: &Triangulation,
    expected_area: Option<f64>,
) {
    let count = outline.points.len();
    assert_eq!(mesh.points[..count], outline.points, "{case}");
    check_triangulation(mesh).unwrap_or_else(|error| panic!("{case}: {error}"));
    let corners = mesh.triangles.iter();
    let edges: HashSet<[u32; 2]> = corners
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .flat_map(|[a, b]| [[a, b], [b, a]])
        .collect();
    let pieces: HashSet<[u32; 2]> = mesh.segments.iter().map(sorted_ends).collect();
    assert_eq!(pieces.len(), mesh.segments.len(), "{case}: an edge twice");
    let mut chains = mesh.segments.as_slice();
    for (i, segment) in outline.segments.iter().enumerate() {
        let of_marker = chains
            .iter()
            .take_while(|s| s.marker == segment.marker)
            .count();
        let (chain, others) = chains.split_at(of_marker);
        chains = others;
        let is_linked = |pair: &[Segment]| pair[0].ends[1] == pair[1].ends[0];
        let [from, to] = segment.ends.map(|v| outline.points[v as usize]);
        for piece in chain {
            assert!(edges.contains(&piece.ends), "{case}: {piece:?} is no edge");
            let p = mesh.points[piece.ends[1] as usize];
            let coord = |p: DVec2| Coord { x: p.x, y: p.y };
            let aside = orient2d(coord(from), coord(to), coord(p)).abs() / from.distance(to);
            let rounding = match (piece.ends[1] as usize) < count {
                true => 0.0,
                false => 1e-15 * p.abs().max_element().max(1.0),
            };
            assert!(
                aside <= rounding,
                "{case}: {piece:?} lies aside by {aside:e}"
            );
        }
        // An edge along several segments is a piece of the first.
        let before = &outline.segments[..i];
        let is_whole = !before.iter().any(|s| overlap(outline, s, segment));
        if expected_area.is_some() && is_whole {
            assert!(chain.windows(2).all(is_linked), "{case}: {chain:?}");
            let ends = chain.first().zip(chain.last());
            let ends = ends.map(|(first, last)| [first.ends[0], last.ends[1]]);
            assert_eq!(ends, Some(segment.ends), "{case}");
        }
    }
    assert_eq!(chains, [], "{case}: segments of no marker");
    if let Some(expected) = expected_area {
        let total = total_area(mesh);
        let rounding = 1e-12 * expected + 1e-14;
        assert!(
            (total - expected).abs() <= rounding,
            "{case}: {total} for {expected}"
        );
    }
}

#[test]
fn what_lies_outside_of_the_segments_is_not_refined() {
    // The triangle above the dent is flat, and a segment lies inside.
    let points = [
        [0., 0.],
        [5., 0.],
        [10., 0.],
        [10., 6.],
        [5., 5.999999],
        [0., 6.],
    ];
    let dented = outline_of(&points, &[around(6), vec![[1, 4]]].concat());
    let mesh = triangulate(&dented, &angle(25.0)).unwrap();
    let expected = 60.0 - 5.0 * 0.000001;
    check("dented", &dented, &mesh, Some(expected));
    assert_eq!((mesh.points.len(), mesh.triangles.len()), (6, 4));
    // The same dent in the side of a hole.
    let hole = [[4., 4.], [8., 4.], [8., 8.], [6., 7.9999], [4., 8.]];
    let points = [&square(0., 12.).map(|p| p.to_array())[..], &hole].concat();
    let ring = (0..5).map(|k| [4 + k, 4 + (k + 1) % 5]).collect();
    let mut holed = outline_of(&points, &[around(4), ring, vec![[0, 4]]].concat());
    holed.holes = vec![DVec2::splat(6.0)];
    let mesh = triangulate(&holed, &angle(20.0)).unwrap();
    check("holed", &holed, &mesh, Some(144.0 - 16.0 + 2.0 * 0.0001));
    assert!(mesh.points.len() < 60, "{} vertices", mesh.points.len());
}

#[test]
fn refinement_ends_or_is_refused() {
    let points = [[31., 9.21], [30.8, 9.], [30.4, 9.45], [30.2, 9.53]];
    let open = outline_of(&points, &[[0, 1], [2, 3]]);
    let reason = triangulate(&open, &angle(1.0)).unwrap_err().to_string();
    assert!(reason.contains("encloses no triangle"), "{reason}");
    for degrees in [1.0, 20.0] {
        let convex = Options {
            convex: true,
            ..angle(degrees)
        };
        let mesh = triangulate(&open, &convex).unwrap();
        check("open", &open, &mesh, None);
        assert!(mesh.points.len() < 200, "{} vertices", mesh.points.len());
    }
    // A thin wedge, and segments at small angles that meet in its tip.
    let wedge = [[0., 0.], [10., 0.], [10., 0.3], [10., 0.2], [10., 0.1]];
    let fan = [[0, 1], [1, 4], [4, 3], [3, 2], [2, 0], [0, 3], [0, 4]];
    let fan = outline_of(&wedge, &fan);
    let (mesh, notes) = with_notes(&fan, &angle(20.0)).unwrap();
    check("fan", &fan, &mesh, Some(1.5));
    assert!(mesh.points.len() < 2_000, "{} vertices", mesh.points.len());
    assert!(
        notes[0].contains("triangles at small angles between segments stay below 20 degrees"),
        "{notes:?}"
    );
    // An angle of 0 adds nothing.
    let mesh = triangulate(&fan, &angle(0.0)).unwrap();
    assert_eq!(mesh, triangulate(&fan, &Options::default()).unwrap());
}

#[test]
fn the_largest_area_is_reached() {
    let flat = outline_of(&[[1., 4.], [0., 1.], [2., 1.]], &around(3));
    let points = Outline {
        segments: Vec::new(),
        ..flat.clone()
    };
    for outline in [flat, points] {
        let bound = Options {
            area: Some(0.02),
            ..Options::default()
        };
        let (mesh, notes) = with_notes(&outline, &bound).unwrap();
        check("area", &outline, &mesh, Some(3.0));
        assert!(largest_area(&mesh) <= 0.02, "{}", largest_area(&mesh));
        assert!(notes.is_empty() && mesh.triangles.len() < 400, "{notes:?}");
    }
}

#[test]
fn markers_stay_on_their_segments_where_these_are_nearly_one_line() {
    let sliver = outline_of(&[[0., 0.], [1., 0.], [1., 1e-9]], &around(3));
    let mesh = triangulate(&sliver, &Options::default()).unwrap();
    assert_eq!(mesh.segments, sliver.segments);
}

#[test]
fn segments_that_end_inside_are_edges_and_those_outside_are_left_out() {
    let free = [[6., 6.], [2., 2.], [3., 6.], [5., 6.]];
    let points = [&square(0., 4.).map(|p| p.to_array())[..], &free].concat();
    // The last segment leaves through a corner: half of it is left out.
    let segments = [around(4), vec![[2, 4], [0, 5], [6, 7], [5, 4]]].concat();
    let outline = outline_of(&points, &segments);
    for refinement in [Options::default(), angle(25.0)] {
        let (mesh, notes) = with_notes(&outline, &refinement).unwrap();
        check("dangling", &outline, &mesh, None);
        assert_eq!(total_area(&mesh), 16.0);
        let markers: HashSet<i32> = mesh.segments.iter().map(|s| s.marker).collect();
        assert_eq!(markers, HashSet::from([1, 2, 3, 4, 6, 8]));
        assert_eq!(
            notes,
            ["3 segments lie outside of the triangles, and are left out there"]
        );
    }
}

struct Random(SplitMix64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0.next_u64() % count
    }
}

/// A polygon between two chains that are nearly one line, with some segments across.
fn nearly_collinear(random: &mut Random) -> Outline {
    let count = 2 + random.below(6);
    let tilt = random.below(3) as f64 * 0.37;
    let unit = [1e-3, 1e-9, 1e-13][random.below(3) as usize];
    let mut place = |x: u64, sign: f64| {
        let offset = (1 + random.below(4)) as f64;
        let x = x as f64;
        [x, tilt * x + sign * unit * offset]
    };
    let lower: Vec<_> = (0..count).map(|x| place(x, -1.0)).collect();
    let upper: Vec<_> = (0..count).rev().map(|x| place(x, 1.0)).collect();
    let mut segments = around(2 * count as u32);
    for x in 1..count - 1 {
        if random.below(2) == 0 {
            segments.push([x as u32, (2 * count - 1 - x) as u32]);
        }
    }
    outline_of(&[lower, upper].concat(), &segments)
}

/// Some of the points of a small lattice, and segments between them that do not cross.
fn on_lattice(random: &mut Random) -> Outline {
    let points: Vec<[i64; 2]> = (0..25)
        .filter(|_| random.below(3) > 0)
        .map(|i| [i % 5, i / 5])
        .collect();
    let mut segments: Vec<[u32; 2]> = Vec::new();
    let side = |[a, b, c]: [u32; 3]| {
        let [a, b, c] = [a, b, c].map(|v| points[v as usize]);
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).signum()
    };
    for _ in 0..12 {
        let [a, b] = [(); 2].map(|()| random.below(points.len() as u64) as u32);
        let crosses = |&[c, d]: &[u32; 2]| {
            let [p, q] = [side([a, b, c]), side([a, b, d])];
            let [r, s] = [side([c, d, a]), side([c, d, b])];
            p * q < 0 && r * s < 0
        };
        if a != b && !segments.iter().any(crosses) {
            segments.push([a, b]);
        }
    }
    let points: Vec<_> = points.iter().map(|p| p.map(|x| x as f64)).collect();
    outline_of(&points, &segments)
}

/// A polygon of points on one circle, with chords from one of them.
fn cocircular(random: &mut Random) -> Outline {
    // 65 = 5 * 13: 36 points with whole coordinates.
    let mut all: Vec<[i64; 2]> = (-65..=65)
        .flat_map(|x| (-65..=65).map(move |y| [x, y]))
        .filter(|[x, y]| x * x + y * y == 65 * 65)
        .collect();
    let direction = |p: &[i64; 2]| (p[1] as f64).atan2(p[0] as f64);
    all.sort_by(|p, q| direction(p).total_cmp(&direction(q)));
    all.retain(|_| random.below(2) == 0);
    let count = all.len() as u32;
    let mut segments = around(count);
    for v in 2..count - 1 {
        if random.below(4) == 0 {
            segments.push([0, v]);
        }
    }
    let points: Vec<_> = all.iter().map(|p| p.map(|x| x as f64)).collect();
    outline_of(&points, &segments)
}

/// The area of the polygon through the points.
fn polygon_area(points: &[DVec2]) -> f64 {
    let crosses = points
        .windows(2)
        .map(|p| (p[0] - points[0]).perp_dot(p[1] - points[0]));
    crosses.sum::<f64>() / 2.0
}

#[test]
fn hostile_outlines_have_their_area_segments_and_bounds() {
    let mut refined = 0;
    for seed in 0..300 {
        let mut random = Random(SplitMix64::new(seed));
        let outline = match seed % 3 {
            0 => nearly_collinear(&mut random),
            1 => on_lattice(&mut random),
            _ => cocircular(&mut random),
        };
        let is_lattice = seed % 3 == 1;
        let plain = Options {
            convex: is_lattice && seed % 2 == 0,
            ..Options::default()
        };
        let case = format!("seed {seed}");
        let mesh = match triangulate(&outline, &plain) {
            Err(error) if is_lattice && error.to_string().contains("no triangle") => continue,
            mesh => mesh.unwrap_or_else(|error| panic!("{case}: {error}")),
        };
        let expected = match is_lattice {
            true => plain.convex.then(|| total_area(&mesh)),
            false => Some(polygon_area(&outline.points)),
        };
        check(&case, &outline, &mesh, expected);
        // Between chains that nearly form a line, the number of triangles grows with their nearness.
        if seed % 3 == 0 {
            continue;
        }
        let bounds = Options {
            angle: Some(20.0).filter(|_| seed % 4 < 2),
            area: Some(total_area(&mesh) / 50.0).filter(|_| seed % 4 > 0),
            max_vertices: Some(20_000),
            ..plain
        };
        let (fine, notes) =
            with_notes(&outline, &bounds).unwrap_or_else(|error| panic!("{case}: {error}"));
        refined += 1;
        check(&case, &outline, &fine, expected);
        assert!(
            (total_area(&fine) - total_area(&mesh)).abs() < 1e-9,
            "{case}"
        );
        if let Some(bound) = bounds.area {
            assert!(largest_area(&fine) <= bound * (1.0 + 1e-12), "{case}");
        }
        let is_expected = |note: &String| {
            let expected = ["small angles", "outside", "along another", "along others"];
            expected.iter().any(|part| note.contains(part))
        };
        assert!(notes.iter().all(is_expected), "{case}: {notes:?}");
    }
    assert!(refined > 150, "{refined}");
}
