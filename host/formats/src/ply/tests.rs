//! Faces of other programs: textures, colours, and too few corners.

use super::*;
use crate::{Encoding, Format};
use trioxide_mesh::fields::{Field, NumberType};

/// A text file of four points with more in its header, and with faces of these properties.
fn loaded(comments: &str, vertices: &str, faces: &str, rows: &str) -> Loaded {
    let [points, count] = [vertices, rows].map(|rows| rows.lines().count());
    let names = ["x", "y", "z"]
        .map(|name| format!("property float {name}\n"))
        .concat();
    let text = format!(
        "ply\nformat ascii 1.0\n{comments}element vertex {points}\n{names}\
         element face {count}\nproperty list uchar int vertex_indices\n{faces}end_header\n{vertices}{rows}"
    );
    parse(text.as_bytes()).expect(rows)
}

const POINTS: &str = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n";

/// The mesh in each encoding, as it comes back.
fn written(mesh: &Mesh) -> Vec<(Mesh, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let encodings = [Encoding::Binary, Encoding::BigEndian, Encoding::Text].into_iter();
    let written = encodings.map(|encoding| {
        crate::write_encoded(&path, mesh, Some(encoding)).unwrap();
        let file = std::fs::read(&path).unwrap();
        let end = memchr::memmem::find(&file, b"end_header").unwrap();
        let header = String::from_utf8(file[..end].to_vec()).unwrap();
        (crate::read(&path).unwrap(), header)
    });
    written.collect()
}

#[test]
fn texture_coordinates_of_corners_make_points() {
    let properties =
        "property float area\nproperty list uchar float texcoord\nproperty int texnumber\n";
    let rows = "3 0 1 2 0.5 6 0 0 1 0 0 1 7\n3 2 1 3 0.25 6 0 1 0.5 0 1 1 8\n3 0 1 2 4 0 9\n3 0 1 2 4 4 1 2 3 4 9\n";
    let comments = "comment TextureFile my skin #1.png\ncomment made by hand\n";
    let Loaded { mesh, notes } = loaded(comments, POINTS, properties, rows);
    let triangles = vec![[0, 1, 2], [2, 4, 3], [0, 1, 2], [0, 1, 2]];
    assert_eq!(mesh.faces, Faces::Triangles(triangles));
    assert_eq!(mesh.points[4], DVec3::X);
    let uvs = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.0)];
    assert_eq!(
        mesh.attributes.uvs.as_deref().unwrap(),
        uvs.map(DVec2::from)
    );
    let number = Field::scalars("texnumber", vec![7, 8, 9, 9]);
    assert_eq!(mesh.fields.cells.get("texnumber"), Some(&number));
    assert_eq!(mesh.about.textures, ["my skin #1.png"]);
    let expected = [
        "left out: texture coordinates of faces that are not two numbers for each corner (1)",
        "corners without a texture coordinate take the first one of their vertex, or 0 if there is none: 6 of 12",
        "corners of one vertex with different texture coordinates or normals are points of their own: 1",
    ];
    assert_eq!(notes, expected);
    for (back, header) in written(&mesh) {
        assert_eq!(back, mesh);
        assert!(
            header.contains("\ncomment TextureFile my skin #1.png\n"),
            "{header}"
        );
    }
}

