//! The files of gpu-longest-edge-bisection-2011.

use glam::DVec2;

use super::*;
use crate::edges::{self, Layout, parse, write_to};
use trioxide::{Device, generate};
use trioxide_mesh::mesh::{EdgeTriangulation, Triangulation};
use trioxide_reference as reference;
use trioxide_verify::validate;

fn text(mesh: &EdgeTriangulation, marked: &[bool], layout: Layout) -> String {
    let mut out = Vec::new();
    write_to(&mut out, mesh, marked, layout).unwrap();
    String::from_utf8(out).unwrap()
}

fn parse_text(text: &str) -> (EdgeTriangulation, Vec<bool>) {
    parse(text.as_bytes()).unwrap()
}

/// Reads figure B.1, writes figure B.2.
#[test]
fn the_figures() {
    let input = std::fs::read_to_string(fixture("three_triangles.edges")).unwrap();
    let (mut mesh, marked) = edges::read(&fixture("three_triangles.edges")).unwrap();
    assert_eq!(mesh.points.len(), 5);
    assert_eq!(marked, [true, false, false]);
    assert_eq!(text(&mesh, &marked, Layout::Points), input);

    reference::refine(&mut mesh, |t| marked[t as usize]);
    let output = std::fs::read_to_string(fixture("three_triangles_refined.edges")).unwrap();
    // The paper aligns the triangles' columns with blanks.
    let single_blanks = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    let single_blanks: String = output.lines().map(single_blanks).collect();
    assert_eq!(text(&mesh, &[], Layout::Ends), single_blanks);

    // The points come in the order of the edges' ends.
    let (read, marked) = parse_text(&output);
    assert_eq!(marked, [false; 7]);
    assert_eq!(read.triangles, mesh.triangles);
    assert_eq!(
        read.points[..4],
        [(15., 0.), (0., 3.), (0., 16.), (7.5, 8.)].map(DVec2::from)
    );
    assert_eq!(text(&read, &[], Layout::Ends), single_blanks);

    // As other commands read it.
    let mesh = super::read(&fixture("three_triangles.edges")).unwrap();
    assert_eq!(triangles_of(&mesh), [[1, 0, 2], [3, 1, 2], [3, 2, 4]]);
}

#[test]
fn both_layouts_read_back_to_the_bit() {
    let mut input = generate::random(&Device::cpu(None).unwrap(), 300, 3).unwrap();
    input.points[7] = DVec2::new(-0.0, 1e-300);
    let mut mesh = reference::edges(input.points, &input.triangles);
    reference::refine(&mut mesh, |t| t % 3 == 0);
    let marked: Vec<bool> = (0..mesh.triangles.len()).map(|t| t % 5 == 0).collect();

    let (read, read_marked) = parse_text(&text(&mesh, &marked, Layout::Points));
    assert_eq!(read, mesh);
    assert_eq!(read_marked, marked);
    let bits = |p: &DVec2| p.to_array().map(f64::to_bits);
    assert!(
        read.points
            .iter()
            .map(bits)
            .eq(mesh.points.iter().map(bits))
    );

    let (read, read_marked) = parse_text(&text(&mesh, &marked, Layout::Ends));
    assert_eq!(read_marked, marked);
    assert_eq!(read.triangles, mesh.triangles);
    let ends = |mesh: &EdgeTriangulation| -> Vec<[u64; 2]> {
        let ends = mesh.edges.as_flattened().iter();
        ends.map(|&v| bits(&mesh.points[v as usize])).collect()
    };
    assert_eq!(ends(&read), ends(&mesh));
    // Only the numbers of points differ.
    assert_eq!(read.points.len(), mesh.points.len());

    let empty = EdgeTriangulation::default();
    for layout in [Layout::Points, Layout::Ends] {
        assert_eq!(
            parse_text(&text(&empty, &[], layout)),
            (empty.clone(), vec![])
        );
    }
}

