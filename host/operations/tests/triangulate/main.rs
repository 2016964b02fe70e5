//! Outlines with holes and regions, refinement, faults.

use glam::{DVec2, DVec3};
use trioxide::delaunay::Duplicates;
use trioxide::device::Device;
use trioxide::fields::{Field, Values};
use trioxide::mesh::{Mesh, Segment, Triangulation};
use trioxide::outline::{Outline, OutlineMesh, Region};
use trioxide_operations::triangulate as operation;
use trioxide_operations::triangulate::{Options, ResidentLimits, resident};

mod door;
mod hostile;
mod sizes;

/// The triangulation with its notes.
fn with_notes(
    outline: &Outline,
    options: &Options,
) -> trioxide_operations::Result<(Triangulation, Vec<String>)> {
    let mesh = Mesh {
        points: outline.points.iter().map(|p| p.extend(0.0)).collect(),
        segments: outline.segments.clone(),
        ..Mesh::default()
    };
    let outline = OutlineMesh {
        mesh,
        holes: outline.holes.clone(),
        regions: outline.regions.clone(),
    };
    let on = Device::cpu(Some(2))?;
    let (mesh, report) = operation(&on, outline, options)?;
    Ok((mesh.into_triangulation()?, report.notes))
}

/// The triangulation.
fn triangulate(outline: &Outline, options: &Options) -> trioxide_operations::Result<Triangulation> {
    with_notes(outline, options).map(|(mesh, _)| mesh)
}

fn square(low: f64, high: f64) -> [DVec2; 4] {
    [(low, low), (high, low), (high, high), (low, high)].map(|(x, y)| DVec2::new(x, y))
}

fn ring(first: u32, marker: i32) -> [Segment; 4] {
    [0, 1, 2, 3].map(|k| Segment {
        ends: [first + k, first + (k + 1) % 4],
        marker,
    })
}

fn area(mesh: &Triangulation, t: &[u32; 3]) -> f64 {
    let [a, b, c] = t.map(|v| mesh.points[v as usize]);
    (b - a).perp_dot(c - a) / 2.0
}

fn smallest_angle(mesh: &Triangulation) -> f64 {
    let corners = mesh.triangles.iter();
    let corners = corners.map(|t| t.map(|v| mesh.points[v as usize]));
    let angle = |[a, b, c]: [DVec2; 3]| (b - a).angle_to(c - a).to_degrees();
    let angles = corners.flat_map(|[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]].map(angle));
    angles.fold(180.0, f64::min)
}

/// A square of side 3 with a hole of side 1, and a region of side 0.5 in its corner.
fn outline() -> Outline {
    Outline {
        points: [square(0.0, 3.0), square(1.0, 2.0), square(0.25, 0.75)].concat(),
        segments: [ring(0, 1), ring(4, 2), ring(8, 3)].concat(),
        holes: vec![DVec2::splat(1.5)],
        regions: vec![Region::new(DVec2::splat(0.5), 7)],
    }
}

#[test]
fn holes_are_left_out_and_regions_are_filled() {
    let mesh = triangulate(&outline(), &Options::default()).unwrap();
    assert_eq!(mesh.points, outline().points);
    let areas: Vec<f64> = mesh.triangles.iter().map(|t| area(&mesh, t)).collect();
    assert!(areas.iter().all(|&area| area > 0.0));
    assert!((areas.iter().sum::<f64>() - 8.0).abs() < 1e-12);
    let regions = mesh.regions.as_ref().unwrap();
    let of_region = |id| {
        areas
            .iter()
            .zip(regions)
            .filter(move |(_, r)| **r == id)
            .map(|(a, _)| a)
            .sum::<f64>()
    };
    assert!((of_region(7) - 0.25).abs() < 1e-12);
    assert_eq!(mesh.segments, outline().segments);
}

