//! Operations on whole meshes: the same on a device and by the sequential algorithms, and refusals as data.

mod door;

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::fields::Field;
use trioxide::mesh::{Faces, Mesh, NONE, Segment, Triangulation};
use trioxide::outline::OutlineMesh;
use trioxide::volume::VolumeMesh;
use trioxide_operations::error::{FIELDS, Names};
use trioxide_operations::{
    Error, On, Precision, Result, decimate, polyhedra, polylla, refine, refine_tets, repair,
    smooth, smooth_volume, triangulate,
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
    let mut space = plane();
    space.points[0].z = 1.0;
    let error = smooth::smooth(&on, space, &options).expect_err("it lies in space");
    assert!(
        error
            .say(LOUD)
            .ends_with("smooth a surface in space without GUARD"),
        "{error}"
    );
    Ok(())
}

#[test]
fn single_precision_is_named_where_squares_leave_it() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let mut far = plane();
    far.points[0].x = -1e30;
    let options = polylla::Options {
        precision: Precision::F32,
        ..Default::default()
    };
    let error = polylla::polylla(&on, far.clone(), &options).expect_err("too far");
    assert!(matches!(error, Error::Single(_)), "{error}");
    assert!(
        error.say(LOUD).ends_with(", or use PRECISION=f64"),
        "{error}"
    );
    // Means need no squares.
    let options = smooth::Options {
        precision: Precision::F32,
        ..Default::default()
    };
    let (smoothed, _) = smooth::smooth(&on, far, &options)?;
    assert_eq!(smoothed.points[0].x, -1e30);
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
    // The components of one face go with their segments.
    mesh.faces = Faces::Triangles(vec![[0, 1, 2], [2, 1, 3], [0, 3, 4], [5, 6, 7]]);
    mesh.segments[0].ends = [1, 3];
    mesh.segments.push(Segment {
        ends: [0, 3],
        marker: 4,
    });
    mesh.fields.sides = Default::default();
    let ids = Field::scalars("id", vec![20, 21, 22]);
    mesh.fields.sides.push(ids);
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
    assert_eq!(report.totals.dropped_segments, Some(2));
    assert_eq!(
        report.notes[0].to_string(),
        "2 segments are left out: no face has their edges, their ends became one vertex, or other segments lie on them"
    );
    mesh.segments[1].ends[0] = 99;
    let error = repair::repair(&on, mesh, &options).expect_err("no such vertex");
    assert!(
        error.to_string().contains("segment 1 has vertex 99"),
        "{error}"
    );
    Ok(())
}
