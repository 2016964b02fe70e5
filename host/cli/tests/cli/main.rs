//! The command line as its users meet it: exit status, messages, files, JSON.

mod compare;
mod kernels;
mod polylla;
mod repair;
mod untrusted;
mod view;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Two triangles of the unit square.
const SQUARE: &str = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";

/// The result of one call of the binary.
struct Call {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A directory to call the binary in.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(self, name: &str, content: &str) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    fn call(&self, arguments: &[&str]) -> Call {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .unwrap();
        Call {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Names of all files, in order.
    fn files(&self) -> Vec<String> {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

impl Call {
    #[track_caller]
    fn succeeds(self) -> Self {
        assert_eq!(self.status, Some(0), "{}", self.stderr);
        self
    }

    /// Fails with `status` and one sentence that has all of `words`.
    #[track_caller]
    fn fails(self, status: i32, words: &[&str]) -> Self {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        for word in words {
            assert!(
                self.stderr.contains(word),
                "no {word:?} in: {}",
                self.stderr
            );
        }
        if status == 1 {
            assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
            assert!(self.stderr.starts_with("trioxide: "), "{}", self.stderr);
        }
        self
    }

    #[track_caller]
    fn json(self) -> Value {
        let call = self.succeeds();
        serde_json::from_str(&call.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", call.stdout))
    }
}

fn square() -> Place {
    Place::new().file("square.off", SQUARE)
}

#[test]
fn bad_usage_exits_with_2() {
    let place = square();
    place.call(&[]).fails(2, &["Usage"]);
    place.call(&["polyla"]).fails(2, &["polylla"]);
    place.call(&["polylla"]).fails(2, &["<INPUT>"]);
    place
        .call(&["polylla", "square.off", "--device", "gpu"])
        .fails(2, &["cuda:N"]);
    place
        .call(&["polylla", "square.off", "--threads", "0"])
        .fails(2, &["--threads"]);
    place
        .call(&["polylla", "square.off", "--precision", "f16"])
        .fails(2, &["f32", "f64"]);
    place
        .call(&["generate", "grid", "-n", "many", "-o", "x.off"])
        .fails(2, &["many"]);
    assert_eq!(place.files(), ["square.off"]);
}

#[test]
fn help_and_version_exit_with_0() {
    let place = Place::new();
    for command in [
        "generate", "info", "convert", "render", "view", "polylla", "devices", "selftest",
    ] {
        let help = place.call(&["help"]).succeeds().stdout;
        assert!(help.contains(command), "{help}");
        place.call(&[command, "--help"]).succeeds();
    }
    assert!(
        place
            .call(&["--version"])
            .succeeds()
            .stdout
            .starts_with("trioxide ")
    );
}

#[test]
fn completions_and_the_manual_have_every_command_and_option() {
    let place = Place::new();
    let help = place.call(&["help"]).succeeds().stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = commands.filter(|&command| command != "help").collect();
    assert!(commands.len() > 10, "{help}");
    for shell in ["bash", "fish", "zsh"] {
        let script = place.call(&["completions", shell]).succeeds().stdout;
        for word in commands.iter().chain(&["follow-references", "taubin"]) {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
        fs::write(place.path(shell), script).unwrap();
    }
    // The choice that an interactive shell would show.
    let ask = "source ./bash; COMP_WORDS=(trioxide smooth --meth); COMP_CWORD=2; _trioxide trioxide --meth smooth; echo ${COMPREPLY[@]}";
    if let Ok(bash) = Command::new("bash")
        .args(["-c", ask])
        .current_dir(&place.0)
        .output()
    {
        let [out, err] = [&bash.stdout, &bash.stderr].map(|text| String::from_utf8_lossy(text));
        assert_eq!(out, "--method\n", "{err}");
    }
    place
        .call(&["completions", "csh"])
        .fails(2, &["bash", "fish", "zsh"]);

    place.call(&["man", "share/man1"]).succeeds();
    let page = |name: &str| fs::read_to_string(place.path("share/man1").join(name)).unwrap();
    assert!(page("trioxide.1").contains("trioxide\\-smooth(1)"));
    for command in &commands {
        let page = page(&format!("trioxide-{command}.1"));
        assert!(
            page.starts_with(".ie") && page.contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    assert!(page("trioxide-smooth.1").contains("\\-\\-method"));
    place.call(&["man", "bash"]).fails(1, &["bash: "]);
}

#[test]
fn bad_files_are_refused_by_name() {
    let place = square()
        .file("mesh.blend", "{}\n")
        .file("bad.off", &SQUARE.replace("1 0 0", "1 0 zero"))
        .file("range.off", &SQUARE.replace("3 0 2 3", "3 0 2 4"));
    for command in ["polylla", "info"] {
        place
            .call(&[command, "absent.off"])
            .fails(1, &["absent.off", "No such file"]);
        place
            .call(&[command, "mesh.blend"])
            .fails(1, &["mesh.blend", ".off", ".vtu"]);
        // Line 4 has a word where a number is expected.
        place
            .call(&[command, "bad.off"])
            .fails(1, &["bad.off:4", "zero"]);
        place
            .call(&[command, "range.off"])
            .fails(1, &["range.off:8", "4"]);
    }
    place
        .call(&["polylla", "square.off", "-o", "polygons.blend"])
        .fails(1, &["polygons.blend", ".vtu"]);
    place
        .call(&[
            "polylla",
            "square.off",
            "--quiet",
            "-o",
            "absent/polygons.off",
        ])
        .fails(1, &["absent"]);
}

#[test]
fn bad_meshes_are_refused_by_element_and_rule() {
    let place = Place::new()
        .file("nan.off", &SQUARE.replace("1 1 0", "1 nan 0"))
        .file("flat.off", &SQUARE.replace("0 1 0", "2 2 0"))
        .file(
            "quad.off",
            "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        )
        .file(
            "fan.off",
            "OFF\n5 3 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 0\n3 0 1 2\n3 2 1 3\n3 2 1 4\n",
        );
    for device in ["cpu", "serial"] {
        let polylla = |mesh: &str| {
            let call = place.call(&["polylla", mesh, "--device", device, "-o", "out.off"]);
            assert!(!place.files().contains(&"out.off".to_owned()));
            call
        };
        polylla("nan.off").fails(1, &["nan.off", "vertex 2", "finite"]);
        polylla("flat.off").fails(1, &["flat.off", "triangle 1", "degenerate"]);
        polylla("quad.off").fails(1, &["quad.off", "face 0", "4 vertices"]);
        polylla("fan.off").fails(1, &["fan.off", "triangle"]);
    }
}

#[test]
fn a_failure_leaves_the_output_as_it_was() {
    let place = Place::new()
        .file("nan.off", &SQUARE.replace("1 1 0", "1 nan 0"))
        .file("polygons.off", "precious");
    for arguments in [
        &["polylla", "nan.off", "-o", "polygons.off"][..],
        &["convert", "absent.off", "polygons.off"],
        &["generate", "grid", "-n", "0", "-o", "polygons.off"],
    ] {
        place.call(arguments);
        assert_eq!(
            fs::read_to_string(place.path("polygons.off")).unwrap(),
            "precious"
        );
    }
    assert_eq!(place.files(), ["nan.off", "polygons.off"]);
}

#[test]
fn an_absent_device_is_an_error() {
    let reason = if has_cuda() {
        "there is no CUDA device 9: this machine has"
    } else {
        "use the device cpu"
    };
    square()
        .call(&["polylla", "square.off", "--device", "cuda:9"])
        .fails(1, &["CUDA", reason]);
}

/// Whether this machine has a CUDA device.
fn has_cuda() -> bool {
    let devices = Place::new().call(&["devices", "--json", "-"]).json();
    devices["cuda_unavailable"].is_null()
}

#[test]
fn auto_gives_its_choice_where_it_is_asked() {
    let place = square();
    let line = ["polylla", "square.off", "-o", "out.off"];
    let call = place.call(&line).succeeds();
    assert_eq!(call.stderr, "");
    let timed = place.call(&[&line[..], &["--timings"]].concat()).succeeds();
    assert_eq!(timed.stderr, "");
    let row = timed
        .stdout
        .lines()
        .find(|row| row.starts_with("chosen by --device auto"));
    let row = row.expect("the row of the choice");
    assert!(has_cuda() || row.contains("libcuda.so.1"), "{row}");
    let quiet = place.call(&["polylla", "square.off", "--quiet"]).succeeds();
    assert_eq!((quiet.stdout, quiet.stderr), (String::new(), String::new()));
}

#[test]
fn json_goes_to_a_file_and_text_to_the_terminal() {
    let place = square();
    let arguments = [
        "polylla",
        "square.off",
        "--device",
        "cpu",
        "--timings",
        "--json",
        "out.json",
    ];
    let call = place.call(&arguments).succeeds();
    for name in ["polygons", "label longest edges", "time without files"] {
        assert!(call.stdout.contains(name), "no {name} in {}", call.stdout);
    }
    let object: Value = serde_json::from_slice(&fs::read(place.path("out.json")).unwrap()).unwrap();
    assert_eq!(object["polygons"], 1);
}

#[test]
fn devices_agree_on_generated_meshes() {
    let place = Place::new();
    for (kind, points) in [("grid", "900"), ("random", "2k"), ("disk", "500")] {
        place
            .call(&["generate", kind, "-n", points, "-o", "mesh.ply"])
            .succeeds();
        let polygons = |device: &str| {
            let output = format!("{device}.off");
            let arguments = ["polylla", "mesh.ply", "--device", device, "-o", &output];
            place.call(&arguments).succeeds();
            fs::read(place.path(&output)).unwrap()
        };
        assert!(polygons("cpu") == polygons("serial"), "{kind}");
    }
}

#[test]
fn every_written_format_is_told_by_its_extension() {
    let place = square();
    for name in ["out.off", "out.obj", "out.ply", "out.vtu", "out.ale"] {
        place
            .call(&["polylla", "square.off", "--quiet", "-o", name])
            .succeeds();
        assert!(fs::metadata(place.path(name)).unwrap().len() > 0, "{name}");
        if Path::new(name).extension().unwrap() != "ale" {
            let info = place.call(&["info", name, "--json", "-"]).json();
            assert_eq!(info["faces"], 1, "{name}");
        }
    }
    for name in ["out.png", "out.svg"] {
        place
            .call(&["render", "out.off", "-o", name, "--width", "100"])
            .succeeds();
        assert!(fs::metadata(place.path(name)).unwrap().len() > 0, "{name}");
    }
}

#[test]
fn random_points_are_triangulated_along_the_curve_by_any_number_of_threads() {
    let place = Place::new();
    for kind in ["random", "disk"] {
        let write = |name: &str, options: &[&str]| {
            let arguments = ["generate", kind, "-n", "3k", "--device", "cpu", "-o", name];
            place.call(&[&arguments[..], options].concat())
        };
        let said = write("a.ply", &["--threads", "1"]).succeeds();
        assert!(said.stdout.starts_with("a.ply: 3000 vertices, "));
        let report = write("b.ply", &["--threads", "3", "--json", "-"]).json();
        assert_eq!(report["vertices"], 3000);
        assert_eq!(report["input"], format!("generate:{kind}:3000:0"));
        let stages = report["stages"].as_array().unwrap();
        assert!(stages.iter().any(|stage| stage["name"] == "build stars"));
        place
            .call(&["reorder", "a.ply", "--device", "cpu", "-o", "c.ply"])
            .succeeds();
        let bytes = |name| fs::read(place.path(name)).unwrap();
        assert!(bytes("a.ply") == bytes("b.ply") && bytes("a.ply") == bytes("c.ply"));
    }
}

#[test]
fn scans_and_clouds_go_through_every_command() {
    let place = Place::new();
    for (kind, name, faces) in [
        ("scan", "mesh.ply", 1996),
        ("scan", "mesh.stl", 1996),
        ("cloud", "mesh.laz", 0),
        ("cloud", "mesh.xyz", 0),
    ] {
        place
            .call(&["generate", kind, "-n", "1k", "--seed", "7", "-o", name])
            .succeeds();
        let info = place.call(&["info", name, "--json", "-"]).json();
        assert_eq!(info["faces"], faces, "{name}");
        let view = [
            "render", name, "-o", "out.png", "--view", "-20,30", "--up", "y", "--width", "200",
        ];
        place.call(&view).succeeds();
        let arguments = ["convert", name, "out.ply", "--encoding", "text"];
        place.call(&arguments).succeeds();
        let text = fs::read(place.path("out.ply")).unwrap();
        assert!(text.starts_with(b"ply\nformat ascii"), "{name}");
    }
    let lost = place.call(&["convert", "mesh.ply", "out.las"]).succeeds();
    for part in ["holds no faces", "are rounded to"] {
        assert!(lost.stderr.contains(part), "{}", lost.stderr);
    }
    place
        .call(&["convert", "mesh.ply", "out.off", "--encoding", "text"])
        .fails(1, &["not written in this encoding"]);
}

#[test]
fn selftest_runs_the_named_checks() {
    let place = Place::new();
    let call = place
        .call(&["selftest", "--device", "cpu", "--only", "a grid gives"])
        .succeeds();
    assert!(
        call.stdout.contains("ok      a grid gives its squares"),
        "{}",
        call.stdout
    );
    place
        .call(&["selftest", "--device", "serial"])
        .fails(1, &["serial"]);
}

/// `mpirun` starts copies of a binary without MPI, each of which would do all of the work and write the same file.
#[cfg(not(feature = "mpi"))]
#[test]
fn copies_that_are_started_together_refuse_without_mpi() {
    let place = Place::new().file("a.off", SQUARE);
    for (variable, rank) in [
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        ("PMI_SIZE", "PMI_RANK"),
    ] {
        let started = |size: &str, number: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_trioxide"))
                .args(["polylla", "a.off", "-o", "b.off", "--quiet"])
                .current_dir(&place.0)
                .env(variable, size)
                .env(rank, number)
                .output()
                .unwrap();
            (
                output.status.code(),
                String::from_utf8(output.stderr).unwrap(),
            )
        };
        let (status, said) = started("4", "0");
        assert_eq!(status, Some(1));
        let cause = "trioxide: 4 processes were started together, but this trioxide is built without MPI: build it by `cargo \
                     xtask build --mpi`";
        assert!(said.starts_with(cause), "{said}");
        // One of them speaks for all.
        assert_eq!(started("4", "1"), (Some(1), String::new()));
        assert_eq!(place.files(), ["a.off"]);
        assert_eq!(started("1", "0").0, Some(0));
        fs::remove_file(place.path("b.off")).unwrap();
    }
}