#[test]
fn lists_of_texture_coordinates_are_read_from_binary_files() {
    let mut file = b"ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty float s\n\
        property float t\nelement face 13\nproperty list uchar float texcoord\nproperty uchar red\n\
        property list uchar uint vertex_indices\nproperty uchar green\nproperty uchar blue\nend_header\n"
        .to_vec();
    for i in 0..4 {
        file.extend(f64::from(i).to_be_bytes());
        file.extend(0.5_f64.to_be_bytes());
        file.extend([f32::from(i as u8), 9.0].map(f32::to_be_bytes).concat());
    }
    // Faces of one and two corners between the others, in several tasks.
    for i in 0..13_u8 {
        let corners = [3, 2, 3, 1][usize::from(i) % 4];
        let values: &[f32] = if i == 4 {
            &[]
        } else {
            &[0.0, 9.0, f32::from(i), 9.0, 2.0, 9.0]
        };
        file.push(values.len() as u8);
        file.extend(values.iter().flat_map(|x| x.to_be_bytes()));
        file.extend([i, corners]);
        file.extend((0..u32::from(corners)).flat_map(u32::to_be_bytes));
        file.extend([0, 255 - i]);
    }
    let Loaded { mesh, notes } = parse(&file).unwrap();
    assert_eq!(notes[0], "left out: faces of fewer than 3 corners (6)");
    // Of faces 0, 2, 4, ..., each has a point of its own but 0, and 4, which has no list. The last vertex keeps its
    // own.
    let points = [1, 4, 1, 5, 6, 7, 8].map(|v| [0, v, 2]);
    assert_eq!(mesh.faces, Faces::Triangles(points.to_vec()));
    let own: Vec<f64> = mesh.attributes.uvs.unwrap().iter().map(|uv| uv.x).collect();
    assert_eq!(own, [0.0, 0.0, 2.0, 3.0, 2.0, 6.0, 8.0, 10.0, 12.0]);
    let colors = mesh.fields.cells.get("color").unwrap();
    let reds = (0..7_u8).flat_map(|i| [2 * i, 0, 255 - 2 * i]);
    assert_eq!(colors.values, reds.collect::<Vec<u8>>().into());
}

#[test]
fn colours_of_faces_are_one_field() {
    let channels = |kind: &str, names: &[&str]| -> String {
        let lines = names.iter().map(|name| format!("property {kind} {name}\n"));
        lines.collect()
    };
    let three = channels("uchar", &["red", "green", "blue"]);
    let Loaded { mesh, notes } = loaded("", POINTS, &three, "3 0 1 2 10 20 30\n3 1 3 2 1 0 1\n");
    let field = |components, values: Vec<u8>| Field {
        name: "color".to_owned(),
        components,
        values: values.into(),
    };
    let opaque = field(3, vec![10, 20, 30, 1, 0, 1]);
    let cells: Vec<&Field> = mesh.fields.cells.iter().collect();
    assert_eq!((cells, notes.len()), (vec![&opaque], 0));
    let four = channels("float", &["alpha", "blue", "green", "red"]);
    let Loaded { mut mesh, notes } = loaded("", POINTS, &four, "3 0 1 2 0.2 30 20 200\n");
    assert_eq!(
        mesh.fields.cells.get("color"),
        Some(&field(4, vec![200, 20, 30, 51]))
    );
    assert_eq!(notes, ["its colours run from 0 to 255"]);
    // Written as colours, beside numbers of such names.
    let red = Field::scalars("red", vec![0.5]);
    mesh.fields.cells.push(red.clone());
    for (back, header) in written(&mesh) {
        assert!(header.ends_with(
            "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\nproperty double field_red\n"
        ));
        assert_eq!(
            back.fields.cells.get("color"),
            mesh.fields.cells.get("color")
        );
        assert_eq!(
            back.fields
                .cells
                .get("field_red")
                .map(|field| &field.values),
            Some(&red.values)
        );
    }
    let format = Format::with_extension("ply").unwrap();
    let losses = format.losses(&mesh, Encoding::default());
    assert_eq!(
        losses,
        ["PLY does not take every name: the output has the field `red` as `field_red`"]
    );
    // Not all three, and other numbers of this name: as they are.
    let two = channels("uchar", &["red", "green"]);
    let mesh = loaded("", POINTS, &two, "3 0 1 2 10 20\n").mesh;
    assert_eq!(
        mesh.fields
            .cells
            .get("green")
            .map(|field| field.values.f64(0)),
        Some(20.0)
    );
    let mut mesh = Mesh {
        points: vec![DVec3::ZERO; 3],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        ..Mesh::default()
    };
    mesh.fields.points.push(field(3, vec![7; 9]));
    mesh.fields.cells.push(Field::scalars("color", vec![7_u8]));
    written(&mesh)
        .into_iter()
        .for_each(|(back, _)| assert_eq!(back, mesh));
}

