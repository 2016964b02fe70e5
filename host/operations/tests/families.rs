//! Operations on whole meshes: the same on a device and by the sequential algorithms, and refusals as data.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use trioxide::about::About;
use trioxide::device::Device;
use trioxide::fields::Field;
use trioxide::mesh::{Faces, Mesh, NONE, Segment, Triangulation};
use trioxide::outline::OutlineMesh;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_operations::error::{FIELDS, Names};
use trioxide_operations::{
    Error, Note, On, Precision, Result, decimate, polyhedra, polylla, refine, refine_tets, reorder,
    repair, repair_volume, smooth, smooth_volume, triangulate, vem, weld,
};

fn plane() -> Mesh {
    let on = Device::cpu(None).expect("a device");
    trioxide::generate::random(&on, 500, 1)
        .expect("a mesh")
        .into()
}

fn of_each(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

/// A closed surface with regions, segments, colours and fields.
fn scan() -> Mesh {
    let mut mesh = trioxide::generate::scan(600, 3).expect("a mesh");
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("a scan has triangles");
    };
    let segment = |&[a, b, _]: &[u32; 3]| Segment {
        ends: [a, b],
        marker: 5,
    };
    mesh.segments = triangles.iter().step_by(41).map(segment).collect();
    let (vertices, faces) = (mesh.points.len(), triangles.len());
    mesh.regions = Some((0..faces).map(|t| (t / 200) as i32).collect());
    mesh.attributes.colors = Some(vec![[1, 2, 3, 255]; vertices]);
    mesh.fields
        .points
        .push(Field::scalars("height", of_each(vertices)));
    mesh.fields.cells.push(Field::scalars("id", of_each(faces)));
    mesh
}

/// Polygons of the scan: regions and fields are those of their triangles, vertices and segments stay.
fn check_carried(polygons: &Mesh, report: &polylla::Report) {
    let input = scan();
    assert_eq!(polygons.points, input.points);
    assert_eq!(polygons.segments, input.segments);
    assert_eq!(polygons.attributes, input.attributes);
    assert_eq!(polygons.fields.points, input.fields.points);
    let area = |t: u32| {
        let [a, b, c] = [0, 1, 2].map(|k| input.points[input.faces.get(t as usize)[k] as usize]);
        0.5 * (b - a).cross(c - a).length()
    };
    let parents = report.parents.as_ref().expect("they are asked for");
    let (given, found) = (
        input.regions.expect("regions"),
        polygons.regions.as_ref().expect("regions"),
    );
    let ids = polygons.fields.cells.get("id").expect("the field");
    let mut total = 0;
    for (i, ends) in parents.offsets.windows(2).enumerate() {
        let triangles = &parents.triangles[ends[0] as usize..ends[1] as usize];
        total += triangles.len();
        assert!(triangles.iter().all(|&t| given[t as usize] == found[i]));
        let sum: f64 = triangles.iter().map(|&t| area(t)).sum();
        let mean = triangles
            .iter()
            .map(|&t| area(t) * f64::from(t))
            .sum::<f64>()
            / sum;
        assert!(
            (ids.values.f64(i) - mean).abs() < 1e-9 * mean.max(1.0),
            "polygon {i}"
        );
    }
    assert_eq!(total, input.faces.len());
}

/// Four columns of triangles, one of them narrow, in two regions with segments between them; fields of everything.
fn narrow() -> Mesh {
    let columns = [0.0, 1.0, 1.0625, 2.0];
    let mut mesh = Triangulation::default();
    for y in 0..3 {
        let row = columns.map(|x| DVec2::new(x, f64::from(y)));
        mesh.points.extend(row);
    }
    for (x, y) in (0..2u32).flat_map(|y| (0..3u32).map(move |x| (x, y))) {
        let a = 4 * y + x;
        mesh.triangles
            .extend([[a, a + 1, a + 5], [a, a + 5, a + 4]]);
    }
    mesh.regions = Some((0..12).map(|t| t / 6).collect());
    let segment = |a| Segment {
        ends: [a, a + 1],
        marker: 7,
    };
    mesh.segments = [4, 5, 6].map(segment).to_vec();
    let mut mesh = Mesh::from(mesh);
    mesh.attributes.colors = Some((0..12).map(|v| [v, 0, 0, 255]).collect());
    let fields = &mut mesh.fields;
    fields.points.push(Field::scalars("vertex", of_each(12)));
    fields.cells.push(Field::scalars("triangle", of_each(12)));
    fields.sides.push(Field::scalars("side", vec![3u8; 3]));
    mesh
}

