//! Every format: oddities of others' files, faults, round trips, damaged bytes.

use std::path::{Path, PathBuf};

use glam::DVec3;
use proptest::prelude::*;

use super::text::Parsed;
use super::*;
use crate::mesh::{Polygons, Segment};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures")
        .join(name)
}

/// The triangles of `faces`.
fn triangles_of(mesh: &Mesh) -> &[[u32; 3]] {
    match &mesh.faces {
        Faces::Triangles(triangles) => triangles,
        Faces::Polygons(_) => panic!("there are polygons"),
    }
}

fn faces_of(mesh: &Mesh) -> Vec<Vec<u32>> {
    (0..mesh.faces.len())
        .map(|i| mesh.faces.get(i).to_vec())
        .collect()
}

/// The error of `parse` on `file`, without the path.
fn error(parse: fn(&[u8]) -> Parsed<Mesh>, file: impl AsRef<[u8]>) -> String {
    let fault = parse(file.as_ref()).expect_err("the file is bad");
    fault.in_text(Path::new("f"), file.as_ref()).to_string()
}

#[test]
fn off_oddities() {
    let mesh = read(&fixture("colours.off")).unwrap();
    assert_eq!(mesh.points.len(), 6);
    assert_eq!(mesh.points[3], DVec3::new(1.0, 3.5, 0.0));
    assert_eq!(faces_of(&mesh), [vec![0, 1, 2, 3, 4], vec![1, 5, 2]]);

    let points = "0 0 0\n1 0 0\n0 1 nan\n";
    for header in [
        "OFF 3 1 0\n",
        "OFF\n3 1\n",
        "3 1 0\n",
        "OFF # a\r\n# b\r\n\r\n3\r\n1\r\n3\r\n",
        "\u{feff}OFF\n3 1 0\n",
        "NOFF 3\n1\n",
    ] {
        for end in ["3 0 1 2", "3 0 1 2 \t\r\n\r\n# end"] {
            let text = format!("{header}{points}{end}");
            let mesh = off::parse(text.as_bytes()).expect(&text);
            assert_eq!(triangles_of(&mesh), [[0, 1, 2]], "{text:?}");
            assert!(mesh.points[2].z.is_nan());
        }
    }
    assert!(off::parse(b"OFF 0 0 0").unwrap().faces.is_empty());
}

#[test]
fn off_faults() {
    let all = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let with = |from: &str, to: &str| error(off::parse, all.replacen(from, to, 1));
    assert_eq!(
        with("3 0 1 2", "3 0 1 3"),
        "f:6: vertex 3 does not exist: 3 vertices are numbered from 0"
    );
    assert_eq!(
        with("3 0 1 2", "3 0 -1 2"),
        "f:6: vertex -1 does not exist: 3 vertices are numbered from 0"
    );
    assert_eq!(
        with("3 0 1 2", "2 0 1"),
        "f:6: a face has 2 vertices, but at least 3 are needed"
    );
    assert_eq!(
        with("3 0 1 2", "4 0 1 2"),
        "f:6: expected a vertex index, but the line ends"
    );
    assert_eq!(with("1 0 0", "1 x 0"), "f:4: expected y, found `x`");
    assert_eq!(
        with("3 1 0", "-3 1 0"),
        "f:2: expected the number of vertices, found `-3`"
    );
    assert_eq!(
        with("3 1 0", "99999999999 1 0"),
        "f:7: expected 99999999999 vertices, but the file ends after 4"
    );
    assert_eq!(
        with("3 1 0", "3 2 0"),
        "f:7: expected 2 faces, but the file ends after 1"
    );
    assert_eq!(
        with("3 1 0", "3 0 0"),
        "f:6: expected the end of the file after the faces"
    );
    assert_eq!(
        with("OFF", "4OFF"),
        "f:1: 4OFF is not read: write it as OFF"
    );
    assert_eq!(
        with("OFF", "nOFF"),
        "f:1: nOFF is not read: write it as OFF"
    );
    assert_eq!(with("OFF", "solid"), "f:1: expected OFF, found `solid`");
    assert_eq!(
        error(off::parse, ""),
        "f:1: expected OFF, but the file ends"
    );
}

