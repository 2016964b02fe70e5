//! Segments in files that also have faces.

use super::*;

fn segments_of(mesh: &Mesh) -> Vec<([u32; 2], i32)> {
    mesh.segments.iter().map(|s| (s.ends, s.marker)).collect()
}

/// A text PLY file of a triangle, with two elements `edge` of these properties and rows.
fn text_ply(properties: &[&str], rows: &str) -> String {
    let properties: String = properties
        .iter()
        .map(|property| format!("property {property}\n"))
        .collect();
    format!(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
         element edge 2\n{properties}element face 1\nproperty list uchar int vertex_indices\n\
         end_header\n0 0\n1 0\n0 1\n{rows}3 0 1 2\n"
    )
}

#[test]
fn ply_edges_are_segments() {
    let read = |properties: &[&str], rows: &str| {
        let mesh = ply::parse(text_ply(properties, rows).as_bytes()).unwrap();
        assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
        segments_of(&mesh)
    };
    let (first, second, marker) = ("int vertex1", "int vertex2", "int marker");
    let ends = [([0, 1], 0), ([2, 1], 0)];
    assert_eq!(
        read(&[first, second, marker], "0 1 -5\n2 1 2147483647\n"),
        [([0, 1], -5), ([2, 1], i32::MAX)]
    );
    assert_eq!(read(&[first, second], "0 1\n2 1\n"), ends);
    // Another order and type, with colours and a list between.
    assert_eq!(
        read(
            &[
                "uchar red",
                marker,
                "float vertex2",
                "list uchar int tags",
                "uchar vertex1"
            ],
            "255 9 1.0 0 0\n255 8 1.0 2 4 4 2\n"
        ),
        [([0, 1], 9), ([2, 1], 8)]
    );
    // A marker that is no integer is another property.
    assert_eq!(
        read(&[first, second, "float marker"], "0 1 0.5\n2 1 7\n"),
        ends
    );
    // Other names are other elements.
    assert_eq!(read(&["int v1", "int v2", marker], "0 1 5\n7 8 5\n"), []);
    assert_eq!(read(&[first, marker], "0 5\n9 5\n"), []);

    let error = |rows: &str| {
        let properties = [first, second, "uint marker"];
        error(ply::parse, text_ply(&properties, rows))
    };
    assert_eq!(
        error("0 1 5\n2 3 5\n"),
        "f:17: vertex 3 does not exist: 3 vertices are numbered from 0"
    );
    assert_eq!(
        error("0 1 5\n2 1 3000000000\n"),
        "f:17: marker 3000000000 has more than 32 bits"
    );
    assert_eq!(
        error("0 1\n2 1 3\n"),
        "f:16: expected a marker, but the line ends"
    );
}

/// A binary PLY file of a triangle and two edges, numbers in the byte order that `number` gives.
fn binary_ply(encoding: &str, number: fn(i32) -> [u8; 4], edges: [[i32; 3]; 2]) -> Vec<u8> {
    let mut file = format!(
        "ply\nformat {encoding} 1.0\nelement vertex 3\nproperty int x\nproperty int y\n\
         element face 1\nproperty list int int vertex_indices\n\
         element edge 2\nproperty int vertex1\nproperty uint vertex2\nproperty int marker\n\
         element after 1\nproperty uchar x\nend_header\n"
    )
    .into_bytes();
    let numbers = [0, 0, 1, 0, 0, 1, 3, 0, 1, 2];
    file.extend(numbers.into_iter().flat_map(number));
    file.extend(edges.into_iter().flatten().flat_map(number));
    file.push(0);
    file
}

#[test]
fn binary_ply_edges_are_segments() {
    for (encoding, number) in [
        ("binary_little_endian", i32::to_le_bytes as fn(i32) -> _),
        ("binary_big_endian", i32::to_be_bytes),
    ] {
        let mesh = ply::parse(&binary_ply(encoding, number, [[0, 1, -5], [2, 1, 6]])).unwrap();
        assert_eq!(segments_of(&mesh), [([0, 1], -5), ([2, 1], 6)]);
        assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
        let file = binary_ply(encoding, number, [[0, 1, -5], [-1, 1, 6]]);
        let offset = file.len() - 13;
        assert_eq!(
            error(ply::parse, file),
            format!(
                "f:15: byte {offset}: vertex -1 does not exist: 3 vertices are numbered from 0"
            )
        );
    }
}

