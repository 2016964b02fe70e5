use glam::DVec2;

use super::*;
use crate::mesh::Segment;

fn mesh(points: &[(f64, f64)], triangles: &[[u32; 3]]) -> Triangulation {
    Triangulation {
        points: points.iter().map(|&(x, y)| DVec2::new(x, y)).collect(),
        triangles: triangles.to_vec(),
        ..Default::default()
    }
}

const SQUARE: [(f64, f64); 4] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];

fn error(mesh: &Triangulation) -> String {
    triangulation(mesh).unwrap_err().to_string()
}

#[test]
fn counts_a_square_and_an_unused_vertex() {
    let mut points = SQUARE.to_vec();
    points.push((7.0, 7.0));
    let summary = triangulation(&mesh(&points, &[[0, 1, 2], [2, 3, 0]])).unwrap();
    let expected = Summary {
        unused_vertices: 1,
        boundary_edges: 4,
        boundary_loops: 1,
        pinch_vertices: 0,
        components: 1,
    };
    assert_eq!(summary, expected);
}

#[test]
fn accepts_no_triangle() {
    assert_eq!(triangulation(&mesh(&[], &[])).unwrap(), Summary::default());
}

#[test]
fn counts_a_pinch_vertex() {
    let points = [
        (0.0, 0.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (-1.0, 0.0),
        (-1.0, -1.0),
    ];
    let summary = triangulation(&mesh(&points, &[[0, 1, 2], [0, 3, 4]])).unwrap();
    assert_eq!(summary.pinch_vertices, 1);
    assert_eq!(summary.boundary_loops, 2);
    assert_eq!(summary.components, 2);
}

#[test]
fn names_the_element_and_the_rule() {
    let square = |triangles: &[[u32; 3]]| mesh(&SQUARE, triangles);
    let nan = mesh(&[(0.0, 0.0), (1.0, f64::NAN), (0.0, 1.0)], &[[0, 1, 2]]);
    assert_eq!(
        error(&nan),
        "vertex 1 has a coordinate that is not a finite number"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [2, 3, 4]])),
        "triangle 1 has vertex 4, but the mesh has 4 vertices"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [2, 3, 2]])),
        "triangle 1 has vertex 2 twice"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [2, 0, 3]])),
        "triangle 1 runs clockwise, with vertices 2, 0, 3: `repair --orient` turns triangles, `smooth --untangle` moves vertices"
    );
    let line = [(0.0, 0.0), (1.0, 1.0), (3.0, 3.0)];
    assert_eq!(
        error(&mesh(&line, &[[0, 1, 2]])),
        "triangle 0 is degenerate: its vertices 0, 1, 2 lie on one line: `repair --degenerate 0` mends it"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [2, 3, 0], [1, 2, 0]])),
        "triangle 2 is triangle 0 again: `repair --repeated` drops it"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [0, 1, 3]])),
        "edge 0-1 has triangles 0, 1 on the same side: they overlap"
    );
    assert_eq!(
        error(&square(&[[0, 1, 2], [2, 3, 0], [0, 1, 3]])),
        "edge 0-1 has triangles 0, 2 on the same side: they overlap"
    );
    let mut unequal = square(&[[0, 1, 2], [2, 3, 0]]);
    unequal.regions = Some(vec![1]);
    assert_eq!(error(&unequal), "mesh has region ids for 1 triangles of 2");
    unequal.regions = None;
    unequal.segments = vec![Segment {
        ends: [0, 9],
        marker: 0,
    }];
    assert_eq!(
        error(&unequal),
        "segment 0 has vertex 9, but the mesh has 4 vertices"
    );
}

#[test]
fn refuses_an_edge_of_three_triangles() {
    let points = [(0.0, 0.0), (1.0, 0.0), (0.5, 1.0), (0.5, -1.0), (0.5, 2.0)];
    assert_eq!(
        error(&mesh(&points, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]])),
        "edge 0-1 belongs to 3 triangles (0, 1, 2): two is the most: `repair --edges` parts the surfaces"
    );
}

#[test]
fn refuses_a_triangle_over_a_surrounded_vertex() {
    // Vertex 4 lies inside of the square's four triangles; the fifth triangle starts there too.
    let mut points = SQUARE.to_vec();
    points.extend([(0.5, 0.5), (9.0, 0.0), (9.0, 1.0)]);
    let triangles = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [4, 5, 6]];
    assert_eq!(
        error(&mesh(&points, &triangles)),
        "vertex 4 is surrounded by triangles and belongs to others besides: they overlap"
    );
}

/// The longest edge of a triangle on a line is as well defined as any other; in the plane it is refused.
#[test]
fn corners_of_a_surface_may_be_on_a_line() {
    let check = |last: [f64; 3]| {
        let points = [[0.0; 3], [1.0, 2.0, 1.0], last, [-3.0, 5.0, 9.0]];
        surface(&Triangulation {
            points: points.map(DVec3::from).to_vec(),
            triangles: vec![[0, 1, 3], [1, 0, 2]],
            ..Default::default()
        })
    };
    check([3.0, 6.0, 3.0]).unwrap();
    let degenerate = "triangle 1 is degenerate: an edge between its vertices 1, 0, 2 has no length";
    for place in [[0.0, -0.0, 0.0], [1.0, 2.0, 1.0]] {
        assert_eq!(check(place).unwrap_err().to_string(), degenerate);
    }
}

#[test]
fn orientation_is_exact() {
    // The third point lies one unit in the last place above the line: rounding would call this degenerate.
    let points = [(0.1, 0.1), (0.9, 0.9), (0.5, 0.5f64.next_up())];
    assert!(triangulation(&mesh(&points, &[[0, 1, 2]])).is_ok());
}