/// "If the input does not satisfy this rule, it should be converted" (section 3.1).
#[test]
fn edges_that_no_triangle_owns_are_turned() {
    let file =
        "4\n0 0\n1 0\n1 1\n0 1\n\n5\n1 0\n1 2\n0 2 # shared\n3 2\n3 0\n2\n-1 2 -3 0\n3 -4 5 1\n";
    let (mesh, marked) = parse_text(file);
    assert_eq!(mesh.edges, [[0, 1], [1, 2], [0, 2], [2, 3], [3, 0]]);
    assert_eq!(mesh.triangles, [[0, 2, 5], [4, 6, 8]]);
    assert_eq!(mesh.corners(), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(marked, [false, true]);
    validate::refine::conforming(&mesh).unwrap();
}

#[test]
fn edges_faults() {
    let all = "3\n0 0\n1 0\n0 1\n\n3\n0 1\n1 2\n2 0\n\n1\n1 2 3 0\n";
    let error = |text: String| {
        let fault = parse(text.as_bytes()).expect_err("the file is bad");
        fault.in_text(Path::new("f"), text.as_bytes()).to_string()
    };
    let with = |from: &str, to: &str| error(all.replacen(from, to, 1));
    assert!(parse(all.as_bytes()).is_ok());
    assert_eq!(with("1 0\n", "1\n"), "f:3: expected y, but the line ends");
    assert_eq!(
        with("1 0\n", "1 0 0\n"),
        "f:3: expected the end of the line, found `0`"
    );
    assert_eq!(
        with("3\n0 1", "3 3\n0 1"),
        "f:6: expected the end of the line, found `3`"
    );
    assert_eq!(
        with("1 2\n", "1 3\n"),
        "f:8: vertex 3 does not exist: 3 vertices are numbered from 0"
    );
    assert_eq!(
        with("1 2\n", "2 2\n"),
        "f:8: the edge starts and ends at vertex 2"
    );
    assert_eq!(
        with("1\n1 2 3", "2\n1 2 3"),
        "f:13: expected 2 triangles, but the file ends after 1"
    );
    assert_eq!(
        with("1\n1 2 3 0", "1\n1 2 3 0\n1 2 3 0"),
        "f:13: expected the end of the file after the triangles"
    );
    assert_eq!(
        with("1 2 3 0", "1 2 0 0"),
        "f:12: edge 0 does not exist: 3 edges are numbered from 1, in reverse from -1"
    );
    assert_eq!(
        with("1 2 3 0", "1 2 -4 0"),
        "f:12: edge -4 does not exist: 3 edges are numbered from 1, in reverse from -1"
    );
    assert_eq!(
        with("1 2 3 0", "1 2 -3 0"),
        "f:12: edge 2 leads to vertex 2, but edge -3 starts at vertex 0"
    );
    assert_eq!(
        with("1 2 3 0", "1 2 3"),
        "f:12: expected a mark, 0 or 1, but the line ends"
    );
    assert_eq!(
        with("1 2 3 0", "1 2 3 2"),
        "f:12: expected a mark, 0 or 1, found `2`"
    );
    assert_eq!(
        with("1\n1 2 3 0", "2\n1 2 3 0\n2 3 1 0"),
        "f:13: another triangle runs along edge 2 the same way: they overlap"
    );
    assert_eq!(with("1\n1 2 3 0", "0"), "f:7: edge 1 is in no triangle");
    assert_eq!(
        with(
            "3\n0 1\n1 2\n2 0\n\n1\n1 2 3 0",
            "4\n0 1\n1 2\n2 0\n1 0\n2\n1 2 3 0\n4 -3 -2 0"
        ),
        "f:10: edge 4 has the same ends as edge 1"
    );
    assert_eq!(
        error(String::new()),
        "f:1: expected the number of points, but the file ends"
    );

    let all = "3\n[0 0] [1 0]\n[1 0] [0 1]\n[0 1] [0 -0]\n1\n1 2 3 0";
    let with = |from: &str, to: &str| error(all.replacen(from, to, 1));
    assert_eq!(parse_text(all).0.points.len(), 3);
    assert_eq!(
        with("[1 0] [0 1]", "1 0 0 1"),
        "f:3: expected a point in brackets, found `1`"
    );
    assert_eq!(
        with("[1 0] [0 1]", "[1 0 0] [0 1]"),
        "f:3: expected the end of the line, found `0`"
    );
    assert_eq!(
        with("[1 0] [0 1]", "[1 0] [0]"),
        "f:3: expected y before `]`, but the line ends"
    );
    assert_eq!(
        with("[1 0] [0 1]", "[1 0]"),
        "f:3: expected a point in brackets, but the line ends"
    );
    assert_eq!(
        with("[0 -0]", "[0 1]"),
        "f:4: the edge starts and ends at [0 1]"
    );
    assert_eq!(
        with("[1 0] [0 1]", "[1 0.5] [0 1]"),
        "f:6: edge 1 leads to vertex 1, but edge 2 starts at vertex 2"
    );
}

#[test]
fn meshes_that_edges_cannot_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.edges");
    let points = [(0., 0.), (1., 0.), (0., 1.), (1., 1.)].map(DVec2::from);
    let mesh = |triangles: &[[u32; 3]]| -> Mesh {
        let mesh = Triangulation {
            points: points.to_vec(),
            triangles: triangles.to_vec(),
            ..Default::default()
        };
        mesh.into()
    };
    let error = |mesh: &Mesh| {
        let error = write(&path, mesh).unwrap_err().to_string();
        assert!(!path.exists());
        error
    };
    let same_way = error(&mesh(&[[0, 1, 2], [0, 1, 3]]));
    assert!(same_way.contains("edge 0-1 has 2 triangles"), "{same_way}");
    let crowded = error(&mesh(&[[0, 1, 2], [2, 1, 3], [1, 2, 0]]));
    assert!(crowded.contains("triangles"), "{crowded}");
    let twice = error(&mesh(&[[0, 1, 1]]));
    assert!(twice.contains("triangle 0 has vertices 0, 1, 1"), "{twice}");
    let mut in_space = mesh(&[[0, 1, 2]]);
    in_space.points[3].z = 1.0;
    let in_space = error(&in_space);
    assert!(
        in_space.contains("planar meshes only, but vertex 3"),
        "{in_space}"
    );
    write(&path, &mesh(&[[0, 1, 2], [2, 1, 3]])).unwrap();
    assert_eq!(read(&path).unwrap(), mesh(&[[0, 1, 2], [2, 1, 3]]));
}