#[test]
fn short_edges_go_with_their_data() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let options = polylla::Options {
        min_edge: Some(0.1),
        parents: true,
        digest: true,
        levels: Some(1),
        ..Default::default()
    };
    let run = |mesh: &Mesh| -> Result<_> {
        let (polygons, report) = polylla::polylla(&on, mesh.clone(), &options)?;
        let (expected, serial) = polylla::polylla(&On::Serial, mesh.clone(), &options)?;
        assert_eq!(polygons, expected);
        assert_eq!(report.places, serial.places);
        assert_eq!(report.totals, serial.totals);
        Ok((polygons, report))
    };
    // Each row of rectangles can lose one edge.
    let mut mesh = narrow();
    let (_, report) = run(&mesh)?;
    assert_eq!(report.totals.removed_vertices, Some(2));
    // Pins: a segment of another kind begins in the middle.
    for change in 0..2 {
        mesh = narrow();
        match change {
            0 => mesh.segments[1].marker = 8,
            _ => {
                let sides = &mut mesh.fields.sides;
                *sides = [Field::scalars("side", vec![3u8, 4, 3])]
                    .into_iter()
                    .collect();
            }
        }
        let (_, report) = run(&mesh)?;
        assert_eq!(report.totals.short_edges_held, Some(1), "change {change}");
    }
    // The lowest edge is pinned by its segment's marker: the one in the middle goes, and with it that of both rows.
    mesh = narrow();
    let corner = |ends, marker| Segment { ends, marker };
    mesh.segments
        .extend([corner([0, 1], 1), corner([1, 2], 2), corner([2, 3], 3)]);
    mesh.fields.sides = Default::default();
    let (polygons, report) = run(&mesh)?;
    let totals = report.totals;
    assert_eq!((totals.short_edges, totals.vertices), (Some(3), 12));
    assert_eq!(totals.removed_vertices, Some(1));
    assert_eq!(totals.short_edges_left, Some(2));
    assert_eq!(totals.short_edges_held, Some(1));
    let left: Vec<u32> = (0..12).filter(|&v| v != 6).collect();
    let place = |v: u32| match v {
        6 => 5,
        v => v - u32::from(v > 6),
    };
    assert_eq!(report.places, Some((0..12).map(place).collect()));
    let points: Vec<_> = left.iter().map(|&v| mesh.points[v as usize]).collect();
    assert_eq!(polygons.points, points);
    assert_eq!(polygons.attributes, mesh.attributes.gather(&left));
    let mut fields = polygons.fields.points.clone();
    assert_eq!(fields, mesh.fields.points.gather(&left));
    assert!(fields.take("vertex").is_some());
    let segments: Vec<_> = polygons
        .segments
        .iter()
        .map(|s| (s.ends, s.marker))
        .collect();
    assert_eq!(
        segments,
        [
            ([4, 5], 7),
            ([5, 6], 7),
            ([0, 1], 1),
            ([1, 2], 2),
            ([2, 3], 3)
        ]
    );
    assert_eq!(polygons.regions, Some(vec![0, 0, 0, 1, 1, 1]));
    assert!(polygons.fields.cells.get("level_1").is_some());
    Ok(())
}

fn tets() -> VolumeMesh {
    trioxide::generate::tet_grid(200, 1).expect("a mesh").into()
}

/// Names of a front end that shouts.
const LOUD: Names = Names {
    option: |option| option.to_uppercase(),
    value: |option, value| format!("{}={value}", option.to_uppercase()),
};

