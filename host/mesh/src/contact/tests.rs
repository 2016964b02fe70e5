use super::*;
use crate::edges::Edges;
use crate::mesh::{Faces, Polygons};
use crate::volume::TetMesh;

fn of_polygons(points: &[[f64; 3]], polygons: &[&[u32]]) -> Contacts {
    let mut faces = Polygons::default();
    polygons.iter().for_each(|face| faces.push(face));
    let points: Vec<DVec3> = points.iter().copied().map(DVec3::from).collect();
    let edges = Edges::of(&Faces::Polygons(faces));
    Contacts::of_boundary(|v| points[v as usize], &edges.boundary)
}

/// A square beside two that hang on it, at every scale; the place of a third divides no edge by rounding.
#[test]
fn vertices_hang_on_edges_at_every_scale() {
    for scale in [1.0, 1e-300, 1e300, -1.0] {
        for third in [0.0, 1.0 / 3.0] {
            let points = [[0.0, 0.0], [3.0, 1.0], [2.0, 4.0], [-1.0, 3.0]];
            let way = [-1.0, 3.0];
            let ends = [points[1], points[2]];
            let at = |t: f64, x: f64| {
                [
                    ends[0][0] + t * way[0] + 3.0 * x,
                    ends[0][1] + t * way[1] + x,
                ]
            };
            let more = [
                at(1.0 / 3.0 + third, 0.0),
                at(0.0, 1.0),
                at(0.5, 1.0),
                at(1.0, 1.0),
            ];
            let points: Vec<_> = points
                .iter()
                .chain(&more)
                .map(|p| [p[0] * scale, p[1] * scale, 0.0])
                .collect();
            let hanging: [&[u32]; 3] = [&[0, 1, 2, 3], &[1, 5, 6, 4], &[4, 6, 7, 2]];
            let contacts = of_polygons(&points, &hanging);
            let edge = EdgeContact {
                ends: [1, 2],
                vertices: vec![4],
            };
            assert_eq!(
                (contacts.edges, contacts.doubled),
                (vec![edge], 0),
                "{scale} {third}"
            );
            let conforming: [&[u32]; 3] = [&[0, 1, 4, 2, 3], &[1, 5, 6, 4], &[4, 6, 7, 2]];
            assert_eq!(of_polygons(&points, &conforming), Contacts::default());
        }
    }
}

#[test]
fn points_at_one_place_are_no_vertices_inside() {
    let square = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let other = [
        [1.0, -0.0, -0.0],
        [2.0, 0.0, 0.0],
        [2.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];
    let contacts = of_polygons(&[square, other].concat(), &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
    assert_eq!((contacts.doubled, contacts.inside_edges()), (2, 0));
}

#[test]
fn parts_that_meet_in_a_point_are_not_apart() {
    let square = |x: f64, y: f64, size: f64| {
        [[x, y], [x + size, y], [x + size, y + size], [x, y + size]].map(|[x, y]| [x, y, 0.0])
    };
    for (other, doubled) in [
        (square(1.0, 1.0, 1.0), 0),
        (square(1.0, 0.0, 1.0), 2),
        // An edge half as long begins at one place with the other.
        (square(1.0, 0.0, 0.5), 1),
        (square(2.0, 0.0, 1.0), 0),
    ] {
        let points = [square(0.0, 0.0, 1.0), other].concat();
        let contacts = of_polygons(&points, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
        assert_eq!(contacts.doubled, doubled, "{other:?}");
    }
}

#[test]
fn the_tree_finds_what_a_search_of_all_pairs_finds() {
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        f64::from((state >> 59) as u32)
    };
    let points: Vec<DVec3> = (0..300)
        .map(|_| DVec3::new(next(), next(), (next() / 8.0).floor()))
        .collect();
    let point = |v: u32| points[v as usize];
    let tree = Tree::of(&point, &(0..300).collect::<Vec<_>>());
    for edge in (0..299).map(|v| [v, v + 1]) {
        let [a, b] = edge.map(|v| points[v as usize]);
        let is_inside = |p: DVec3| {
            (p - a).cross(b - a) == DVec3::ZERO
                && (p - a).dot(b - a) > 0.0
                && (p - b).dot(a - b) > 0.0
        };
        let mut expected: Vec<u32> = (0..300)
            .filter(|&v| is_inside(points[v as usize]))
            .collect();
        let mut found = tree.inside_edge(edge);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

/// The reproducer's kind: two tetrahedra on a third, whose face has their common vertex inside an edge; and a
/// vertex inside a face.
#[test]
fn vertices_hang_on_edges_and_faces_of_cells() {
    let corners = [
        [0.0; 3],
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 2.0],
        [0.0, 0.0, -2.0],
    ];
    let points = |last: [f64; 3]| corners.into_iter().chain([last]).map(DVec3::from).collect();
    let mesh = |last, cells: Vec<[u32; 4]>| -> VolumeMesh {
        TetMesh {
            points: points(last),
            tetrahedra: cells,
            ..TetMesh::default()
        }
        .into()
    };
    let on_edge = mesh(
        [1.0, 1.0, 0.0],
        vec![[0, 1, 2, 3], [0, 5, 1, 4], [0, 2, 5, 4]],
    );
    let contacts = Contacts::of_cells(&on_edge);
    assert_eq!(
        contacts.edges,
        [EdgeContact {
            ends: [1, 2],
            vertices: vec![5]
        }]
    );
    assert_eq!((contacts.inside_edges(), contacts.inside_faces()), (1, 0));
    let in_face = mesh(
        [0.5, 0.5, 0.0],
        vec![[0, 1, 2, 3], [0, 5, 1, 4], [1, 5, 2, 4], [2, 5, 0, 4]],
    );
    let contacts = Contacts::of_cells(&in_face);
    assert_eq!((contacts.inside_edges(), contacts.inside_faces()), (0, 1));
    assert_eq!(
        (contacts.faces[0].cell, &contacts.faces[0].vertices[..]),
        (0, &[5][..])
    );
    let whole = mesh(
        [0.5, 0.5, 0.0],
        vec![
            [0, 5, 1, 3],
            [1, 5, 2, 3],
            [2, 5, 0, 3],
            [0, 5, 1, 4],
            [1, 5, 2, 4],
            [2, 5, 0, 4],
        ],
    );
    assert_eq!(Contacts::of_cells(&whole), Contacts::default());
}
