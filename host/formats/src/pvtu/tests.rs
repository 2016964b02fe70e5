//! Pieces that are read together give the mesh.

use std::fs;

use glam::{DVec2, DVec3};
use trioxide_mesh::fields::Field;
use trioxide_mesh::mesh::{Faces, Polygons, Segment, VertexAttributes};
use trioxide_mesh::polyhedra::{PolyhedraBuilder, TaggedFace};

use super::*;
use crate::{read, read_polyhedra, read_volume};

/// Writes the pieces of a mesh. Returns the file of the list.
fn write_pieces(folder: &Path, mesh: Cells, count: usize) -> std::path::PathBuf {
    let path = folder.join("all.pvtu");
    let names = piece_names(&path, count);
    let mut cut = Cut::new(mesh, count);
    for (k, name) in names.iter().enumerate() {
        let piece = cut.next_piece();
        fs::write(folder.join(name), piece.to_bytes()).unwrap();
        if k == 0 {
            piece.write_list(&path, &names).unwrap();
        }
    }
    path
}

/// The place of each of `count` vertices in the pieces, without duplicates, from their ids.
fn firsts(fields: &mut MeshFields, count: usize) -> (Vec<i64>, Vec<u32>) {
    let mut take = |name: &str| {
        let values = fields.points.take(name).expect(name).values;
        (0..values.len())
            .map(|i| values.i64(i))
            .collect::<Vec<i64>>()
    };
    let (ids, ghosts) = (take("vertex"), take(GHOSTS));
    let mut firsts = vec![u32::MAX; count];
    for (place, (&id, ghost)) in (0..).zip(ids.iter().zip(ghosts)) {
        let first = &mut firsts[id as usize];
        assert_eq!(ghost != 0, *first != u32::MAX, "vertex {id}");
        if ghost == 0 {
            *first = place;
        }
    }
    assert!(!firsts.contains(&u32::MAX), "a vertex is in no piece");
    (ids, firsts)
}

fn by_ids(ids: &[i64]) -> impl Fn(&mut u32) {
    |v| *v = ids[*v as usize] as u32
}

/// A surface of faces of all sizes with all attributes and fields, and a vertex without a face.
fn surface() -> Mesh {
    let points: Vec<DVec3> = (0..9_u32)
        .map(|i| DVec3::new((i % 3).into(), (i / 3).into(), 0.5))
        .collect();
    let mut faces = Polygons::default();
    for face in [&[0, 1, 4, 3][..], &[1, 2, 4], &[2, 5, 4], &[3, 4, 7]] {
        faces.push(face);
    }
    let mut fields = MeshFields::default();
    fields.points.push(Field {
        name: "a < b".to_owned(),
        components: 2,
        values: (0..18_i16).collect::<Vec<_>>().into(),
    });
    fields
        .points
        .push(Field::scalars("vertex", vec![0.5_f32; 9]));
    fields
        .cells
        .push(Field::scalars("layer", vec![7_u8, 8, 9, 10]));
    fields.sides.push(Field::scalars("layer", vec![3_u8, 4]));
    Mesh {
        regions: Some(vec![4, -1, 4, 2]),
        segments: [[1, 4], [8, 5]]
            .map(|ends| Segment {
                ends,
                marker: ends[0] as i32,
            })
            .to_vec(),
        attributes: VertexAttributes {
            normals: Some(points.clone()),
            // One colour has an alpha.
            colors: Some(
                (0..9_u8)
                    .map(|i| [i, 0, 1, if i == 3 { 9 } else { 255 }])
                    .collect(),
            ),
            uvs: Some(points.iter().map(|p| DVec2::new(p.y, p.x)).collect()),
        },
        faces: Faces::Polygons(faces),
        points,
        fields,
        about: Default::default(),
    }
}

