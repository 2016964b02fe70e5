//! Text that asks for more than it is: counts beyond the file, deep nesting, entities, one line of 5 MB, ragged lists.
//! Each is an error, or a mesh, within memory in proportion to the file: the commands run under `ulimit -v`.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Kibibytes of address space for a file of some kilobytes: the program, its threads' stacks and heaps, and little
/// else.
const SMALL: u64 = 500_000;

fn info(folder: &TempDir, name: &str, kibibytes: u64) -> Output {
    let script = format!(
        "ulimit -v {kibibytes}; exec {} info {name}",
        env!("CARGO_BIN_EXE_trioxide")
    );
    let start = Instant::now();
    let output = Command::new("sh")
        .current_dir(folder.path())
        // One thread: each takes address space of its own.
        .env("RAYON_NUM_THREADS", "1")
        .args(["-c", &script])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        start.elapsed() < Duration::from_secs(300),
        "{name} took {:?}",
        start.elapsed()
    );
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{name}: {:?}: {message}",
        output.status
    );
    assert!(
        !message.contains("panicked") && !message.contains("memory"),
        "{name}: {message}"
    );
    // A token of a megabyte is not for the terminal.
    assert!(
        message.len() < 2000,
        "{name}: a message of {} bytes",
        message.len()
    );
    output
}

/// Runs `info` on files of these contents, each of which is refused by one sentence that names the file.
fn refused(files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), content).unwrap();
        if name.ends_with(".ele") {
            fs::write(
                folder.path().join("a.node"),
                "3 2 0 0\n0 0 0\n1 1 0\n2 0 1\n",
            )
            .unwrap();
        }
        if name.ends_with(".node") {
            fs::write(folder.path().join("a.ele"), "1 3 0\n0 0 1 2\n").unwrap();
        }
        let output = info(&folder, name, SMALL);
        let message = String::from_utf8_lossy(&output.stderr);
        let start = String::from_utf8_lossy(&content[..content.len().min(60)]);
        assert_eq!(output.status.code(), Some(1), "{name}: {start}");
        assert_eq!(message.lines().count(), 1, "{name}: {message}");
        assert!(
            message.starts_with(&format!("trioxide: {name}")),
            "{name}: {message}"
        );
    }
}

#[test]
fn counts_beyond_the_file_take_no_memory() {
    let ply = |count: &str| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex {count}\nproperty double x\nproperty double y\nproperty double z\nend_header\n0 0 0\n"
        )
    };
    let vtk = |points: &str, cells: &str| {
        format!(
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {points} double\n0 0 0\nCELLS {cells} {cells}\n"
        )
    };
    let msh4 = |nodes: &str| {
        format!(
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {nodes} 1 {nodes}\n2 1 0 {nodes}\n1\n0 0 0\n$EndNodes\n"
        )
    };
    let msh2 = |nodes: &str| {
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{nodes}\n1 0 0 0\n$EndNodes\n$Elements\n{nodes}\n$EndElements\n"
        )
    };
    let vtu = |count: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"{count}\" NumberOfCells=\"{count}\"><Points><DataArray \
             type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0</DataArray></Points><Cells><DataArray type=\"Int64\" \
             Name=\"connectivity\" format=\"ascii\"></DataArray><DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\"></DataArray><DataArray \
             type=\"UInt8\" Name=\"types\" format=\"ascii\"></DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"
        )
    };
    let stl = |count: u32| [&[0; 80][..], &count.to_le_bytes(), &[0; 50]].concat();
    for count in [
        "4000000000",
        "4294967295",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999",
    ] {
        refused(&[
            (
                "a.off",
                format!("OFF\n{count} {count} 0\n0 0 0\n").as_bytes(),
            ),
            ("a.ply", ply(count).as_bytes()),
            ("a.node", format!("{count} 2 0 0\n0 0 0\n").as_bytes()),
            ("a.ele", format!("{count} 3 0\n0 0 1 2\n").as_bytes()),
            ("a.ele", format!("1 {count} 0\n0 0 1 2\n").as_bytes()),
            ("a.ele", format!("1 3 {count}\n0 0 1 2\n").as_bytes()),
            (
                "a.edges",
                format!("{count} {count} {count}\n0 0\n").as_bytes(),
            ),
            ("a.vtu", vtu(count).as_bytes()),
            ("a.vtk", vtk(count, "1").as_bytes()),
            ("a.vtk", vtk("1", count).as_bytes()),
            ("a.msh", msh4(count).as_bytes()),
            ("a.msh", msh2(count).as_bytes()),
            (
                "a.mesh",
                format!("MeshVersionFormatted 2\nDimension 3\nVertices {count}\n0 0 0 0\n")
                    .as_bytes(),
            ),
        ]);
    }
    refused(&[("a.stl", &stl(u32::MAX - 1)), ("a.stl", &stl(1 << 31))]);
    // Binary lists whose lengths are beyond the file.
    let list = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty double x\nproperty double y\nproperty double z\n\
                 element face 1\nproperty list uint uint vertex_indices\nend_header\n";
    refused(&[("a.ply", &[&list[..], &[0; 24], &[255; 4]].concat())]);
}

#[test]
fn deep_nesting_of_xml_is_refused_without_a_deep_stack() {
    // The stack has 8 MB: fewer than 30 bytes for each.
    for depth in [2_000, 300_000] {
        let text = "<a>".repeat(depth);
        let closed = format!("{text}{}", "</a>".repeat(depth));
        refused(&[("a.vtu", text.as_bytes()), ("a.vtu", closed.as_bytes())]);
        let inside = format!("<VTKFile type=\"UnstructuredGrid\">{closed}</VTKFile>");
        refused(&[("a.vtu", inside.as_bytes())]);
    }
}