#[test]
fn a_device_and_the_sequential_algorithms_give_the_same_meshes() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let options = polylla::Options {
        parents: true,
        ..Default::default()
    };
    let (polygons, report) = polylla::polylla(&on, plane(), &options)?;
    let (expected, serial) = polylla::polylla(&On::Serial, plane(), &options)?;
    assert_eq!(polygons, expected);
    assert_eq!(report.parents, serial.parents);
    assert_eq!(report.totals.counts(), serial.totals.counts());

    // A surface with all that it may carry, in both precisions.
    for (precision, strict) in [(Precision::F64, false), (Precision::F32, true)] {
        let options = polylla::Options {
            feature_angle: Some(35.0),
            flatness: Some(15.0),
            precision,
            strict,
            ..options
        };
        let (polygons, report) = polylla::polylla(&on, scan(), &options)?;
        let (expected, serial) = polylla::polylla(&On::Serial, scan(), &options)?;
        assert_eq!(polygons, expected);
        assert_eq!(report.parents, serial.parents);
        assert_eq!(report.totals.counts(), serial.totals.counts());
        check_carried(&polygons, &report);
        let free = polylla::Options {
            feature_angle: None,
            flatness: None,
            unconstrained: true,
            ..options
        };
        let (free, _) = polylla::polylla(&on, scan(), &free)?;
        assert!(free.faces.len() < polygons.faces.len() && free.regions.is_none());
    }

    let options = refine::Options {
        mark: Some("disk:0.5,0.5,0.2".parse().expect("a mark")),
        maps: true,
        rounds: 2,
        ..Default::default()
    };
    let (fine, report) = refine::refine(&on, plane(), &options)?;
    let (expected, serial) = refine::refine(&On::Serial, plane(), &options)?;
    assert_eq!(fine, expected);
    assert_eq!(report.parents, serial.parents);
    assert_eq!(report.parents.len(), fine.faces.len());

    let options = refine::Options {
        mark: Some("ball:0.5,0.5,0.5,0.3".parse().expect("a mark")),
        ..Default::default()
    };
    let refined = |machine: On| refine_tets::refine_tets(&machine, tets(), &options);
    assert_eq!(refined(On::Device(on.clone()))?.0, refined(On::Serial)?.0);
    let options = polyhedra::Options::default();
    let joined = |machine: On| polyhedra::polyhedra(&machine, tets(), &options);
    let joined = [joined(On::Device(on.clone()))?.1, joined(On::Serial)?.1];
    assert_eq!(joined[0].totals, joined[1].totals);
    let options = smooth::Options::default();
    let smoothed = |machine: On| smooth_volume(&machine, tets(), &options);
    assert_eq!(smoothed(On::Device(on))?.0, smoothed(On::Serial)?.0);
    Ok(())
}

#[test]
fn front_ends_word_refusals() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let options = polylla::Options {
        method: polylla::DataStructure::Indexed,
        strict: true,
        ..Default::default()
    };
    let error = polylla::polylla(&on, plane(), &options).expect_err("it contradicts itself");
    let text = "STRICT needs half-edges: use METHOD=half-edge, which gives the same polygons";
    assert_eq!(error.say(LOUD), text);
    assert!(matches!(
        error,
        Error::PolyllaRefused(polylla::Refusal::OfHalfEdges { option: "strict" })
    ));

    let options = refine::Options {
        mark: Some("volume:1".parse().expect("a mark")),
        ..Default::default()
    };
    let error = refine::refine(&on, plane(), &options).expect_err("there is no volume");
    let text = "MARK=volume:1 goes with volume meshes: use area:A for triangles";
    assert_eq!(error.worded(LOUD).to_string(), text);

    let options = smooth::Options {
        guard: true,
        ..Default::default()
    };
    let error = smooth::smooth(&on, plane(), &options).expect_err("there are no cells");
    assert!(
        error.say(LOUD).ends_with("smooth a surface without GUARD"),
        "{error}"
    );
    Ok(())
}

