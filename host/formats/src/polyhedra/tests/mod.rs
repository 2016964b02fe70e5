//! Polyhedra through files and back.

mod damage;
mod listed;
mod openfoam;

use glam::DVec3;
use trioxide_mesh::fields::{Field, MeshFields};
use trioxide_mesh::polyhedra::{PolyhedraBuilder, PolyhedralMesh, TaggedFace};

use super::*;

/// A cube over the unit square as six quadrilaterals, a pyramid on it, and regions and tags.
fn house() -> PolyhedralMesh {
    let point = |x: u32, y: u32, z: u32| DVec3::new(x.into(), y.into(), z.into());
    let mut points: Vec<DVec3> = (0..8).map(|i| point(i & 1, i >> 1 & 1, i >> 2)).collect();
    points.push(DVec3::new(0.5, 0.5, 1.75));
    let cube = [
        vec![0, 2, 3, 1],
        vec![4, 5, 7, 6],
        vec![0, 1, 5, 4],
        vec![2, 6, 7, 3],
        vec![0, 4, 6, 2],
        vec![1, 3, 7, 5],
    ];
    let roof = [
        vec![6, 7, 5, 4],
        vec![4, 5, 8],
        vec![5, 7, 8],
        vec![7, 6, 8],
        vec![6, 4, 8],
    ];
    let mut builder = PolyhedraBuilder::default();
    builder.push(&cube).unwrap();
    builder.push(&roof).unwrap();
    PolyhedralMesh {
        points,
        regions: Some(vec![3, -1]),
        tagged: vec![
            TaggedFace { face: 0, tag: 7 },
            TaggedFace { face: 1, tag: -2 },
            TaggedFace { face: 8, tag: 7 },
        ],
        ..builder.finish().unwrap()
    }
}

/// Every format gives back the parts that its table has: in each encoding, with fields, and written again to the same
/// bytes.
#[test]
fn polyhedra_pass_through_every_format() {
    let mut whole = house();
    assert_eq!((whole.len(), whole.faces.len()), (2, 10));
    assert_eq!(whole.neighbours()[1], [0, 1]);
    let heights = Field::scalars(
        "height",
        whole.points.iter().map(|p| p.z).collect::<Vec<_>>(),
    );
    whole.fields.points.push(heights);
    whole
        .fields
        .cells
        .push(Field::scalars("layer", vec![1u8, 2]));
    let folder = tempfile::tempdir().unwrap();
    for format in PolyhedraFormat::all() {
        let mut expected = whole.clone();
        if !format.keeps_fields {
            expected.fields = MeshFields::default();
        }
        if !format.keeps_regions {
            expected.regions = None;
        }
        match format.keeps_tags {
            KeptTags::All => {}
            KeptTags::Boundary => drop(expected.tagged.remove(1)),
            KeptTags::None => expected.tagged.clear(),
        }
        let encodings = format.encodings.iter().map(|&encoding| Some(encoding));
        for encoding in encodings.chain([None]) {
            let path = folder
                .path()
                .join("house")
                .with_extension(format.extensions[0]);
            let losses = write_polyhedra(&path, &whole, encoding).unwrap();
            assert_eq!(losses.is_empty(), whole == expected, "{losses:?}");
            assert!(is_polyhedra(&path));
            let (read, notes) = read_polyhedra_as(&path, ReadOptions::default()).unwrap();
            assert!(notes.is_empty(), "{notes:?}");
            same(&read, &expected, format.name);
            let files = crate::files_of(&path);
            let bytes =
                || -> Vec<_> { files.iter().map(|file| std::fs::read(file).ok()).collect() };
            let before = bytes();
            assert!(write_polyhedra(&path, &read, encoding).unwrap().is_empty());
            assert!(
                bytes() == before,
                "{} has other bytes the second time",
                format.name
            );
        }
        let other = format.encodings.contains(&Encoding::Text);
        let other = if other {
            Encoding::BigEndian
        } else {
            Encoding::Text
        };
        let path = folder
            .path()
            .join("other")
            .with_extension(format.extensions[0]);
        let error = write_polyhedra(&path, &whole, other)
            .unwrap_err()
            .to_string();
        assert!(error.contains("not written in this encoding"), "{error}");
        assert!(!path.exists());
    }
}

