//! `mpirun … trioxide weld`: the files and counts of the single run.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{RANKS, counts, done, meshes, one_rank_is_the_single_run, refused, write_rich};

/// The outputs of a run: the mesh, the map, the list of removed vertices, and the counts.
fn run(at: &Path, ranks: usize, arguments: &[&str], output: &str) -> [Vec<u8>; 4] {
    let files = [output, "map.txt", "removed.txt"];
    let more = [
        "-o",
        output,
        "--map",
        "map.txt",
        "--removed",
        "removed.txt",
        "--json",
        "counts.json",
        "--device",
        "cpu",
        "--quiet",
    ];
    let said = done(at, ranks, &[&["weld"], arguments, &more].concat());
    assert_eq!(said, "");
    let keys = [
        "vertices",
        "faces",
        "epsilon",
        "ratio",
        "clusterings",
        "locked_vertices",
        "welded_vertices",
        "welded_faces",
        "method",
    ];
    let counts = counts(&at.join("counts.json"), &keys);
    let [mesh, map, removed] = files.map(|file| {
        let bytes = fs::read(at.join(file)).unwrap();
        // Otherwise a file that the next run does not write would be this run's.
        fs::remove_file(at.join(file)).unwrap();
        bytes
    });
    [mesh, map, removed, counts.into_bytes()]
}

fn same(at: &Path, sizes: &[usize], arguments: &[&str], output: &str) {
    let single = run(at, 1, arguments, output);
    for &ranks in sizes {
        let many = run(at, ranks, arguments, output);
        let names = ["mesh", "map", "removed vertices", "counts"];
        for (name, (many, single)) in names.iter().zip(many.iter().zip(&single)) {
            assert!(many == single, "{name} of {arguments:?} on {ranks} ranks");
        }
    }
}

/// The meshes of all tests, and: a scan; a grid twice, one copy in another order; a cloud; a mesh with all attributes
/// and fields.
fn welded_meshes() -> TempDir {
    let folder = meshes();
    let at = folder.path();
    let make = |arguments: &[&str]| {
        done(at, 1, &[arguments, &["--quiet"]].concat());
    };
    make(&["generate", "scan", "-n", "1200", "-o", "scan.ply"]);
    make(&["generate", "cloud", "-n", "700", "-o", "cloud.xyz"]);
    let (mut points, mut faces) = (String::new(), String::new());
    for i in 0..441 {
        points += &format!("v {} {} 0\n", i % 21, i / 21);
    }
    for i in (0..441).rev() {
        points += &format!("v {} {} 0\n", i % 21, i / 21);
    }
    for i in 0..400 {
        let a = i % 20 + 21 * (i / 20) + 1;
        faces += &format!("f {} {} {}\nf {0} {2} {}\n", a, a + 1, a + 22, a + 21);
        let b = 883 - a;
        faces += &format!("f {} {} {}\n", b, b - 1, b - 22);
    }
    fs::write(at.join("twice.obj"), points + &faces).unwrap();
    make(&["convert", "twice.obj", "twice.ply"]);
    write_rich(at);
    fs::write(at.join("locked.txt"), "0\n5\n22\n300\n").unwrap();
    folder
}

#[test]
fn weld_writes_the_files_of_the_single_run() {
    let folder = welded_meshes();
    let at = folder.path();
    // Each rank reads and writes its slices.
    same(at, &RANKS, &["scan.ply", "--epsilon", "0.1"], "w.ply");
    same(at, &[3], &["twice.ply", "--epsilon", "0"], "w.ply");
    let first = ["twice.ply", "--epsilon", "1", "--position", "first"];
    same(
        at,
        &[2],
        &[&first[..], &["--keep-degenerate"]].concat(),
        "w.ply",
    );
    same(at, &[7], &["regions.ply", "--epsilon", "1.2"], "w.ply");
    same(at, &[4], &["regions.ply", "--epsilon", "50"], "w.ply");
    same(at, &[2], &["scan.ply", "--ratio", "0.4"], "w.ply");
    // Rank 0 reads and writes.
    same(at, &[4], &["cloud.xyz", "--epsilon", "0.05"], "w.xyz");
    same(at, &[3], &["disk.off", "--epsilon", "0.1"], "w.off");
    let guards = ["--normal-tolerance", "20", "--color-tolerance", "90"];
    let rich = ["rich.ply", "--epsilon", "1"];
    same(at, &[2], &rich, "w.ply");
    same(at, &[3], &[&rich[..], &guards].concat(), "w.ply");
    let locks = ["--lock", "boundary", "--lock", "file:locked.txt"];
    same(
        at,
        &[4],
        &[&["twice.ply", "--epsilon", "1"], &locks[..]].concat(),
        "w.ply",
    );
    // Faces of any size.
    let polygons = ["polylla", "random.ply", "-o", "polygons.ply", "--quiet"];
    done(at, 1, &polygons);
    same(at, &[3], &["polygons.ply", "--epsilon", "0.02"], "w.ply");
}