#[test]
fn channels_of_colours_run_as_their_type_or_as_their_numbers_say() {
    let read = |kinds: [&str; 4], row: &str| {
        let names = ["red", "green", "blue", "alpha"].iter().zip(kinds);
        let properties: String = names
            .map(|(name, kind)| format!("property {kind} {name}\n"))
            .collect();
        let text = format!(
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n{properties}end_header\n0 0 {row}\n"
        );
        let Loaded { mesh, notes } = parse(text.as_bytes()).unwrap();
        let channels: Vec<f64> = row
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        // The same in binary.
        let mut file = text.replace("ascii", "binary_little_endian").into_bytes();
        file.truncate(file.len() - row.len() - 5);
        file.extend([0; 8]);
        for (channel, kind) in channels.iter().zip(kinds) {
            match kind {
                "float" => file.extend((*channel as f32).to_le_bytes()),
                "ushort" => file.extend((*channel as u16).to_le_bytes()),
                "int" => file.extend((*channel as i32).to_le_bytes()),
                _ => file.push(*channel as u8),
            }
        }
        let binary = parse(&file).unwrap();
        assert_eq!(
            (&binary.mesh, &binary.notes),
            (&mesh, &notes),
            "{kinds:?} {row}"
        );
        (mesh.attributes.colors.unwrap()[0], notes.join("; "))
    };
    let to_255 = "its colours run from 0 to 255";
    for (kinds, row, color, note) in [
        (["float"; 4], "200 100 50 1", [200, 100, 50, 255], to_255),
        (["float"; 4], "0.2 1 0 0.4", [51, 255, 0, 102], ""),
        (["ushort"; 4], "200 100 1 255", [200, 100, 1, 255], to_255),
        (["ushort"; 4], "25700 257 0 65535", [100, 1, 0, 255], ""),
        (["int"; 4], "1 0 1 255", [1, 0, 1, 255], ""),
        (["uchar"; 4], "1 0 1 1", [1, 0, 1, 1], ""),
        // Each by its type.
        (
            ["uchar", "float", "ushort", "float"],
            "51 1 257 0.2",
            [51, 255, 1, 51],
            "",
        ),
    ] {
        assert_eq!(
            read(kinds, row),
            (color, note.to_owned()),
            "{kinds:?} {row}"
        );
    }
    let (color, note) = read(["float"; 4], "NaN 2.5 -1 1");
    assert_eq!(color, [0, 3, 0, 255]);
    assert!(
        note.contains("1 of 1 colours have a channel outside of 0 to 255"),
        "{note}"
    );
}

#[test]
fn faces_of_fewer_than_three_corners_are_left_out_with_their_numbers() {
    let properties = "property int region\nproperty float q\n";
    let rows = "3 0 1 2 5 0.5\n2 0 1 6 0.25\n0 7 1\n3 1 3 2 8 2\n1 0 9 4\n";
    let Loaded { mesh, notes } = loaded("", POINTS, properties, rows);
    assert_eq!(mesh.faces, Faces::Triangles(vec![[0, 1, 2], [1, 3, 2]]));
    assert_eq!(mesh.regions, Some(vec![5, 8]));
    let q = mesh.fields.cells.get("q").unwrap();
    assert_eq!(
        (q.values.kind(), q.len(), q.values.f64(1)),
        (NumberType::F32, 2, 2.0)
    );
    assert_eq!(notes, ["left out: faces of fewer than 3 corners (3)"]);
}

#[test]
fn triangles_of_strips_follow_the_faces_and_have_no_fields() {
    let elements = [
        "element face 1\nproperty list uchar int vertex_indices\nproperty uchar red\nproperty uchar green\n\
         property uchar blue\nproperty float q\n",
        "element tristrips 1\nproperty list int int vertex_indices\n",
    ];
    let rows = ["3 0 1 2 10 20 30 0.5\n", "4 1 3 2 0\n"];
    let points = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
    for [a, b] in [[0, 1], [1, 0]] {
        let (heads, rows) = (
            elements[a].to_owned() + elements[b],
            rows[a].to_owned() + rows[b],
        );
        let text = format!("ply\nformat ascii 1.0\n{points}{heads}end_header\n{POINTS}{rows}");
        let Loaded { mesh, notes } = parse(text.as_bytes()).unwrap();
        let triangles = vec![[0, 1, 2], [1, 3, 2], [2, 3, 0]];
        assert_eq!(mesh.faces, Faces::Triangles(triangles));
        assert!(mesh.fields.is_empty());
        let note =
            "left out: fields of faces, because the triangles of its strips have none: q, color";
        assert_eq!(notes, [note]);
    }
}