#[test]
fn single_precision_is_named_where_squares_leave_it() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let mut far = plane();
    far.points[0].x = -1e30;
    let polylla_error = {
        let options = polylla::Options {
            precision: Precision::F32,
            ..Default::default()
        };
        polylla::polylla(&on, far.clone(), &options).expect_err("too far")
    };
    let options = smooth::Options {
        precision: Precision::F32,
        ..Default::default()
    };
    let smooth_error = smooth::smooth(&on, far, &options).expect_err("too far");
    for error in [polylla_error, smooth_error] {
        assert!(matches!(error, Error::Single(_)), "{error}");
        assert!(
            error.say(LOUD).ends_with(", or use PRECISION=f64"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn neighbours_are_across_from_corners() -> Result<()> {
    let corners =
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let square = || {
        let mut mesh = Mesh {
            points: corners.to_vec(),
            ..Mesh::default()
        };
        mesh.segments.push(Segment {
            ends: [0, 2],
            marker: 0,
        });
        OutlineMesh::of_mesh(mesh).0
    };
    let options = triangulate::Options {
        convex: true,
        neighbours: true,
        ..Default::default()
    };
    let (mesh, report) = triangulate(&Device::cpu(None)?, square(), &options)?;
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("triangles are made");
    };
    // The other triangle lies across from the corners that are no ends of the segment.
    let expected: Vec<[u32; 3]> = (0..2)
        .map(|t: usize| triangles[t].map(|v| if v % 2 == 1 { 1 - t as u32 } else { NONE }))
        .collect();
    assert_eq!(report.neighbours, Some(expected));
    let error = triangulate(&On::Serial, square(), &options).expect_err("there is no device");
    assert_eq!(
        error.say(FIELDS),
        "triangulation has no sequential algorithm: use `device` cpu"
    );
    Ok(())
}

#[test]
fn decimation_keeps_segments_regions_and_the_data_of_what_is_left() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let mut mesh = plane();
    let faces = mesh.faces.len();
    let segment = Segment {
        ends: [7, 490],
        marker: 3,
    };
    mesh.segments.push(segment);
    mesh.regions = Some(
        (0..faces)
            .map(|t| i32::from(t % 2 == 0 && t < 40))
            .collect(),
    );
    mesh.attributes.normals = Some(mesh.points.clone());
    let (small, report) = decimate(&on, mesh.clone(), &decimate::Options::new(faces / 2))?;
    assert!(small.faces.len() <= faces / 2 && small.faces.len() + 1 >= faces / 2);
    assert_eq!(small.segments[0].marker, 3);
    let normals = small.attributes.normals.expect("normals");
    for (new, old) in small.segments[0].ends.into_iter().zip(segment.ends) {
        let place = mesh.points[old as usize];
        assert_eq!(
            [small.points[new as usize], normals[new as usize]],
            [place; 2]
        );
    }
    let (before, after) = (
        mesh.regions.expect("regions"),
        small.regions.expect("regions"),
    );
    assert!(
        (after.iter())
            .zip(&report.triangle_ids)
            .all(|(r, &old)| *r == before[old as usize])
    );
    // Vertices where regions meet are locked: a face goes only with a vertex inside its region.
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("triangles");
    };
    let is_inside = |v: &u32| {
        let around = triangles.iter().zip(&before).filter(|(t, _)| t.contains(v));
        around.clone().all(|(_, region)| *region == 1)
    };
    for (t, &region) in before.iter().enumerate() {
        let is_left = report.triangle_ids.contains(&(t as u32));
        assert!(
            region == 0 || is_left || triangles[t].iter().any(is_inside),
            "{t}"
        );
    }
    // Several fractions in one run, in any order, as in runs of their own.
    let keep = decimate::Options {
        keep: vec![0.5, 0.125, 0.25, 0.49],
        ..Default::default()
    };
    let each = decimate::to_each(&on, plane(), &keep)?;
    for (&kept, (mesh, report)) in keep.keep.iter().zip(&each) {
        let to = (kept * faces as f64) as usize;
        let (alone, its_own) = decimate(&on, plane(), &decimate::Options::new(to))?;
        assert_eq!(*mesh, alone, "{kept}");
        assert_eq!(report.map, its_own.map, "{kept}");
        assert_eq!(report.totals, its_own.totals, "{kept}");
    }
    assert_eq!(each.len(), 4);
    assert!(decimate(&on, plane(), &keep).is_err());
    Ok(())
}

/// Any number of triangles is reached where there is a boundary, until the checks allow no fewer.
#[test]
fn decimation_reaches_each_number_of_triangles() -> Result<()> {
    let on = Device::cpu(None)?;
    let mesh = Mesh::from(trioxide::generate::grid(400)?);
    let faces = mesh.faces.len();
    for to in (8..faces).rev().step_by(37).chain([9, 8]) {
        let (left, report) = decimate(&on, mesh.clone(), &decimate::Options::new(to))?;
        assert_eq!(left.faces.len(), to);
        assert_eq!(report.notes, []);
    }
    Ok(())
}

