//! Readers: the input's bytes are read as a file; the result is checked, written and read again.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use trioxide::fields::{Field, Fields};
use trioxide::formats::volume::{MshVersion, VolumeFormat, WriteOptions};
use trioxide::formats::{self, Encoding, Format, KeptTags, PolyhedraFormat};
use trioxide::generate;
use trioxide::glam::DVec3;
use trioxide::mesh::{Mesh, Segment};
use trioxide::polyhedra::Options;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::volume::VolumeMesh;
use trioxide_reference as reference;
use trioxide_verify::validate;

use crate::{Target, cpu};

/// Separates the files of a format that has several.
const NEXT_FILE: u8 = 1;
/// The files of such a format, in this order.
const PARTS: [&str; 4] = ["node", "ele", "poly", "face"];

/// A target for each extension that is read.
pub fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    for format in Format::all().iter().filter(|format| format.is_read()) {
        for &extension in names(format.extensions) {
            targets.push(Target {
                name: format!("read-{extension}"),
                family: None,
                seeds: Box::new(move || seeds(extension, false)),
                run: Box::new(move |data| surface(extension, data)),
            });
        }
    }
    for format in VolumeFormat::all() {
        for &extension in names(format.extensions) {
            targets.push(Target {
                name: format!("read-volume-{extension}"),
                family: None,
                seeds: Box::new(move || seeds(extension, true)),
                run: Box::new(move |data| volume(extension, data)),
            });
        }
    }
    for format in PolyhedraFormat::all() {
        // Of a format of several files there is no target.
        for &extension in format.extensions {
            if !matches!(extension, "foam" | "pvtu") {
                targets.push(Target {
                    name: format!("read-polyhedra-{extension}"),
                    family: None,
                    seeds: Box::new(move || polyhedra_seeds(format, extension)),
                    run: Box::new(move |data| polyhedra(format, extension, data)),
                });
            }
        }
    }
    targets
}

/// Polyhedra written by trioxide, in each encoding, with regions, tags and fields, and with joined faces.
fn polyhedra_seeds(format: &PolyhedraFormat, extension: &str) -> Vec<Vec<u8>> {
    let mut tets = generate::random_tets(24, 2).expect("a mesh");
    tets.regions = Some((0..tets.tetrahedra.len() as i32).map(|i| i % 3).collect());
    let lists = reference::polyhedra::<DVec3>(&tets, Options::default());
    let mut mesh = PolyhedralMesh::new(&tets, &lists).expect("a small mesh");
    let heights: Vec<f64> = mesh.points.iter().map(|p| p.z).collect();
    mesh.fields.points.push(Field::scalars("height", heights));
    let numbers: Vec<u32> = (0..mesh.len() as u32).collect();
    mesh.fields.cells.push(Field::scalars("number", numbers));
    let path = unused("seed-polyhedra", extension);
    // A format of one encoding leaves no choice.
    let mut encodings: Vec<_> = format.encodings.iter().copied().map(Some).collect();
    if encodings.is_empty() {
        encodings.push(None);
    }
    let mut seeds = Vec::new();
    for mesh in [&mesh, &mesh.merge_coplanar(), &PolyhedralMesh::default()] {
        for &encoding in &encodings {
            formats::write_polyhedra(&path, mesh, encoding).expect("it is written");
            seeds.push(std::fs::read(&path).expect("it was written"));
        }
    }
    // The layout of VTK 9.4.
    if extension == "vtu" {
        seeds.push(NEW_LAYOUT.as_bytes().to_vec());
    }
    seeds
}

/// A tetrahedron by `polyhedron_to_faces`.
const NEW_LAYOUT: &str = r#"<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="2.3" byte_order="LittleEndian" header_type="UInt64">
<UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points>
<Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">42</DataArray>
<DataArray type="Int64" Name="face_connectivity" format="ascii">0 2 1 0 1 3 1 2 3 0 3 2</DataArray>
<DataArray type="Int64" Name="face_offsets" format="ascii">3 6 9 12</DataArray>
<DataArray type="Int64" Name="polyhedron_to_faces" format="ascii">0 1 2 3</DataArray>
<DataArray type="Int64" Name="polyhedron_offsets" format="ascii">4</DataArray>
</Cells></Piece></UnstructuredGrid></VTKFile>
"#;