#[test]
fn obj_oddities() {
    let mesh = read(&fixture("steps.obj")).unwrap();
    assert_eq!(mesh.points.len(), 9);
    assert_eq!(mesh.points[8], DVec3::new(1.0, 2.0, 0.0));
    assert_eq!(
        faces_of(&mesh),
        [
            vec![0, 1, 2, 3],
            vec![1, 4, 5, 2],
            vec![4, 6, 5],
            vec![3, 2, 8, 7]
        ]
    );
    // Faces before their vertices, and comments that end in a backslash.
    let text = "# C:\\\nf 1 2 3 # C:\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv \\\n1 1 \\\r\n0\nf -1 -2 -3\n";
    let mesh = obj::parse(text.as_bytes()).unwrap();
    assert_eq!(mesh.points[3], DVec3::new(1.0, 1.0, 0.0));
    assert_eq!(triangles_of(&mesh), [[0, 1, 2], [3, 2, 1]]);
}

#[test]
fn obj_negative_indices_count_from_their_line_in_any_chunk() {
    let mut text = String::new();
    for i in 0..500 {
        text += &format!("v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -3 -2 -1\n");
    }
    let mesh = obj::parse(text.as_bytes()).unwrap();
    let expected: Vec<_> = (0..500).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    assert_eq!(triangles_of(&mesh), expected);
}

#[test]
fn obj_faults() {
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let face = |face: &str| error(obj::parse, format!("{points}{face}"));
    assert_eq!(
        face("f 1 2 0"),
        "f:4: vertex 0 does not exist: 3 vertices are numbered from 1"
    );
    assert_eq!(
        face("f 1 2 4"),
        "f:4: vertex 4 does not exist: 3 vertices are numbered from 1"
    );
    assert_eq!(
        face("f 1 2 -4"),
        "f:4: vertex -4 does not exist: 3 vertices stand before this face"
    );
    assert_eq!(
        face("f 1 2 3.5"),
        "f:4: expected a vertex index, found `3.5`"
    );
    assert_eq!(face("f 1 /2 3"), "f:4: expected a vertex index, found `/2`");
    assert_eq!(
        face("f 1 2"),
        "f:4: a face has 2 vertices, but at least 3 are needed"
    );
    assert_eq!(face("v 1 2"), "f:4: expected z, but the line ends");
}

#[test]
fn triangle_oddities() {
    for name in ["two_regions.node", "two_regions.ele", "two_regions"] {
        let mesh = read(&fixture(name)).unwrap();
        assert_eq!(mesh.points.len(), 25);
        assert_eq!(mesh.points[6], DVec3::new(0.25, 0.25, 0.0));
        assert_eq!(triangles_of(&mesh)[..2], [[0, 1, 6], [0, 6, 5]]);
        assert_eq!(triangles_of(&mesh).len(), 32);
        assert_eq!(mesh.regions.unwrap()[2..6], [10, 10, 20, 20]);
        assert_eq!(mesh.segments, []);
    }
    let mesh = read(&fixture("square_with_hole.ele")).unwrap();
    assert_eq!(mesh.regions, None);
    assert_eq!(mesh.segments.len(), 16);
    let hole = Segment {
        ends: [9, 5],
        marker: 2,
    };
    assert_eq!(mesh.segments[15], hole);
}

const NODES: &str = "3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n";