/// The memory that is asked for is enough, and not far more than a run takes.
#[test]
fn decimation_takes_the_memory_that_it_asks_for() -> Result<()> {
    let mut mesh = trioxide::generate::scan(60_000, 1)?;
    let (points, faces) = (mesh.points.len(), mesh.faces.len());
    let normals = mesh.points.clone();
    for (keep, weigh) in [
        (vec![0.1], None),
        (vec![0.9], None),
        (vec![0.6, 0.3], None),
        (vec![0.2], Some("normals")),
        (vec![0.6, 0.3], Some("normals")),
    ] {
        let on = Device::cpu(Some(2))?;
        let options = decimate::Options {
            keep,
            weigh: weigh.map(decimate::Weigh::new).into_iter().collect(),
            ..Default::default()
        };
        let targets = options.targets(faces);
        let numbers = if weigh.is_some() { 3 } else { 0 };
        mesh.attributes.normals = weigh.map(|_| normals.clone());
        let mesh_bytes = ((24 + 8 * numbers) * points + 12 * faces) as u64;
        let of_family = trioxide::decimate::bytes_needed(points, faces, &targets, numbers);
        let needed = mesh_bytes + of_family;
        decimate::to_each(&on, mesh.clone(), &options)?;
        let taken = on.peak_bytes();
        assert!(
            (taken..taken + taken / 5).contains(&needed),
            "{taken} {needed}"
        );
    }
    Ok(())
}

/// A repair carries the data of the elements that the maps name, and divides no data of a segment.
#[test]
fn repairs_keep_what_a_mesh_carries() -> Result<()> {
    use trioxide::fields::Field;
    let point = |(x, y): (i32, i32)| DVec3::new(x.into(), y.into(), 0.0);
    // Two surfaces that touch at vertex 0, a face that is there twice, and a triangle alone.
    let mut mesh = Mesh {
        points: [
            (0, 0),
            (1, 0),
            (0, 1),
            (-1, 0),
            (0, -1),
            (5, 5),
            (6, 5),
            (5, 6),
        ]
        .map(point)
        .to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [2, 1, 0], [0, 3, 4], [5, 6, 7]]),
        regions: Some(vec![10, 11, 12, 13]),
        segments: [[0, 3], [5, 6]]
            .map(|ends| Segment { ends, marker: 4 })
            .to_vec(),
        ..Mesh::default()
    };
    mesh.attributes.colors = Some((0..8).map(|i| [i; 4]).collect());
    mesh.fields
        .points
        .push(Field::scalars("id", (0..8).collect::<Vec<i32>>()));
    mesh.fields
        .cells
        .push(Field::scalars("id", (0..4).collect::<Vec<i32>>()));
    mesh.fields.sides.push(Field::scalars("id", vec![20, 21]));
    let options = repair::Options {
        repeated: true,
        vertices: true,
        orient: true,
        ..repair::Options::default()
    };
    let on = Device::cpu(Some(2))?;
    let (after, report) = repair::repair(&on, mesh.clone(), &options)?;
    assert_eq!(
        after.faces,
        Faces::Triangles(vec![[0, 1, 2], [8, 3, 4], [5, 6, 7]])
    );
    assert_eq!((report.vertices[8], report.faces), (0, vec![0, 2, 3]));
    assert_eq!(after.regions, Some(vec![10, 12, 13]));
    assert_eq!(
        after.segments.iter().map(|s| s.ends).collect::<Vec<_>>(),
        [[8, 3], [5, 6]]
    );
    assert_eq!(after.attributes.colors.expect("colours")[8], [0; 4]);
    let ids = after.fields.cells.get("id").expect("a field");
    assert_eq!(ids.values, vec![0, 2, 3].into());
    // The component of one face goes with its segment.
    mesh.faces = Faces::Triangles(vec![[0, 1, 2], [2, 1, 3], [0, 3, 4], [5, 6, 7]]);
    let options = repair::Options {
        min_faces: Some(2),
        ..repair::Options::default()
    };
    let (after, report) = repair::repair(&on, mesh.clone(), &options)?;
    assert_eq!((report.totals.done.components, after.points.len()), (2, 4));
    assert_eq!(
        after.fields.sides.get("id").expect("a field").values,
        vec![20].into()
    );
    mesh.segments[1].ends[0] = 99;
    let error = repair::repair(&on, mesh, &options).expect_err("no such vertex");
    assert!(
        error.to_string().contains("segment 1 has vertex 99"),
        "{error}"
    );
    Ok(())
}

