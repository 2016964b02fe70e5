//! Written files.

use std::path::{Path, PathBuf};

use base64::Engine;
use glam::{DVec2, DVec3};
use serde_json::{Value, json};

use super::*;
use crate::{Encoding, Format, read_with_notes, write as write_mesh};
use trioxide_mesh::about::GltfMaterials;
use trioxide_mesh::fields::{Field, Values};
use trioxide_mesh::mesh::{Faces, Mesh, Polygons, Segment, VertexAttributes};

mod scenes;

/// A square, and a triangle beside it, with all that glTF holds.
fn full() -> Mesh {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.25],
        [2.0, 0.0, 0.0],
    ];
    let uv = |i: u32| DVec2::new(f64::from(i) / 8.0, 0.75);
    let segment = |(ends, marker)| Segment { ends, marker };
    let mut mesh = Mesh {
        points: points.map(DVec3::from_array).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3], [1, 4, 2]]),
        regions: Some(vec![4, 4, -2]),
        segments: [([0, 1], 7), ([2, 3], 0)].map(segment).to_vec(),
        attributes: VertexAttributes {
            normals: Some(vec![DVec3::Z; 5]),
            colors: Some((0..5).map(|i| [i, 200, 3, 90 + i]).collect()),
            uvs: Some((0..5).map(uv).collect()),
        },
        ..Mesh::default()
    };
    mesh.fields.points = [
        Field::scalars("heat", vec![0.5f32, 1.5, 2.5, 3.5, 4.5]),
        Field::scalars("class", vec![1u8, 2, 200, 4, 5]),
        Field::scalars("label", vec![-70_000, 2, 200, 4, 5]),
        Field {
            name: "flow".to_owned(),
            components: 3,
            values: (0..15i16).collect::<Vec<_>>().into(),
        },
        Field::scalars("load", vec![0.25, 1.0, 2.0, 3.0, 4.0]),
    ]
    .into_iter()
    .collect();
    mesh
}

fn paths(folder: &Path) -> [PathBuf; 2] {
    ["a.glb", "a.gltf"].map(|name| folder.join(name))
}

fn losses(mesh: &Mesh) -> Vec<String> {
    let format = Format::to_write(Path::new("a.glb")).unwrap();
    format.losses(mesh, Encoding::default())
}

/// The JSON of a written file.
fn json_of(path: &Path) -> Value {
    let file = std::fs::read(path).unwrap();
    match file.starts_with(b"glTF") {
        true => serde_json::from_slice(chunks(&file).unwrap().0).unwrap(),
        false => serde_json::from_slice(&file).unwrap(),
    }
}

/// The data of a written file.
fn data_of(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).unwrap();
    match file.starts_with(b"glTF") {
        true => chunks(&file).unwrap().1.unwrap().to_vec(),
        false => {
            let uri = json_of(path)["buffers"][0]["uri"]
                .as_str()
                .unwrap()
                .to_owned();
            let text = uri.strip_prefix("data:application/octet-stream;base64,");
            base64::engine::general_purpose::STANDARD
                .decode(text.unwrap())
                .unwrap()
        }
    }
}

/// The mesh comes back without a note.
fn check_round_trip(mesh: &Mesh) {
    let folder = tempfile::tempdir().unwrap();
    for path in paths(folder.path()) {
        write_mesh(&path, mesh).unwrap();
        let (back, notes) = read_with_notes(&path).unwrap();
        assert_eq!(back, *mesh, "{path:?}");
        assert_eq!(notes, [] as [&str; 0]);
    }
}