/// The result is valid; written and read again it is the same.
fn polyhedra(format: &PolyhedraFormat, extension: &str, data: &[u8]) {
    let path = lay_out("polyhedra", extension, data);
    formats::is_polyhedra(&path);
    let Ok(mesh) = formats::read_polyhedra(&path) else {
        return;
    };
    let points = mesh.points.len();
    for face in mesh.faces.iter() {
        assert!(face.len() > 2, "face {face:?}");
        assert!(
            face.iter().all(|&v| (v as usize) < points),
            "face {face:?} of {points} vertices"
        );
    }
    let count = |fields: &Fields, n| fields.check(n, "elements").expect("as many as elements");
    count(&mesh.fields.points, points);
    count(&mesh.fields.cells, mesh.len());
    count(&mesh.fields.sides, mesh.tagged.len());
    let again = unused("again-polyhedra", extension);
    let encoding = format.encodings.first().copied();
    formats::write_polyhedra(&again, &mesh, encoding).expect("it is written");
    let read = formats::read_polyhedra(&again).expect("what was written is read");
    same_points(&read.points, &mesh.points);
    assert_eq!(read.faces, mesh.faces, "faces written and read again");
    assert_eq!(read.sides, mesh.sides, "sides written and read again");
    if format.keeps_regions {
        assert_eq!(read.regions, mesh.regions, "regions written and read again");
    }
    if format.keeps_tags == KeptTags::All {
        assert_eq!(read.tagged, mesh.tagged, "tags written and read again");
    }
    _ = mesh.merge_coplanar();
}

/// The names of the extensions; for a pair of files only the first.
fn names(extensions: &'static [&'static str]) -> &'static [&'static str] {
    match is_several(extensions[0]) {
        true => &extensions[..1],
        false => extensions,
    }
}

fn is_several(extension: &str) -> bool {
    extension == PARTS[0]
}

/// A folder for the files, in memory if the system has such a folder.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let given = std::env::var_os("TRIOXIDE_FUZZ_FOLDER").map(PathBuf::from);
        let folder = given.unwrap_or_else(|| {
            let name = format!("trioxide-fuzz-{}", std::process::id());
            std::env::temp_dir().join(name)
        });
        std::fs::create_dir_all(&folder).expect("a folder for the files");
        folder
    })
}

/// Writes the input as a file, or as several. Returns the first one's path.
fn lay_out(kind: &str, extension: &str, data: &[u8]) -> PathBuf {
    let path = folder().join(format!("{kind}.{extension}"));
    if !is_several(extension) {
        std::fs::write(&path, data).expect("the file is written");
        return path;
    }
    let mut parts = data.split(|&byte| byte == NEXT_FILE);
    for name in PARTS {
        let part = path.with_extension(name);
        match parts.next() {
            Some(bytes) => std::fs::write(part, bytes).expect("the file is written"),
            None => _ = std::fs::remove_file(part),
        }
    }
    path
}

/// A path without a file, and without files that would count as its parts.
pub fn unused(name: &str, extension: &str) -> PathBuf {
    let path = folder().join(format!("{name}.{extension}"));
    for part in PARTS {
        _ = std::fs::remove_file(path.with_extension(part));
    }
    path
}

/// The content of the file, or of the files joined to one.
fn gather(path: &Path, extension: &str) -> Vec<u8> {
    if !is_several(extension) {
        return std::fs::read(path).expect("the file was written");
    }
    let mut bytes = Vec::new();
    for (i, name) in PARTS.iter().enumerate() {
        if i > 0 {
            bytes.push(NEXT_FILE);
        }
        bytes.extend(std::fs::read(path.with_extension(name)).unwrap_or_default());
    }
    bytes
}

fn surface(extension: &str, data: &[u8]) {
    let path = lay_out("surface", extension, data);
    formats::is_volume(&path);
    let Ok((mesh, _)) = formats::read_with_notes(&path) else {
        return;
    };
    check_surface(&mesh);
    let format = Format::to_read(&path).expect("it was read");
    let encoding = format.encodings.first().copied();
    if format
        .losses(&mesh, encoding.unwrap_or_default())
        .is_empty()
    {
        let again = unused("again", extension);
        // A format may refuse a mesh: `.node` takes only triangles.
        if formats::write_encoded(&again, &mesh, encoding).is_ok() {
            let read = formats::read(&again).expect("what was written is read");
            same_points(&read.points, &mesh.points);
            let faces = |mesh: &Mesh| -> Vec<(Vec<u32>, i32)> {
                let region = |i| mesh.regions.as_ref().map_or(0, |regions| regions[i]);
                let mut faces: Vec<_> = (0..mesh.faces.len())
                    .map(|i| (mesh.faces.get(i).to_vec(), region(i)))
                    .collect();
                // These files have a block for the elements of each type and region.
                if matches!(extension, "inp" | "msh") {
                    faces.sort();
                }
                faces
            };
            assert_eq!(faces(&read), faces(&mesh), "faces written and read again");
        }
    }
    if let Ok(triangulation) = mesh.clone().into_triangulation() {
        _ = validate::triangulation(&triangulation);
    }
    if let Ok(polygons) = mesh.into_polygon_mesh() {
        _ = validate::polygons::polygon_mesh(&polygons);
    }
}

