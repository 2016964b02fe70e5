use std::collections::HashMap;

use super::*;
use crate::fields::Field;
use crate::volume::{Cells, MixedCells, TetMesh, VolumeMesh, orientation};

/// A square beside two that hang on it, with a segment between them.
#[test]
fn polygons_get_the_vertices_inside_their_edges() {
    let points = [
        [0.0, 0.0],
        [2.0, 0.0],
        [2.0, 2.0],
        [0.0, 2.0],
        [2.0, 1.0],
        [3.0, 0.0],
        [3.0, 1.0],
        [3.0, 2.0],
    ];
    let mut polygons = Polygons::default();
    let squares: [&[u32]; 3] = [&[0, 1, 2, 3], &[1, 5, 6, 4], &[4, 6, 7, 2]];
    squares.iter().for_each(|square| polygons.push(square));
    let mut mesh = Mesh {
        points: points.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Polygons(polygons),
        segments: [([3, 2], 7), ([2, 1], 8)]
            .map(|(ends, marker)| Segment { ends, marker })
            .to_vec(),
        ..Mesh::default()
    };
    mesh.fields
        .sides
        .push(Field::scalars("load", vec![0.5, 1.5]));
    let conformed = faces(mesh).unwrap();
    assert_eq!((conformed.hanging, conformed.left), (1, 0));
    let mesh = conformed.mesh;
    assert_eq!(mesh.faces.get(0), [0, 1, 4, 2, 3]);
    let segments: Vec<_> = mesh.segments.iter().map(|s| (s.ends, s.marker)).collect();
    assert_eq!(segments, [([3, 2], 7), ([2, 4], 8), ([4, 1], 8)]);
    let loads = mesh.fields.sides.get("load").unwrap();
    assert_eq!(loads.values, vec![0.5, 1.5, 1.5].into());
    let again = faces(mesh.clone()).unwrap();
    assert_eq!((again.hanging, again.mesh), (0, mesh));
}

#[test]
fn triangles_are_divided() {
    let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 1.0]];
    let mut mesh = Mesh {
        points: points.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 3], [1, 2, 4], [4, 2, 3]]),
        regions: Some(vec![5, 6, 7]),
        ..Mesh::default()
    };
    mesh.fields
        .cells
        .push(Field::scalars("id", vec![0.5, 1.5, 2.5]));
    let conformed = faces(mesh).unwrap();
    let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 4], [4, 2, 3]];
    assert_eq!(conformed.mesh.faces, Faces::Triangles(triangles));
    assert_eq!(conformed.mesh.regions, Some(vec![5, 5, 6, 7]));
    assert_eq!(conformed.parents, [0, 0, 1, 2]);
}

fn volume_of(mesh: &VolumeMesh) -> f64 {
    let volume = |cell: &[u32]| {
        let cell: [u32; 4] = cell.try_into().expect("a tetrahedron");
        assert!(orientation(&mesh.points, &cell) > 0.0, "{cell:?}");
        let [a, b, c, d] = cell.map(|v| mesh.points[v as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    };
    mesh.cells.iter().map(volume).sum()
}

/// A cube of six tetrahedra around a diagonal, a row of them along x.
fn cubes(n: usize) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let id = |x: usize, y: usize, z: usize| ((z * 2 + y) * (n + 1) + x) as u32;
    let mut points = Vec::new();
    for (z, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        points.extend((0..=n).map(|x| DVec3::new(x as f64 / 3.0, y as f64 * 0.7, z as f64 * 1.1)));
    }
    let mut cells = Vec::new();
    for x in 0..n {
        for axes in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut at = [x, 0, 0];
            let mut cell = vec![id(at[0], at[1], at[2])];
            for axis in axes {
                at[axis] += 1;
                cell.push(id(at[0], at[1], at[2]));
            }
            let mut cell: [u32; 4] = cell.try_into().expect("four corners");
            if orientation(&points, &cell) < 0.0 {
                cell.swap(2, 3);
            }
            cells.push(cell);
        }
    }
    (points, cells)
}

