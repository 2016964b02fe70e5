//! Files and streams around a command: outputs that are one file, closed and full streams, coordinates that are none.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SQUARE: &str = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path("square.off"), SQUARE).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The message of a call that fails with status 1.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        message
    }
}

#[test]
fn outputs_are_no_other_output_and_no_input() {
    let place = Place::new();
    let error = place.refusal(&["convert", "square.off", "./square.off"]);
    assert!(error.starts_with("trioxide: the output and the input are one file, "));
    for arguments in [
        &["info", "square.off", "--json", "square.off"][..],
        &["polylla", "square.off", "-o", "a.off", "--json", "./a.off"],
        &["polylla", "square.off", "-o", "./square.off"],
        &[
            "weld",
            "square.off",
            "--epsilon",
            "0",
            "-o",
            "a.off",
            "--map",
            "a.off",
        ],
        &[
            "weld",
            "square.off",
            "--epsilon",
            "0",
            "--json",
            "a",
            "--map",
            "a",
        ],
        &["convert", "square.off", "a.node"],
        &["convert", "a.node", "a.ele"],
    ] {
        if arguments == ["convert", "square.off", "a.node"] {
            assert!(place.output(arguments).status.success());
            continue;
        }
        let error = place.refusal(arguments);
        assert!(error.contains(" are one file, "), "{arguments:?}: {error}");
    }
    assert_eq!(
        fs::read_to_string(place.path("square.off")).unwrap(),
        SQUARE
    );
    assert!(!place.path("a.off").exists());
}

#[cfg(unix)]
#[test]
fn a_link_to_the_input_is_the_input() {
    let place = Place::new();
    std::os::unix::fs::symlink("square.off", place.path("link.off")).unwrap();
    let error = place.refusal(&["convert", "square.off", "link.off"]);
    assert!(error.contains("are one file"), "{error}");
    // What is no file may be both.
    let null = "/dev/null";
    let arguments = ["info", "square.off", "--json", null];
    assert!(place.output(&arguments).status.success());
}

#[cfg(unix)]
#[test]
fn json_to_dev_stdout_appends_to_a_log() {
    let place = Place::new();
    fs::write(place.path("log"), "before\n").unwrap();
    let log = File::options()
        .append(true)
        .open(place.path("log"))
        .unwrap();
    let mut command = place.command(&["info", "square.off", "--json", "/dev/stdout"]);
    assert!(command.stdout(log).status().unwrap().success());
    let text = fs::read_to_string(place.path("log")).unwrap();
    let object = text.strip_prefix("before\n").unwrap();
    let object: serde_json::Value = serde_json::from_str(object).unwrap();
    assert_eq!(object["faces"], 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_loses_no_result() {
    let place = Place::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    // An error, and a note beside a result: segments are not in an OFF file.
    let mut command = place.command(&["info", "none.off"]);
    assert_eq!(command.stderr(full()).status().unwrap().code(), Some(1));
    fs::write(place.path("a.node"), "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n").unwrap();
    fs::write(place.path("a.ele"), "1 3 0\n0 0 1 2\n").unwrap();
    fs::write(place.path("a.poly"), "0 2 0 0\n1 1\n0 0 1 5\n0\n").unwrap();
    let mut command = place.command(&["convert", "a.node", "a.off"]);
    let output = command
        .stderr(full())
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("a.off: 3 vertices")
    );
}

#[test]
fn a_z_of_nan_is_a_problem() {
    let place = Place::new();
    fs::write(place.path("nan.off"), SQUARE.replace("1 1 0", "1 1 nan")).unwrap();
    let output = place.output(&["info", "nan.off"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("problem"), "{text}");
    assert!(
        text.contains("vertex 2 has z = NaN: coordinates must be finite"),
        "{text}"
    );
    assert!(!text.contains("valid"), "{text}");
    let error = place.refusal(&["polylla", "nan.off"]);
    assert_eq!(
        error,
        "trioxide: nan.off: vertex 2 has z = NaN: coordinates must be finite\n"
    );
}

#[test]
fn a_cloud_is_not_converted_to_triangles() {
    let place = Place::new();
    fs::write(place.path("cloud.xyz"), "0 0 0\n1 0 0\n").unwrap();
    let error = place.refusal(&["convert", "cloud.xyz", "a.stl"]);
    assert!(error.contains("2 points without faces"), "{error}");
    assert!(!place.path("a.stl").exists());
    fs::write(place.path("commas.xyz"), "1;2;3\n").unwrap();
    let error = place.refusal(&["info", "commas.xyz"]);
    assert!(
        error.contains("expected three numbers between blanks"),
        "{error}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_allocation_is_an_error() {
    let place = Place::new();
    let script = format!(
        "ulimit -v 1000000; exec {} generate grid -n 100000000 -o a.off",
        env!("CARGO_BIN_EXE_trioxide")
    );
    let mut shell = Command::new("sh");
    let output = shell
        .current_dir(place.0.path())
        .args(["-c", &script])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("there is no memory for this mesh"),
        "{message}"
    );
}
