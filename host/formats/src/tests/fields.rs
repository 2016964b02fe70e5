//! Named fields through files: unchanged, or named in a note.

use std::sync::Arc;

use super::*;
use crate::decimals;
use trioxide_mesh::fields::{Field, Fields, Values};
use trioxide_mesh::mesh::VertexAttributes;

/// Four numbers of every type: the ends of its range, or floats that show lost bits.
pub(crate) fn of_every_type() -> Vec<(&'static str, Values)> {
    vec![
        ("i8", vec![i8::MIN, -1, 0, i8::MAX].into()),
        ("u8", vec![0u8, 1, 200, u8::MAX].into()),
        ("i16", vec![i16::MIN, -300, 0, i16::MAX].into()),
        ("u16", vec![0u16, 1, 300, u16::MAX].into()),
        ("i32", vec![i32::MIN, -1, 70_000, i32::MAX].into()),
        ("u32", vec![0u32, 1, 70_000, u32::MAX].into()),
        ("i64", vec![i64::MIN, -1, 1 << 40, i64::MAX].into()),
        ("u64", vec![0u64, 1, 1 << 40, u64::MAX].into()),
        ("f32", vec![0.1f32, -0.0, f32::MAX, 1e-45].into()),
        ("f64", vec![0.1, 1.0 / 3.0, f64::MAX, 5e-324].into()),
    ]
}

/// A field of every type, and a vector, of four elements.
pub(crate) fn all_fields(prefix: &str) -> Fields {
    let scalars = of_every_type().into_iter();
    let scalars = scalars.map(|(name, values)| Field::scalars(format!("{prefix} {name}"), values));
    let vector = Field {
        name: format!("{prefix} <flux> & \"heat\""),
        components: 3,
        values: (0..12)
            .map(|i| f64::from(i) / 7.0)
            .collect::<Vec<_>>()
            .into(),
    };
    scalars.chain([vector]).collect()
}

/// Two quadrilaterals and two triangles on points with all that VTU holds, and four segments.
pub(super) fn full_mesh() -> Mesh {
    let mut polygons = trioxide_mesh::mesh::Polygons::default();
    for face in [&[0, 1, 2, 3][..], &[3, 2, 1], &[0, 1, 2], &[1, 2, 3, 0]] {
        polygons.push(face);
    }
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let segment = |i: u32| Segment {
        ends: [i, (i + 1) % 4],
        marker: i as i32 - 1,
    };
    let mut mesh = Mesh {
        points: corners.map(|(x, y)| DVec3::new(x, y, 0.25)).to_vec(),
        faces: Faces::Polygons(polygons),
        regions: Some(vec![1, 2, 3, 4]),
        segments: (0..4).map(segment).collect(),
        attributes: VertexAttributes {
            normals: Some(vec![DVec3::Z; 4]),
            colors: Some(vec![
                [1, 2, 3, 255],
                [4, 5, 6, 255],
                [7, 8, 9, 255],
                [0, 0, 0, 255],
            ]),
            uvs: Some(corners.map(|(x, y)| glam::DVec2::new(x, y / 3.0)).to_vec()),
        },
        ..Mesh::default()
    };
    mesh.fields.points = all_fields("point");
    mesh.fields.cells = all_fields("face");
    mesh
}

#[test]
fn surfaces_in_vtu_keep_every_field_and_attribute() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let mut mesh = full_mesh();
    // A name of both faces and segments.
    let both = Field::scalars("load", vec![1i32, 2, 3, 4]);
    mesh.fields.cells.push(both.clone());
    mesh.fields.sides.push(both);
    mesh.fields
        .sides
        .push(Field::scalars("flow", vec![0.5, 0.0, -1.0, 2.0]));
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
    assert!(
        Format::to_write(&path)
            .unwrap()
            .losses(&mesh, Encoding::default())
            .is_empty()
    );
    // Colours that are not opaque have a fourth channel.
    mesh.attributes.colors.as_mut().unwrap()[2][3] = 7;
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
}