#[test]
fn all_that_gltf_holds_comes_back() {
    let mesh = full();
    check_round_trip(&mesh);
    assert_eq!(losses(&mesh), [] as [&str; 0]);
    // Points alone, segments alone, nothing.
    let cloud = Mesh {
        faces: Faces::default(),
        regions: None,
        segments: Vec::new(),
        ..full()
    };
    check_round_trip(&cloud);
    check_round_trip(&Mesh {
        segments: full().segments,
        ..cloud
    });
    check_round_trip(&Mesh::default());
    // Indices of 16 and of 32 bits.
    for (count, kind) in [(65_535, 5123), (65_536, 5125)] {
        let mesh = Mesh {
            points: (0..count).map(|i| DVec3::splat(f64::from(i))).collect(),
            faces: Faces::Triangles(vec![[0, 1, count as u32 - 1]]),
            ..Mesh::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let [path, _] = paths(folder.path());
        write_mesh(&path, &mesh).unwrap();
        assert_eq!(crate::read(&path).unwrap(), mesh);
        assert_eq!(json_of(&path)["accessors"][1]["componentType"], kind);
    }
}

#[test]
fn written_files_follow_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let [glb, gltf] = paths(folder.path());
    write_mesh(&glb, &full()).unwrap();
    write_mesh(&gltf, &full()).unwrap();
    let file = std::fs::read(&glb).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((word(4), word(8)), (2, file.len()));
    assert!(word(12).is_multiple_of(4) && word(20 + word(12)).is_multiple_of(4));
    let document = json_of(&gltf);
    // One file, with its data as base64.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let binary = chunks(&file).unwrap().1.unwrap();
    assert_eq!(data_of(&gltf), binary);
    assert_eq!(document["buffers"][0]["byteLength"], binary.len());
    let accessors = array(&document["accessors"]);
    let names = document["meshes"][0]["primitives"][0]["attributes"].clone();
    let accessor = |name: &str| &accessors[index(&names[name]).unwrap()];
    assert_eq!(accessor("POSITION")["max"], json!([2.0, 1.0, 0.25]));
    assert_eq!(accessor("POSITION")["min"], json!([0.0, 0.0, 0.0]));
    assert_eq!(accessor("COLOR_0")["normalized"], true);
    // Rows of bytes begin at multiples of 4.
    let view = index(&accessor("_class")["bufferView"]).unwrap();
    assert_eq!(document["bufferViews"][view]["byteStride"], 4);
    let view = index(&accessor("_flow")["bufferView"]).unwrap();
    assert_eq!(document["bufferViews"][view]["byteStride"], 8);
    // The image's first row is at v = 0.
    let mesh = full();
    let of = |name: &str| {
        let view = &document["bufferViews"][index(&accessor(name)["bufferView"]).unwrap()];
        let at = index(&view["byteOffset"]).unwrap() + 4;
        f32::from_le_bytes(binary[at..at + 4].try_into().unwrap())
    };
    assert_eq!(
        (mesh.attributes.uvs.unwrap()[0].y, of("TEXCOORD_0")),
        (0.75, 0.25)
    );
    let primitives = array(&document["meshes"][0]["primitives"]);
    let tags: Vec<&Value> = primitives
        .iter()
        .map(|primitive| &primitive["extras"])
        .collect();
    let regions = [
        json!({"region": 4}),
        json!({"region": -2}),
        json!({"marker": 7}),
        Value::Null,
    ];
    assert_eq!(tags, regions.iter().collect::<Vec<_>>());
    let modes: Vec<&Value> = primitives
        .iter()
        .map(|primitive| &primitive["mode"])
        .collect();
    assert_eq!(modes, [&Value::Null, &Value::Null, &json!(1), &json!(1)]);
}

