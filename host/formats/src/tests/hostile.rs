//! Files that are none of their format, or were made to take time or memory.

use std::time::{Duration, Instant};

use super::*;

/// Such files take milliseconds; a parser that is quadratic in them takes minutes.
fn assert_quick<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_secs(10));
    result
}

#[test]
fn a_cloud_is_no_stl() {
    let cloud = Mesh {
        points: vec![DVec3::ZERO, DVec3::X],
        ..Mesh::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    for encoding in [Encoding::Binary, Encoding::Text] {
        let error = write_encoded(&path, &cloud, Some(encoding)).unwrap_err();
        let expected = "the format holds triangles only, and the mesh has 2 points without faces: write .ply, .xyz or .las";
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(!path.exists());
    }
}

/// The crate's writer panics when it is dropped and cannot write.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_las() {
    let cloud = Mesh {
        points: (0..1000).map(|i| DVec3::splat(f64::from(i))).collect(),
        ..Mesh::default()
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.las", "a.laz"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let error = write(&path, &cloud).unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{error}");
    }
}

/// 0.29 / 0.01 is less than 29: the header said 0.28.
#[test]
fn the_bounds_of_las_are_those_of_its_points() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.las", "a.laz"] {
        let path = folder.path().join(name);
        for shift in [0.0, 1.0 / 3.0] {
            let x: Vec<f64> = [0.29, 0.57, 1.13, -0.58].map(|x| x + shift).to_vec();
            let cloud = Mesh {
                points: x.iter().map(|&x| DVec3::new(x, 2.0 * x, 0.07)).collect(),
                ..Mesh::default()
            };
            write(&path, &cloud).unwrap();
            let points = read(&path).unwrap().points;
            let low = points.iter().copied().reduce(DVec3::min).unwrap();
            let high = points.iter().copied().reduce(DVec3::max).unwrap();
            let file = std::fs::read(&path).unwrap();
            let bounds = file[179..227]
                .as_chunks()
                .0
                .iter()
                .map(|x| f64::from_le_bytes(*x));
            let expected = [high.x, low.x, high.y, low.y, high.z, low.z];
            assert_eq!(bounds.collect::<Vec<_>>(), expected);
        }
    }
}