#[test]
fn a_region_has_a_largest_area_of_its_own() {
    let mut outline = outline();
    outline.regions[0].largest_area = Some(0.001);
    let refinement = Options {
        angle: Some(20.0),
        ..Options::default()
    };
    let mesh = triangulate(&outline, &refinement).unwrap();
    let regions = mesh.regions.as_ref().unwrap();
    let inside: Vec<_> = (0..regions.len()).filter(|&t| regions[t] == 7).collect();
    let areas = inside.iter().map(|&t| area(&mesh, &mesh.triangles[t]));
    assert!(areas.clone().all(|area| area <= 0.001));
    assert!((areas.sum::<f64>() - 0.25).abs() < 1e-12);
    let largest = mesh
        .triangles
        .iter()
        .map(|t| area(&mesh, t))
        .fold(0.0, f64::max);
    assert!(
        largest > 0.1 && inside.len() > 250,
        "{largest}, {}",
        inside.len()
    );
}

#[test]
fn refinement_reaches_the_angle_and_the_area_and_keeps_markers() {
    let refinement = Options {
        angle: Some(28.0),
        area: Some(0.05),
        ..Options::default()
    };
    let mesh = triangulate(&outline(), &refinement).unwrap();
    assert_eq!(mesh.points[..12], outline().points);
    let areas: Vec<f64> = mesh.triangles.iter().map(|t| area(&mesh, t)).collect();
    assert!((areas.iter().sum::<f64>() - 8.0).abs() < 1e-9);
    assert!(areas.iter().all(|&area| area > 0.0 && area <= 0.05));
    assert!(smallest_angle(&mesh) >= 28.0, "{}", smallest_angle(&mesh));
    for (marker, length) in [(1, 12.0), (2, 4.0), (3, 2.0)] {
        let of_marker = mesh.segments.iter().filter(|s| s.marker == marker);
        let lengths = of_marker.map(|s| {
            let [a, b] = s.ends.map(|v| mesh.points[v as usize]);
            a.distance(b)
        });
        assert!((lengths.sum::<f64>() - length).abs() < 1e-9);
    }
    assert_eq!(triangulate(&outline(), &refinement).unwrap(), mesh);
}

#[test]
fn points_alone_are_triangulated_up_to_their_hull() {
    let points = Outline {
        points: square(0.0, 1.0).to_vec(),
        ..Outline::default()
    };
    assert_eq!(
        triangulate(&points, &Options::default())
            .unwrap()
            .triangles
            .len(),
        2
    );
    let concave = Outline {
        points: [square(0.0, 1.0).to_vec(), vec![DVec2::splat(0.6)]].concat(),
        segments: [[0, 1], [1, 4], [4, 3], [3, 0]]
            .map(|ends| Segment { ends, marker: 1 })
            .to_vec(),
        ..Outline::default()
    };
    let area_of = |refinement| {
        let mesh = triangulate(&concave, &refinement).unwrap();
        mesh.triangles.iter().map(|t| area(&mesh, t)).sum::<f64>()
    };
    assert!((area_of(Options::default()) - 0.6).abs() < 1e-12);
    let convex = Options {
        convex: true,
        ..Options::default()
    };
    assert!((area_of(convex) - 1.0).abs() < 1e-12);
}