/// Also without any field: some operations carry nothing then.
#[test]
fn every_operation_hands_on_the_data_of_a_mesh_as_a_whole() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let about = Arc::new(About {
        textures: vec!["brick.png".to_owned()],
        ..About::default()
    });
    let with = |mut mesh: Mesh| {
        mesh.about = Arc::clone(&about);
        mesh
    };
    let (flat, surface) = (|| with(plane()), || with(scan()));
    let points = || OutlineMesh {
        mesh: Mesh {
            faces: Faces::default(),
            ..flat()
        },
        holes: Vec::new(),
        regions: Vec::new(),
    };
    let refined = triangulate::Options {
        area: Some(0.001),
        ..Default::default()
    };
    let marked = refine::Options {
        mark: None,
        ..Default::default()
    };
    let done = [
        polylla(&on, flat(), &polylla::Options::default())?.0,
        polylla(&on, surface(), &polylla::Options::default())?.0,
        refine(&on, flat(), &marked)?.0,
        refine(&on, surface(), &marked)?.0,
        weld(&on, surface(), &weld::Options::new(0.01))?.0,
        decimate(&on, surface(), &decimate::Options::new(100))?.0,
        smooth(&on, surface(), &smooth::Options::default())?.0,
        reorder(&on, surface())?.0,
        repair(
            &on,
            surface(),
            &repair::Options {
                edges: true,
                ..Default::default()
            },
        )?
        .0,
        triangulate(&on, points(), &triangulate::Options::default())?.0,
        triangulate(&on, points(), &refined)?.0,
    ];
    for (i, mesh) in done.iter().enumerate() {
        assert_eq!(mesh.about, about, "operation {i}");
    }
    Ok(())
}

/// Families of the plane compute without z.
#[test]
fn a_plane_keeps_its_height() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let lifted = |mut mesh: Mesh| {
        mesh.points.iter_mut().for_each(|p| p.z = 5.5);
        mesh
    };
    let levels = polylla::Options {
        levels: Some(2),
        ..Default::default()
    };
    let solved = trioxide_operations::vem(lifted(plane()), &Default::default())?.0;
    let nested = polylla(&on, lifted(plane()), &levels)?.0;
    let fine = refine(&on, lifted(plane()), &refine::Options::default())?.0;
    assert_eq!(solved.points, lifted(plane()).points);
    assert_eq!(nested.points, lifted(plane()).points);
    assert!(fine.points.len() > 500 && fine.points.iter().all(|p| p.z == 5.5));
    Ok(())
}

/// A mesh of the plane whose triangles, or some of them, run clockwise gives the result of the right mesh, and a note.
#[test]
fn clockwise_meshes_of_the_plane_are_turned() -> Result<()> {
    let machines = [On::Device(Device::cpu(Some(2))?), On::Serial];
    let right = plane();
    let Faces::Triangles(triangles) = &right.faces else {
        panic!("triangles")
    };
    for step in [1, 7] {
        let mut turned = triangles.clone();
        turned.iter_mut().step_by(step).for_each(|t| t.swap(1, 2));
        let count = triangles.len().div_ceil(step);
        let mesh = Mesh {
            faces: Faces::Triangles(turned),
            ..right.clone()
        };
        let expected = format!("{count} clockwise triangles were turned around");
        for on in &machines {
            let (expected_polygons, report) = polylla(on, right.clone(), &Default::default())?;
            assert!(report.notes.is_empty());
            let (polygons, report) = polylla(on, mesh.clone(), &Default::default())?;
            assert_eq!(report.notes[0].to_string(), expected);
            assert_eq!(polygons, expected_polygons);
            let options = refine::Options::default();
            let (expected_fine, _) = refine(on, right.clone(), &options)?;
            let (fine, report) = refine(on, mesh.clone(), &options)?;
            assert_eq!(report.notes[0].to_string(), expected);
            assert_eq!(fine, expected_fine);
        }
    }
    Ok(())
}

/// Guarded sweeps and untangling compare signs: of cells whose numbering runs the wrong way they would keep the worst.
#[test]
fn inverted_cells_are_turned_before_a_guard_compares_them() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let right = tets();
    let mut inverted = right.clone();
    let trioxide::volume::Cells::Tetrahedra(cells) = &mut inverted.cells else {
        panic!("tetrahedra")
    };
    cells.iter_mut().for_each(|cell| cell.swap(2, 3));
    let expected = format!("{} inverted cells were turned around", cells.len());
    let options = smooth::Options {
        guard: true,
        max_iterations: 5,
        ..Default::default()
    };
    let (smoothed, _) = smooth_volume(&on, right, &options)?;
    let (turned, report) = smooth_volume(&on, inverted, &options)?;
    assert_eq!(report.notes[0].to_string(), expected);
    assert_eq!(turned, smoothed);
    Ok(())
}

