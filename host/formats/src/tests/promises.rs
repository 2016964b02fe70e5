//! The promise of docs/FORMATS.md, format by format: a part of a mesh comes back as it was, or a note names it. A part
//! that the format's table calls kept always comes back.

use std::sync::Arc;

use super::*;
use crate::tests::fields::all_fields;
use crate::volume::VolumeFormat;
use trioxide_mesh::about::{About, GltfMaterials, GroupNames};
use trioxide_mesh::fields::{Field, Fields, MeshFields, Values};
use trioxide_mesh::mesh::VertexAttributes;
use trioxide_mesh::volume::{Cells, VolumeMesh};

/// Compares a mesh as it was written with the same as it was read, part by part.
struct Promise<'a> {
    format: &'a str,
    notes: String,
}

impl Promise<'_> {
    /// The part came back, or a note has one of `words`. With `is_kept` only the first will do.
    fn part(&self, words: &[&str], is_same: bool, is_kept: bool) {
        let is_said = words.iter().any(|word| self.notes.contains(word));
        assert!(
            is_same || (is_said && !is_kept),
            "{} loses {}, and its notes are {:?}",
            self.format,
            words[0],
            self.notes
        );
    }

    fn fields(&self, written: &MeshFields, read: &MeshFields) {
        let lists = [
            (&written.points, &read.points),
            (&written.cells, &read.cells),
            (&written.sides, &read.sides),
        ];
        for (written, read) in lists {
            for field in written {
                let is_same = read.get(&field.name) == Some(field);
                self.part(&[&field.name], is_same, false);
            }
        }
    }
}

/// A square of two triangles and a hole's worth of vertices, with all that a mesh can have. Each format holds its
/// coordinates exactly.
fn surface() -> Mesh {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let segment = |(ends, marker)| Segment { ends, marker };
    let mut sides = Fields::default();
    sides.push(Field::scalars("flow", vec![0.5, -1.0]));
    Mesh {
        points: corners.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3]]),
        regions: Some(vec![4, 2]),
        segments: [([0, 1], 7), ([2, 0], 3)].map(segment).to_vec(),
        attributes: VertexAttributes {
            normals: Some(vec![DVec3::Z; 4]),
            colors: Some((0..4).map(|i| [i, 200, 3, 90 + i]).collect()),
            uvs: Some(corners.map(|(x, y)| glam::DVec2::new(x, y / 4.0)).to_vec()),
        },
        fields: MeshFields {
            points: all_fields("point"),
            cells: [
                Field::scalars("load", vec![0.25, 8.0]),
                Field::scalars("group", vec![0, 1]),
                Field {
                    name: "color".to_owned(),
                    components: 3,
                    values: vec![10_u8, 20, 30, 1, 0, 1].into(),
                },
            ]
            .into_iter()
            .collect(),
            sides,
        },
        about: Arc::new(About {
            gltf_materials: Some(GltfMaterials {
                json: r#"{"images":[{"bufferView":0,"mimeType":"image/png"}],"textures":[{"source":0}]}"#.to_owned(),
                images: vec![vec![1, 2, 3, 4, 5]],
            }),
            names: [("group".to_owned(), NAMES.map(str::to_owned).to_vec())].into(),
            material_libraries: vec!["skin.mtl".to_owned()],
            textures: vec!["skin.png".to_owned()],
            ..groups()
        }),
    }
}

/// Names of some groups.
fn groups() -> About {
    let names = [((1, 7), "Inlet"), ((2, 4), "left side"), ((2, 9), "wall")];
    let names = names.map(|(place, name)| (place, name.to_owned()));
    About::of_groups(names.into())
}

/// Names of the groups of [`surface`].
const NAMES: [&str; 2] = ["left wall", "roof"];

/// Two triangles whose common side has other texture coordinates in each.
fn seam() -> Mesh {
    let points = [0, 1, 2, 0, 2, 3].map(|i| surface().points[i]);
    let uvs = [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 0.5),
        (0.25, 0.0),
        (0.75, 0.5),
        (0.0, 1.0),
    ];
    Mesh {
        points: points.to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [3, 4, 5]]),
        attributes: VertexAttributes {
            uvs: Some(uvs.map(glam::DVec2::from).to_vec()),
            ..VertexAttributes::default()
        },
        ..Mesh::default()
    }
}

/// The points of each face, with their texture coordinates.
fn corners_of(mesh: &Mesh) -> Vec<Vec<(DVec3, glam::DVec2)>> {
    let uvs = mesh.attributes.uvs.clone().unwrap_or_default();
    let at = |&v: &u32| (mesh.points[v as usize], uvs[v as usize]);
    let faces = faces_of(mesh).into_iter();
    faces.map(|face| face.iter().map(at).collect()).collect()
}