/// The billion laughs, and one long entity many times.
#[test]
fn entities_of_xml_do_not_grow() {
    let mut laughs =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE VTKFile [\n<!ENTITY l0 \"lol\">\n".to_owned();
    for i in 1..12 {
        laughs += &format!(
            "<!ENTITY l{i} \"{}\">\n",
            format!("&l{};", i - 1).repeat(10)
        );
    }
    laughs += "]>\n<VTKFile type=\"UnstructuredGrid\">&l11;</VTKFile>";
    let mut long = format!(
        "<!DOCTYPE VTKFile [<!ENTITY a \"{}\">]>\n<VTKFile>",
        "a".repeat(100_000)
    );
    long += &"&a;".repeat(100_000);
    long += "</VTKFile>";
    refused(&[("a.vtu", laughs.as_bytes()), ("a.vtu", long.as_bytes())]);
}

#[test]
fn ragged_lists_are_refused() {
    refused(&[
        ("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1\n3 0 1 2\n"),
        ("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n"),
        ("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4294967295 0 1 2\n"),
        ("a.obj", b"v 0 0 0\nv 1 0\nf 1 2 3\n"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2/ 3/1/1/1\n"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\nproperty double z\nend_header\n0 0 0\n0 0\n"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty double x\nproperty double y\nproperty double z\nelement face 1\nproperty list uint uint vertex_indices\nend_header\n0 0 0\n4000000000 0 0 0\n"),
        ("a.node", b"3 2 0 0\n0 0 0\n1 1\n2 0 1\n"),
        ("a.ele", b"1 3 1\n0 0 1\n"),
        ("a.xyz", b"0 0 0\n1 1\n"),
        ("a.stl", b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nendloop\nendfacet\nendsolid\n"),
        ("a.edges", b"3 3 1\n0 0\n1\n0 1\n0 1\n1 2\n2 0\n1 2 3\n"),
        ("a.vtk", b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 double\n0 0\nCELLS 1 5\n4 0 0 0 0\nCELL_TYPES 1\n10\n"),
        ("a.vtk", b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 double\n0 0 0\nCELLS 1 5\n9999 0 0 0 0\nCELL_TYPES 1\n10\n"),
        ("a.mesh", b"MeshVersionFormatted 2\nDimension 3\nVertices 2\n0 0 0 0\n0 0\nTetrahedra 1\n1 1 1 1 0\n"),
    ]);
}

/// Each format with one line where its numbers are: several of the megabytes that readers take at once.
#[test]
fn a_line_of_5_megabytes_takes_memory_in_proportion() {
    let vtu_head = "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"1\" NumberOfCells=\"0\"><Points><DataArray \
                    type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">";
    const MEGABYTES: u64 = 5;
    /// Kibibytes of address space for a small file: a third of [`SMALL`], since a fault would show in few megabytes.
    const BASE: u64 = 150_000;
    let heads: [(&str, &str); 13] = [
        ("a.off", "OFF\n3 1 0\n"),
        ("a.off", "OFF\n1 1 0\n0 0 0\n20000000 "),
        ("a.obj", "v 0 0 0\nf "),
        ("a.obj", "v 0 0 0\ng "),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty double x\nproperty double y\nproperty double z\nend_header\n",
        ),
        ("a.stl", "solid "),
        ("a.node", "3 2 0 0\n"),
        ("a.vtu", vtu_head),
        ("a.vtu", "<VTKFile "),
        ("a.xyz", ""),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 double\n",
        ),
        (
            "a.msh",
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 1 1 1\n",
        ),
        (
            "a.mesh",
            "MeshVersionFormatted 2\nDimension 3\nVertices 1\n",
        ),
    ];
    let megabyte = "1 1 ".repeat(250_000);
    let token = "1".repeat(1_000_000);
    for (name, head) in heads {
        for piece in [&megabyte, &token] {
            let folder = tempfile::tempdir().unwrap();
            let mut file = File::create(folder.path().join(name)).unwrap();
            file.write_all(head.as_bytes()).unwrap();
            for _ in 0..MEGABYTES {
                file.write_all(piece.as_bytes()).unwrap();
            }
            drop(file);
            if name == "a.node" {
                fs::write(folder.path().join("a.ele"), "1 3 0\n0 0 1 2\n").unwrap();
            }
            // The file mapped, and up to 16 bytes for each byte of it: a list of 8-byte numbers, and one that grows by
            // copying.
            info(&folder, name, BASE + 17 * 1_000 * MEGABYTES);
        }
    }
}

/// A chunk of compressed points that says it becomes 1 GB.
#[test]
fn a_chunk_of_laz_takes_memory_for_points_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let [text, small] = ["a.xyz", "a.laz"].map(|name| folder.path().join(name));
    fs::write(&text, "0 0 0\n1 2 3\n3 2 1\n").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .arg("convert")
        .args([&text, &small])
        .status();
    assert!(status.unwrap().success());
    let mut file = fs::read(small).unwrap();
    let points = 50_000_000u32.to_le_bytes();
    // Of the header, and of a chunk in the record of the compression.
    for at in [107, 227 + 54 + 12] {
        file[at..at + 4].copy_from_slice(&points);
    }
    refused(&[("a.laz", &file)]);
}
