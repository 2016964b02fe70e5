//! Whole meshes keep all that they carry when they are reordered.

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::fields::{Field, Values};
use trioxide::generate;
use trioxide::mesh::{Faces, Mesh, Polygons, Segment, gather};
use trioxide::outline::OutlineMesh;
use trioxide::volume::{Cells, VolumeMesh};
use trioxide_operations::{On, reorder, reorder_volume, triangulate};

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).collect()
}

/// A random mesh whose data are ids.
fn numbered() -> Mesh {
    let on = Device::cpu(None).expect("a device");
    let mut mesh = Mesh::from(generate::random(&on, 500, 1).expect("points"));
    let (vertices, faces) = (mesh.points.len(), mesh.faces.len());
    mesh.regions = Some(numbers(faces));
    mesh.segments = (0..20)
        .map(|i| Segment {
            ends: [i, (7 * i + 1) % 500],
            marker: i as i32,
        })
        .collect();
    let number = |i: usize| i as f64;
    mesh.attributes.normals = Some((0..vertices).map(|i| DVec3::splat(number(i))).collect());
    mesh.attributes.colors = Some((0..vertices).map(|i| [i as u8; 4]).collect());
    mesh.attributes.uvs = Some((0..vertices).map(|i| DVec2::splat(number(i))).collect());
    let fields = &mut mesh.fields;
    fields.points.push(Field::scalars("id", numbers(vertices)));
    fields.cells.push(Field::scalars("id", numbers(faces)));
    fields.sides.push(Field::scalars("id", numbers(20)));
    mesh
}

fn values(ids: &[u32]) -> Values {
    ids.iter().map(|&id| id as i32).collect::<Vec<_>>().into()
}

#[test]
fn surfaces_keep_their_data() {
    let before = numbered();
    for threads in [1, 2, 5] {
        let on = Device::cpu(Some(threads)).expect("a device");
        let (after, report) = reorder(&on, before.clone()).expect("a mesh");
        let (vertices, cells) = (&report.vertices, &report.cells);
        assert_eq!(after.points, gather(&before.points, vertices));
        assert_eq!(
            after.regions,
            Some(cells.iter().map(|&c| c as i32).collect())
        );
        let attributes = before.attributes.gather(vertices);
        assert_eq!(after.attributes, attributes);
        assert_eq!(attributes.colors.unwrap()[3], [vertices[3] as u8; 4]);
        let id = |fields: &trioxide::fields::Fields| fields.get("id").unwrap().values.clone();
        assert_eq!(id(&after.fields.points), values(vertices));
        assert_eq!(id(&after.fields.cells), values(cells));
        assert_eq!(after.fields.sides, before.fields.sides);
        // Elements have the same places as before.
        let at = |mesh: &Mesh, ids: &[u32]| gather(&mesh.points, ids);
        for (new, old) in after.segments.iter().zip(&before.segments) {
            assert_eq!(at(&after, &new.ends), at(&before, &old.ends));
            assert_eq!(new.marker, old.marker);
        }
        for (i, &cell) in cells.iter().enumerate() {
            let mut old = at(&before, before.faces.get(cell as usize));
            let new = at(&after, after.faces.get(i));
            let first = old.iter().position(|&p| p == new[0]).expect("the vertex");
            old.rotate_left(first);
            assert_eq!(new, old);
        }
        let totals = report.totals;
        assert_eq!(
            (totals.vertices, totals.faces),
            (500, Some(cells.len() as u64))
        );
        let (again, report) = reorder(&on, after.clone()).expect("a mesh");
        assert_eq!(again, after);
        assert_eq!(report.totals.moved_vertices, Some(0));
        assert_eq!(report.totals.moved_cells, Some(0));
    }
}

#[test]
fn polygons_are_as_their_triangles() {
    let on = Device::cpu(None).expect("a device");
    let mesh = numbered();
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("triangles");
    };
    let polygons = Mesh {
        faces: Faces::Polygons(Polygons::from(triangles.clone())),
        ..mesh.clone()
    };
    let (triangles, _) = reorder(&on, mesh).expect("a mesh");
    let (polygons, _) = reorder(&on, polygons).expect("a mesh");
    assert_eq!(polygons.regions, triangles.regions);
    for i in 0..polygons.faces.len() {
        assert_eq!(polygons.faces.get(i), triangles.faces.get(i));
    }
}