/// Compares meshes by the faces of each polyhedron: OpenFOAM has another order of these.
fn same(read: &PolyhedralMesh, expected: &PolyhedralMesh, name: &str) {
    let vertices = |mesh: &PolyhedralMesh, side| {
        let mut face: Vec<u32> = mesh.vertices_of(side).collect();
        let lowest = (0..face.len()).min_by_key(|&i| face[i]).unwrap();
        face.rotate_left(lowest);
        face
    };
    let solids = |mesh: &PolyhedralMesh| -> Vec<Vec<Vec<u32>>> {
        let faces = |p: usize| {
            let mut faces: Vec<_> = mesh
                .sides_of(p)
                .iter()
                .map(|&s| vertices(mesh, s))
                .collect();
            faces.sort();
            faces
        };
        (0..mesh.len()).map(faces).collect()
    };
    assert_eq!(read.points, expected.points, "{name}");
    assert_eq!(solids(read), solids(expected), "{name}");
    assert_eq!(
        read.neighbours().len(),
        expected.neighbours().len(),
        "{name}"
    );
    assert_eq!(read.regions, expected.regions, "{name}");
    let tags = |mesh: &PolyhedralMesh| {
        let tag = |tagged: &TaggedFace| (tagged.tag, vertices(mesh, 2 * tagged.face));
        let mut tags: Vec<_> = mesh.tagged.iter().map(tag).collect();
        tags.sort();
        tags
    };
    assert_eq!(tags(read), tags(expected), "{name}");
    assert_eq!(read.fields, expected.fields, "{name}");
}

/// Fields of points, polyhedra and tagged faces. A field with the name of one of the format's arrays is renamed.
#[test]
fn fields_of_polyhedra_pass_through_vtu() {
    let mut mesh = house();
    let fields = &mut mesh.fields;
    let heights: Vec<f64> = mesh.points.iter().map(|p| p.z).collect();
    fields.points.push(Field::scalars("height", heights));
    fields.cells.push(Field {
        name: "flow".to_owned(),
        components: 3,
        values: vec![0.5f32, 1.0, 2.0, -1.0, 0.0, 3.0].into(),
    });
    fields.cells.push(Field::scalars("layer", vec![1u8, 2]));
    fields.sides.push(Field::scalars("layer", vec![7u8, 0, 9]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house.vtu");
    for encoding in [Encoding::Binary, Encoding::Text, Encoding::Compressed] {
        write_polyhedra(&path, &mesh, encoding).unwrap();
        assert_eq!(read_polyhedra(&path).unwrap(), mesh, "{encoding:?}");
    }
    mesh.fields = MeshFields::default();
    mesh.fields
        .cells
        .push(Field::scalars("region", vec![5i32, 6]));
    write_polyhedra(&path, &mesh, Encoding::Binary).unwrap();
    let read = read_polyhedra(&path).unwrap();
    assert_eq!(read.regions, mesh.regions);
    assert_eq!(read.fields.cells.get("region_2").unwrap().values.i64(1), 6);
}

/// One sentence names all that a file does not hold.
#[test]
fn losses_are_named() {
    let mut mesh = house();
    mesh.fields.cells.push(Field::scalars("load", vec![1u8, 2]));
    mesh.fields
        .points
        .push(Field::scalars("heat", vec![0.5; 9]));
    let folder = tempfile::tempdir().unwrap();
    let losses = |name: &str| write_polyhedra(&folder.path().join(name), &mesh, None).unwrap();
    assert_eq!(
        losses("a.foam"),
        [
            "OpenFOAM does not hold the tag of 1 inner face and the fields heat, load: not in the output, .vtu and .vtk keep all"
        ]
    );
    assert_eq!(
        losses("a.visf"),
        [
            "VisF does not hold the regions, the tags of 3 faces and the fields heat, load: not in the output, .vtu and .vtk keep all"
        ]
    );
    assert_eq!(
        losses("a.off"),
        [
            "OFF holds the 10 faces, each once, and not which of the 2 polyhedra they bound, the regions, the tags of 3 faces \
             and the field load: .vtu, .vtk, .foam, .visf hold polyhedra",
            "OFF does not hold the field heat: not in the output"
        ]
    );
    assert_eq!(losses("a.ply").len(), 1);
    let heat = crate::read(&folder.path().join("a.ply"))
        .unwrap()
        .fields
        .points;
    assert_eq!(heat.get("heat").unwrap().values, vec![0.5; 9].into());
    assert!(losses("a.vtk").is_empty());
}

/// Text and polyhedra, points, faces, no neighbours, polyhedra, as Camarón reads them.
#[test]
fn polyhedra_are_written_as_visf() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house.visf");
    write_polyhedra(&path, &house(), None).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["2 2", "9", "0 0 0"]);
    assert_eq!(lines[10..13], ["0.5 0.5 1.75", "10", "4 0 2 3 1"]);
    assert_eq!(lines[22..], ["0", "2", "6 0 1 2 3 4 5", "5 1 6 7 8 9"]);
}

