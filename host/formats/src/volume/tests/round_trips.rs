//! Written files read back, to the bit.

use super::*;

/// Every encoding and version of a file.
fn ways() -> Vec<(&'static str, WriteOptions)> {
    let mut ways = Vec::new();
    for format in &FORMATS {
        for &encoding in format.encodings {
            for msh_version in [MshVersion::V2, MshVersion::V4] {
                let options = WriteOptions {
                    encoding: Some(encoding),
                    msh_version,
                };
                if format.name == "Gmsh" || msh_version == MshVersion::V4 {
                    ways.push((format.extensions[0], options));
                }
            }
        }
    }
    ways
}

/// The mesh with cells and faces sorted by tag; cells are already sorted by kind.
fn grouped(mesh: &VolumeMesh) -> VolumeMesh {
    let places = |sizes: Vec<usize>, tags: &[i32]| {
        let first = |i: usize| (0..i).find(|&k| (sizes[k], tags[k]) == (sizes[i], tags[i]));
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&i| first(i).unwrap_or(i));
        order
    };
    let mut grouped = mesh.clone();
    if let (Some(regions), Cells::Tetrahedra(tetrahedra)) = (&mesh.regions, &mesh.cells) {
        let order = places(vec![4; tetrahedra.len()], regions);
        grouped.cells = Cells::Tetrahedra(order.iter().map(|&i| tetrahedra[i]).collect());
        grouped.regions = Some(order.iter().map(|&i| regions[i]).collect());
    }
    let order = places(
        mesh.faces.iter().map(<[u32]>::len).collect(),
        &mesh.face_tags,
    );
    grouped.faces = Polygons::default();
    order
        .iter()
        .for_each(|&i| grouped.faces.push(mesh.faces.get(i)));
    grouped.face_tags = order.iter().map(|&i| mesh.face_tags[i]).collect();
    grouped
}

#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let without = VolumeMesh {
        regions: None,
        faces: Polygons::default(),
        face_tags: Vec::new(),
        ..tetrahedra()
    };
    let empty = VolumeMesh {
        points: Vec::new(),
        cells: Cells::Tetrahedra(Vec::new()),
        ..without.clone()
    };
    let grid = trioxide::generate::tet_grid(1000, 1).unwrap().into();
    for (k, mesh) in [mixed_mesh(), tetrahedra(), without, empty, grid]
        .into_iter()
        .enumerate()
    {
        for (extension, options) in ways() {
            let how = format!("{extension} {options:?}");
            let path = folder
                .path()
                .join(format!("{k}.{}", extension.to_uppercase()));
            let written = write_volume_as(&path, &mesh, options);
            if extension == "node" && matches!(mesh.cells, Cells::Mixed(_)) {
                let reason = written.unwrap_err().to_string();
                assert!(
                    reason.contains("hold other cells), but cell 2 is a pyramid"),
                    "{reason}"
                );
                continue;
            }
            written.unwrap();
            let back = read_volume(&path).expect(&how);
            let is_grouped = extension == "msh" && options.msh_version == MshVersion::V4;
            let expected = if is_grouped {
                grouped(&mesh)
            } else {
                mesh.clone()
            };
            assert_eq!(back, expected, "{how}");
            let bits = |mesh: &VolumeMesh| -> Vec<_> {
                let points = mesh.points.iter();
                points.map(|p| p.to_array().map(f64::to_bits)).collect()
            };
            assert_eq!(bits(&back), bits(&mesh), "{how}");
            let has_cells = !mesh.cells.is_empty();
            assert_eq!(is_volume(&path), has_cells || extension == "node", "{how}");
        }
    }
}

#[test]
fn tagged_faces_of_another_mesh_are_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ele");
    std::fs::write(path.with_extension("face"), "0 0\n").unwrap();
    let mut mesh = tetrahedra();
    mesh.faces = Polygons::default();
    mesh.face_tags.clear();
    let reason = write_volume(&path, &mesh).unwrap_err().to_string();
    assert!(
        reason.contains("m.face: stands beside the output"),
        "{reason}"
    );
    assert!(!path.exists());
}

#[test]
fn surfaces_and_what_is_not_there_are_no_volumes() {
    let folder = tempfile::tempdir().unwrap();
    let surface = trioxide::generate::grid(9).unwrap().into();
    for name in ["m.vtu", "m.node"] {
        let path = folder.path().join(name);
        crate::write(&path, &surface).unwrap();
        assert!(!is_volume(&path), "{name}");
        assert!(!is_volume(&folder.path().join("none").join(name)));
    }
    assert!(!is_volume(&folder.path().join("m")));
    let reason = read_volume(&folder.path().join("m.stl"))
        .unwrap_err()
        .to_string();
    assert!(
        reason.contains("none of those of volume meshes: .vtu"),
        "{reason}"
    );
    let text = WriteOptions {
        encoding: Some(Encoding::Text),
        ..WriteOptions::default()
    };
    let refused = write_volume_as(&folder.path().join("m.meshb"), &tetrahedra(), text);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("not written in this encoding")
    );
}

/// The fuzzer of smoothing found it: a file was written that no reader accepts.
#[test]
fn tagged_faces_of_vertices_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = tetrahedra();
    let points = mesh.points.len();
    mesh.faces.vertices[4] = points as u32;
    for format in &FORMATS {
        let path = folder.path().join("m").with_extension(format.extensions[0]);
        let refused = write_volume(&path, &mesh).unwrap_err().to_string();
        let expected =
            format!("tagged face 1 has vertex {points}, but the mesh has {points} vertices");
        assert!(refused.contains(&expected), "{refused}");
        assert!(!path.exists());
    }
}
