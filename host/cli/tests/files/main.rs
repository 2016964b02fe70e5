//! Files and streams around a command: outputs that are one file, closed and full streams, coordinates that are none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

mod decimate;
mod triangulate;

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

/// A square whose four corners merge: the writer of PLY took the ends of polygons that are not there.
#[test]
fn a_polygon_mesh_that_loses_all_faces_is_written_in_every_format() {
    let place = Place::new();
    fs::write(
        place.path("quad.off"),
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    )
    .unwrap();
    let mut arguments: Vec<String> = "chain --device cpu --quiet quad.off : weld --epsilon 10"
        .split(' ')
        .map(str::to_owned)
        .collect();
    let names = [
        "ply", "off", "obj", "vtu", "vtp", "vtk", "msh", "mesh", "inp", "xdmf", "node", "ale",
    ];
    for name in names {
        arguments.extend([":", "-o", &format!("x.{name}")].map(str::to_owned));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = place.output(&arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    for name in names {
        assert!(place.path(&format!("x.{name}")).exists(), "{name}");
    }
}

const PIECE: &str = r#"<VTKFile type="PUnstructuredGrid" version="1.0"><PUnstructuredGrid><Piece Source="piece.vtu"/></PUnstructuredGrid></VTKFile>"#;
const XDMF: &str = r#"<Xdmf Version="3.0"><Domain><Grid><Topology TopologyType="Triangle" NumberOfElements="1">
<DataItem Dimensions="1 3" Format="XML">0 1 2</DataItem></Topology><Geometry GeometryType="XYZ">
<DataItem Dimensions="3 3" NumberType="Float" Precision="4" Format="Binary" Endian="Little">data.bin</DataItem></Geometry></Grid></Domain></Xdmf>"#;
const GLTF: &str = r#"{"asset":{"version":"2.0"},"buffers":[{"uri":"data.bin","byteLength":36}],"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}],"scene":0}"#;

/// The name and bytes of every file here.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => _ = all.insert(path.clone(), fs::read(path).unwrap()),
        }
    }
    all
}

/// Whatever leads to an input: its pair, an option, a list of pieces, a reference, another step.
#[test]
fn an_output_overwrites_no_file_that_the_run_reads() {
    let place = Place::new();
    let outline =
        "4 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 0\n0 0 1\n1 1 2\n2 2 3\n3 3 0\n1\n0 1.5 1.5\n";
    for (name, text) in [
        ("a.poly", outline),
        ("ids", "0\n"),
        ("in.pvtu", PIECE),
        ("in.xdmf", XDMF),
        ("in.gltf", GLTF),
    ] {
        fs::write(place.path(name), text).unwrap();
    }
    let numbers = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    fs::write(
        place.path("data.bin"),
        numbers.map(f32::to_le_bytes).concat(),
    )
    .unwrap();
    fs::create_dir(place.path("maps")).unwrap();
    fs::write(place.path("maps/parent_triangles.txt"), "0\n").unwrap();
    for arguments in ["convert square.off x.node", "convert square.off piece.vtu"] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        assert!(place.output(&arguments).status.success());
    }
    let before = contents(place.0.path());
    for arguments in [
        "triangulate a.poly -o a.node",
        "triangulate a.poly -o a.ele",
        "refine x -o x.node --device cpu",
        "polylla in.pvtu -o piece.vtu --device cpu",
        "convert in.xdmf x.off --account data.bin",
        "info in.gltf --json data.bin",
        "weld square.off --epsilon 0 --lock file:ids --map ids --device cpu",
        "weld square.off --epsilon 0 --lock boundary --lock file:./ids --removed ids --device cpu",
        "smooth square.off --fixed ids --json ids --device cpu",
        "refine square.off --mark file:ids --json ids --device cpu",
        "refine square.off --mark values:ids --threshold 1 --json ids --device cpu",
        "refine square.off --mark file:maps/parent_triangles.txt --maps maps --device cpu",
        "refine square.off --maps maps --json maps/prolongation.mtx --device cpu",
        "chain --device cpu square.off : refine --maps new/maps : refine --maps new/./maps",
        "chain --device cpu square.off : weld --epsilon 0 --map new.txt : refine --mark file:new.txt",
        "chain --device cpu x : refine -o x.ele",
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let error = place.refusal(&words);
        assert!(error.contains(" are one file, "), "{arguments}: {error}");
        assert!(contents(place.0.path()) == before, "{arguments}");
    }
    // An outline that nobody reads is no side file either.
    let error = place.refusal(&["convert", "x.node", "a.node"]);
    assert!(error.contains("stands beside the output"), "{error}");
    assert!(contents(place.0.path()) == before);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_input_is_the_input() {
    let place = Place::new();
    std::os::unix::fs::symlink("square.off", place.path("link.off")).unwrap();
    let error = place.refusal(&["convert", "square.off", "link.off"]);
    assert!(error.contains("are one file"), "{error}");
    // `/dev/null` is accepted as an output.
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
        text.contains("vertex 2 has a coordinate that is not a finite number"),
        "{text}"
    );
    assert!(!text.contains("valid"), "{text}");
    let error = place.refusal(&["polylla", "nan.off"]);
    assert_eq!(
        error,
        "trioxide: nan.off: vertex 2 has a coordinate that is not a finite number: trioxide convert nan.off -o FILE \
         --drop-invalid leaves it out\n"
    );
}