#[test]
fn triangle_faults() {
    let nodes = |text: &str| match triangle::parse_nodes(text.as_bytes()) {
        Ok(_) => "fine".to_owned(),
        Err(fault) => fault.in_text(Path::new("f"), text.as_bytes()).to_string(),
    };
    assert_eq!(nodes(NODES), "fine");
    // Triangle's defaults for a short header.
    assert_eq!(nodes(&NODES.replacen("3 2 0 0", "3", 1)), "fine");
    assert_eq!(
        nodes(&NODES.replacen("2 1 0", "4 1 0", 1)),
        "f:3: point 4 stands where point 2 should: number points in order"
    );
    assert_eq!(
        nodes(&NODES.replacen("1 0 0", "7 0 0", 1)),
        "f:2: the first point has number 7: it must be 0 or 1"
    );
    assert_eq!(
        nodes(&NODES.replacen("3 2", "3 4", 1)),
        "f:1: points have 4 coordinates, but 2 or 3 are read"
    );
    assert_eq!(
        nodes(&NODES.replacen("3 2", "4 2", 1)),
        "f:5: expected 4 points, but the file ends after 3"
    );
    assert_eq!(
        nodes(&NODES.replacen("3 2", "2 2", 1)),
        "f:4: expected the end of the file after the points"
    );

    let points = triangle::parse_nodes(NODES.as_bytes()).unwrap();
    let elements = |text: &str| match triangle::parse_elements(text.as_bytes(), &points) {
        Ok(elements) => format!("{:?} {:?}", elements.triangles, elements.regions),
        Err(fault) => fault.in_text(Path::new("f"), text.as_bytes()).to_string(),
    };
    assert_eq!(elements("1 3 0\n1 1 2 3"), "[[0, 1, 2]] None");
    assert_eq!(elements("1 3 1\n1 1 2 3 -7.0"), "[[0, 1, 2]] Some([-7])");
    assert_eq!(elements("1 3 1\n1 1 2 3 0.5"), "[[0, 1, 2]] None");
    assert_eq!(elements("1 3 1\n1 1 2 3 3e9"), "[[0, 1, 2]] None");
    assert_eq!(
        elements("1 3 0\n1 1 2 0"),
        "f:2: vertex 0 does not exist: 3 vertices are numbered from 1"
    );
    assert!(elements("1 6 0\n1 1 2 3 1 2 3").starts_with("f:1: the triangles are of second order"));
    assert!(elements("1 4 0\n1 1 2 3 1").starts_with("f:1: the elements are tetrahedra"));
    assert_eq!(
        elements("1 3 1\n1 1 2 3"),
        "f:2: expected an attribute, but the line ends"
    );

    let segments = |text: &str| match triangle::parse_segments(text.as_bytes(), &points) {
        Ok(segments) => format!(
            "{:?}",
            segments
                .iter()
                .map(|s| (s.ends, s.marker))
                .collect::<Vec<_>>()
        ),
        Err(fault) => fault.in_text(Path::new("f"), text.as_bytes()).to_string(),
    };
    assert_eq!(segments("0 2 0 1\n1 1\n1 3 2 9\n0\n"), "[([2, 1], 9)]");
    assert_eq!(segments("0 2\n1\n1 3 2"), "[([2, 1], 0)]");
    // Its own points, numbered from 0.
    assert_eq!(
        segments("2 2\n0 0 0\n1 1 0\n1 0\n0 0 1\n0"),
        "[([0, 1], 0)]"
    );
    assert!(
        segments("2 2\n0 0 0\n1 1 5\n1 0\n0 0 1\n0").starts_with("f:1: its points are not those")
    );
}

#[test]
fn ply_oddities() {
    let mesh = read(&fixture("octahedron_text.ply")).unwrap();
    assert_eq!((mesh.points.len(), triangles_of(&mesh).len()), (7, 8));
    assert_eq!(mesh.points[6], DVec3::splat(3.0));
    assert_eq!(triangles_of(&mesh)[7], [0, 3, 5]);

    let mesh = read(&fixture("cube_big_endian.ply")).unwrap();
    assert_eq!(mesh.points[6], DVec3::new(0.0, 1.0, 1.0));
    assert_eq!(faces_of(&mesh)[1], [4, 5, 7, 6]);
    assert_eq!(mesh.faces.len(), 6);

    // Floats declared for everything; digits beyond f32; no z; faces first; a list in a vertex; regions; CRLF.
    let text = "ply\r\nformat ascii 1.0\r\nobj_info x\r\nelement face 1\r\nproperty list float float vertex_indices\r\n\
                property short region\r\nelement empty 5\r\nelement vertex 3\r\nproperty list uchar int tags\r\n\
                property float x\r\nproperty float y\r\nend_header\r\n3 0.0 1.0 2.0 -4\r\n0 0.1 0\r\n2 7 7 1 0\r\n\r\n1 7 0 1e-3\r\n";
    let mesh = ply::parse(text.as_bytes()).unwrap();
    assert_eq!(mesh.points[0], DVec3::new(0.1, 0.0, 0.0));
    assert_eq!(mesh.points[2].y, 1e-3);
    assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
    assert_eq!(mesh.regions, Some(vec![-4]));
}

/// A little-endian PLY file of one triangle.
fn binary_ply() -> Vec<u8> {
    let mut file = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty double y\n\
        property list char short tags\nelement face 1\nproperty list char int vertex_indices\n\
        property uint region\nend_header\n"
        .to_vec();
    for i in 0..3_i16 {
        file.extend(f32::from(i).to_le_bytes());
        file.extend(f64::from(i * i).to_le_bytes());
        file.push(1);
        file.extend(i.to_le_bytes());
    }
    file.push(3);
    for i in [0_i32, 1, 2, 8] {
        file.extend(i.to_le_bytes());
    }
    file
}