/// Two triangles beside a larger one: its edge has a vertex of theirs inside, and they have points of their own.
#[test]
fn parts_that_do_not_meet_are_noted() -> Result<()> {
    let corners = [
        [0.0, 0.0],
        [2.0, 0.0],
        [0.0, 2.0],
        [2.0, 0.0],
        [2.0, 2.0],
        [1.0, 1.0],
        [0.0, 2.0],
    ];
    let of_height = |height: f64| Mesh {
        points: corners.map(|[x, y]| DVec3::new(x, y, height * x)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [3, 4, 5], [4, 6, 5]]),
        ..Mesh::default()
    };
    let expected = [
        "2 vertices lie at places of others: weld them first (`weld --epsilon 0`)",
        "1 vertex lies inside edges of other elements, first vertex 5 in edge 1 - 2: join them first (`repair --conform`)",
    ];
    let check = |notes: Vec<Note>| {
        let notes: Vec<_> = notes.iter().map(Note::to_string).collect();
        assert_eq!(notes[..2], expected, "{notes:?}");
    };
    let device = Device::cpu(None)?;
    let mark = refine::Options {
        mark: Some("all".parse().expect("a mark")),
        ..Default::default()
    };
    for height in [0.0, 1.0] {
        let mesh = of_height(height);
        check(refine(&device, mesh.clone(), &mark)?.1.notes);
        check(
            smooth(&device, mesh.clone(), &smooth::Options::default())?
                .1
                .notes,
        );
        check(
            decimate(&device, mesh.clone(), &decimate::Options::new(3))?
                .1
                .notes,
        );
        check(
            polylla(&device, mesh, &polylla::Options::default())?
                .1
                .notes,
        );
    }
    check(vem(of_height(0.0), &vem::Options::default())?.1.notes);
    // The triangles as floors of tetrahedra, the first on the other side.
    let points = corners.map(|[x, y]| DVec3::new(x, 0.0, y)).into_iter();
    let apices = [DVec3::new(0.0, -1.0, 0.0), DVec3::new(2.0, -1.0, 2.0)];
    let tets = VolumeMesh::from(TetMesh {
        points: points.chain(apices).collect(),
        tetrahedra: vec![[0, 1, 2, 7], [3, 4, 5, 8], [4, 6, 5, 8]],
        ..TetMesh::default()
    });
    check(refine_tets(&device, tets.clone(), &mark)?.1.notes);
    check(
        smooth_volume(&device, tets.clone(), &smooth::Options::default())?
            .1
            .notes,
    );
    check(
        polyhedra(&device, tets, &polyhedra::Options::default())?
            .1
            .notes,
    );
    Ok(())
}

/// A mesh of the plane, a scan, and one with a Möbius strip, welded finely and coarsely: the other operations take what
/// `all` makes of them, and it changes nothing then.
#[test]
fn every_operation_takes_a_repaired_mesh() {
    let on = Device::cpu(None).expect("a device");
    let all = repair::Options {
        all: true,
        ..repair::Options::default()
    };
    let mut with_strip = scan();
    let first = with_strip.points.len() as u32;
    let ring = (0..5).map(|i| DVec3::new(f64::from(i), (i * i).into(), f64::from(9 + i % 2)));
    with_strip.points.extend(ring);
    let strip = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]];
    let strip = strip.map(|f: [u32; 3]| f.map(|v| first + v));
    with_strip.points.push(DVec3::splat(99.0));
    let Faces::Triangles(triangles) = &mut with_strip.faces else {
        panic!("triangles");
    };
    triangles.extend(strip);
    let (colors, regions) = (&mut with_strip.attributes.colors, &mut with_strip.regions);
    (*colors, *regions) = (None, None);
    with_strip.fields = Default::default();
    for (name, mesh) in [("plane", plane()), ("scan", scan()), ("strip", with_strip)] {
        for part in [0.0, 1e-6, 0.01, 0.05] {
            let [low, high] = mesh
                .points
                .iter()
                .fold([mesh.points[0]; 2], |[low, high], &p| {
                    [low.min(p), high.max(p)]
                });
            let epsilon = part * low.distance(high);
            let welded = weld(&on, mesh.clone(), &weld::Options::new(epsilon));
            let (welded, _) = welded.expect("a welded mesh");
            let (whole, report) = repair(&on, welded, &all).expect("a repaired mesh");
            let named = format!("{name}, {part}: {:?}", report.totals.done);
            let (again, _) = repair(&on, whole.clone(), &all).expect("a repaired mesh");
            assert_eq!(again, whole, "{named}");
            assert_eq!(report.totals.done.one_sided, 0, "{named}");
            let text = |result: Result<()>| result.map_err(|error| error.say(FIELDS));
            let done = [
                smooth(&on, whole.clone(), &smooth::Options::default()).map(drop),
                refine(&on, whole.clone(), &refine::Options::default()).map(drop),
                polylla(&on, whole.clone(), &polylla::Options::default()).map(drop),
            ];
            for (k, result) in done.into_iter().enumerate() {
                assert_eq!(text(result), Ok(()), "{k} of {named}");
            }
        }
    }
}