/// meshio 5.3 writes point data as text like this. The array of another type has another order than ours.
#[test]
fn fields_of_others_vtu_files_are_read() {
    let file = r#"<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="3" NumberOfCells="2">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0</DataArray></Points>
<Cells><DataArray type="Int64" Name="connectivity" format="ascii">0 1 0 1 2</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">2 5</DataArray>
<DataArray type="Int64" Name="types" format="ascii">3 5</DataArray></Cells>
<PointData><DataArray type="Float32" Name="t" format="ascii">0.1 0.2 0.3</DataArray>
<DataArray type="Float64" Name="v" NumberOfComponents="2" format="ascii">1 2 3 4 5 6</DataArray></PointData>
<CellData><DataArray type="UInt8" Name="part" format="ascii">0 9</DataArray></CellData>
</Piece></UnstructuredGrid></VTKFile>"#;
    let mesh = super::vtu::parse(file.as_bytes()).unwrap();
    let points = &mesh.fields.points;
    assert_eq!(
        points.get("t").unwrap().values,
        vec![0.1f32, 0.2, 0.3].into()
    );
    assert_eq!(points.get("v").unwrap().components, 2);
    // The line has 0, as a writer would write it.
    assert_eq!(
        mesh.fields.cells.get("part").unwrap().values,
        vec![9u8].into()
    );
    assert!(mesh.fields.sides.is_empty());
    let error = error(super::vtu::parse, file.replace(">0 9<", ">0<"));
    assert!(error.contains("expected 2 numbers, found 1"), "{error}");
}

#[test]
fn ply_keeps_fields_of_vertices_and_faces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let mut mesh = full_mesh();
    // No type holds these: a note reports it.
    let lost = ["i64", "u64"].map(|kind| format!("point {kind}"));
    let losses = Format::to_write(&path)
        .unwrap()
        .losses(&mesh, Encoding::default());
    let expected =
        "PLY does not hold the fields point i64, point u64, face i64, face u64: not in the output";
    assert_eq!(losses[0], expected);
    assert!(losses[1].contains("`point u8` as `point_u8`"), "{losses:?}");
    for kind in ["i64", "u64"] {
        mesh.fields.points.take(&format!("point {kind}"));
        mesh.fields.cells.take(&format!("face {kind}"));
    }
    mesh.fields
        .points
        .push(Field::scalars(&lost[0], vec![-5i64, 5, 0, 1]));
    mesh.fields
        .points
        .push(Field::scalars(&lost[1], vec![1u64, 0, 1 << 31, 2]));
    mesh.fields
        .points
        .push(Field::scalars("large", vec![1i64 << 40, 0, 1, -2]));
    // Names with a meaning, or with a blank, change in the file.
    mesh.fields
        .points
        .push(Field::scalars("nx", vec![1.0, 2.0, 3.0, 4.0]));
    let mut expected = mesh.clone();
    let in_file = |field: &Field| Field {
        name: match field.name.as_str() {
            "nx" => "field_nx".to_owned(),
            name => name.replace(' ', "_"),
        },
        values: match &field.values {
            Values::I64(list) if field.name == "large" => {
                list.iter().map(|&i| i as f64).collect::<Vec<_>>().into()
            }
            Values::I64(list) => list.iter().map(|&i| i as i32).collect::<Vec<_>>().into(),
            Values::U64(list) => list.iter().map(|&i| i as u32).collect::<Vec<_>>().into(),
            values => values.clone(),
        },
        ..field.clone()
    };
    expected.fields.points = mesh.fields.points.iter().map(in_file).collect();
    expected.fields.cells = mesh.fields.cells.iter().map(in_file).collect();
    for encoding in [Encoding::Binary, Encoding::BigEndian, Encoding::Text] {
        write_encoded(&path, &mesh, Some(encoding)).unwrap();
        // Text gives a unit.
        let digits = (encoding == Encoding::Text).then_some(2);
        Arc::make_mut(&mut expected.about).unit = decimals::unit(digits);
        assert_eq!(read(&path).unwrap(), expected, "{encoding:?}");
        // Meshes of triangles only have their own code.
        let triangles = |mesh: &Mesh| Mesh {
            faces: Faces::Triangles(vec![[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]),
            ..mesh.clone()
        };
        write_encoded(&path, &triangles(&mesh), Some(encoding)).unwrap();
        assert_eq!(read(&path).unwrap(), triangles(&expected), "{encoding:?}");
    }
}

