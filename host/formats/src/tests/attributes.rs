//! Normals, colours and texture coordinates of vertices.

use glam::DVec2;

use super::*;
use trioxide_mesh::mesh::VertexAttributes;

/// Two triangles whose vertices have all attributes.
pub(super) fn decorated() -> Mesh {
    Mesh {
        attributes: VertexAttributes {
            normals: Some(
                (0..5)
                    .map(|i| DVec3::new(0.1 * f64::from(i), -1.0, 1e-9))
                    .collect(),
            ),
            colors: Some((0..5).map(|i| [i, 250 + i, 51 * i, 255 - i]).collect()),
            uvs: Some(
                (0..5)
                    .map(|i| DVec2::new(f64::from(i) / 3.0, 0.5))
                    .collect(),
            ),
        },
        ..round_trips::triangle_mesh()
    }
}

/// `mesh` with some of its attributes, and opaque.
fn with(mesh: &Mesh, [normals, colors, uvs]: [bool; 3]) -> Mesh {
    let mut mesh = mesh.clone();
    let attributes = &mut mesh.attributes;
    attributes.normals = attributes.normals.take().filter(|_| normals);
    attributes.colors = attributes.colors.take().filter(|_| colors);
    attributes.uvs = attributes.uvs.take().filter(|_| uvs);
    for color in attributes.colors.iter_mut().flatten() {
        color[3] = 255;
    }
    mesh
}

fn subsets() -> impl Iterator<Item = [bool; 3]> {
    (0..8).map(|bits| [bits & 1, bits & 2, bits & 4].map(|bit| bit != 0))
}

#[test]
fn ply_keeps_them_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ply");
    let mut polygons = decorated();
    polygons.faces = round_trips::polygon_mesh().faces;
    polygons.regions = Some(vec![7, -7, 8]);
    let all = subsets().map(|subset| with(&decorated(), subset));
    for mesh in all.chain([decorated(), polygons]) {
        for encoding in [Encoding::Binary, Encoding::BigEndian, Encoding::Text] {
            write_encoded(&path, &mesh, Some(encoding)).unwrap();
            assert_eq!(read(&path).unwrap(), mesh, "{encoding:?}");
        }
    }
    let header = |mesh: &Mesh| {
        write(&path, mesh).unwrap();
        let file = std::fs::read(&path).unwrap();
        let end = memchr::memmem::find(&file, b"end_header").unwrap();
        String::from_utf8(file[..end].to_vec()).unwrap()
    };
    let mut mesh = decorated();
    let text = header(&mesh);
    assert!(text.contains("property double nx") && text.contains("property double s\n"));
    assert!(text.contains("property uchar alpha"));
    mesh.attributes.normals = Some(vec![DVec3::new(0.5, -0.25, 1.0); 5]);
    mesh.attributes.uvs = Some(vec![DVec2::new(0.5, 0.25); 5]);
    mesh.attributes.colors = Some(vec![[1, 2, 3, 255]; 5]);
    let text = header(&mesh);
    assert!(text.contains("property float nx") && text.contains("property float s\n"));
    assert!(!text.contains("alpha"));
    assert_eq!(read(&path).unwrap(), mesh);
}

#[test]
fn obj_and_xyz_keep_theirs() {
    let folder = tempfile::tempdir().unwrap();
    for subset in subsets() {
        let mut mesh = with(&decorated(), subset);
        mesh.regions = None;
        mesh.segments.clear();
        let path = folder.path().join("m.obj");
        write(&path, &mesh).unwrap();
        let (back, notes) = read_with_notes(&path).unwrap();
        assert_eq!((back, notes.len()), (mesh.clone(), 0));

        mesh.faces = Faces::default();
        mesh.attributes.uvs = None;
        let path = folder.path().join("m.xyz");
        write(&path, &mesh).unwrap();
        assert_eq!(read(&path).unwrap(), mesh);
    }
    let loses = |name: &str, mesh: &Mesh| {
        let format = Format::to_write(Path::new(name)).unwrap();
        let losses = format.losses(mesh, Encoding::default());
        let what = losses
            .iter()
            .map(|loss| loss.split(' ').nth(3).unwrap().replace(':', ""));
        what.collect::<Vec<_>>().join(" ")
    };
    let mesh = decorated();
    assert_eq!(loses("a.ply", &mesh), "");
    assert_eq!(loses("a.obj", &mesh), "regions transparency");
    assert_eq!(loses("a.off", &mesh), "regions segments");
    assert_eq!(
        loses("a.xyz", &mesh),
        "faces regions segments transparency texture"
    );
}

