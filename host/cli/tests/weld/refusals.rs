//! Inputs and options that `trioxide weld` refuses.

use super::*;

/// Each device refuses `input` with `arguments`, by this status and cause.
#[track_caller]
fn refuse(input: &str, arguments: &[&str], status: i32, cause: &str) {
    for device in DEVICES {
        let (code, error) = refused(&[&["weld", input], arguments, device].concat());
        assert!(error.contains(cause), "{arguments:?}: {error}");
        assert_eq!(code, Some(status), "{arguments:?}: {error}");
    }
}

/// Arguments, exit status, cause.
type Refused<'a> = (&'a [&'a str], i32, &'a str);

const OPTIONS: [Refused; 15] = [
    (&[], 2, "--epsilon"),
    (
        &["--epsilon", "1", "--ratio", "0.5"],
        2,
        "cannot be used with",
    ),
    (
        &["--epsilon=1", "--lock", "edges"],
        2,
        "expected boundary or file:PATH",
    ),
    (
        &["--epsilon=1", "--lock", "file:"],
        2,
        "expected boundary or file:PATH",
    ),
    (&["--epsilon=1", "--color-tolerance", "256"], 2, "256"),
    (
        &["--epsilon=-1"],
        1,
        "epsilon is -1, but must be a distance",
    ),
    (&["--epsilon=inf"], 1, "epsilon is inf"),
    (&["--ratio=1"], 1, "the ratio of vertices to remove is 1"),
    (&["--ratio=-0.1"], 1, "0 or more and less than 1"),
    (
        &["--epsilon=1", "--precision", "f32"],
        1,
        "leave --precision f32 out",
    ),
    (
        &["--epsilon=1", "--normal-tolerance=-1"],
        1,
        "0 to 180 degrees",
    ),
    (
        &["--epsilon=1", "--uv-tolerance=nan"],
        1,
        "must be a distance",
    ),
    (
        &["--epsilon=1", "--map=-", "--removed=-"],
        1,
        "only one of --map, --removed and --json",
    ),
    (
        &["--epsilon=1", "--map=-", "--json=-"],
        1,
        "only one of --map, --removed and --json",
    ),
    (&["--epsilon=1", "-o", "out.las2"], 1, "out.las2"),
];

#[test]
fn options_that_cannot_be_are_refused_with_their_cause() {
    let input = write(&folder("weld_refused_options"), "in.ply", &torn());
    for (arguments, status, cause) in OPTIONS {
        refuse(&input, arguments, status, cause);
    }
}

#[test]
fn tolerances_and_locks_of_what_is_not_there_are_refused() {
    let folder = folder("weld_refused_guards");
    let bare = Mesh {
        attributes: VertexAttributes::default(),
        ..torn()
    };
    let bare = write(&folder, "bare.off", &bare);
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
    let cloud = Mesh {
        points: vec![DVec3::ZERO],
        ..Mesh::default()
    };
    let cloud = write(&folder, "cloud.xyz", &cloud);
    let cause = "a cloud of points has no boundary";
    refuse(&cloud, &["--epsilon=1", "--lock", "boundary"], 1, cause);
}

#[test]
fn files_that_cannot_be_are_refused_with_their_line() {
    let folder = folder("weld_refused_files");
    let input = write(&folder, "in.ply", &torn());
    let file = path(&folder, "bad.txt");
    let lock = format!("file:{file}");
    for (text, line) in [("6\n", 1), ("1\n-1\n", 2), ("1\n\nx\n", 3)] {
        fs::write(&file, text).expect("written");
        for cause in [
            &format!("bad.txt:{line}"),
            "one of 6 vertices, counted from 0",
        ] {
            refuse(&input, &["--epsilon=1", "--lock", &lock], 1, cause);
        }
    }
    let missing = format!("file:{}", path(&folder, "none.txt"));
    refuse(&input, &["--epsilon=1", "--lock", &missing], 1, "none.txt");
    let nowhere = path(&folder, "no/map.txt");
    refuse(&input, &["--epsilon=1", "--map", &nowhere], 1, "map.txt");
    let nan = path(&folder, "nan.xyz");
    fs::write(&nan, "0 0 nan\n").expect("written");
    refuse(&nan, &["--epsilon=1"], 1, "vertex 0 has a coordinate");
}