#[test]
fn vertices_that_are_not_finite_can_be_left_out() {
    let place = Place::new();
    let pcd = "FIELDS x y z ring\nSIZE 4 4 4 2\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 2\nPOINTS 4\nDATA ascii\n\
        0 0 1 5\nnan nan nan 6\n1 0 1 7\nnan nan nan 8\n";
    let tets = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 inf\n\
        CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10 10\n";
    fs::write(place.path("a.pcd"), pcd).unwrap();
    fs::write(place.path("a.vtk"), tets).unwrap();
    fs::write(place.path("a.off"), SQUARE.replace("1 1 0", "1 nan 0")).unwrap();
    let remedy = "trioxide convert a.pcd -o FILE --drop-invalid leaves it out";
    let rule = "a.pcd: vertex 1 has a coordinate that is not a finite number";
    for command in [
        &["weld", "a.pcd", "--epsilon", "0", "--quiet"][..],
        &["render", "a.pcd", "-o", "a.png"],
        &["view", "a.pcd", "-o", "a.html"],
        &["triangulate", "a.pcd", "--quiet"],
    ] {
        let error = place.refusal(command);
        assert!(error.contains(rule) && error.contains(remedy), "{error}");
    }
    let error = place.refusal(&["convert", "a.pcd", "a.las"]);
    assert!(
        error.contains("`trioxide convert --drop-invalid` leaves it out"),
        "{error}"
    );
    for (input, output, said, expected) in [
        (
            "a.pcd",
            "b.xyz",
            "2 vertices left out\n",
            "//X Y Z ring\n0 0 1 5\n1 0 1 7\n",
        ),
        (
            "a.off",
            "b.off",
            "1 vertex left out, with 2 faces that used them\n",
            "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n",
        ),
        (
            "a.vtk",
            "b.node",
            "1 vertex left out, with 1 cell that used them\n",
            "4 3 0 0\n",
        ),
    ] {
        let ran = place.output(&["convert", input, output, "--drop-invalid"]);
        let note = String::from_utf8(ran.stderr).unwrap();
        assert!(
            note.contains(&format!("coordinates that are not finite numbers: {said}")),
            "{note}"
        );
        let text = fs::read_to_string(place.path(output)).unwrap();
        assert!(text.starts_with(expected), "{text}");
    }
    // As a step, with the old ids.
    let steps = [
        "chain", "--quiet", "a.pcd", ":", "repair", "--finite", "--maps", "maps",
    ];
    let ran = place.output(&[&steps[..], &[":", "weld", "--epsilon", "0", "-o", "c.xyz"]].concat());
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(
        fs::read_to_string(place.path("maps/old_vertices.txt")).unwrap(),
        "# old id of each vertex\n0\n2\n"
    );
    let ran = place.output(&["repair", "a.vtk", "--finite", "-o", "d.vtk", "--quiet"]);
    assert!(ran.status.success(), "{ran:?}");
    let ran = place.output(&["repair", "a.off", "--finite", "--json", "-", "--quiet"]);
    let counts = String::from_utf8(ran.stdout).unwrap();
    for count in [
        "\"vertices_not_finite\":1",
        "\"faces_not_finite\":2",
        "\"repaired_vertices\":3",
    ] {
        assert!(counts.replace(' ', "").contains(count), "{counts}");
    }
}

