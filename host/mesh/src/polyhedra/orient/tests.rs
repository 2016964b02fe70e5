//! Polyhedra with their faces in any direction.

use super::*;
use crate::polyhedra::PolyhedraBuilder;

/// The faces of a cube, counter-clockwise as seen from outside. Bits of a vertex are its coordinates.
const CUBE: [[u32; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

fn at(v: u32) -> DVec3 {
    DVec3::new((v & 1).into(), (v >> 1 & 1).into(), (v >> 2).into())
}

/// The mesh of polyhedra of quadrilaterals, on `points` or a column of cubes.
fn mesh(polyhedra: &[Vec<[u32; 4]>], points: Vec<DVec3>) -> PolyhedralMesh {
    let mut builder = PolyhedraBuilder::default();
    for faces in polyhedra {
        builder.push(faces).expect("faces");
    }
    PolyhedralMesh {
        points: if points.is_empty() {
            (0..16).map(at).collect()
        } else {
            points
        },
        ..builder.finish().expect("faces fit")
    }
}

fn cube(up: u32) -> Vec<[u32; 4]> {
    CUBE.map(|face| face.map(|v| v + up)).to_vec()
}

fn reversed(mut faces: Vec<[u32; 4]>, which: &[usize]) -> Vec<[u32; 4]> {
    which.iter().for_each(|&i| faces[i].reverse());
    faces
}

const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// The volume of each polyhedron.
fn volumes(mesh: &PolyhedralMesh) -> Vec<f64> {
    let of = |p: usize| {
        let mut triangles = Vec::new();
        for &side in mesh.sides_of(p) {
            let face: Vec<u32> = mesh.vertices_of(side).collect();
            triangles.extend(face[1..].windows(2).map(|pair| [face[0], pair[0], pair[1]]));
        }
        volume(&mesh.points, &triangles)
    };
    (0..mesh.len()).map(of).collect()
}

/// Turns the mesh outward; the second time there is nothing to turn. Returns how many polyhedra were turned.
fn turned(mut mesh: PolyhedralMesh) -> (usize, PolyhedralMesh) {
    let first = mesh.orient().expect("it can be turned");
    assert_eq!((first.inverted, first.first_inverted), (0, None));
    let before = mesh.clone();
    assert_eq!(
        mesh.orient().expect("it can be turned"),
        Oriented::default()
    );
    assert!(mesh == before, "a mesh that looks outward stays as it is");
    // Each side of a face is used once.
    let mut sides = mesh.sides.clone();
    sides.sort_unstable();
    sides.dedup();
    assert_eq!(sides.len(), mesh.sides.len());
    (first.turned, mesh)
}

#[test]
fn faces_in_any_direction_look_outward_in_the_end() {
    // Two cubes that share a face: as they should be, all inward, one inward (they see the face in one direction), and
    // with single faces of either.
    for (first, second, expected) in [
        (&[][..], &[][..], 0),
        (&ALL, &ALL, 2),
        (&ALL, &[], 1),
        (&[], &ALL, 1),
        (&[1], &[], 1),
        (&[0, 3, 5], &[0, 2], 2),
        (&[2, 3, 4, 5], &[0, 1, 2, 3], 2),
    ] {
        let mesh = mesh(
            &[reversed(cube(0), first), reversed(cube(4), second)],
            Vec::new(),
        );
        let (count, mesh) = turned(mesh);
        assert_eq!(count, expected, "{first:?} {second:?}");
        assert_eq!(volumes(&mesh), [1.0, 1.0], "{first:?} {second:?}");
        assert_eq!(mesh.neighbours()[1], [0, 1]);
    }
}

#[test]
fn parts_that_no_face_connects_are_turned_by_themselves() {
    let mesh = mesh(&[cube(0), reversed(cube(8), &ALL)], Vec::new());
    let (count, mesh) = turned(mesh);
    assert_eq!((count, volumes(&mesh)), (1, vec![1.0, 1.0]));
}

/// A cube whose lid is pushed through its bottom, between two others.
#[test]
fn a_polyhedron_that_its_neighbours_invert_is_counted() {
    let mut points: Vec<DVec3> = (0..16).map(at).collect();
    points[8..12].iter_mut().for_each(|p| p.z = 0.5);
    points[12..].iter_mut().for_each(|p| p.z = 3.0);
    for which in [&[][..], &ALL] {
        let mut mesh = mesh(
            &[cube(0), reversed(cube(4), which), cube(8)],
            points.clone(),
        );
        let oriented = mesh.orient().unwrap();
        assert_eq!((oriented.inverted, oriented.first_inverted), (1, Some(1)));
        assert_eq!(volumes(&mesh), [1.0, -0.5, 2.5]);
    }
}

#[test]
fn a_surface_within_another_bounds_a_cavity() {
    let mut points: Vec<DVec3> = (0..8).map(at).collect();
    points.extend((0..8).map(|v| at(v) / 2.0 + 0.25));
    for inner in [&[][..], &ALL, &[2]] {
        for outer in [&[][..], &ALL, &[0, 4]] {
            let mut faces = reversed(cube(8), inner);
            faces.extend(reversed(cube(0), outer));
            let (_, mesh) = turned(mesh(&[faces], points.clone()));
            assert_eq!(volumes(&mesh), [1.0 - 0.125], "{inner:?} {outer:?}");
        }
    }
    // Beside each other.
    points[8..].iter_mut().for_each(|p| p.x += 5.0);
    let mut faces = cube(0);
    faces.extend(reversed(cube(8), &[1]));
    let (_, mesh) = turned(mesh(&[faces], points));
    assert_eq!(volumes(&mesh), [1.125]);
}

/// A square inside of a cube, with the cube on both of its sides.
#[test]
fn both_sides_of_a_barrier_are_opposite() {
    for which in [&[][..], &[6], &[6, 7], &[0, 7]] {
        let mut faces = cube(0);
        faces.extend([[0, 1, 9, 8], [8, 9, 1, 0]]);
        let (count, mesh) = turned(mesh(&[reversed(faces, which)], Vec::new()));
        assert_eq!(volumes(&mesh), [1.0], "{which:?}");
        assert_eq!(mesh.neighbours()[6], [0, 0]);
        assert_eq!(count, usize::from(which.len() == 1 || which == [0, 7]));
    }
}

/// A cube with its diagonal square inside: each edge of that is one of the cube's too.
#[test]
fn a_barrier_may_divide_its_polyhedron() {
    for which in [
        &[][..],
        &[9],
        &[0, 5],
        &[1],
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ] {
        let mut faces = CUBE[..4].to_vec();
        faces.extend([[1, 3, 7, 7], [1, 7, 5, 5], [0, 4, 6, 6], [0, 6, 2, 2]]);
        faces.extend([[0, 1, 7, 6], [6, 7, 1, 0]]);
        let (count, mesh) = turned(mesh(&[reversed(faces, which)], Vec::new()));
        assert_eq!(volumes(&mesh), [1.0], "{which:?}");
        assert_eq!(mesh.neighbours()[8], [0, 0]);
        assert_eq!(count, usize::from(!which.is_empty()), "{which:?}");
    }
}

/// Two tetrahedra of one polyhedron that touch along an edge.
#[test]
fn surfaces_that_touch_look_outward() {
    let points = [
        [0., 0., 0.],
        [0., 0., 1.],
        [1., 0., 0.],
        [0., 1., 0.],
        [-1., 0., 0.],
        [0., -1., 0.],
    ];
    let points = points.map(DVec3::from_array).to_vec();
    let tetrahedron =
        |[a, b, c, d]: [u32; 4]| [[a, c, b, b], [a, b, d, d], [b, c, d, d], [c, a, d, d]];
    for which in [&[][..], &[4, 5, 6, 7], &[0, 1, 2, 3], &[1, 6]] {
        let mut faces = tetrahedron([0, 2, 3, 1]).to_vec();
        faces.extend(tetrahedron([0, 4, 5, 1]));
        let (count, mesh) = turned(mesh(&[reversed(faces, which)], points.clone()));
        assert!((volumes(&mesh)[0] - 1.0 / 3.0).abs() < 1e-15, "{which:?}");
        assert_eq!(count, usize::from(!which.is_empty()), "{which:?}");
    }
}

fn refused(polyhedra: &[Vec<[u32; 4]>]) -> String {
    mesh(polyhedra, Vec::new())
        .orient()
        .unwrap_err()
        .to_string()
}

#[test]
fn polyhedra_that_are_not_closed_are_refused() {
    let mut open = cube(4);
    open.pop();
    assert_eq!(
        refused(&[cube(0), open]),
        "polyhedron 1 is not closed: only one of its faces has edge 5 - 7"
    );
    let mut fins = cube(0);
    fins.push([0, 1, 9, 8]);
    assert_eq!(
        refused(&[fins]),
        "polyhedron 0 is not closed: 3 of its faces have edge 0 - 1, an odd number"
    );
}

#[test]
fn polyhedra_without_an_outside_are_refused() {
    // A torus of 3 by 3 squares, closed with a twist: Klein's bottle.
    let v = |i: u32, j: u32| 3 * (i % 3) + if i == 3 { (3 - j % 3) % 3 } else { j % 3 };
    let faces = (0..9).map(|k| (k / 3, k % 3));
    let faces = faces.map(|(i, j)| [v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1)]);
    let said = refused(&[faces.collect()]);
    assert!(
        said.contains("polyhedron 0 has a surface with one side only"),
        "{said}"
    );
}

#[test]
fn without_a_volume_the_first_face_keeps_its_direction() {
    let flat = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
    for points in [flat, vec![DVec3::NAN; 4]] {
        let faces = vec![[0, 1, 2, 3], [0, 1, 2, 3]];
        let mut mesh = mesh(&[faces], points);
        assert_eq!(mesh.sides, [0, 0]);
        assert_eq!(mesh.orient().unwrap().turned, 1);
        assert_eq!(
            (mesh.faces.get(0), &mesh.sides[..]),
            (&[0, 1, 2, 3][..], &[0, 1][..])
        );
    }
}