#[test]
fn a_triangulation_keeps_its_triangles() {
    let on = Device::cpu(None).expect("a device");
    let points = generate::random_points(700, 2).expect("points");
    let cloud = Mesh {
        points: points.iter().map(|p| p.extend(3.5)).collect(),
        ..Mesh::default()
    };
    let (outline, _) = OutlineMesh::of_mesh(cloud);
    let (mesh, _) = triangulate(&on, outline, &Default::default()).expect("a mesh");
    let (after, report) = reorder(&on, mesh.clone()).expect("a mesh");
    assert!(report.cells.iter().zip(0..).all(|(&old, new)| old == new));
    for i in 0..mesh.faces.len() {
        let old = gather(&mesh.points, mesh.faces.get(i));
        assert_eq!(gather(&after.points, after.faces.get(i)), old);
    }
}

#[test]
fn clouds_and_nothing_are_meshes() {
    let on = Device::cpu(None).expect("a device");
    let cloud = generate::cloud(300, 4).expect("points");
    let (after, report) = reorder(&on, cloud.clone()).expect("a cloud");
    assert_eq!(after.points, gather(&cloud.points, &report.vertices));
    assert!(after.faces.is_empty() && report.cells.is_empty());
    let (nothing, _) = reorder(&on, Mesh::default()).expect("nothing");
    assert_eq!(nothing, Mesh::default());
}

#[test]
fn tetrahedra_keep_their_data() {
    let on = Device::cpu(None).expect("a device");
    let mut before = VolumeMesh::from(generate::tet_grid(300, 5).expect("tetrahedra"));
    let cells = before.cells.len();
    before.regions = Some(numbers(cells));
    before
        .fields
        .cells
        .push(Field::scalars("id", numbers(cells)));
    let (after, report) = reorder_volume(&on, before.clone()).expect("a mesh");
    assert_eq!(
        after.regions,
        Some(report.cells.iter().map(|&c| c as i32).collect())
    );
    assert_eq!(after.points, gather(&before.points, &report.vertices));
    assert_eq!(after.face_tags, before.face_tags);
    for (new, old) in after.faces.iter().zip(before.faces.iter()) {
        assert_eq!(gather(&after.points, new), gather(&before.points, old));
    }
    let volume = |mesh: &VolumeMesh, i: usize| {
        let corners = gather(&mesh.points, mesh.cells.get(i));
        (corners[1] - corners[0])
            .cross(corners[2] - corners[0])
            .dot(corners[3] - corners[0])
    };
    assert!((0..cells).all(|i| volume(&after, i) > 0.0));
    // Several kinds of cells.
    let mut mixed = trioxide::volume::MixedCells::default();
    mixed.push(&[0, 1, 2, 3]);
    mixed.push(&[0, 1, 2, 3, 4]);
    before.cells = Cells::Mixed(mixed);
    before.regions = None;
    before.fields = Default::default();
    let error = reorder_volume(&on, before)
        .expect_err("a pyramid")
        .to_string();
    assert_eq!(
        error,
        "cell 1 is a pyramid, but this operation takes tetrahedra only: divide its cells by `divide::tetrahedra`"
    );
}

#[test]
fn wrong_meshes_are_refused() {
    let on = Device::cpu(None).expect("a device");
    let refused = |mesh: Mesh| reorder(&on, mesh).expect_err("a wrong mesh").to_string();
    let mut mesh = numbered();
    mesh.segments[3].ends[1] = 500;
    assert_eq!(
        refused(mesh),
        "segment 3 has vertex 500, but the mesh has 500 vertices"
    );
    let mut mesh = numbered();
    mesh.fields.points.push(Field::scalars("short", vec![1.0]));
    assert!(refused(mesh).starts_with("field short has 1 numbers"));
    for z in [f64::NAN, f64::INFINITY] {
        for all in [false, true] {
            let mut mesh = numbered();
            let wrong = if all { 0..500 } else { 9..10 };
            mesh.points[wrong.clone()].iter_mut().for_each(|p| p.z = z);
            let vertex = wrong.start;
            let expected = format!("vertex {vertex} has a coordinate that is not a finite number");
            assert_eq!(refused(mesh), expected);
        }
    }
    let error = reorder(&On::Serial, numbered()).expect_err("no algorithm");
    let expected = "reordering has no sequential algorithm: use `device` cpu";
    assert_eq!(error.to_string(), expected);
}
