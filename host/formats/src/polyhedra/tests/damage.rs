//! Damaged files of every format.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::listed::Grid;
use super::*;
use crate::tests::damage::{damage, damaged};

/// The mesh of a damaged file has ids in range, and is written and read again as it is.
fn check(path: &Path) -> std::result::Result<(), TestCaseError> {
    is_polyhedra(path);
    let mesh = match read_polyhedra_as(path, ReadOptions::default()) {
        Err(error) => {
            prop_assert!(!error.to_string().is_empty());
            return Ok(());
        }
        Ok((mesh, _)) => mesh,
    };
    let points = mesh.points.len();
    for face in mesh.faces.iter() {
        prop_assert!(face.len() > 2 && face.iter().all(|&v| (v as usize) < points));
    }
    let faces = mesh.faces.len();
    prop_assert!(mesh.sides.iter().all(|&side| (side as usize / 2) < faces));
    prop_assert!(
        mesh.tagged
            .iter()
            .all(|tagged| (tagged.face as usize) < faces)
    );
    prop_assert!(
        mesh.regions
            .as_ref()
            .is_none_or(|regions| regions.len() == mesh.len())
    );
    prop_assert!(
        mesh.fields
            .check(points, mesh.len(), mesh.tagged.len())
            .is_ok()
    );
    let again = path.with_file_name("again.vtu");
    write_polyhedra(&again, &mesh, None).unwrap();
    let read = read_polyhedra(&again).unwrap();
    prop_assert_eq!(read.sides, mesh.sides);
    prop_assert_eq!(read.faces, mesh.faces);
    Ok(())
}

/// Damages one of the files of a mesh in many ways: its reader gives an error or a mesh, never a panic, never a huge
/// allocation.
fn strike(path: &Path, file: &Path, cases: u32) {
    let good = std::fs::read(file).unwrap();
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    };
    let damages = proptest::collection::vec(damage(), 1..4);
    let struck = TestRunner::new(config).run(&damages, |damages| {
        std::fs::write(file, damaged(good.clone(), damages)).unwrap();
        check(path)
    });
    struck.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    std::fs::write(file, good).unwrap();
}

#[test]
fn damaged_files_of_every_format_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = house();
    mesh.fields
        .cells
        .push(Field::scalars("layer", vec![1u8, 2]));
    for format in PolyhedraFormat::all() {
        for &encoding in format.encodings {
            let path = folder.path().join("d").with_extension(format.extensions[0]);
            write_polyhedra(&path, &mesh, encoding).unwrap();
            strike(&path, &path, 60);
        }
        if format.encodings.is_empty() {
            let path = folder.path().join("d").with_extension(format.extensions[0]);
            write_polyhedra(&path, &mesh, None).unwrap();
            let files = crate::files_of(&path);
            let files = files
                .iter()
                .filter(|file| !std::fs::read(file).unwrap().is_empty());
            files.for_each(|file| strike(&path, file, 60));
        }
    }
}

/// Files that only other programs write.
#[test]
fn damaged_files_of_others_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, bytes) in Grid::mixed().files() {
        let path = folder.path().join("d").with_extension(extension);
        std::fs::write(&path, bytes).unwrap();
        strike(&path, &path, 60);
    }
    for (k, files) in super::openfoam::samples().into_iter().enumerate() {
        let case = folder.path().join(k.to_string());
        let path = super::openfoam::lay_out(&case, &files);
        for (name, _) in &files {
            strike(&path, &case.join("constant/polyMesh").join(name), 60);
        }
    }
}