#[test]
fn vtu_lines_are_segments() {
    // A line before, between and after the faces. The line's region and the faces' markers have no meaning.
    let text = "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"5\">\n\
        <Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>\n\
        <Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 0 1 2 2 0 0 2 3 3 2</DataArray>\n\
        <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">2 5 7 10 12</DataArray>\n\
        <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">3 5 3 5 3</DataArray></Cells>\n\
        <CellData><DataArray type=\"Float64\" Name=\"region\" format=\"ascii\">nan 4 0.5 5 0</DataArray>\n\
        <DataArray type=\"Int64\" Name=\"marker\" format=\"ascii\">-7 3000000000 0 9 8</DataArray></CellData>\n\
        </Piece></UnstructuredGrid></VTKFile>";
    let mesh = vtu::parse(text.as_bytes()).unwrap();
    assert_eq!(triangles_of(&mesh), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.regions, Some(vec![4, 5]));
    assert_eq!(segments_of(&mesh), [([0, 1], -7), ([2, 0], 0), ([3, 2], 8)]);
    let without = vtu::parse(text.replace("marker", "other").as_bytes()).unwrap();
    assert_eq!(
        segments_of(&without),
        [([0, 1], 0), ([2, 0], 0), ([3, 2], 0)]
    );

    let with = |from: &str, to: &str| error(vtu::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("3 5 3 5 3", "3 5 3 5 5"),
        "f:5: cell 4: a cell of VTK type 5 has 3 vertices, not 2"
    );
    assert_eq!(
        with("3 5 3 5 3", "3 5 3 3 3"),
        "f:5: cell 3: a cell of VTK type 3 has 2 vertices, not 3"
    );
    assert_eq!(
        with("3 3 2<", "3 3 4<"),
        "f:3: cell 4: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
    assert_eq!(
        with("9 8<", "9 0.5<"),
        "f:7: expected a whole number, found `0.5`"
    );
    assert_eq!(
        with("nan 4", "nan 0.5"),
        "f:6: a region is no 32-bit integer"
    );
    assert_eq!(with("9 8<", "9<"), "f:7: expected 5 numbers, found 4");
}

/// trimesh, meshio, plyfile, Open3D, MeshLab and VTK all load only comments: see the module `ply`.
#[test]
fn segments_of_ply_are_comments_that_every_program_skips() {
    let mesh = Mesh {
        points: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
            .map(|[x, y]| DVec3::new(x, y, 0.0))
            .to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        segments: vec![
            Segment {
                ends: [0, 1],
                marker: -5,
            },
            Segment {
                ends: [2, 1],
                marker: i32::MAX,
            },
        ],
        ..Mesh::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    for encoding in [Encoding::Binary, Encoding::BigEndian, Encoding::Text] {
        write_encoded(&path, &mesh, Some(encoding)).unwrap();
        assert_eq!(read(&path).unwrap(), mesh);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = "comment segments 2 vertices 3 faces 1\ncomment segment 0 1 -5\ncomment segment 2 1 2147483647\nelement vertex 3\n";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("element edge"));

    // Comments of another mesh, which a program has kept.
    let stale = text.replace("vertices 3", "vertices 4");
    let loaded = crate::ply::parse(stale.as_bytes()).unwrap();
    assert_eq!((loaded.mesh.segments.len(), loaded.notes.len()), (0, 1));
    let human = text.replace("segment 0 1 -5", "segment 0 of the wing");
    let loaded = crate::ply::parse(human.as_bytes()).unwrap();
    assert_eq!((loaded.mesh.segments.len(), loaded.notes.len()), (0, 1));
    assert_eq!(
        error(ply::parse, text.replace("segment 2 1 ", "segment 3 1 ")),
        "f:6: vertex 3 does not exist: 3 vertices are numbered from 0"
    );
}

/// 100,000 elements took 52 s: each name was compared with all earlier ones. Twenty times as many would take 400 times
/// as long then.
#[test]
fn many_elements_and_properties_of_ply_take_linear_time() {
    let time_of = |count: usize| {
        let mut text =
            "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
                .to_owned();
        for i in 0..count {
            text += &format!("property float p{i}\nproperty uchar red\n");
        }
        for i in 0..count {
            text += &format!("element e{i} 0\nproperty float x\n");
        }
        text += "end_header\n";
        let start = std::time::Instant::now();
        assert!(ply::parse(text.as_bytes()).is_ok());
        start.elapsed()
    };
    let few = time_of(2_000);
    let many = time_of(40_000);
    assert!(many < 100 * few, "{many:?} for {few:?}");
}

#[test]
fn a_poly_file_of_another_mesh_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.node");
    std::fs::write(path.with_extension("poly"), "0 2\n0\n").unwrap();
    let mut mesh = round_trips::triangle_mesh();
    mesh.segments.clear();
    assert!(
        write(&path, &mesh)
            .unwrap_err()
            .to_string()
            .contains("m.poly: stands beside the output")
    );
    // An outline has points of its own, and may have holes and regions.
    std::fs::write(path.with_extension("poly"), "# outline\n3 2\n").unwrap();
    let mesh = round_trips::triangle_mesh();
    let error = write(&path, &mesh).unwrap_err().to_string();
    assert!(
        error.contains("m.poly: stands beside the output and is an outline"),
        "{error}"
    );
    assert!(!path.exists());
    // The segments of a mesh have no points: they are replaced.
    std::fs::write(path.with_extension("poly"), "0 2\n0\n").unwrap();
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap().segments, mesh.segments);
}