#[test]
fn pieces_of_a_surface_are_the_surface() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = surface();
    for triangles in [false, true] {
        if triangles {
            expected.faces = Faces::Triangles(vec![[0, 1, 4], [1, 2, 4], [2, 5, 4], [3, 4, 7]]);
            expected.segments.clear();
            expected.fields.sides = Default::default();
        }
        for count in [1, 2, 3, 7] {
            let path = write_pieces(folder.path(), Cells::Surface(expected.clone()), count);
            let mut mesh = read(&path).unwrap();
            // The ids got the free name.
            let vertex = mesh.fields.points.take("vertex").unwrap();
            let mut ids = mesh.fields.points.take("vertex_2").unwrap();
            ids.name = "vertex".to_owned();
            mesh.fields.points.push(ids);
            let (ids, firsts) = firsts(&mut mesh.fields, 9);
            let name = by_ids(&ids);
            let faces = (0..mesh.faces.len()).map(|i| {
                let mut face = mesh.faces.get(i).to_vec();
                face.iter_mut().for_each(&name);
                face
            });
            let wanted = (0..4).map(|i| expected.faces.get(i).to_vec());
            assert_eq!(faces.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
            mesh.segments
                .iter_mut()
                .for_each(|s| s.ends.iter_mut().for_each(&name));
            assert_eq!(mesh.segments, expected.segments, "{count} pieces");
            assert_eq!(mesh.regions, expected.regions);
            let point = |&v: &u32| mesh.points[v as usize];
            assert_eq!(
                firsts.iter().map(point).collect::<Vec<_>>(),
                expected.points
            );
            let attributes = &mesh.attributes;
            let of = |v: &u32| {
                let v = *v as usize;
                let normal = attributes.normals.as_ref().unwrap()[v];
                (
                    normal,
                    attributes.colors.as_ref().unwrap()[v],
                    attributes.uvs.as_ref().unwrap()[v],
                )
            };
            let wanted = &expected.attributes;
            for (v, place) in firsts.iter().enumerate() {
                let (normal, color, uv) = of(place);
                assert_eq!(Some(normal), wanted.normals.as_ref().map(|all| all[v]));
                assert_eq!(Some(color), wanted.colors.as_ref().map(|all| all[v]));
                assert_eq!(Some(uv), wanted.uvs.as_ref().map(|all| all[v]));
            }
            mesh.fields.points.push(vertex);
            let fields = MeshFields {
                points: mesh.fields.points.gather(&firsts),
                ..mesh.fields.clone()
            };
            assert_eq!(fields, expected.fields, "{count} pieces");
        }
    }
    let list = fs::read_to_string(folder.path().join("all.pvtu")).unwrap();
    for array in [
        "type=\"Int16\" Name=\"a &lt; b\" NumberOfComponents=\"2\"",
        "type=\"UInt8\" Name=\"RGBA\" NumberOfComponents=\"4\"",
        "type=\"Int32\" Name=\"region\"",
        "Source=\"all_6.vtu\"",
    ] {
        assert!(list.contains(array), "{list}");
    }
}

#[test]
fn pieces_of_a_volume_mesh_are_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let tets = trioxide::generate::tet_grid(27, 2).unwrap();
    let mut expected = VolumeMesh::from(tets);
    expected.points.push(DVec3::NEG_ONE);
    let (points, cells, faces) = (
        expected.points.len(),
        expected.cells.len(),
        expected.faces.len(),
    );
    expected.regions = Some((0..cells as i32).map(|i| i % 4 - 1).collect());
    let numbers = |n: usize| (1..=n).map(|i| i as f64).collect::<Vec<f64>>();
    let fields = &mut expected.fields;
    fields
        .points
        .push(Field::scalars("height", numbers(points)));
    fields.cells.push(Field::scalars("load", numbers(cells)));
    fields.sides.push(Field::scalars("flow", numbers(faces)));
    for count in [1, 3, cells + 2] {
        let path = write_pieces(folder.path(), Cells::Volume(expected.clone()), count);
        let mut mesh = read_volume(&path).unwrap();
        let (ids, firsts) = firsts(&mut mesh.fields, points);
        let name = by_ids(&ids);
        let trioxide_mesh::volume::Cells::Tetrahedra(tetrahedra) = &mut mesh.cells else {
            panic!("tetrahedra")
        };
        tetrahedra.as_flattened_mut().iter_mut().for_each(&name);
        mesh.faces.vertices.iter_mut().for_each(&name);
        mesh.points = firsts.iter().map(|&v| mesh.points[v as usize]).collect();
        mesh.fields.points = mesh.fields.points.gather(&firsts);
        assert!(mesh == expected, "{count} pieces");
    }
}

