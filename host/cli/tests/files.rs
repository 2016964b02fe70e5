//! Files and streams around a command: outputs that are one file, closed and full streams, coordinates that are none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
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
    fs::write(place.path("commas.xyz"), "1;2\n").unwrap();
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

/// The error of points without triangles ends with a command line, which works as it stands.
#[cfg(unix)]
#[test]
fn points_are_refused_with_the_command_line_that_triangulates_them() {
    let place = Place::new();
    for (input, word) in [
        ("cloud.xyz", "cloud.xyz"),
        ("my cloud's.xyz", r"'my cloud'\''s.xyz'"),
    ] {
        fs::write(place.path(input), "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0.4 0.3 0\n").unwrap();
        for command in ["polylla", "refine", "smooth", "vem"] {
            let remedy = match command {
                "vem" => format!("trioxide triangulate {word} -o FILE"),
                _ => format!("trioxide chain {word} : triangulate : {command} -o FILE"),
            };
            let expected = format!(
                "trioxide: {input}: the mesh has 5 points and no triangles: triangulate them first: {remedy}\n"
            );
            assert_eq!(place.refusal(&[command, input]), expected);
            let output = format!("{command}.vtu");
            let remedy = remedy.replace("FILE", &output);
            let script = format!(
                "trioxide() {{ {} \"$@\"; }}; {remedy}",
                env!("CARGO_BIN_EXE_trioxide")
            );
            let mut shell = Command::new("sh");
            let status = shell
                .current_dir(place.0.path())
                .args(["-c", &script])
                .status();
            assert!(status.unwrap().success(), "{script}");
            fs::remove_file(place.path(&output)).unwrap();
        }
    }
    let outline = "3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n";
    fs::write(place.path("outline.poly"), outline).unwrap();
    let error = place.refusal(&["polylla", "outline.poly"]);
    assert!(
        error.ends_with("first: trioxide triangulate outline.poly -o FILE\n"),
        "{error}"
    );
    let line = [
        "chain",
        "cloud.xyz",
        "--device",
        "cpu",
        ":",
        "reorder",
        ":",
        "polylla",
    ];
    let error = place.refusal(&line);
    let expected = "trioxide: cloud.xyz after reorder: the mesh has 5 points and no triangles: triangulate them first, by a \
                    step `triangulate` before this one\n";
    assert_eq!(error, expected);
}

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