#[test]
fn damaged_polyhedra_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house.vtu");
    write_polyhedra(&path, &house(), Encoding::Text).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let broken = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        read_polyhedra(&path).unwrap_err().to_string()
    };
    // The cube's first face lacks a vertex, has a missing one, or a repeated one.
    assert!(broken("6 4 0 2 3 1", "6 5 0 2 3 1").contains("list of faces"));
    assert!(broken("6 4 0 2 3 1", "6 4 0 2 3 99").contains("vertex 99"));
    assert!(broken("6 4 0 2 3 1", "6 4 0 2 0 1").contains("twice"));
    assert!(broken("6 4 0 2 3 1", "6 4 0 2 3 3").contains("polyhedron 0 is not closed"));
    assert!(broken("5 4 6 7 5 4", "5 4 7 6 5 4").contains("another order"));
    assert!(broken("\"faceoffsets\"", "\"offsetsofface\"").contains("faceoffsets"));
    // A hexahedron of the polyhedron's vertices in ascending order.
    let rule =
        "polyhedron 1 has a face [6, 7, 5, 4] that polyhedron 0 has in another order: [4, 5, 6, 7]";
    assert!(broken("42\n", "12\n").ends_with(rule));
}

/// The arrays that VTK 9.7 writes for the house, with its square of tag 7 as a cell.
#[test]
fn polyhedra_in_the_layout_of_vtk_9_4_are_read() {
    let mesh = house();
    let (mut vertices, mut face_ends, mut faces, mut ends) = (vec![], vec![], vec![], vec![]);
    for p in 0..mesh.len() {
        for &side in mesh.sides_of(p) {
            vertices.extend(mesh.vertices_of(side));
            faces.push(face_ends.len());
            face_ends.push(vertices.len());
        }
        ends.push(faces.len());
    }
    ends.push(faces.len());
    let array = |kind: &str, name: &str, numbers: &dyn std::fmt::Debug| {
        let numbers = format!("{numbers:?}").replace(['[', ']', ',', '(', ')'], " ");
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>")
    };
    let points: Vec<[f64; 3]> = mesh.points.iter().map(|p| p.to_array()).collect();
    let text = |ends: &[usize]| {
        format!(
            "<?xml version=\"1.0\"?><VTKFile type=\"UnstructuredGrid\" version=\"2.3\" byte_order=\"LittleEndian\" header_type=\"UInt32\">\
             <UnstructuredGrid><Piece NumberOfPoints=\"9\" NumberOfCells=\"3\"><CellData>{}{}</CellData><Points>{}</Points><Cells>{}{}{}{}{}{}{}\
             </Cells></Piece></UnstructuredGrid></VTKFile>",
            array("Int32", "region", &[3, -1, 0]),
            array("Int32", "marker", &[0, 0, 7]),
            array("Float64", "Points", &points).replacen(
                "<DataArray",
                "<DataArray NumberOfComponents=\"3\"",
                1
            ),
            array(
                "Int64",
                "connectivity",
                &[0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 0, 2, 3, 1]
            ),
            array("Int64", "offsets", &[8, 13, 17]),
            array("UInt8", "types", &[42, 42, 9]),
            array("Int64", "face_connectivity", &vertices),
            array("Int64", "face_offsets", &face_ends),
            array("Int64", "polyhedron_to_faces", &faces),
            array("Int64", "polyhedron_offsets", &ends),
        )
    };
    let expected = PolyhedralMesh {
        tagged: vec![TaggedFace { face: 0, tag: 7 }],
        ..mesh
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.vtu");
    std::fs::write(&path, text(&ends)).unwrap();
    assert!(is_polyhedra(&path));
    assert_eq!(read_polyhedra(&path).unwrap(), expected);
    // An end past the list.
    std::fs::write(&path, text(&[6, 12, 12])).unwrap();
    let error = read_polyhedra(&path).unwrap_err().to_string();
    assert!(error.contains("offsets 6 and 12 are outside"), "{error}");
}

#[test]
fn a_barrier_face_is_a_baffle() {
    // A polyhedron with two sides of one face is not closed, but the format allows it.
    let mut builder = PolyhedraBuilder::default();
    builder.push(&[vec![0, 1, 2], vec![2, 1, 0]]).unwrap();
    let mesh = PolyhedralMesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        ..builder.finish().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.foam");
    write_polyhedra(&path, &mesh, None).unwrap();
    let boundary = folder.path().join("constant/polyMesh/boundary");
    let boundary = std::fs::read_to_string(boundary).unwrap();
    assert!(boundary.contains("barriers"), "{boundary}");
    assert_eq!(read_polyhedra(&path).unwrap(), mesh);
    let back = folder.path().join("a.vtu");
    write_polyhedra(&back, &mesh, Encoding::Binary).unwrap();
    assert_eq!(read_polyhedra(&back).unwrap(), mesh);
}