/// `--conform` inserts the vertices that the notes on parts name, and `--all` too.
#[test]
fn repair_inserts_hanging_vertices() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let only = repair::Options {
        conform: true,
        ..Default::default()
    };
    let all = repair::Options {
        all: true,
        ..Default::default()
    };
    let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]];
    let mut mesh = Mesh {
        points: corners.map(|[x, y]| DVec3::new(x, y, x)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [1, 3, 4], [3, 2, 4]]),
        ..Mesh::default()
    };
    for options in [&only, &all] {
        let (conforming, report) = repair(&on, mesh.clone(), options)?;
        assert_eq!(report.totals.hanging, Some([1, 0]));
        assert_eq!(
            (report.totals.faces, &report.faces[..]),
            (3, &[0, 0, 1, 2][..])
        );
        let (again, report) = repair(&on, conforming.clone(), options)?;
        assert_eq!((report.totals.hanging, again), (Some([0, 0]), conforming));
    }
    // As floors of tetrahedra, the first on the other side, and inverted.
    let apices = [DVec3::new(0.0, -9.0, 0.0), DVec3::new(2.0, 9.0, 2.0)];
    let points = corners.map(|[x, y]| DVec3::new(x, 0.0, y)).into_iter();
    let tets = VolumeMesh::from(TetMesh {
        points: points.chain(apices).collect(),
        tetrahedra: vec![[0, 1, 2, 5], [1, 3, 4, 6], [3, 2, 4, 6]],
        ..TetMesh::default()
    });
    for options in [&only, &all] {
        let (conforming, report) = repair_volume(&on, tets.clone(), options)?;
        assert_eq!(report.totals.hanging, Some([1, 0]));
        assert_eq!(
            (conforming.cells.len(), &report.faces[..]),
            (4, &[0, 0, 1, 2][..])
        );
    }
    let mut polygons = trioxide::mesh::Polygons::default();
    [[0u32, 1, 2], [1, 3, 4]]
        .iter()
        .for_each(|face| polygons.push(face));
    polygons.push(&[3, 2, 4, 4]);
    mesh.faces = Faces::Polygons(polygons);
    let (conforming, _) = repair(&on, mesh, &only)?;
    assert_eq!(conforming.faces.get(0), [0, 1, 4, 2]);
    Ok(())
}

/// The middle of a quadrilateral with a reflex corner goes outside of it, and untangling brings it back.
#[test]
fn triangles_that_smoothing_turns_over_are_noted() -> Result<()> {
    let points = [[0.0, 0.0], [4.0, 3.0], [8.0, 0.0], [4.0, 6.0], [4.0, 3.5]];
    let mesh = Mesh {
        points: points.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]),
        ..Mesh::default()
    };
    let on = Device::cpu(Some(2))?;
    let (smoothed, report) = smooth(&on, mesh, &smooth::Options::default())?;
    assert_eq!(report.notes, [Note::Overturned(2)]);
    let untangle = smooth::Options {
        untangle: true,
        ..Default::default()
    };
    let (untangled, _) = smooth(&on, smoothed, &untangle)?;
    assert_eq!(untangled.clockwise_triangles(), 0);
    Ok(())
}