/// Results that no option asks for stay on the device. The counts, and the file that is asked for, are the same.
#[test]
fn weld_writes_only_what_is_asked_for() {
    let folder = welded_meshes();
    let at = folder.path();
    let scan = ["scan.ply", "--epsilon", "0.1"];
    let grid = ["generate:grid:900", "--epsilon", "0.05"];
    for input in [scan, grid] {
        for output in [None, Some(["-o", "w.ply"]), Some(["--map", "map.txt"])] {
            let written = |ranks: usize| {
                let asked = output.as_ref().map_or(&[][..], |output| &output[..]);
                let counted = ["--json", "counts.json", "--device", "cpu", "--quiet"];
                let arguments = [&["weld"], &input[..], asked, &counted].concat();
                done(at, ranks, &arguments);
                let file = asked.last().map(|file| fs::read(at.join(file)).unwrap());
                let counted = counts(
                    &at.join("counts.json"),
                    &["vertices", "faces", "welded_vertices", "welded_faces"],
                );
                (file, counted)
            };
            assert!(written(3) == written(1), "{input:?}, {output:?}");
        }
    }
}

#[test]
fn weld_on_one_rank_is_the_single_run() {
    let folder = welded_meshes();
    one_rank_is_the_single_run(folder.path(), &["weld", "scan.ply", "--epsilon", "0.1"]);
}

#[test]
fn faults_of_weld_end_all_ranks_with_one_message() {
    let folder = welded_meshes();
    let at = folder.path();
    let scan = fs::read(at.join("scan.ply")).unwrap();
    fs::write(at.join("short.ply"), &scan[..scan.len() - 5]).unwrap();
    // The first coordinate of the second vertex.
    let header = scan.windows(11).position(|bytes| bytes == b"end_header\n");
    let mut bad = scan.clone();
    let second = header.unwrap() + 11 + 24;
    bad[second..second + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    fs::write(at.join("nan.ply"), bad).unwrap();
    let epsilon = ["--epsilon", "0.1"];
    for (mesh, more, cause) in [
        ("short.ply", &epsilon[..], "short.ply:"),
        ("nothing.ply", &epsilon, "check its name and folder"),
        ("nan.ply", &epsilon, "nan.ply: vertex 1 has a coordinate"),
        ("scan.ply", &["--epsilon", "-1"], "epsilon is -1"),
        (
            "scan.ply",
            &["--ratio", "1.5"],
            "the ratio of vertices to remove is 1.5",
        ),
        (
            "scan.ply",
            &["--epsilon", "1", "--uv-tolerance", "1"],
            "there is a tolerance of texture coordinates",
        ),
        (
            "scan.ply",
            &["--epsilon", "1", "--method", "dependency"],
            "--method dependency is for one process",
        ),
        (
            "scan.ply",
            &["--epsilon", "1", "--memory-limit", "1G"],
            "--memory-limit is for one process",
        ),
        (
            "cloud.xyz",
            &["--epsilon", "1", "--lock", "boundary"],
            "a cloud of points has no boundary",
        ),
    ] {
        let arguments = [&["weld", mesh, "-o", "out.ply", "--quiet"], more].concat();
        let said = refused(at, 2, &[&arguments[..], &["--device", "cpu"]].concat());
        assert!(said.contains(cause), "{said}");
    }
    assert!(!at.join("out.ply").exists());
}
