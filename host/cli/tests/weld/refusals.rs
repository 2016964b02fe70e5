//! Inputs and options that `trioxide weld` refuses.

use super::*;

#[test]
fn what_cannot_be_is_refused_with_its_cause() {
    let folder = folder("weld_refused");
    let input = write(&folder, "in.ply", &torn());
    let bare = write(
        &folder,
        "bare.off",
        &Mesh {
            attributes: VertexAttributes::default(),
            ..torn()
        },
    );
    let cloud = write(
        &folder,
        "cloud.xyz",
        &Mesh {
            points: vec![DVec3::ZERO],
            ..Mesh::default()
        },
    );
    let file = path(&folder, "bad.txt");
    let refuse = |input: &str, arguments: &[&str], status: i32, cause: &str| {
        for device in DEVICES {
            let (code, error) = refused(&[&["weld", input], arguments, device].concat());
            assert!(error.contains(cause), "{arguments:?}: {error}");
            assert_eq!(code, Some(status), "{arguments:?}: {error}");
        }
    };
    refuse(&input, &[], 2, "--epsilon");
    refuse(
        &input,
        &["--epsilon", "1", "--ratio", "0.5"],
        2,
        "cannot be used with",
    );
    refuse(
        &input,
        &["--epsilon=1", "--lock", "edges"],
        2,
        "expected boundary or file:PATH",
    );
    refuse(
        &input,
        &["--epsilon=1", "--lock", "file:"],
        2,
        "expected boundary or file:PATH",
    );
    refuse(
        &input,
        &["--epsilon=1", "--color-tolerance", "256"],
        2,
        "256",
    );
    refuse(
        &input,
        &["--epsilon=-1"],
        1,
        "epsilon is -1, but must be a distance",
    );
    refuse(&input, &["--epsilon=inf"], 1, "epsilon is inf");
    refuse(
        &input,
        &["--ratio=1"],
        1,
        "the ratio of vertices to remove is 1",
    );
    refuse(&input, &["--ratio=-0.1"], 1, "0 or more and less than 1");
    refuse(
        &input,
        &["--epsilon=1", "--precision", "f32"],
        1,
        "leave --precision f32 out",
    );
    refuse(
        &input,
        &["--epsilon=1", "--normal-tolerance=-1"],
        1,
        "0 to 180 degrees",
    );
    refuse(
        &input,
        &["--epsilon=1", "--uv-tolerance=nan"],
        1,
        "must be a distance",
    );
    for (option, what) in [
        ("--normal-tolerance=1", "normals"),
        ("--uv-tolerance=1", "texture coordinates"),
        ("--color-tolerance=1", "colours"),
    ] {
        let cause =
            format!("a tolerance of {what}, but the mesh has none: leave the tolerance out");
        refuse(&bare, &["--epsilon=1", option], 1, &cause);
        refuse(&bare, &["--ratio=0.5", option], 1, &cause);
    }
    refuse(
        &cloud,
        &["--epsilon=1", "--lock", "boundary"],
        1,
        "a cloud of points has no boundary",
    );
    let lock = format!("file:{file}");
    for (text, line) in [("6\n", 1), ("1\n-1\n", 2), ("1\n\nx\n", 3)] {
        fs::write(&file, text).expect("written");
        let cause = format!("bad.txt:{line}");
        refuse(&input, &["--epsilon=1", "--lock", &lock], 1, &cause);
        refuse(
            &input,
            &["--epsilon=1", "--lock", &lock],
            1,
            "one of 6 vertices, counted from 0",
        );
    }
    let missing = format!("file:{}", path(&folder, "none.txt"));
    refuse(&input, &["--epsilon=1", "--lock", &missing], 1, "none.txt");
    for pair in [["--map=-", "--removed=-"], ["--map=-", "--json=-"]] {
        refuse(
            &input,
            &["--epsilon=1", pair[0], pair[1]],
            1,
            "only one of --map, --removed and --json",
        );
    }
    refuse(&input, &["--epsilon=1", "-o", "out.las2"], 1, "out.las2");
    let nowhere = path(&folder, "no/map.txt");
    refuse(&input, &["--epsilon=1", "--map", &nowhere], 1, "map.txt");
    fs::write(&file, "0 0 nan\n").expect("written");
    fs::rename(&file, path(&folder, "nan.xyz")).expect("renamed");
    refuse(
        &path(&folder, "nan.xyz"),
        &["--epsilon=1"],
        1,
        "vertex 0 has a coordinate",
    );
}
