//! Each command tried wrongly: the message names the cause and the remedy. The tries are in `wrong.txt`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that the tries name: meshes with one fault each, and texts that are none.
const FILES: &[(&str, &str)] = &[
    (
        "square.off",
        "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n",
    ),
    (
        "quad.off",
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
    ),
    (
        "space.off",
        "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n",
    ),
    (
        "clockwise.off",
        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 2 1\n",
    ),
    (
        "place.off",
        "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 1\n1 0 0\n3 0 1 2\n3 1 3 2\n",
    ),
    ("flat.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n"),
    (
        "three.off",
        "OFF\n5 3 0\n0 0 0\n1 0 0\n0 1 0\n0.3 0.9 0\n0.5 2 0\n3 0 1 2\n3 0 1 3\n3 0 1 4\n",
    ),
    (
        "hex.mesh",
        "MeshVersionFormatted 2\nDimension 3\nVertices 8\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 0\n1 1 1 0\n\
         0 1 1 0\nHexahedra 1\n1 2 3 4 5 6 7 8 0\nEnd\n",
    ),
    (
        "facets.poly",
        "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n1 1\n1 0 1\n3 1 2 3\n0\n0\n",
    ),
    ("freefem.msh", "3 1 0\n0 0 1\n1 0 1\n0 1 1\n1 2 3 0\n"),
    ("tent.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 1\n3 0 1 2\n"),
    ("index.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"),
    ("nan.off", "OFF\n3 1 0\nnan 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
    (
        "huge.off",
        "OFF\n3 1 0\n0 0 0\n1e30 0 0\n0 1e30 0\n3 0 1 2\n",
    ),
    (
        "far.off",
        "OFF\n3 1 0\n-1.7e308 0 0\n1.7e308 0 0\n0 1 0\n3 0 1 2\n",
    ),
    ("nan_cells.vtu", NAN_CELLS),
    (
        "inward.visf",
        "2 2\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n3 0 1 2\n3 0 1 3\n3 1 2 3\n3 0 3 2\n0\n1\n4 0 1 2 3\n",
    ),
    (
        "open.visf",
        "2 2\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3\n3 0 1 2\n3 0 1 3\n3 1 2 3\n0\n1\n3 0 1 2\n",
    ),
    ("alone.foam", ""),
    ("nothing.off", "OFF\n0 0 0\n"),
    ("short.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n"),
    ("words.off", "OFF\n3 1 0\n0 0 0\n1 zero 0\n0 1 0\n3 0 1 2\n"),
    ("square.foo", "OFF\n"),
    ("bad.off", "not a mesh\n"),
    ("bad.ply", "not a mesh\n"),
    ("bad.vtu", "not a mesh\n"),
    ("bad.poly", "not a mesh\n"),
    ("words.txt", "not a mesh\n"),
    ("empty.file", ""),
    ("nothing.ply", ""),
    ("points.xyz", "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0.4 0.3 0\n"),
    ("space.xyz", "0 0 0\n1 0 0\n0 1 0\n1 1 5\n"),
    ("two.xyz", "0 0 0\n1 0 0\n"),
    ("line.xyz", "0 0 0\n1 0 0\n2 0 0\n3 0 0\n"),
    ("same.xyz", "0 0 0\n1 0 0\n0 1 0\n0 0 0\n"),
    ("nine.txt", "9\n"),
    ("one.txt", "1\n2\n"),
    (
        "crossing.poly",
        "4 2 0 0\n1 0 0\n2 1 1\n3 0 1\n4 1 0\n2 0\n1 1 2\n2 3 4\n0\n",
    ),
    (
        "heat.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\nproperty double heat\n\
         element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 1\n1 0 -2\n0 1 1\n3 0 1 2\n",
    ),
    (
        "truncated.ply",
        "ply\nformat binary_little_endian 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
         end_header\nabc",
    ),
];

/// A tetrahedron as a polyhedron, with a coordinate that is not finite.
const NAN_CELLS: &str = "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>\
    <Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>\
    <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">nan 0 0 1 0 0 0 1 0 0 0 1</DataArray></Points><Cells>\
    <DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>\
    <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">4</DataArray>\
    <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">42</DataArray>\
    <DataArray type=\"Int64\" Name=\"faces\" format=\"ascii\">4 3 0 2 1 3 0 1 3 3 1 2 3 3 0 3 2</DataArray>\
    <DataArray type=\"Int64\" Name=\"faceoffsets\" format=\"ascii\">17</DataArray></Cells></Piece>\
    </UnstructuredGrid></VTKFile>\n";

/// A file of VTK without its counts.
const BARE: &str = "<?xml version=\"1.0\"?>\n\
    <VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece/></UnstructuredGrid></VTKFile>\n";

/// A file of XDMF whose numbers are in a file of HDF5.
const HDF: &str = "<Xdmf Version=\"3.0\"><Domain><Grid><Topology TopologyType=\"Triangle\" NumberOfElements=\"1\">\
    <DataItem Format=\"HDF\" Dimensions=\"1 3\">a.h5:/t</DataItem></Topology><Geometry GeometryType=\"XY\">\
    <DataItem Format=\"HDF\" Dimensions=\"3 2\">a.h5:/g</DataItem></Geometry></Grid></Domain></Xdmf>\n";

#[test]
fn help_says_where_defaults_come_from_and_what_is_clamped() {
    let help = |command: &str| {
        let mut process = Command::new(env!("CARGO_BIN_EXE_trioxide"));
        let output = process.args([command, "--help"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in [
        "generate",
        "triangulate",
        "compare",
        "convert",
        "decimate",
        "polylla",
        "refine",
        "reorder",
        "repair",
        "smooth",
        "render",
        "vem",
        "view",
        "weld",
    ] {
        let text = help(command);
        assert!(
            text.contains("Where defaults come from: "),
            "{command}: {text}"
        );
    }
    // Of every command that reads a mesh.
    for command in [
        "triangulate",
        "info",
        "compare",
        "convert",
        "decimate",
        "polylla",
        "refine",
        "reorder",
        "repair",
        "smooth",
        "selftest",
        "render",
        "vem",
        "view",
        "weld",
        "chain",
        "bench",
    ] {
        let text = help(command);
        assert!(
            text.contains("--follow-references <WHERE>"),
            "{command}: {text}"
        );
    }
    assert!(help("smooth").contains("0 where their sum is negative"));
    assert!(help("generate").contains("from 3 to 715827882"));
    assert!(help("render").contains("[default: guessed for a mesh in space"));
}

fn run(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide"));
    let arguments = arguments.split_whitespace();
    let output = command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

#[test]
fn each_wrong_command_line_is_told_its_cause_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, text) in FILES {
        fs::write(path.join(name), text).unwrap();
    }
    fs::write(path.join("zipped.vtu"), BARE).unwrap();
    fs::write(path.join("hdf.xdmf"), HDF).unwrap();
    for name in ["folder", "folder.off"] {
        fs::create_dir(path.join(name)).unwrap();
    }
    let (status, said) = run(path, "generate tets -n 27 -o tets.vtu --quiet");
    assert_eq!(status, Some(0), "{said}");

    let table = include_str!("wrong.txt");
    let is_try = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let (mut tries, mut wrong) = (0, Vec::new());
    for line in table.lines().filter(is_try) {
        let (call, words) = line.split_once(" => ").expect("a table of tries");
        let (expected, arguments) = call.split_once(' ').unwrap_or((call, ""));
        let (status, said) = run(path, arguments);
        tries += 1;
        let missing: Vec<&str> = words
            .split(" ;; ")
            .filter(|word| !said.contains(word))
            .collect();
        if status != expected.parse().ok() || !missing.is_empty() || said.contains("panicked") {
            wrong.push(format!(
                "{arguments}: status {status:?}, no {missing:?} in: {said}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tries}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tries >= 300, "{tries}");
}
