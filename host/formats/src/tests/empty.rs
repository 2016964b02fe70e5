//! Meshes without faces, cells or vertices: every writer writes or refuses them.

use super::*;
use crate::volume::{VolumeFormat, WriteOptions, write_volume_as};
use trioxide_mesh::fields::{Field, MeshFields};
use trioxide_mesh::mesh::{EdgeTriangulation, Polygons, VertexAttributes};
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::{Cells, MixedCells, VolumeMesh};

/// Every encoding and version; a format refuses the ones that it does not have.
fn options() -> impl Iterator<Item = WriteOptions> {
    let encodings = [
        None,
        Some(Encoding::Binary),
        Some(Encoding::BigEndian),
        Some(Encoding::Text),
        Some(Encoding::Compressed),
    ];
    let versions = [MshVersion::V2, MshVersion::V4];
    encodings.into_iter().flat_map(move |encoding| {
        versions.map(|msh_version| WriteOptions {
            encoding,
            msh_version,
        })
    })
}

/// Fields of `points` points, and of no other element.
fn fields(points: usize) -> MeshFields {
    let mut fields = MeshFields::default();
    let heights = vec![0.5; points];
    fields.points.push(Field::scalars("height", heights));
    for of in [&mut fields.cells, &mut fields.sides] {
        of.push(Field::scalars("label", Vec::<i32>::new()));
        of.push(Field {
            name: "flow".to_owned(),
            components: 3,
            values: Vec::<f32>::new().into(),
        });
    }
    fields
}

/// Meshes without faces, and with faces but without vertices.
fn surfaces() -> Vec<Mesh> {
    let triangles = Faces::Triangles(Vec::new());
    let without_offsets = Polygons {
        offsets: Vec::new(),
        vertices: Vec::new(),
    };
    let mut none_of_no_vertices = Polygons::default();
    none_of_no_vertices.push(&[]);
    let all = [
        triangles,
        Faces::Polygons(Polygons::default()),
        Faces::Polygons(without_offsets),
        Faces::Polygons(none_of_no_vertices),
    ];
    let mut meshes = Vec::new();
    for faces in all {
        for points in [0, 2] {
            let points = vec![DVec3::new(0.5, -1.0, 0.0); points];
            let plain = Mesh {
                points: points.clone(),
                faces: faces.clone(),
                ..Mesh::default()
            };
            let mut full = Mesh {
                regions: Some(vec![7; faces.len()]),
                attributes: VertexAttributes {
                    normals: Some(points.clone()),
                    colors: Some(vec![[1, 2, 3, 4]; points.len()]),
                    uvs: Some(points.iter().map(|p| p.truncate()).collect()),
                },
                ..plain.clone()
            };
            if faces.is_empty() {
                full.fields = fields(points.len());
            }
            if !points.is_empty() && full.fields.is_empty() {
                full.segments.push(Segment {
                    ends: [0, 1],
                    marker: 3,
                });
            }
            meshes.extend([plain, full]);
        }
    }
    meshes
}

#[test]
fn every_format_writes_or_refuses_surfaces_without_faces() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = 0;
    for (k, mesh) in surfaces().iter().enumerate() {
        for format in FORMATS.iter().filter(|format| format.write.is_some()) {
            for (i, options) in options().enumerate() {
                let name = format!("{k}-{i}.{}", format.extensions[0]);
                let path = folder.path().join(&name);
                if write_as(&path, mesh, options).is_err() {
                    continue;
                }
                written += 1;
                if !format.is_read() || !mesh.faces.is_empty() {
                    continue;
                }
                let read = read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(read.faces.len(), 0, "{name}");
                if format.name != "STL" {
                    assert_eq!(read.points.len(), mesh.points.len(), "{name}");
                }
            }
        }
    }
    assert!(written > 500, "{written}");
    let path = folder.path().join("none.edges");
    for layout in [crate::edges::Layout::Ends, crate::edges::Layout::Points] {
        crate::edges::write(&path, &EdgeTriangulation::default(), &[], layout).unwrap();
    }
    let piece = pvtu::Piece::of_surface(Mesh::default(), Vec::new(), Vec::new(), false);
    let list = folder.path().join("none.pvtu");
    piece
        .write_list(&list, &pvtu::piece_names(&list, 0))
        .unwrap();
}

#[test]
fn every_format_writes_or_refuses_volumes_without_cells() {
    let folder = tempfile::tempdir().unwrap();
    let without_offsets = MixedCells {
        offsets: Vec::new(),
        vertices: Vec::new(),
    };
    let mut written = 0;
    for (k, cells) in [
        Cells::Tetrahedra(Vec::new()),
        Cells::Mixed(MixedCells::default()),
        Cells::Mixed(without_offsets),
    ]
    .into_iter()
    .enumerate()
    {
        for points in [0, 3] {
            let mut mesh = VolumeMesh {
                points: vec![DVec3::ONE; points],
                cells: cells.clone(),
                regions: None,
                faces: Polygons::default(),
                face_tags: Vec::new(),
                fields: MeshFields::default(),
                about: Default::default(),
            };
            let mut meshes = vec![mesh.clone()];
            mesh.regions = Some(Vec::new());
            mesh.fields = fields(points);
            meshes.push(mesh.clone());
            if points > 0 {
                mesh.faces.push(&[0, 1, 2]);
                mesh.face_tags.push(5);
                mesh.fields = MeshFields::default();
                meshes.push(mesh);
            }
            for (m, mesh) in meshes.iter().enumerate() {
                for format in VolumeFormat::all() {
                    for (i, options) in options().enumerate() {
                        let name = format!("{k}-{points}-{m}-{i}.{}", format.extensions[0]);
                        let path = folder.path().join(&name);
                        written += usize::from(write_volume_as(&path, mesh, options).is_ok());
                    }
                }
            }
        }
    }
    assert!(written > 100, "{written}");
    let none = PolyhedralMesh::default();
    let polyhedra = PolyhedraFormat::all().iter();
    let polyhedra = polyhedra.map(|format| (format.extensions[0], format.encodings));
    let of_faces = ["a.off", "a.ply"].map(|name| Format::to_write(Path::new(name)).unwrap());
    let of_faces = of_faces.map(|format| (format.extensions[0], format.encodings));
    for (extension, encodings) in polyhedra.chain(of_faces) {
        for encoding in encodings
            .iter()
            .map(|&encoding| Some(encoding))
            .chain([None])
        {
            let path = folder.path().join("a").with_extension(extension);
            write_polyhedra(&path, &none, encoding).unwrap();
        }
    }
}