#[test]
fn faults_of_outlines_name_the_element() {
    let error = |change: &dyn Fn(&mut Outline)| {
        let mut outline = outline();
        change(&mut outline);
        triangulate(&outline, &Options::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(&|o| o.segments[0].ends[1] = 99),
        "segment 0 runs from vertex 0 to 99, but there are 12 vertices"
    );
    assert_eq!(
        error(&|o| o.segments[2].ends = [5, 5]),
        "segment 2 begins and ends at vertex 5: leave it out"
    );
    let crossing = error(&|o| {
        o.segments.push(Segment {
            ends: [0, 5],
            marker: 0,
        })
    });
    assert_eq!(
        crossing,
        "the outline has 2 pairs of segments that cross where no vertex is: 8 and 12 at [0.5, 0.25], 9 and 12 at \
         [0.75, 0.375]; `resolve` puts vertices there"
    );
    assert!(error(&|o| o.points[4] = o.points[0]).contains("vertex 4"));
    assert_eq!(
        error(&|o| o.holes[0] = DVec2::splat(9.0)),
        "hole 0 at [9, 9] lies outside of the points: move it inside"
    );
    assert_eq!(
        error(&|o| o.regions[0].point = DVec2::splat(1.5)),
        "region 0 at [1.5, 1.5] lies in a hole or outside: move it inside"
    );
    let open = error(&|o| {
        o.segments.truncate(1);
        o.holes.clear();
        o.regions.clear();
    });
    assert_eq!(
        open,
        "the outline encloses no triangle: no segments go around an area; leave them out to triangulate the points"
    );
    let angle = Options {
        angle: Some(60.0),
        ..Options::default()
    };
    let reason = triangulate(&outline(), &angle).unwrap_err().to_string();
    assert!(
        reason.contains("60 degrees is no smallest angle"),
        "{reason}"
    );
    let few = Options {
        area: Some(1e-6),
        max_vertices: Some(10),
        ..Options::default()
    };
    let reason = triangulate(&outline(), &few).unwrap_err().to_string();
    assert!(
        reason.contains("needs more than the 10 vertices"),
        "{reason}"
    );
}

#[test]
fn points_and_pieces_keep_what_they_carry() {
    let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1.0, 1.0)];
    let mut mesh = Mesh {
        points: (0..)
            .zip(corners)
            .map(|(v, (x, y))| DVec3::new(x, y, f64::from(v)))
            .collect(),
        segments: [[2, 0], [0, 1], [1, 2], [2, 3], [3, 0]]
            .map(|ends| Segment { ends, marker: 7 })
            .to_vec(),
        ..Mesh::default()
    };
    let numbers = |n: i32| (10..10 + n).collect::<Vec<_>>();
    mesh.fields.points.push(Field::scalars("id", numbers(5)));
    mesh.fields.sides.push(Field::scalars("id", numbers(5)));
    let (outline, _) = OutlineMesh::of_mesh(mesh.clone());
    let on = Device::cpu(Some(2)).unwrap();
    let (result, report) = operation(&on, outline.clone(), &Options::default()).unwrap();
    assert_eq!(result.points, mesh.points);
    assert_eq!(result.fields.points, mesh.fields.points);
    // The first segment goes through vertex 4.
    let ends: Vec<[u32; 2]> = result.segments.iter().map(|s| s.ends).collect();
    assert_eq!(ends, [[2, 4], [4, 0], [0, 1], [1, 2], [2, 3], [3, 0]]);
    assert!(result.segments.iter().all(|s| s.marker == 7));
    let ids = result.fields.sides.get("id").map(|field| &field.values);
    assert_eq!(ids, Some(&Values::from(vec![10, 10, 11, 12, 13, 14])));
    assert_eq!((result.faces.len(), report.totals.segments), (4, 6));
    // Refinement takes points of one z.
    let area = Options {
        area: Some(0.1),
        ..Options::default()
    };
    let reason = operation(&on, outline, &area).unwrap_err().to_string();
    assert!(
        reason.contains("vertex 1 has z = 1, but vertex 0 has z = 0"),
        "{reason}"
    );
}

#[test]
fn segments_along_others_are_written_once() {
    let mut corners = square(0.0, 2.0).to_vec();
    corners.push(DVec2::new(1.0, 0.0));
    // The first side goes through vertex 4; a half of it comes twice more, another side once more.
    let segments = [
        ([0, 1], 5),
        ([1, 2], 6),
        ([2, 3], 7),
        ([3, 0], 8),
        ([4, 0], 9),
        ([0, 4], 5),
        ([2, 1], 9),
    ];
    let of = |list: &[([u32; 2], i32)]| Outline {
        points: corners.clone(),
        segments: (list.iter())
            .map(|&(ends, marker)| Segment { ends, marker })
            .collect(),
        ..Outline::default()
    };
    let (found, notes) = with_notes(&of(&segments), &Options::default()).unwrap();
    let expected = triangulate(&of(&segments[..4]), &Options::default()).unwrap();
    assert_eq!(found, expected);
    let pieces: Vec<([u32; 2], i32)> = (found.segments.iter())
        .map(|s| (s.ends, s.marker))
        .collect();
    let sides = [
        ([0, 4], 5),
        ([4, 1], 5),
        ([1, 2], 6),
        ([2, 3], 7),
        ([3, 0], 8),
    ];
    assert_eq!(pieces, sides);
    let whole = "3 segments run along others before them, and are left out there";
    let note = format!("{whole}: the marker is 5, not 9 (1); 6, not 9 (1)");
    assert_eq!(notes, [note]);

    let on = Device::cpu(Some(2)).unwrap();
    let ends = segments.map(|(ends, _)| ends);
    let limits = ResidentLimits {
        segments: Some(on.upload(&ends).unwrap()),
        ..ResidentLimits::default()
    };
    let points = on.upload(&corners).unwrap();
    let found = resident(&on, &points, &limits, &Options::default()).unwrap();
    let pieces = found.pieces.unwrap();
    assert_eq!(on.download(&pieces.ends).unwrap(), sides.map(|side| side.0));
    assert_eq!(on.download(&pieces.parents).unwrap(), [0, 0, 1, 2, 3]);
    assert_eq!(
        (found.totals.segments, found.notes),
        (5, vec![whole.to_owned()])
    );
}

