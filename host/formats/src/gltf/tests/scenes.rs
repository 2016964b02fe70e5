//! Scenes of other programs: nodes, materials, attributes that not every part has.

use super::*;
use crate::tests::damage::strike;
use crate::text::{Fault, Parsed};
use trioxide_mesh::fields::NumberType;

/// A scene as JSON, whose buffer has these parts; `IMAGE` is one of them.
fn scene(document: Value, parts: &[&[u8]]) -> Vec<u8> {
    let (mut binary, mut views) = (Vec::new(), Vec::new());
    for part in parts {
        views.push(json!({"buffer": 0, "byteOffset": binary.len(), "byteLength": part.len()}));
        binary.extend_from_slice(part);
        binary.resize(binary.len().next_multiple_of(4), 0);
    }
    let data = base64::engine::general_purpose::STANDARD.encode(&binary);
    let uri = format!("data:application/octet-stream;base64,{data}");
    let mut document = document;
    document["asset"] = json!({"version": "2.0"});
    document["bufferViews"] = views.into();
    document["buffers"] = json!([{"byteLength": binary.len(), "uri": uri}]);
    document.to_string().into_bytes()
}

fn floats(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

const IMAGE: &[u8] = b"\x89PNG, seven";

/// Two nodes: a square with normals, texture coordinates and a custom attribute, its border as lines, and a square with
/// positions only; materials, with textures in the file and beside it.
fn textured() -> Vec<u8> {
    let points = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let normals = floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let uvs = floats(&[0.0, 0.25, 1.0, 0.25, 1.0, 1.0, 0.0, 1.0]);
    let heat = floats(&[1.0, 2.0, 3.0, 4.0]);
    let shorts = |list: &[u16]| -> Vec<u8> { list.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let (faces, lines) = (shorts(&[0, 1, 2, 0, 2, 3]), shorts(&[0, 1, 1, 2]));
    let accessor = |view: usize, kind: usize, count: usize, shape: &str| json!({"bufferView": view, "componentType": kind, "count": count, "type": shape});
    let all = json!({"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "_heat": 3});
    let document = json!({
        "nodes": [{"mesh": 0, "name": "left", "extras": {"id": 5}}, {"mesh": 1, "translation": [10, 0, 0]}],
        "meshes": [
            {"primitives": [
                {"attributes": all, "indices": 4, "material": 1},
                {"attributes": all, "indices": 5, "mode": 1, "material": 2},
            ]},
            {"name": "right", "primitives": [{"attributes": {"POSITION": 0}, "indices": 4, "material": 0}]},
        ],
        "accessors": [
            accessor(0, 5126, 4, "VEC3"),
            accessor(1, 5126, 4, "VEC3"),
            accessor(2, 5126, 4, "VEC2"),
            accessor(3, 5126, 4, "SCALAR"),
            accessor(4, 5123, 6, "SCALAR"),
            accessor(5, 5123, 4, "SCALAR"),
        ],
        "materials": [
            {"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}},
            {"pbrMetallicRoughness": {"baseColorTexture": {
                "index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2]}}}}},
            {"name": "wire", "extensions": {"KHR_materials_unlit": {}}},
        ],
        "textures": [{"source": 0, "sampler": 0}, {"source": 1}],
        "samplers": [{"wrapS": 33071}],
        "images": [{"bufferView": 6, "mimeType": "image/png"}, {"uri": "tex/wood%20a.png"}],
        "extensionsUsed": ["KHR_texture_transform", "KHR_materials_unlit", "KHR_lights_punctual"],
        "extensionsRequired": ["KHR_texture_transform"],
        "animations": [{}],
    });
    scene(
        document,
        &[&points, &normals, &uvs, &heat, &faces, &lines, IMAGE],
    )
}

fn loaded(file: &[u8]) -> Loaded {
    crate::gltf::parse(file, References::nowhere()).unwrap()
}

#[test]
fn objects_and_materials_are_numbered_and_missing_attributes_filled_in() {
    let Loaded { mesh, notes } = loaded(&textured());
    assert_eq!(
        notes,
        [
            "not every part has all attributes: 4 vertices have the normals of their faces, 4 vertices have the texture \
             coordinates 0 0, 4 vertices have 0 in the field heat",
            "left out: KHR_lights_punctual, animations, extras of nodes or meshes",
        ]
    );
    assert_eq!(
        (mesh.points.len(), mesh.points[5]),
        (8, DVec3::new(11.0, 0.0, 0.0))
    );
    assert_eq!(mesh.attributes.normals.unwrap(), [DVec3::Z; 8]);
    let uvs = mesh.attributes.uvs.unwrap();
    assert_eq!(uvs[..2], [DVec2::new(0.0, 0.75), DVec2::new(1.0, 0.75)]);
    assert_eq!(uvs[4..], [DVec2::ZERO; 4]);
    let cells = &mesh.fields.cells;
    let values = |name: &str| cells.get(name).unwrap().values.clone();
    assert_eq!(values("object"), Values::I32(vec![0, 0, 1, 1]));
    assert_eq!(values("material"), Values::I32(vec![1, 1, 0, 0]));
    let sides = &mesh.fields.sides;
    assert_eq!(
        sides.get("material").unwrap().values,
        Values::I32(vec![2, 2])
    );
    assert_eq!(mesh.about.names["object"], ["left", "right"]);
    assert_eq!(mesh.about.names["material"], ["red", "", "wire"]);
    let heat = &mesh.fields.points.get("heat").unwrap().values;
    assert_eq!(
        *heat,
        Values::F32(vec![1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    );
}

#[test]
fn materials_textures_and_images_are_kept() {
    let mesh = loaded(&textured()).mesh;
    check_round_trip(&mesh);
    let note = "the output names files of images, from its own folder: tex/wood%20a.png";
    assert_eq!(losses(&mesh), [note]);
    let folder = tempfile::tempdir().unwrap();
    for path in paths(folder.path()) {
        write_mesh(&path, &mesh).unwrap();
        let document = json_of(&path);
        assert_eq!(array(&document["materials"]).len(), 3);
        let of_part =
            |mesh: usize, part: usize| &document["meshes"][mesh]["primitives"][part]["material"];
        assert_eq!(
            [of_part(0, 0), of_part(0, 1), of_part(1, 0)],
            [&json!(1), &json!(2), &json!(0)]
        );
        assert_eq!(
            document["textures"],
            json!([{"source": 0, "sampler": 0}, {"source": 1}])
        );
        assert_eq!(document["images"][1], json!({"uri": "tex/wood%20a.png"}));
        let used = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
        assert_eq!(document["extensionsUsed"], used);
        assert_eq!(
            document["extensionsRequired"],
            json!(["KHR_texture_transform"])
        );
        let image = &document["images"][0];
        assert_eq!(image["mimeType"], "image/png");
        let view = &document["bufferViews"][index(&image["bufferView"]).unwrap()];
        assert_eq!(view["byteLength"], IMAGE.len());
        assert!(memchr::memmem::find(&data_of(&path), IMAGE).is_some());
        // Each node has its own vertices.
        let positions = |mesh: usize| {
            let accessor = &document["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"];
            document["accessors"][index(accessor).unwrap()].clone()
        };
        assert_eq!(
            (positions(0)["count"].clone(), positions(1)["count"].clone()),
            (json!(4), json!(4))
        );
        assert_eq!(
            (
                positions(0)["byteOffset"].clone(),
                positions(1)["byteOffset"].clone()
            ),
            (json!(0), json!(48))
        );
        assert_eq!(positions(1)["min"], json!([10.0, 0.0, 0.0]));
    }
    // An image outside of the file's data is no reason to refuse the geometry.
    let text = String::from_utf8(textured()).unwrap();
    let broken = loaded(
        text.replace("{\"bufferView\":6,\"mime", "{\"bufferView\":60,\"mime")
            .as_bytes(),
    );
    assert_eq!(broken.mesh.about.gltf_materials, None);
    let note = "its materials are left out: image 0: it has no bufferView";
    assert!(
        broken.notes.contains(&note.to_owned()),
        "{:?}",
        broken.notes
    );
}

/// Objects whose vertices do not follow one another share one list.
#[test]
fn objects_that_share_vertices_keep_them() {
    let mut mesh = full();
    mesh.segments.clear();
    mesh.regions = None;
    mesh.fields
        .cells
        .push(Field::scalars("object", vec![0, 0, 1]));
    let mut about = (*mesh.about).clone();
    about
        .names
        .insert("object".to_owned(), vec!["plate".to_owned(), String::new()]);
    mesh.about = about.into();
    check_round_trip(&mesh);
    // And names of materials, without materials.
    let mut about = (*mesh.about).clone();
    about.names.insert(
        "material".to_owned(),
        vec!["oak".to_owned(), "steel".to_owned()],
    );
    mesh.about = about.into();
    mesh.fields
        .cells
        .push(Field::scalars("material", vec![1, 1, -1]));
    let folder = tempfile::tempdir().unwrap();
    let [path, _] = paths(folder.path());
    write_mesh(&path, &mesh).unwrap();
    let back = read_with_notes(&path).unwrap().0;
    assert_eq!(
        (&back.fields, &back.about.names),
        (&mesh.fields, &mesh.about.names)
    );
    assert_eq!(
        json_of(&path)["materials"],
        json!([{"name": "oak"}, {"name": "steel"}])
    );
}

#[test]
fn other_attributes_are_fields_and_colours_have_a_range() {
    let points = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let colors = floats(&[255.0, 0.0, 128.0, 0.0, 0.0, 0.0, 1.0, 300.0, 0.0]);
    let second = floats(&[0.5, 0.25, 0.0, 0.0, 1.0, 1.0]);
    let joints = [0; 12];
    let accessor = |view: usize, kind: usize, shape: &str| json!({"bufferView": view, "componentType": kind, "count": 3, "type": shape});
    let document = json!({
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "COLOR_0": 1, "TEXCOORD_0": 2, "TEXCOORD_1": 2, "JOINTS_0": 3},
            "material": 5,
        }]}],
        "accessors": [
            accessor(0, 5126, "VEC3"),
            accessor(1, 5126, "VEC3"),
            accessor(2, 5126, "VEC2"),
            accessor(3, 5121, "VEC4"),
        ],
    });
    let Loaded { mesh, notes } = loaded(&scene(document, &[&points, &colors, &second, &joints]));
    let colors = mesh.attributes.colors.as_ref().unwrap();
    assert_eq!(colors[0], [255, 0, 128, 255]);
    assert_eq!(colors[2], [1, 255, 0, 255]);
    assert_eq!(notes[0], "its colours run from 0 to 255");
    assert!(notes[1].starts_with("1 of 3 colours have a channel outside of 0 to 255"));
    assert_eq!(notes[2], "left out: JOINTS_0, materials that do not exist");
    let set = mesh.fields.points.get("TEXCOORD_1").unwrap();
    assert_eq!((set.components, set.values.kind()), (2, NumberType::F32));
    check_round_trip(&mesh);
    let folder = tempfile::tempdir().unwrap();
    let [path, _] = paths(folder.path());
    let names = |mesh: &Mesh| {
        write_mesh(&path, mesh).unwrap();
        let document = json_of(&path);
        let names = document["meshes"][0]["primitives"][0]["attributes"]
            .as_object()
            .cloned();
        names
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&mesh),
        ["COLOR_0", "POSITION", "TEXCOORD_0", "TEXCOORD_1"]
    );
    // A second set needs a first one.
    let mut mesh = mesh;
    mesh.attributes.uvs = None;
    assert_eq!(names(&mesh), ["COLOR_0", "POSITION", "_TEXCOORD_1"]);
    check_round_trip(&mesh);
}

#[test]
fn damaged_files_with_materials_do_no_harm() {
    fn parse(file: &[u8]) -> Parsed<Mesh> {
        let loaded = crate::gltf::parse(file, References::nowhere());
        loaded
            .map(|loaded| loaded.mesh)
            .map_err(|reason| Fault::new(0, reason))
    }
    let folder = tempfile::tempdir().unwrap();
    let [path, _] = paths(folder.path());
    write_mesh(&path, &loaded(&textured()).mesh).unwrap();
    strike(parse, &std::fs::read(&path).unwrap());
    strike(parse, &textured());
}