#[test]
fn ply_types_and_names() {
    let text = |properties: &str, rows: &str| {
        let text = format!(
            "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n{properties}end_header\n{rows}"
        );
        ply::parse(text.as_bytes()).unwrap().attributes
    };
    let colors = |kind: &str, rows: &str| {
        let names = ["red", "green", "blue"].map(|name| format!("property {kind} {name}\n"));
        text(&names.concat(), rows).colors.unwrap()
    };
    assert_eq!(
        colors("uchar", "0 0 1 2 3\n0 0 255 300 -1\n"),
        [[1, 2, 3, 255], [255, 255, 0, 255]]
    );
    assert_eq!(
        colors("float", "0 0 0 0.5 1\n0 0 nan 2 -1\n"),
        [[0, 128, 255, 255], [0, 255, 0, 255]]
    );
    assert_eq!(
        colors("ushort", "0 0 0 257 65535\n0 0 1 128 129\n"),
        [[0, 1, 255, 255], [0, 0, 1, 255]]
    );
    for names in [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]] {
        let properties = names
            .map(|name| format!("property float {name}\n"))
            .concat();
        let uvs = text(&properties, "0 0 0.1 0.2\n0 0 3 4\n").uvs.unwrap();
        assert_eq!(uvs, [DVec2::new(0.1, 0.2), DVec2::new(3.0, 4.0)]);
    }
    // A second name for the same attribute: the first counts. Two of three components are no normal.
    let properties = "property float s\nproperty float t\nproperty float u\nproperty float v\n\
                      property float nx\nproperty float ny\n";
    let attributes = text(properties, "0 0 1 2 3 4 5 6\n0 0 1 2 3 4 5 6\n");
    assert_eq!(attributes.uvs.unwrap()[1], DVec2::new(1.0, 2.0));
    assert_eq!(attributes.normals, None);

    // Binary, with mixed types between other properties; and again with a list, which is read vertex by vertex.
    for list in ["", "property list uchar uchar tags\n"] {
        let header = format!(
            "ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty double x\nproperty short nz\n\
             property uchar other\nproperty float y\nproperty float nx\nproperty double ny\nproperty ushort blue\n\
             property uchar red\nproperty float green\n{list}end_header\n"
        );
        let mut file = header.into_bytes();
        for i in [0u8, 9] {
            file.extend((f64::from(i) + 0.1).to_be_bytes());
            file.extend((-300i16).to_be_bytes());
            file.push(77);
            file.extend(1.5f32.to_be_bytes());
            file.extend(0.25f32.to_be_bytes());
            file.extend((-0.3f64).to_be_bytes());
            file.extend(65535u16.to_be_bytes());
            file.push(i);
            file.extend(1f32.to_be_bytes());
            if !list.is_empty() {
                file.extend([2, 0, 0]);
            }
        }
        let mesh = ply::parse(&file).unwrap();
        assert_eq!(
            mesh.points,
            [DVec3::new(0.1, 1.5, 0.0), DVec3::new(9.1, 1.5, 0.0)]
        );
        let normals = mesh.attributes.normals.unwrap();
        assert_eq!(normals, [DVec3::new(0.25, -0.3, -300.0); 2]);
        assert_eq!(
            mesh.attributes.colors.unwrap(),
            [[0, 255, 255, 255], [9, 255, 255, 255]]
        );
    }
}

#[test]
fn ply_faces_of_one_size_and_of_several_read_alike() {
    let cube = read(&fixture("cube_big_endian.ply")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ply");
    for regions in [None, Some((0..6).collect())] {
        let quads = Mesh {
            regions,
            ..cube.clone()
        };
        for encoding in [Encoding::Binary, Encoding::BigEndian] {
            write_encoded(&path, &quads, Some(encoding)).unwrap();
            assert_eq!(read(&path).unwrap(), quads);
        }
    }
    // A fault is found in any face, and reported in the same words as when reading one by one.
    for (triangles, at) in [(vec![[0, 1, 2]; 9], 8), (vec![[0, 1, 2]; 20], 5)] {
        let mesh = Mesh {
            faces: Faces::Triangles(triangles),
            ..round_trips::triangle_mesh()
        };
        let mesh = Mesh {
            regions: None,
            segments: vec![],
            ..mesh
        };
        write(&path, &mesh).unwrap();
        let file = std::fs::read(&path).unwrap();
        let start = file.len() - 13 * mesh.faces.len();
        let place = start + 13 * at + 9;
        for bad in [5u32, u32::MAX] {
            let mut file = file.clone();
            file[place..place + 4].copy_from_slice(&bad.to_le_bytes());
            let index = bad as i32;
            let message = error(ply::parse, &file);
            let expected = format!("vertex {index} does not exist: 5 vertices are numbered from 0");
            assert!(message.ends_with(&expected), "{message}");
            assert!(
                message.contains(&format!("byte {}", place - 9)),
                "{message}"
            );
        }
        // One face of four vertices: 16 bytes, so the rest is read by each face's length.
        let mut longer = file[..start + 13].to_vec();
        longer.push(4);
        longer.extend([0u32, 1, 2, 3].map(u32::to_le_bytes).concat());
        longer.extend(&file[start + 26..]);
        let faces = faces_of(&ply::parse(&longer).unwrap());
        assert_eq!(faces[1], [0, 1, 2, 3]);
        assert_eq!(faces[2], [0, 1, 2]);
    }
}

#[test]
fn ply_without_faces_and_with_segments() {
    // Data after the faces is not read as a face.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ply");
    let mesh = Mesh {
        faces: Faces::default(),
        regions: None,
        segments: vec![
            Segment {
                ends: [4, 0],
                marker: 3,
            };
            9
        ],
        ..decorated()
    };
    for encoding in [Encoding::Binary, Encoding::BigEndian, Encoding::Text] {
        write_encoded(&path, &mesh, Some(encoding)).unwrap();
        assert_eq!(read(&path).unwrap(), mesh, "{encoding:?}");
    }
}

#[test]
fn a_list_of_all_edges_is_no_list_of_segments() {
    let file = |edges: &str, property: &str| {
        let count = edges.lines().count();
        format!(
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
             element face 2\nproperty list uchar int vertex_indices\n\
             element edge {count}\nproperty int vertex1\nproperty int vertex2\n{property}end_header\n\
             0 0\n1 0\n0 1\n1 1\n3 0 1 2\n3 1 3 2\n{edges}"
        )
    };
    let read = |file: String| {
        let loaded = super::super::ply::parse(file.as_bytes()).unwrap();
        (loaded.mesh.segments.len(), loaded.notes.len())
    };
    let all = "1 0\n1 2\n2 0\n1 3\n3 2\n";
    assert_eq!(read(file(all, "")), (0, 1));
    assert_eq!(read(file(&all.replace("1 3\n", ""), "")), (4, 0));
    let marked = all.replace('\n', " 1\n");
    assert_eq!(read(file(&marked, "property int marker\n")), (5, 0));
}
