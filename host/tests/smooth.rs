//! `trioxide smooth` as one types it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use trioxide::formats;
use trioxide::generate;
use trioxide::volume::VolumeMesh;

fn trioxide(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(arguments)
        .output()
        .expect("the binary starts")
}

fn done(arguments: &[&str]) -> String {
    let output = trioxide(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = trioxide(arguments);
    assert!(!output.status.success(), "{arguments:?} was done");
    String::from_utf8(output.stderr).expect("text")
}

/// A folder of the test's own with a mesh of tetrahedra.
fn folder(name: &str) -> (PathBuf, VolumeMesh) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let mesh: VolumeMesh = generate::random_tets(300, 1).expect("enough points").into();
    formats::write_volume(&folder.join("in.vtu"), &mesh).expect("written");
    (folder, mesh)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// The mesh after `trioxide smooth` with these arguments.
fn smooth(folder: &Path, arguments: &[&str]) -> (VolumeMesh, Value) {
    let (input, output) = (path(folder, "in.vtu"), path(folder, "out.vtu"));
    let first = ["smooth", &input, "-o", &output, "--json", "-"];
    let text = done(&[&first[..], arguments].concat());
    let mesh = formats::read_volume(Path::new(&output)).expect("written");
    (mesh, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn devices_layouts_and_blocks_write_the_same_nodes() {
    let (folder, before) = folder("smooth_devices");
    let ten = ["--max-iterations", "10", "--device"];
    let (expected, _) = smooth(&folder, &[&ten[..], &["serial"]].concat());
    assert_ne!(expected.points, before.points);
    assert_eq!(expected.cells, before.cells);
    for layout in ["soa", "aos", "aligned"] {
        for blocks in ["one", "many"] {
            let way = ["cpu", "--layout", layout, "--blocks", blocks];
            let (mesh, report) = smooth(&folder, &[&ten[..], &way].concat());
            assert_eq!(mesh.points, expected.points, "{layout} {blocks}");
            assert_eq!(report["iterations"], 10);
        }
    }
}

#[test]
fn a_guarded_run_reports_quality_that_does_not_fall() {
    let (folder, mesh) = folder("smooth_guard");
    let (_, report) = smooth(&folder, &["--guard", "--device", "cpu"]);
    let number = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
    assert!(number("worst_quality_after") >= number("worst_quality_before"));
    assert_eq!(
        (number("inverted_before"), number("inverted_after")),
        (0.0, 0.0)
    );
    for when in ["quality_before", "quality_after"] {
        for kind in ["scaled_jacobian", "minimum_dihedral_angle", "radius_ratio"] {
            let counts = report[when][kind]["counts"]
                .as_array()
                .expect("a histogram");
            let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
            assert_eq!(sum, mesh.cells.len() as u64, "{when} {kind}");
        }
    }
}

#[test]
fn a_tolerance_ends_the_sweeps() {
    let (folder, _) = folder("smooth_tolerance");
    let arguments = [
        "--tolerance",
        "1e-4",
        "--max-iterations",
        "5000",
        "--device",
        "cpu",
    ];
    let (_, report) = smooth(&folder, &arguments);
    assert_eq!(report["converged"], true);
    assert!(
        report["max_displacement"]
            .as_f64()
            .is_some_and(|d| d > 0.0 && d < 1e-4)
    );
    assert!(
        report["iterations"]
            .as_u64()
            .is_some_and(|n| n > 1 && n < 5000)
    );
}

#[test]
fn nodes_of_a_file_stay() {
    let (folder, before) = folder("smooth_fixed");
    let file = path(&folder, "fixed.txt");
    let (free, _) = smooth(&folder, &["--device", "cpu"]);
    let moved: Vec<usize> = (0..before.points.len())
        .filter(|&v| free.points[v] != before.points[v])
        .collect();
    let fixed = &moved[..moved.len() / 2];
    let lines: Vec<String> = fixed.iter().map(usize::to_string).collect();
    fs::write(&file, format!("# nodes\n\n{}\n", lines.join("\n"))).expect("written");
    for device in ["serial", "cpu"] {
        let (after, report) = smooth(&folder, &["--fixed", &file, "--device", device]);
        assert_eq!(report["moving_vertices"], moved.len() - fixed.len());
        for &v in fixed {
            assert_eq!(after.points[v], before.points[v]);
        }
        for &v in &moved[fixed.len()..] {
            assert_ne!(after.points[v], before.points[v]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_cause() {
    let (folder, _) = folder("smooth_refused");
    let (input, file) = (path(&folder, "in.vtu"), path(&folder, "bad.txt"));
    let refuse = |arguments: &[&str], cause: &str| {
        let error = refused(&[&["smooth", &input, "--device", "cpu"], arguments].concat());
        assert!(error.contains(cause), "{arguments:?}: {error}");
    };
    for bad in ["12\n300\n", "12\n-1\n", "12\nx\n"] {
        fs::write(&file, bad).expect("written");
        refuse(&["--fixed", &file], "bad.txt");
        refuse(&["--fixed", &file], "the mesh has 300 nodes, from 0 on");
    }
    refuse(&["--fixed", &path(&folder, "none.txt")], "none.txt");
    refuse(&["--tolerance=-1"], "a tolerance of -1");
    refuse(&["--guard", "--form", "a"], "b-coloured");
    refuse(&["--form", "b-exact", "--blocks", "one"], "many blocks");
    refuse(&["-o", "out.xyz"], "xyz");
    let error = refused(&["smooth", &input, "--form", "b", "--device", "serial"]);
    assert!(error.contains("b-exact"), "{error}");
}