/// A row of cubes; neighbours share a face.
#[test]
fn pieces_of_polyhedra_are_the_polyhedra() {
    let folder = tempfile::tempdir().unwrap();
    let mut builder = PolyhedraBuilder::default();
    for i in 0..5 {
        let v = |k: u32| 4 * i + k;
        let faces = [
            [0, 1, 2, 3],
            [4, 7, 6, 5],
            [0, 4, 5, 1],
            [1, 5, 6, 2],
            [2, 6, 7, 3],
            [3, 7, 4, 0],
        ];
        // Counter-clockwise as seen from outside.
        let faces = faces.map(|face| face.map(v).into_iter().rev().collect::<Vec<u32>>());
        builder.push(&faces).unwrap();
    }
    let corner = |v: u32| {
        let [y, z] = [[0, 0], [1, 0], [1, 1], [0, 1]][v as usize % 4];
        DVec3::new((v / 4).into(), y.into(), z.into())
    };
    let mut expected = builder.finish().unwrap();
    expected.points = (0..24).map(corner).collect();
    expected.regions = Some(vec![1, 2, 3, 4, 5]);
    let tagged = [25, 1, 6, 0];
    expected.tagged = tagged
        .map(|face| TaggedFace {
            face,
            tag: 10 + face as i32,
        })
        .to_vec();
    let fields = &mut expected.fields;
    fields
        .points
        .push(Field::scalars("height", (0..24_i64).collect::<Vec<_>>()));
    fields
        .cells
        .push(Field::scalars("load", vec![5_u8, 4, 3, 2, 1]));
    fields
        .sides
        .push(Field::scalars("flow", vec![1.5, 2.5, 3.5, 4.5]));
    for count in [1, 2, 3, 7] {
        let path = write_pieces(folder.path(), Cells::Polyhedra(expected.clone()), count);
        let (mut solids, mut tags) = (Vec::new(), Vec::new());
        for name in piece_names(&path, count) {
            let piece = read_polyhedra(&folder.path().join(name)).unwrap();
            let of = |name: &str| piece.fields.points.get(name).map(|field| &field.values);
            let at = |v: u32| {
                let v = v as usize;
                let id = of("vertex").unwrap().i64(v);
                assert_eq!(of("height").unwrap().i64(v), id);
                assert_eq!(piece.points[v], expected.points[id as usize]);
                id as u32
            };
            for p in 0..piece.len() {
                let sides = piece.sides_of(p).iter();
                let sides = sides.map(|&side| piece.vertices_of(side).map(at).collect::<Vec<_>>());
                let load = piece.fields.cells.get("load").unwrap().values.i64(p);
                let region = piece.regions.as_ref().unwrap()[p];
                solids.push((sides.collect::<Vec<_>>(), load, region));
            }
            for (i, tagged) in piece.tagged.iter().enumerate() {
                let flow = piece.fields.sides.get("flow").unwrap().values.f64(i);
                let mut face: Vec<u32> = piece.faces.get(tagged.face as usize).to_vec();
                face.iter_mut().for_each(|v| *v = at(*v));
                face.sort_unstable();
                tags.push((face, tagged.tag, flow));
            }
        }
        let wanted = (0..5).map(|p| {
            let sides = expected.sides_of(p).iter();
            let sides = sides.map(|&side| expected.vertices_of(side).collect::<Vec<_>>());
            (sides.collect::<Vec<_>>(), 5 - p as i64, 1 + p as i32)
        });
        assert_eq!(solids, wanted.collect::<Vec<_>>(), "{count} pieces");
        let wanted = expected.tagged.iter().zip([1.5, 2.5, 3.5, 4.5]);
        let mut wanted: Vec<_> = wanted
            .map(|(tagged, flow)| {
                let mut face = expected.faces.get(tagged.face as usize).to_vec();
                face.sort_unstable();
                (face, tagged.tag, flow)
            })
            .collect();
        wanted.sort_by_key(|(_, tag, _)| *tag);
        tags.sort_by_key(|(_, tag, _)| *tag);
        assert_eq!(tags, wanted, "{count} pieces");
    }
}