/// `u` is a texture coordinate only beside `v`; `t` is a field if there is no `s`.
#[test]
fn names_of_ply_properties_that_mean_something_together_are_fields_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let mut mesh = full_mesh();
    mesh.attributes = VertexAttributes::default();
    let write_and_read = |mesh: &Mesh, names: &[&str]| {
        let fields = names
            .iter()
            .map(|name| Field::scalars(*name, vec![0.5, 1.5, 2.5, 3.5]));
        let mesh = Mesh {
            fields: trioxide_mesh::fields::MeshFields {
                points: fields.collect(),
                ..Default::default()
            },
            ..mesh.clone()
        };
        write(&path, &mesh).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.attributes, mesh.attributes);
        let names = read.fields.points.iter().map(|field| field.name.clone());
        names.collect::<Vec<_>>()
    };
    let alone = ["t", "alpha", "nx", "red", "b"];
    assert_eq!(write_and_read(&mesh, &alone), alone);
    assert_eq!(
        write_and_read(&mesh, &["x", "u", "t"]),
        ["field_x", "field_u", "field_t"]
    );
    mesh.attributes.colors = Some(vec![[1, 2, 3, 255]; 4]);
    assert_eq!(write_and_read(&mesh, &["alpha", "u"]), ["field_alpha", "u"]);
}

#[test]
fn what_ply_files_have_beside_fields_is_named_in_notes() {
    let file = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float quality\nproperty list uchar int ring\nproperty float nx\n\
        element camera 1\nproperty float fov\nelement face 1\nproperty list uchar int vertex_indices\n\
        property uchar flags\nend_header\n\
        0 0 0.5 2 1 2 9\n1 0 0.25 0 8\n0 1 -1 1 0 7\n55\n3 0 1 2 200\n";
    let loaded = super::super::ply::parse(file.as_bytes()).unwrap();
    let fields = &loaded.mesh.fields;
    let quality = fields.points.get("quality").unwrap();
    assert_eq!(quality.values, vec![0.5f32, 0.25, -1.0].into());
    // Without y and z this is no normal.
    assert_eq!(
        fields.points.get("nx").unwrap().values,
        vec![9f32, 8.0, 7.0].into()
    );
    assert_eq!(
        fields.cells.get("flags").unwrap().values,
        vec![200u8].into()
    );
    assert_eq!(
        loaded.notes,
        [
            "of elements `vertex` is left out: ring",
            "1 elements `camera` are left out"
        ]
    );
}

#[test]
fn one_note_names_the_fields_that_a_format_drops() {
    let mut mesh = full_mesh();
    mesh.fields.points = [Field::scalars("t", vec![0.0; 4])].into_iter().collect();
    mesh.fields.cells = [Field::scalars("p", vec![0u8; 4])].into_iter().collect();
    let losses = |name: &str| {
        let format = Format::to_write(Path::new(name)).unwrap();
        let losses = format.losses(&mesh, Encoding::default()).into_iter();
        losses
            .filter(|loss| loss.contains("field"))
            .collect::<Vec<_>>()
    };
    for (name, format) in [("a.off", "OFF"), ("a.obj", "OBJ"), ("a.stl", "STL")] {
        let note = format!("{format} does not hold the fields t, p: not in the output");
        assert_eq!(losses(name), [note]);
    }
    let note = "LAS does not hold the field p: not in the output";
    assert_eq!(losses("a.laz"), [note]);
    assert!(losses("a.vtu").is_empty());
    let renamed = "PLY does not take every name: the output has the field `t` as `field_t`";
    assert_eq!(losses("a.ply"), [renamed]);
}

/// A cloud with every number of a point format.
fn cloud(names: &[(&str, Values)], colors: bool) -> Mesh {
    let mut cloud = Mesh {
        points: (0..4)
            .map(|i| DVec3::new(f64::from(i), 0.5, -1.25))
            .collect(),
        ..Mesh::default()
    };
    cloud.attributes.colors = colors.then(|| vec![[9, 8, 7, 255]; 4]);
    let fields = names.iter();
    cloud.fields.points = fields
        .map(|(name, values)| Field::scalars(*name, values.clone()))
        .collect();
    cloud
}