#[test]
fn a_mesh_that_gltf_cannot_hold_is_refused_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |mesh: &Mesh| {
        for path in paths(folder.path()) {
            let error = write_mesh(&path, mesh).unwrap_err().to_string();
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            if path.ends_with("a.gltf") {
                return error;
            }
        }
        unreachable!("the second path is that of .gltf")
    };
    let mut polygons = Polygons::default();
    polygons.push(&[0, 1, 2, 3]);
    let mut mesh = full();
    mesh.faces = Faces::Polygons(polygons);
    mesh.regions = None;
    assert!(fails(&mesh).contains("but face 0 has 4 vertices"));
    let mut mesh = full();
    mesh.points[3].y = f64::NAN;
    assert!(fails(&mesh).contains("vertex 3 has a coordinate that is not finite"));
    mesh.points[3].y = 1e39;
    assert!(fails(&mesh).contains("vertex 3 has a coordinate that is too large for 32 bits"));
    for (json, reason) in [
        ("[]", "the mesh has from glTF: invalid type"),
        (r#"{"nodes":[]}"#, r#""nodes" is not one of their lists"#),
        (r#"{"images":{}}"#, r#""images" is not one of their lists"#),
        (r#"{"images":[{"bufferView":1}]}"#, "image 0 has no bytes"),
    ] {
        let mut mesh = full();
        let about = std::sync::Arc::make_mut(&mut mesh.about);
        about.gltf_materials = Some(GltfMaterials {
            json: json.to_owned(),
            images: vec![vec![0]],
        });
        assert!(fails(&mesh).contains(reason), "{}", fails(&mesh));
    }
}

#[test]
fn numbers_that_are_not_kept_exactly_are_named() {
    let mut mesh = full();
    mesh.points[1].x = 0.1;
    let third = DVec2::splat(1.0 / 3.0);
    mesh.attributes.uvs = Some(vec![third, DVec2::NAN, third, DVec2::X, DVec2::splat(1e39)]);
    let normals = [DVec3::Z * 3.0, DVec3::ZERO, DVec3::X, DVec3::NAN, DVec3::Y];
    mesh.attributes.normals = Some(normals.to_vec());
    mesh.fields.points = [
        Field::scalars("third", vec![1.0 / 3.0; 5]),
        Field::scalars("big", vec![i32::MAX; 5]),
        Field::scalars("nan", vec![f32::NAN; 5]),
        Field {
            name: "five".to_owned(),
            components: 5,
            values: vec![0u8; 25].into(),
        },
    ]
    .into_iter()
    .collect();
    mesh.fields
        .cells
        .push(Field::scalars("of faces", vec![1.0; 3]));
    assert_eq!(
        losses(&mesh),
        [
            "glTF does not hold the fields big, nan, five, of faces: not in the output",
            "glTF holds 32-bit numbers and rounds coordinates (largest error 1.49e-9), texture coordinates (largest error \
             1.99e-8), third (largest error 9.93e-9); glTF holds normals of length 1: 3 of the input have another length, \
             or none (0 0 1 in the output); 2 texture coordinates are not finite, or too large for 32 bits (0 0 in the output)",
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    let [path, _] = paths(folder.path());
    write_mesh(&path, &mesh).unwrap();
    let back = read_with_notes(&path).unwrap().0;
    let normals = [DVec3::Z, DVec3::Z, DVec3::X, DVec3::Z, DVec3::Y];
    assert_eq!(back.attributes.normals.unwrap(), normals);
    let uvs = back.attributes.uvs.unwrap();
    assert_eq!([uvs[1], uvs[4]], [DVec2::ZERO; 2]);
    assert_eq!(uvs[3], DVec2::X);
    let third = back.fields.points.get("third").unwrap();
    assert_eq!(third.values, vec![f64::from(1.0f32 / 3.0); 5].into());
    assert_eq!(back.fields.points.len(), 1);
}

/// 32-bit numbers near 500,000 are 3 cm apart.
#[test]
fn far_from_the_origin_the_node_has_the_place() {
    let far = DVec3::new(500_000.0, 5_400_000.0, 100.0);
    let mut mesh = full();
    mesh.points.iter_mut().for_each(|p| *p = far + *p / 1024.0);
    check_round_trip(&mesh);
    assert_eq!(losses(&mesh), [] as [&str; 0]);
    mesh.points[1].x += 1e-4;
    let note = "glTF holds 32-bit numbers and rounds coordinates (largest error 5.82e-11)";
    assert_eq!(losses(&mesh), [note]);
    let folder = tempfile::tempdir().unwrap();
    let [path, _] = paths(folder.path());
    write_mesh(&path, &mesh).unwrap();
    let back = read_with_notes(&path).unwrap().0.points[1];
    assert!(back.distance(mesh.points[1]) < 1e-9, "{back}");
    assert_eq!(
        json_of(&path)["nodes"][0]["translation"],
        json!([500_000.0, 5_400_000.0, 100.0])
    );
}

#[test]
fn parts_come_in_the_order_of_their_first_faces() {
    let mut mesh = full();
    mesh.regions = Some(vec![4, 2, 4]);
    mesh.fields
        .cells
        .push(Field::scalars("material", vec![9, -1, 9]));
    mesh.segments.swap(0, 1);
    mesh.segments.push(Segment {
        ends: [4, 0],
        marker: 0,
    });
    let folder = tempfile::tempdir().unwrap();
    for path in paths(folder.path()) {
        write_mesh(&path, &mesh).unwrap();
        let back = read_with_notes(&path).unwrap().0;
        assert_eq!(
            back.faces,
            Faces::Triangles(vec![[0, 1, 2], [1, 4, 2], [0, 2, 3]])
        );
        assert_eq!(back.regions, Some(vec![4, 4, 2]));
        let material = &back.fields.cells.get("material").unwrap().values;
        assert_eq!(*material, Values::I32(vec![0, 0, -1]));
        assert_eq!(back.about.names["material"], ["material_9"]);
        let segments: Vec<_> = back.segments.iter().map(|s| (s.ends, s.marker)).collect();
        assert_eq!(segments, [([2, 3], 0), ([4, 0], 0), ([0, 1], 7)]);
    }
}