#[test]
fn ply_faults() {
    let file = binary_ply();
    let mesh = ply::parse(&file).unwrap();
    assert_eq!(mesh.points[2], DVec3::new(2.0, 4.0, 0.0));
    assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
    assert_eq!(mesh.regions, Some(vec![8]));

    let size = file.len();
    let short = error(ply::parse, &file[..size - 1]);
    assert_eq!(
        short,
        format!(
            "f:11: byte {}: 4 bytes are expected, but the file ends after 3",
            size - 4
        )
    );
    let long = [&file[..], b"\n"].concat();
    assert_eq!(
        error(ply::parse, long),
        format!("f:11: byte {size}: 1 bytes are left behind the last element")
    );
    let mut bad = file.clone();
    bad[size - 8] = 3;
    assert_eq!(
        error(ply::parse, bad),
        format!(
            "f:11: byte {}: vertex 3 does not exist: 3 vertices are numbered from 0",
            size - 17
        )
    );
    let mut bad = file.clone();
    bad[size - 17] = 0xff;
    assert_eq!(
        error(ply::parse, bad),
        format!("f:11: byte {}: a list has length -1", size - 17)
    );

    let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n";
    let with = |from: &str, to: &str| error(ply::parse, text.replacen(from, to, 1));
    assert_eq!(with("ply", "PLY"), "f:1: expected ply on the first line");
    assert_eq!(
        with("vertex 1", "vertex 18446744073709551615"),
        "f:3: expected the number of elements, found `18446744073709551615`"
    );
    assert_eq!(
        with("vertex 1", "vertex 9223372036854775807"),
        "f:8: expected 9223372036854775807 rows of vertex, but the file ends after 1"
    );
    assert_eq!(
        with("float y", "half y"),
        "f:5: expected a type such as float or uchar, found `half`"
    );
    assert_eq!(with("float y", "float x"), "f:5: there is a second x");
    assert_eq!(
        with("float y", "float v"),
        "f:6: the element vertex has no property x or no property y"
    );
    assert_eq!(
        with("end_header\n0 0\n", ""),
        "f:6: the header has no end_header line"
    );
    assert_eq!(
        with("format ascii", "format binary_middle"),
        "f:2: expected ascii, binary_little_endian or binary_big_endian, found `binary_middle`"
    );
}

#[test]
fn vtu_text_and_faults() {
    let text = "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"2\">\n\
        <Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0.1</DataArray></Points>\n\
        <Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2 3\n 0 2 3</DataArray>\n\
        <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">4 7</DataArray>\n\
        <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">9 5</DataArray></Cells>\n\
        </Piece></UnstructuredGrid></VTKFile>";
    let mesh = vtu::parse(text.as_bytes()).unwrap();
    assert_eq!(faces_of(&mesh), [vec![0, 1, 2, 3], vec![0, 2, 3]]);
    assert_eq!(mesh.points[3].z, 0.1);
    let with = |from: &str, to: &str| error(vtu::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("0 1 2 3\n", "0 1 2 4\n"),
        "f:3: cell 0: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
    assert_eq!(
        with("4 7", "4 8"),
        "f:5: the offset of cell 1 is outside of connectivity"
    );
    assert_eq!(
        with("4 7", "4 -7"),
        "f:5: the offset of cell 1 is outside of connectivity"
    );
    assert_eq!(
        with("9 5", "9 10"),
        "f:6: cell 1 has VTK type 10, but triangles (5), polygons (7) and quads (9) are read"
    );
    assert_eq!(with("9 5", "9"), "f:6: expected 2 numbers, found 1");
    assert_eq!(
        with("NumberOfPoints=\"4\"", ""),
        "f:1: expected a number in NumberOfPoints, found ``"
    );
    assert!(with("</Piece>", "").starts_with("f:7: "));
}

/// Coordinates that show whether anything is lost.
fn mesh_of(faces: Faces, regions: Option<Vec<i32>>) -> Mesh {
    let points = [
        (0.1, 1.0 / 3.0),
        (1e300, -5e-324),
        (-0.0, 2.5),
        (3e-7, 7e22),
        (4.0, -1.0),
    ];
    Mesh {
        points: points.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
        faces,
        regions,
        segments: Vec::new(),
    }
}

fn polygon_mesh() -> Mesh {
    let mut polygons = Polygons::default();
    polygons.push(&[0, 1, 2, 3]);
    polygons.push(&[4, 1, 0]);
    polygons.push(&[0, 1, 2, 3, 4]);
    mesh_of(Faces::Polygons(polygons), Some(vec![-1, 7, i32::MIN]))
}

fn triangle_mesh() -> Mesh {
    let mut mesh = mesh_of(
        Faces::Triangles(vec![[0, 1, 2], [2, 3, 4]]),
        Some(vec![3, -3]),
    );
    mesh.segments = vec![Segment {
        ends: [4, 0],
        marker: -2,
    }];
    mesh
}

#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    for (k, mesh) in [
        polygon_mesh(),
        triangle_mesh(),
        mesh_of(Faces::Triangles(vec![]), None),
    ]
    .into_iter()
    .enumerate()
    {
        for format in &FORMATS {
            let path = folder
                .path()
                .join(format!("{k}.{}", format.extensions[0].to_ascii_uppercase()));
            let polygons = matches!(mesh.faces, Faces::Polygons(_));
            let written = write(&path, &mesh);
            if format.name == "Triangle" && polygons {
                let reason = written.unwrap_err().to_string();
                assert!(
                    reason.contains("triangles only, but face 0 has 4 vertices"),
                    "{reason}"
                );
                continue;
            }
            written.unwrap();
            if format.read.is_none() {
                assert!(
                    read(&path)
                        .unwrap_err()
                        .to_string()
                        .contains("are read: .off, .obj")
                );
                continue;
            }
            let mut expected = mesh.clone();
            expected.regions = expected.regions.filter(|_| format.keeps_regions);
            expected.segments.retain(|_| format.keeps_segments);
            let back = read(&path).unwrap();
            assert_eq!(back, expected, "{}", format.name);
            let bits = |mesh: &Mesh| {
                mesh.points
                    .iter()
                    .map(|p| p.to_array().map(f64::to_bits))
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&back), bits(&expected), "{}", format.name);
        }
    }
    // Nothing else was left: two meshes in every format, .node with .ele, one .poly; one in all but .node.
    assert_eq!(folder.path().read_dir().unwrap().count(), 5 + 8 + 7);
}