#[test]
fn las_keeps_classes_returns_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |values: [u8; 4]| Values::from(values.to_vec());
    let legacy = [
        ("intensity", vec![0u16, 7, 65535, 1].into()),
        ("return_number", bytes([1, 2, 7, 0])),
        ("number_of_returns", bytes([3, 3, 7, 0])),
        ("scan_direction_flag", bytes([0, 1, 1, 0])),
        ("edge_of_flight_line", bytes([1, 0, 1, 0])),
        ("classification", bytes([2, 6, 31, 0])),
        ("synthetic", bytes([1, 0, 0, 0])),
        ("key_point", bytes([0, 1, 0, 0])),
        ("withheld", bytes([0, 0, 1, 0])),
        ("scan_angle_rank", vec![-90i8, 90, 0, 5].into()),
        ("user_data", bytes([0, 1, 2, 255])),
        ("point_source_id", vec![65535u16, 0, 1, 2].into()),
        ("gps_time", vec![0.1, 4e8, -1.0, 0.0].into()),
    ];
    let extended = [
        ("intensity", vec![0u16, 7, 65535, 1].into()),
        ("return_number", bytes([1, 2, 15, 0])),
        ("number_of_returns", bytes([3, 3, 15, 0])),
        ("synthetic", bytes([1, 0, 0, 0])),
        ("key_point", bytes([0, 1, 0, 0])),
        ("withheld", bytes([0, 0, 1, 0])),
        ("overlap", bytes([0, 0, 1, 1])),
        ("scanner_channel", bytes([0, 3, 2, 1])),
        ("scan_direction_flag", bytes([0, 1, 1, 0])),
        ("edge_of_flight_line", bytes([1, 0, 1, 0])),
        ("classification", bytes([2, 64, 255, 0])),
        ("user_data", bytes([0, 1, 2, 255])),
        ("scan_angle", vec![-30000i16, 30000, 0, 5].into()),
        ("point_source_id", vec![65535u16, 0, 1, 2].into()),
        ("gps_time", vec![0.1, 4e8, -1.0, 0.0].into()),
    ];
    let near = ("nir", vec![1u16, 2, 3, 65535].into());
    for (extension, colors) in [("las", false), ("las", true), ("laz", false), ("laz", true)] {
        let path = folder.path().join(format!("a.{extension}"));
        let mut all = extended.to_vec();
        if colors {
            all.push(near.clone());
        }
        for names in [&legacy[..], &legacy[..12], &all] {
            let cloud = cloud(names, colors);
            write(&path, &cloud).unwrap();
            let (read, notes) = read_with_notes(&path).unwrap();
            assert_eq!(bare(read), cloud, "{extension} {colors}");
            assert!(notes.is_empty(), "{notes:?}");
            let losses = Format::to_write(&path)
                .unwrap()
                .losses(&cloud, Encoding::default());
            assert!(losses.is_empty(), "{losses:?}");
        }
    }
    // A class beyond the legacy formats needs another format. Fields that no format holds are extra bytes.
    let path = folder.path().join("b.las");
    let odd = [
        ("classification", bytes([2, 6, 32, 0])),
        ("intensity", vec![0.5, 1.0, 2.0, 3.0].into()),
        ("height", vec![0.5, 1.0, 2.0, 3.0].into()),
    ];
    let odd = cloud(&odd, false);
    write(&path, &odd).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[104], 6, "the point format");
    let losses = Format::to_write(&path)
        .unwrap()
        .losses(&odd, Encoding::default());
    let renamed =
        "LAS does not take every name: the output has the field `intensity` as `field_intensity`";
    assert_eq!(losses, [renamed]);
    let names = ["classification", "field_intensity", "height"];
    let fields = odd.fields.points.iter().zip(names);
    let fields = fields.map(|(field, name)| Field::scalars(name, field.values.clone()));
    assert_eq!(read(&path).unwrap().fields.points, fields.collect());
}