#[test]
fn an_outline_is_triangulated_with_its_hole_region_and_bounds() {
    let place = Place::new();
    let outline = "8 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 1 1\n5 2 1\n6 2 2\n7 1 2\n8 1\n0 0 1 5\n1 1 2 5\n2 2 3 5\n3 3 0 5\n\
        4 4 5 6\n5 5 6 6\n6 6 7 6\n7 7 4 6\n1\n0 1.5 1.5\n1\n0 3 3 9 0.1\n";
    fs::write(place.path("a.poly"), outline).unwrap();
    let output = place.output(&[
        "triangulate",
        "a.poly",
        "--device",
        "cpu",
        "-o",
        "plain.vtu",
    ]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let has = |name: &str, count: &str| {
        let mut words = stdout.lines().map(|line| line.rsplit_once("  "));
        words.any(|pair| pair.is_some_and(|(n, c)| n.trim() == name && c.trim() == count))
    };
    assert!(
        has("segments", "8") && has("vertices", "8") && has("faces", "8"),
        "{stdout}"
    );
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("a.poly: largest areas of its regions are left out"),
        "{note}"
    );
    let arguments = [
        "triangulate",
        "a.poly",
        "-o",
        "fine.vtu",
        "--angle",
        "25",
        "--area",
        "0.1",
        "--json",
        "-",
    ];
    let report = place.output(&arguments).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let json = place.output(&["info", "fine.vtu", "--json", "-"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!(json["faces"].as_u64().unwrap() > 150, "{json}");
    for (key, count) in [("faces", &json["faces"]), ("input_segments", &8.into())] {
        assert_eq!(&report[key], count, "{report}");
    }
    let has_part = |name| {
        let parts = report["whole_run"]["parts"].as_array().unwrap();
        parts.iter().any(|part| part["name"] == name)
    };
    assert!(has_part("refine") && has_part("write"), "{report}");
    assert!(
        (json["area"].as_f64().unwrap() - 15.0).abs() < 1e-9,
        "{json}"
    );
    assert_eq!(json["regions"]["9"], json["faces"], "{json}");
    assert!(json["segments"].as_u64().unwrap() > 8, "{json}");
    // Polygons of it stay on their side of every segment.
    assert!(
        place
            .output(&["polylla", "fine.vtu", "-o", "p.vtu", "--device", "cpu"])
            .status
            .success()
    );
    let error = place.refusal(&["triangulate", "a.poly", "-o", "b.vtu", "--angle", "50"]);
    assert!(
        error.contains("50 degrees is no smallest angle that refinement reaches"),
        "{error}"
    );
    fs::write(place.path("hill.xyz"), "0 0 0\n1 0 0\n0 1 2\n").unwrap();
    let error = place.refusal(&["triangulate", "hill.xyz", "-o", "b.vtu", "--angle", "9"]);
    assert!(
        error.contains(
            "hill.xyz: vertex 2 has z = 2, but vertex 0 has z = 0: an outline that is refined lies in a plane"
        ),
        "{error}"
    );
}

/// A segment that ended outside was written, and refused by whatever read it; points had to have triangles beside.
#[test]
fn what_triangulate_writes_is_read_by_other_commands() {
    let place = Place::new();
    let outline = "6 2 0 0\n0 0 0\n1 1 0\n2 1 1\n3 0 1\n4 2 2\n5 0.5 0.5\n6 1\n0 0 1 1\n1 1 2 2\n2 2 3 3\n3 3 0 4\n4 2 4 5\n\
        5 0 5 6\n0\n0\n";
    fs::write(place.path("a.poly"), outline).unwrap();
    let output = place.output(&["triangulate", "a.poly", "-o", "a.vtu", "--angle", "20"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("a.poly: 1 segment lies outside of the triangles, and is left out there"),
        "{note}"
    );
    for arguments in [
        &["polylla", "a.vtu", "-o", "p.vtu", "--device", "cpu"][..],
        &["refine", "a.vtu", "-o", "r.vtu", "--device", "cpu"],
    ] {
        let output = place.output(arguments);
        assert!(output.status.success(), "{output:?}");
    }
    let points = "4 2 0 0\n0 0 0\n1 1 0\n2 1 1\n3 0 1\n";
    fs::write(place.path("points.node"), points).unwrap();
    let output = place.output(&["triangulate", "points.node", "-o", "points.ply"]);
    assert!(output.status.success(), "{output:?}");
    let error = place.refusal(&[
        "triangulate",
        "a.poly",
        "-o",
        "b.vtu",
        "--area",
        "1e-6",
        "--max-vertices",
        "9",
    ]);
    assert!(error.contains("more than the 9 vertices"), "{error}");
    assert!(!place.path("b.vtu").exists());
}

#[test]
fn terrain_keeps_its_heights_and_its_data() {
    let place = Place::new();
    // A hill with a colour at each point; the last two lie at the places of the first two.
    let rows: String = (0..102)
        .map(|i| (i % 100, i))
        .map(|(k, i)| format!("{} {} {} {i} 7 9\n", k % 10, k / 10, (k % 10) * (k / 10)))
        .collect();
    let header = "ply\nformat ascii 1.0\nelement vertex 102\nproperty double x\nproperty double y\nproperty double z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n";
    fs::write(place.path("hill.ply"), format!("{header}{rows}")).unwrap();
    let triangulate = ["triangulate", "hill.ply", "--device", "cpu", "-o", "a.ply"];
    let error = place.refusal(&triangulate);
    let remedy = "vertex 100 lies at the same place as vertex 0: weld the points first, or use --duplicates first";
    assert!(error.contains(remedy), "{error}");
    let first = ["--duplicates", "first", "--map", "map.txt", "--json", "-"];
    let report = place.output(&[&triangulate[..], &first].concat()).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(
        (&report["faces"], &report["duplicates"]),
        (&162.into(), &2.into()),
        "{report}"
    );
    let map = fs::read_to_string(place.path("map.txt")).unwrap();
    let map: Vec<usize> = map.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(map, (0..102).map(|i| i % 100).collect::<Vec<_>>());
    let text = ["convert", "a.ply", "b.ply", "--encoding", "text", "--quiet"];
    assert!(place.output(&text).status.success());
    let written = fs::read_to_string(place.path("b.ply")).unwrap();
    assert!(written.contains("\n9 9 81 99 7 9"), "{written}");
    // A chain does the same in one process, and goes on.
    let chain = "chain hill.ply --device cpu --quiet : triangulate --duplicates first -o c.ply : refine -o d.ply";
    let output = place.output(&chain.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    let [alone, chained] = ["a.ply", "c.ply"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(alone == chained && place.path("d.ply").exists());
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