#[test]
fn points_in_space_and_long_polygons_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut polygons = Polygons::default();
    polygons.push(&(0..300).collect::<Vec<_>>());
    let mesh = Mesh {
        points: (0..300)
            .map(|i| DVec3::new(f64::from(i), 0.5, -f64::from(i)))
            .collect(),
        faces: Faces::Polygons(polygons),
        regions: None,
        segments: Vec::new(),
    };
    for extension in ["off", "obj", "ply", "vtu"] {
        let path = folder.path().join("m").with_extension(extension);
        write(&path, &mesh).unwrap();
        assert_eq!(read(&path).unwrap(), mesh, "{extension}");
    }
    let reason = write(&folder.path().join("m.ale"), &mesh).unwrap_err();
    assert!(
        reason
            .to_string()
            .contains("planar meshes only, but vertex 1")
    );
    let faces = Faces::Triangles(vec![[0, 1, 2]]);
    let mesh = Mesh { faces, ..mesh };
    let path = folder.path().join("m.node");
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
}

#[test]
fn ale_is_as_the_polylla_authors_write_it() {
    let mesh = read(&fixture("colours.off")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ale");
    write(&path, &mesh).unwrap();
    let expected = "# domain type\nCustom\n\
        # nodal coordinates: number of nodes followed by the coordinates\n6\n0 0\n2 0\n3 2\n1 3.5\n-1 2\n4 -1\n\
        # element connectivity: number of elements followed by the elements\n2\n5 1 2 3 4 5\n3 2 6 3\n\
        # indices of nodes located on the Dirichlet boundary\n1 2 3 4 5 6\n\
        # indices of nodes located on the Neumann boundary\n0\n\
        # xmin, xmax, ymin, ymax of the bounding box\n-1 4 -1 3.5\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn a_poly_file_of_another_mesh_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.node");
    std::fs::write(path.with_extension("poly"), "0 2\n0\n").unwrap();
    let mut mesh = triangle_mesh();
    mesh.segments.clear();
    assert!(
        write(&path, &mesh)
            .unwrap_err()
            .to_string()
            .contains("m.poly: stands beside the output")
    );
    assert!(!path.exists());
}

#[test]
fn files_that_are_not_there_and_unknown_extensions() {
    assert!(matches!(
        read(Path::new("none/none.off")),
        Err(Error::File { .. })
    ));
    assert!(matches!(
        read(Path::new("none/none")),
        Err(Error::Format { .. })
    ));
    let reason = Format::to_read(Path::new("a.stl"))
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        reason,
        "a.stl: the extension is none of those that are read: .off, .obj, .ply, .node, .ele, .vtu"
    );
    let reason = Format::to_write(Path::new("a")).err().unwrap().to_string();
    assert_eq!(
        reason,
        "a: the extension is none of those that are written: .off, .obj, .ply, .node, .ele, .vtu, .ale"
    );
    // The .node file alone: the error names what is missing.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.node");
    std::fs::write(&path, NODES).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("m.ele: "));
}