#[test]
fn a_cloud_is_not_converted_to_triangles() {
    let place = Place::new();
    fs::write(place.path("cloud.xyz"), "0 0 0\n1 0 0\n").unwrap();
    let error = place.refusal(&["convert", "cloud.xyz", "a.stl"]);
    assert!(error.contains("2 points without faces"), "{error}");
    assert!(!place.path("a.stl").exists());
    fs::write(place.path("commas.xyz"), "1;2\n").unwrap();
    let error = place.refusal(&["info", "commas.xyz"]);
    assert!(
        error.contains("a point has 2 numbers, but 3 (x y z), 4"),
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

/// The error of points without triangles ends with a command line, which works as it stands.
#[cfg(unix)]
#[test]
fn convert_takes_its_output_by_o_too() {
    let place = Place::new();
    for arguments in [
        &["convert", "square.off", "-o", "a.vtp"][..],
        &[
            "convert",
            "square.off",
            "--output",
            "a.msh",
            "--msh-version",
            "2.2",
        ],
        &["convert", "square.off", "a.inp"],
    ] {
        assert!(place.output(arguments).status.success(), "{arguments:?}");
    }
    let msh = fs::read_to_string(place.path("a.msh")).unwrap_or_default();
    let msh = match msh.is_empty() {
        true => String::from_utf8_lossy(&fs::read(place.path("a.msh")).unwrap()).into_owned(),
        false => msh,
    };
    assert!(msh.starts_with("$MeshFormat\n2.2 1 8\n"));
    for arguments in [
        &["convert", "square.off"][..],
        &["convert", "square.off", "a.vtp", "-o", "b.vtp"],
    ] {
        assert_eq!(
            place.output(arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    let error = place.refusal(&["convert", "square.off", "-o", "./square.off"]);
    assert!(
        error.contains("the output and the input are one file"),
        "{error}"
    );
}

#[test]
fn the_boundary_of_a_volume_mesh_is_a_surface() {
    let place = Place::new();
    assert!(
        place
            .output(&["generate", "tets", "-n", "100", "-o", "tets.msh"])
            .status
            .success()
    );
    let error = place.refusal(&["convert", "tets.msh", "tets.stl"]);
    let expected = "trioxide: tets.msh is a volume mesh, and STL files hold surfaces only: write its boundary by --boundary, or .vtu\n";
    assert_eq!(error, expected);
    assert!(
        place
            .output(&["convert", "tets.msh", "--boundary", "-o", "skin.ply"])
            .status
            .success()
    );
    let info = place.output(&["info", "skin.ply"]);
    let info = String::from_utf8(info.stdout).unwrap();
    let volume = info
        .lines()
        .find(|line| line.starts_with("enclosed volume") || line.starts_with("volume"));
    assert!(
        volume.is_some_and(|line| line.ends_with(" 1")
            || line.contains("0.99999")
            || line.contains("1.0000")),
        "{info}"
    );
    let error = place.refusal(&["convert", "square.off", "--boundary", "-o", "a.off"]);
    assert!(
        error.contains("--boundary goes with volume meshes, and square.off has no cells"),
        "{error}"
    );
}

/// Gmsh's physical surfaces were not read by commands on triangles: polygons crossed the interface between them.
#[test]
fn polygons_of_a_gmsh_file_stay_in_their_physical_surface() {
    let place = Place::new();
    let peers = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/peers");
    for name in ["gmsh_22.msh", "gmsh_41_binary.msh", "gmsh_22_order2.msh"] {
        let input = peers.join(name);
        let input = input.to_str().unwrap();
        let output = place.output(&["polylla", input, "-o", "p.vtu", "--device", "cpu"]);
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        assert_eq!(
            notes.contains("34 elements are of higher order"),
            name.contains("order2")
        );
        let json = place.output(&["info", "p.vtu", "--json", "-"]).stdout;
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert!((json["area"].as_f64().unwrap() - 2.0).abs() < 1e-12);
        let [left, right] = ["10", "20"].map(|id| json["regions"][id].as_u64().unwrap());
        assert_eq!(left + right, json["faces"].as_u64().unwrap());
        assert_eq!(json["segments"], 6);
        let fine = place.output(&["refine", input, "-o", "fine.msh", "--device", "cpu"]);
        assert!(fine.status.success());
        let json = place.output(&["info", "fine.msh", "--json", "-"]).stdout;
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["regions"].as_object().unwrap().len(), 2);
        assert_eq!(json["segments"], 10);
    }
}