/// Some cells are divided into eight at the middles of their edges, and their neighbours are not.
#[test]
fn tetrahedra_beside_divided_ones_become_conforming() {
    let (mut points, cells) = cubes(3);
    let volume = 0.7 * 1.1;
    for pattern in [1u32, 0b10_0100_1000_0001, 0x2_aaaa, 0x3_f000] {
        let before = points.len();
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut divided = Vec::new();
        for (i, &cell) in cells.iter().enumerate() {
            if pattern >> i & 1 == 0 {
                divided.push(cell);
                continue;
            }
            let mut middle = |k: usize, l: usize| {
                let edge = [cell[k].min(cell[l]), cell[k].max(cell[l])];
                *middles.entry(edge).or_insert_with(|| {
                    points.push(points[edge[0] as usize].midpoint(points[edge[1] as usize]));
                    points.len() as u32 - 1
                })
            };
            let [a, b, c, d] = cell;
            let [ab, ac, ad] = [middle(0, 1), middle(0, 2), middle(0, 3)];
            let [bc, bd, cd] = [middle(1, 2), middle(1, 3), middle(2, 3)];
            divided.extend([
                [a, ab, ac, ad],
                [ab, b, bc, bd],
                [ac, bc, c, cd],
                [ad, bd, cd, d],
            ]);
            let octahedron = [
                [ab, ac, ad, bd],
                [ab, bc, ac, bd],
                [ac, cd, ad, bd],
                [ac, bc, cd, bd],
            ];
            divided.extend(octahedron);
        }
        let mut mesh = VolumeMesh::from(TetMesh {
            points: points.clone(),
            tetrahedra: divided,
            ..TetMesh::default()
        });
        let count = mesh.cells.len() as i32;
        mesh.regions = Some((0..count).collect());
        mesh.fields.points.push(Field::scalars(
            "x",
            points.iter().map(|p| p.x).collect::<Vec<_>>(),
        ));
        assert!((volume_of(&mesh) - volume).abs() < 1e-12);
        let conformed = tetrahedra(mesh).unwrap();
        assert!(conformed.hanging > 0 && conformed.left == 0, "{pattern:b}");
        let mesh = conformed.mesh;
        assert!((volume_of(&mesh) - volume).abs() < 1e-12);
        // All boundary faces are on the cube's sides.
        let surface = mesh.boundary();
        let Faces::Triangles(triangles) = &surface.faces else {
            panic!("triangles")
        };
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| surface.points[v as usize]);
            (b - a).cross(c - a).length() / 2.0
        };
        let sum: f64 = triangles.iter().map(area).sum();
        assert!(
            (sum - 2.0 * (0.7 + 1.1 + 0.7 * 1.1)).abs() < 1e-12,
            "{pattern:b} {sum}"
        );
        let x = mesh.fields.points.get("x").unwrap();
        for (i, point) in mesh.points.iter().enumerate() {
            assert!((x.values.f64(i) - point.x).abs() < 1e-15);
        }
        let regions: Vec<i32> = conformed.parents.iter().map(|&c| c as i32).collect();
        assert_eq!(mesh.regions, Some(regions));
        points.truncate(before);
    }
}

/// A vertex inside an edge cuts its tetrahedron in two; one inside a face divides it by a vertex in the middle.
#[test]
fn few_hanging_vertices_make_few_cells() {
    let corners = [
        [0.0; 3],
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 2.0],
        [0.0, 0.0, -2.0],
    ];
    let mesh = |last: [f64; 3], cells: Vec<[u32; 4]>| -> VolumeMesh {
        let points = corners.into_iter().chain([last]).map(DVec3::from);
        let mut mesh = VolumeMesh::from(TetMesh {
            points: points.collect(),
            tetrahedra: cells,
            ..TetMesh::default()
        });
        let mut tagged = Polygons::default();
        tagged.push(&[1, 2, 3]);
        tagged.push(&[0, 2, 1]);
        (mesh.faces, mesh.face_tags) = (tagged, vec![4, 5]);
        mesh
    };
    let on_edge = mesh(
        [1.0, 1.0, 0.0],
        vec![[0, 1, 2, 3], [0, 5, 1, 4], [0, 2, 5, 4]],
    );
    let conformed = tetrahedra(on_edge).unwrap();
    assert_eq!(
        (conformed.mesh.points.len(), &conformed.parents[..]),
        (6, &[0, 0, 1, 2][..])
    );
    assert_eq!(conformed.mesh.face_tags, [4, 4, 5, 5]);
    let in_face = mesh(
        [0.5, 0.5, 0.0],
        vec![[0, 1, 2, 3], [0, 5, 1, 4], [1, 5, 2, 4], [2, 5, 0, 4]],
    );
    let conformed = tetrahedra(in_face).unwrap();
    assert_eq!((conformed.left, conformed.mesh.cells.len()), (0, 6 + 3));
    assert_eq!(conformed.mesh.face_tags, [4, 5, 5, 5]);
    assert!((volume_of(&conformed.mesh) - 8.0 / 3.0).abs() < 1e-12);
    let mut mixed = MixedCells::default();
    mixed.push(&[0, 1, 2, 3]);
    mixed.push(&[0, 2, 5, 1, 4]);
    let mut pyramid = mesh([1.0, 1.0, 0.0], Vec::new());
    pyramid.cells = Cells::Mixed(mixed);
    let error = tetrahedra(pyramid).unwrap_err().to_string();
    assert!(error.contains("`convert --tetrahedra`"), "{error}");
}