fn check_surface(mesh: &Mesh) {
    let points = mesh.points.len();
    for i in 0..mesh.faces.len() {
        for &v in mesh.faces.get(i) {
            assert!((v as usize) < points, "face {i} has vertex {v} of {points}");
        }
    }
    for Segment { ends, .. } in &mesh.segments {
        assert!(
            ends.iter().all(|&v| (v as usize) < points),
            "segment {ends:?} of {points} vertices"
        );
    }
    let faces = mesh.faces.len();
    assert!(
        mesh.regions
            .as_ref()
            .is_none_or(|regions| regions.len() == faces)
    );
    let attributes = &mesh.attributes;
    assert!(
        attributes
            .normals
            .as_ref()
            .is_none_or(|list| list.len() == points)
    );
    assert!(
        attributes
            .colors
            .as_ref()
            .is_none_or(|list| list.len() == points)
    );
    assert!(
        attributes
            .uvs
            .as_ref()
            .is_none_or(|list| list.len() == points)
    );
}

fn same_points<P: Copy + Into<[f64; 3]>>(ours: &[P], expected: &[P]) {
    assert_eq!(ours.len(), expected.len(), "points written and read again");
    for (i, (&a, &b)) in ours.iter().zip(expected).enumerate() {
        let (a, b): ([f64; 3], [f64; 3]) = (a.into(), b.into());
        let same = (0..3).all(|k| a[k] == b[k] || a[k].is_nan() && b[k].is_nan());
        assert!(same, "point {i} is {a:?} after it was written as {b:?}");
    }
}

fn volume(extension: &str, data: &[u8]) {
    let path = lay_out("volume", extension, data);
    formats::is_volume(&path);
    let Ok(mesh) = formats::read_volume(&path) else {
        return;
    };
    check_volume(&mesh);
    validate::volume_summary(&mesh);
    let again = unused("again-volume", extension);
    if formats::write_volume(&again, &mesh).is_ok() {
        let read = formats::read_volume(&again).expect("what was written is read");
        same_points(&read.points, &mesh.points);
        assert_eq!(
            read.cells.len(),
            mesh.cells.len(),
            "cells written and read again"
        );
    }
    _ = mesh.into_tet_mesh();
}

fn check_volume(mesh: &VolumeMesh) {
    let points = mesh.points.len();
    for (i, cell) in mesh.cells.iter().enumerate() {
        assert!(
            [4, 5, 6, 8].contains(&cell.len()),
            "cell {i} has {} vertices",
            cell.len()
        );
        assert!(
            cell.iter().all(|&v| (v as usize) < points),
            "cell {i} of {points} vertices: {cell:?}"
        );
    }
    for face in mesh.faces.iter() {
        assert!(
            face.iter().all(|&v| (v as usize) < points),
            "face {face:?} of {points} vertices"
        );
    }
    assert_eq!(mesh.faces.len(), mesh.face_tags.len());
    assert!(
        mesh.regions
            .as_ref()
            .is_none_or(|regions| regions.len() == mesh.cells.len())
    );
}

/// Fixtures of this extension, and small meshes that trioxide writes.
fn seeds(extension: &'static str, is_volume: bool) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let fixtures = fixtures
        .map(|folder| folder.join("fixtures"))
        .find(|folder| folder.is_dir());
    for entry in fixtures
        .iter()
        .flat_map(|folder| folder.read_dir().expect("fixtures"))
    {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == extension) {
            seeds.push(gather(&path, extension));
        }
    }
    // Lists of pieces and .pts are not written; their readers also accept another file.
    let path = match extension {
        "pvtu" => unused("seed", "vtu"),
        "pvtp" => unused("seed", "vtp"),
        "pts" => unused("seed", "xyz"),
        _ => unused("seed", extension),
    };
    let mut keep = |written: bool| {
        if written {
            seeds.push(gather(&path, extension));
        }
    };
    if is_volume {
        let format = VolumeFormat::to_write(&path).expect("a format of volume meshes");
        let tets = generate::tet_grid(27, 1).expect("a grid");
        let mut mesh = VolumeMesh::from(tets);
        mesh.regions = Some((0..mesh.cells.len() as i32).map(|i| i % 3).collect());
        for &encoding in format.encodings {
            for msh_version in [MshVersion::V2, MshVersion::V4] {
                let options = WriteOptions {
                    encoding: Some(encoding),
                    msh_version,
                };
                keep(formats::volume::write_volume_as(&path, &mesh, options).is_ok());
            }
        }
    } else {
        let format = Format::to_read(&path).expect("a format");
        let mut mesh = Mesh::from(generate::random(cpu(), 12, 1).expect("a mesh"));
        mesh.regions = Some((0..mesh.faces.len() as i32).collect());
        let ends = [mesh.faces.get(0)[0], mesh.faces.get(0)[1]];
        mesh.segments = vec![Segment { ends, marker: 7 }];
        let cloud = Mesh {
            points: mesh.points.clone(),
            ..Mesh::default()
        };
        let encodings: &[Encoding] = match format.encodings {
            [] => &[Encoding::Binary],
            several => several,
        };
        for mesh in [&mesh, &cloud] {
            for &encoding in encodings {
                let encoding = (!format.encodings.is_empty()).then_some(encoding);
                keep(formats::write_encoded(&path, mesh, encoding).is_ok());
            }
        }
    }
    seeds
}
