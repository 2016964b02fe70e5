//! Every format: unusual files of other programs, and faults.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::references::References;
use super::text::Parsed;
use super::*;
use trioxide_mesh::mesh::{Faces, Segment};
use trioxide_mesh::{Error, Result};

mod attributes;
pub(crate) mod damage;
mod docs;
mod edges;
mod empty;
pub(crate) mod fields;
mod hostile;
mod more_formats;
mod names;
mod others;
mod peers;
mod promises;
mod references;
mod round_trips;
mod segments;
mod soups;

/// The mesh without the data of its file as a whole.
fn bare(mesh: Mesh) -> Mesh {
    let about = Default::default();
    Mesh { about, ..mesh }
}

/// Without notes.
mod ply {
    use super::*;

    pub fn parse(file: &[u8]) -> Parsed<Mesh> {
        super::super::ply::parse(file).map(|loaded| loaded.mesh)
    }
}

macro_rules! surfaces_without_notes {
    ($($format:ident),*) => {$(
        mod $format {
            use super::*;

            pub fn parse(file: &[u8]) -> Parsed<Mesh> {
                super::super::volume::surface_in(super::super::volume::$format::parse_grid, file)
            }
        }
    )*};
}

surfaces_without_notes!(abaqus, gmsh, medit, vtk, vtu, xdmf);

macro_rules! parsers_without_notes {
    ($($format:ident),*) => {$(
        mod $format {
            use super::*;

            pub fn parse(file: &[u8]) -> Parsed<Mesh> {
                super::super::$format::parse(file).map(|loaded| loaded.mesh)
            }
        }
    )*};
}

parsers_without_notes!(obj, off, stl, xyz);

mod gltf {
    use super::*;
    use crate::text::Fault;

    pub fn parse(file: &[u8]) -> Parsed<Mesh> {
        let loaded = super::super::gltf::parse(file, References::nowhere());
        loaded
            .map(|loaded| loaded.mesh)
            .map_err(|reason| Fault::new(0, reason))
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
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
pub(crate) fn error(parse: fn(&[u8]) -> Parsed<Mesh>, file: impl AsRef<[u8]>) -> String {
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
        with("OFF", "4nOFF"),
        "f:1: 4nOFF is not read: write it as OFF"
    );
    assert_eq!(
        with("OFF", "nOFF 4"),
        "f:1: the vertices have 4 coordinates, but of nOFF 2 or 3 are read"
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
        "f:4: vertex -4 does not exist: 3 vertices stand before this line"
    );
    assert_eq!(
        face("f 1 2 3.5"),
        "f:4: expected a vertex index, found `3.5`"
    );
    assert_eq!(face("f 1 /2 3"), "f:4: expected a vertex index, found `/2`");
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
        Ok(elements) => format!("{:?} {:?}", elements.triangles, elements.attributes.regions),
        Err(fault) => fault.in_text(Path::new("f"), text.as_bytes()).to_string(),
    };
    assert_eq!(elements("1 3 0\n1 1 2 3"), "[[0, 1, 2]] None");
    assert_eq!(elements("1 3 1\n1 1 2 3 -7.0"), "[[0, 1, 2]] Some([-7])");
    assert_eq!(elements("1 3 1\n1 1 2 3 0.5"), "[[0, 1, 2]] Some([1])");
    assert_eq!(elements("1 3 1\n1 1 2 3 3e9"), "[[0, 1, 2]] Some([1])");
    assert_eq!(elements("0 3 9999999999"), "[] Some([])");
    assert_eq!(
        elements("1 3 0\n1 1 2 0"),
        "f:2: vertex 0 does not exist: 3 vertices are numbered from 1"
    );
    assert_eq!(
        elements("1 5 0\n1 1 2 3 1 2"),
        "f:1: the elements have 5 nodes, but 3 or 6 are needed"
    );
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
        "f:6: cell 1: a cell of VTK type 10 has 4 vertices, not 3"
    );
    assert_eq!(with("9 5", "9"), "f:6: expected 2 numbers, found 1");
    assert_eq!(
        with("NumberOfPoints=\"4\"", ""),
        "f:1: expected a number in NumberOfPoints, found ``"
    );
    assert!(with("</Piece>", "").starts_with("f:7: "));
}