fn parse_pair(file: &[u8]) -> Parsed<Mesh> {
    // One file after the other, so that damage can strike each.
    let mut parts = file.split(|byte| *byte == b'|');
    let mut part = || parts.next().unwrap_or_default();
    let nodes = triangle::parse_nodes(part())?;
    let elements = triangle::parse_elements(part(), &nodes)?;
    let segments = triangle::parse_segments(part(), &nodes)?;
    Ok(Mesh {
        points: nodes.points,
        faces: Faces::Triangles(elements.triangles),
        regions: elements.regions,
        segments,
    })
}

/// A parser and a good file for it.
type Sample = (fn(&[u8]) -> Parsed<Mesh>, Vec<u8>);

fn samples() -> Vec<Sample> {
    let folder = tempfile::tempdir().unwrap();
    let written = |extension: &str| {
        let path = folder.path().join("m").with_extension(extension);
        write(&path, &polygon_mesh()).unwrap();
        std::fs::read(path).unwrap()
    };
    let file = |name: &str| std::fs::read(fixture(name)).unwrap();
    let pair = [
        "square_with_hole.node",
        "square_with_hole.ele",
        "square_with_hole.poly",
    ]
    .map(file);
    vec![
        (off::parse, file("colours.off")),
        (obj::parse, file("steps.obj")),
        (parse_pair, pair.join(&b'|')),
        (ply::parse, file("octahedron_text.ply")),
        (ply::parse, file("cube_big_endian.ply")),
        (ply::parse, binary_ply()),
        (ply::parse, written("ply")),
        (vtu::parse, written("vtu")),
    ]
}

#[derive(Clone, Debug)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, &'static [u8]),
    Remove(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let pieces = prop::sample::select(vec![
        &b"-"[..],
        b"9",
        b"99999999999999999999",
        b"4294967295",
        b"\n",
        b" ",
        b"#",
        b"\\\n",
        b"\r",
        b"\0",
        b"nan",
        b"e",
        b"\xff\xff\xff\xff",
        b"\"",
        b"<",
        b"/",
        b"3 ",
    ]);
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(i, byte)| Damage::Set(i, byte)),
        (index(), pieces).prop_map(|(i, piece)| Damage::Insert(i, piece)),
        (index(), 1..20_usize).prop_map(|(i, length)| Damage::Remove(i, length)),
        index().prop_map(Damage::Truncate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Damaged files give an error or a mesh whose indices are in range: never a panic, never a huge allocation.
    #[test]
    fn damaged_files_do_no_harm(
        sample in 0..8_usize,
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        thread_local!(static SAMPLES: Vec<Sample> = samples());
        let (parse, mut file) = SAMPLES.with(|samples| samples[sample].clone());
        for damage in damages {
            let at = |index: prop::sample::Index| index.index(file.len() + 1);
            match damage {
                Damage::Set(i, byte) => {
                    let at = at(i);
                    if let Some(target) = file.get_mut(at) {
                        *target = byte;
                    }
                }
                Damage::Insert(i, piece) => {
                    let at = at(i);
                    file.splice(at..at, piece.iter().copied());
                }
                Damage::Remove(i, length) => {
                    let at = at(i);
                    let end = (at + length).min(file.len());
                    file.drain(at..end);
                }
                Damage::Truncate(i) => {
                    let at = at(i);
                    file.truncate(at);
                }
            }
        }
        match parse(&file) {
            Err(fault) => {
                let error = fault.in_text(Path::new("f"), &file);
                prop_assert!(!error.to_string().is_empty());
            }
            Ok(mesh) => {
                let count = mesh.points.len();
                for i in 0..mesh.faces.len() {
                    prop_assert!(mesh.faces.get(i).len() >= 3);
                    prop_assert!(mesh.faces.get(i).iter().all(|v| (*v as usize) < count));
                }
                prop_assert!(mesh.regions.is_none_or(|regions| regions.len() == mesh.faces.len()));
                prop_assert!(mesh.segments.iter().flat_map(|s| s.ends).all(|v| (v as usize) < count));
            }
        }
    }
}