#[test]
fn surfaces_come_back_or_a_note_names_the_part() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS.iter().filter(|f| f.is_read() && f.is_written()) {
        for extension in format.extensions.iter().filter(|e| !e.starts_with("pvt")) {
            let path = folder.path().join("m").with_extension(extension);
            let mesh = surface();
            write(&path, &mesh).unwrap();
            let (back, _) = read_with_notes(&path).unwrap();
            let promise = Promise {
                format: extension,
                notes: format.losses(&mesh, Encoding::default()).join("\n"),
            };
            let [has, got] = [&mesh.attributes, &back.attributes];
            let places = |mesh: &Mesh| -> Vec<Vec<DVec3>> {
                let of = |face: Vec<u32>| face.iter().map(|&v| mesh.points[v as usize]).collect();
                faces_of(mesh).into_iter().map(of).collect()
            };
            // STL has corners, not vertices.
            if format.name != "STL" {
                assert_eq!(back.points, mesh.points, "{extension}");
            }
            let keeps = format.keeps_faces();
            promise.part(&["faces"], places(&back) == places(&mesh), keeps);
            let keeps = format.keeps_regions;
            promise.part(&["regions"], back.regions == mesh.regions, keeps);
            let keeps = format.keeps_segments;
            let is_same = back.segments == mesh.segments;
            promise.part(&["segments", "markers"], is_same, keeps);
            let keeps = format.keeps_normals;
            promise.part(&["normals"], got.normals == has.normals, keeps);
            let channels = |mesh: &Mesh, wanted: std::ops::Range<usize>| {
                let colors = mesh.attributes.colors.clone().unwrap_or_default();
                let pick = |color: &[u8; 4]| color[wanted.clone()].to_vec();
                colors.iter().map(pick).collect::<Vec<_>>()
            };
            let is_same = channels(&back, 0..3) == channels(&mesh, 0..3);
            promise.part(&["colours"], is_same, format.keeps_colors);
            let is_same = channels(&back, 3..4) == channels(&mesh, 3..4);
            promise.part(&["transparency", "colours"], is_same, format.keeps_alpha);
            promise.part(
                &["texture coordinates"],
                got.uvs == has.uvs,
                format.keeps_uvs,
            );
            let materials = |mesh: &Mesh| mesh.about.gltf_materials.clone();
            promise.part(
                &["materials and images"],
                materials(&back) == materials(&mesh),
                format.keeps_gltf_materials,
            );
            let names = |mesh: &Mesh| names_in_use(&mesh.about, &[7, 4]);
            let keeps = format.keeps_groups;
            promise.part(&["names of groups"], names(&back) == names(&mesh), keeps);
            promise.fields(&mesh.fields, &back.fields);
            let [about, held] = [&mesh.about, &back.about];
            let keeps = format.named_fields.contains(&"group");
            let is_same = held.names.get("group") == about.names.get("group");
            promise.part(&["names of numbers", "group"], is_same, keeps);
            let is_same = held.material_libraries == about.material_libraries;
            promise.part(&["files of materials"], is_same, format.keeps_materials);
            let is_same = held.textures == about.textures;
            promise.part(&["files of textures"], is_same, format.keeps_textures);
            if format.keeps_uvs {
                let mesh = seam();
                write(&path, &mesh).unwrap();
                let back = read(&path).unwrap();
                assert_eq!(corners_of(&back), corners_of(&mesh), "{extension}");
            }
        }
    }
}

/// The names of groups with these numbers: files may lack the others.
fn names_in_use(about: &About, numbers: &[i32]) -> GroupNames {
    let mut names = about.groups.clone();
    names.retain(|(_, number), _| numbers.contains(number));
    names
}

#[test]
fn volumes_come_back_or_a_note_names_the_part() {
    let folder = tempfile::tempdir().unwrap();
    let surface = surface();
    let mut mesh = VolumeMesh {
        points: surface.points.clone(),
        cells: Cells::Tetrahedra(vec![[0, 1, 2, 3]]),
        regions: Some(vec![5]),
        face_tags: vec![9],
        fields: MeshFields {
            points: all_fields("point"),
            cells: [Field::scalars("heat", vec![0.25])].into_iter().collect(),
            sides: [Field::scalars("flow", vec![3.5])].into_iter().collect(),
        },
        faces: Default::default(),
        about: Arc::new(groups()),
    };
    mesh.points[3].z = 1.0;
    mesh.faces.push(&[0, 2, 1]);
    for format in VolumeFormat::all() {
        for extension in format.extensions.iter().filter(|e| !e.starts_with("pvt")) {
            let path = folder.path().join("v").with_extension(extension);
            write_volume(&path, &mesh).unwrap();
            let (back, _) = read_volume_with_notes(&path).unwrap();
            let promise = Promise {
                format: extension,
                notes: format.losses(&mesh).join("\n"),
            };
            let parts = |mesh: &VolumeMesh| {
                let faces = (mesh.faces.clone(), mesh.face_tags.clone());
                (
                    mesh.points.clone(),
                    mesh.cells.clone(),
                    mesh.regions.clone(),
                    faces,
                )
            };
            assert_eq!(parts(&back), parts(&mesh), "{extension}");
            let names = |mesh: &VolumeMesh| names_in_use(&mesh.about, &[9]);
            promise.part(&["names of groups"], names(&back) == names(&mesh), false);
            promise.fields(&mesh.fields, &back.fields);
        }
    }
}

/// A note that names too much would hide a loss: it names the lost fields alone.
#[test]
fn a_note_names_no_field_that_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS.iter().filter(|f| f.is_read() && f.is_written()) {
        let mut mesh = surface();
        mesh.fields.points = Fields::default();
        mesh.fields.points.push(Field::scalars(
            "heat",
            Values::from(vec![0.5, 1.5, 2.5, 4.0]),
        ));
        let path = folder.path().join("m").with_extension(format.extensions[0]);
        write(&path, &mesh).unwrap();
        let back = read(&path).unwrap();
        let notes = format.losses(&mesh, Encoding::default()).join("\n");
        let is_same = back.fields.points == mesh.fields.points;
        assert_eq!(is_same, !notes.contains("heat"), "{}: {notes}", format.name);
    }
}