#[test]
fn a_refinement_names_the_data_of_points_that_it_drops() {
    let mut mesh = Mesh {
        points: square(0.0, 1.0).map(|p| p.extend(3.0)).to_vec(),
        ..Mesh::default()
    };
    mesh.fields
        .points
        .push(Field::scalars("id", vec![1, 2, 3, 4]));
    mesh.attributes.normals = Some(vec![DVec3::Z; 4]);
    let on = Device::cpu(Some(2)).unwrap();
    let run = |area| {
        let options = Options {
            area,
            ..Options::default()
        };
        let (outline, _) = OutlineMesh::of_mesh(mesh.clone());
        let (mesh, report) = operation(&on, outline, &options).unwrap();
        (mesh.fields.points.len(), report.notes)
    };
    let note = "vertices are added, so the data of points is left out: id, normals";
    assert_eq!(run(Some(0.1)), (0, vec![note.to_owned()]));
    assert_eq!(run(None), (1, vec![]));
}

#[test]
fn segments_at_equal_points_end_at_the_first() {
    // The last three corners equal the first three.
    let corners = [square(0.0, 2.0).to_vec(), square(0.0, 2.0)[..3].to_vec()].concat();
    let segments = [[0, 5], [4, 1], [1, 2], [2, 3], [3, 4]];
    let outline = |duplicates: bool| Outline {
        points: corners[..if duplicates { 7 } else { 4 }].to_vec(),
        segments: segments
            .map(|ends| match duplicates {
                true => ends,
                false => ends.map(|v| v % 4),
            })
            .map(|ends| Segment { ends, marker: 1 })
            .to_vec(),
        ..Outline::default()
    };
    let first = Options {
        duplicates: Duplicates::First,
        ..Options::default()
    };
    let expected = triangulate(&outline(false), &Options::default()).unwrap();
    let (found, notes) = with_notes(&outline(true), &first).unwrap();
    assert_eq!(found.triangles, expected.triangles);
    assert_eq!(found.segments, expected.segments);
    let along = "1 segment runs along another before it, and is left out there";
    assert_eq!(notes, [along]);
    // With two segments between equal points, which are left out.
    let mut more = outline(true);
    more.segments
        .extend([[0, 4], [6, 2]].map(|ends| Segment { ends, marker: 2 }));
    let (found, notes) = with_notes(&more, &first).unwrap();
    assert_eq!(found.segments, expected.segments);
    let equal = "2 segments join equal points, and are left out";
    assert_eq!(notes, [equal, along]);
    let said = |options: &Options| {
        let error = triangulate(&more, options).unwrap_err();
        error.say(trioxide_operations::error::FIELDS)
    };
    let same = "vertex 4 lies at the same place as vertex 0: weld the points first";
    assert_eq!(
        said(&Options::default()),
        format!("{same}, or use `duplicates` first")
    );
    let fine = |outline: &Outline| {
        let area = Some(0.1);
        triangulate(
            outline,
            &Options {
                area,
                ..first.clone()
            },
        )
        .unwrap()
    };
    // The input's vertices come first.
    let (expected, found) = (fine(&outline(false)), fine(&outline(true)));
    let name = |v: u32| if v < 4 { v } else { v + 3 };
    let triangles: Vec<[u32; 3]> = expected.triangles.iter().map(|t| t.map(name)).collect();
    assert!(triangles.len() >= 40);
    assert_eq!(found.triangles, triangles);
    assert_eq!(found.points[..7], corners);
    assert_eq!(found.points[7..], expected.points[4..]);
}
