//! `mpirun … trioxide`: the files of the single run, byte for byte, and faults that end all ranks.
//!
//! `cargo test --workspace --features trioxide-cli/mpi --test ranks`; `cargo xtask test` names
//! another place for the binary, beside that without MPI.
#![cfg(feature = "mpi")]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

mod account;
mod emulated;
mod generated;
mod pieces;
mod polyhedra;
mod polylla;
mod refine;
mod refine_tets;
mod weld;

/// The fewest, and more than a small mesh has work for. The tests of `trioxide-ranks` work on each mesh with more
/// numbers of ranks, in threads: here most runs have one number, since the start of MPI takes most of their time.
const RANKS: [usize; 2] = [2, 7];

/// The binary with MPI.
fn trioxide() -> PathBuf {
    let elsewhere = env::var_os("TRIOXIDE_WITH_MPI");
    elsewhere.map_or_else(|| env!("CARGO_BIN_EXE_trioxide").into(), PathBuf::from)
}

fn mpirun(ranks: usize) -> Command {
    let mut command = mpirun_of(ranks);
    command.arg(trioxide());
    command
}

/// `mpirun`, before the program that it starts.
fn mpirun_of(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n"]);
    command.arg(ranks.to_string());
    // mpirun and each rank would look for devices and displays: for PCI devices alone in a seventh of their processor
    // time.
    let displays = "hwloc_pci.so,hwloc_gl.so,hwloc_opencl.so";
    command.env("HWLOC_PLUGINS_BLACKLIST", displays);
    command.env("HWLOC_COMPONENTS", "-linux:pci,-linux:io");
    command
}

fn command(folder: &Path, ranks: usize, arguments: &[&str]) -> Output {
    let mut command = match ranks {
        1 => Command::new(trioxide()),
        _ => mpirun(ranks),
    };
    output_of(command.args(arguments).current_dir(folder))
}

/// The variable that names the folder in which Open MPI makes the folders of a run.
const SESSIONS: &str = "OMPI_MCA_orte_tmpdir_base";

/// A folder for a run: else the end of another run may remove the folder that all runs of a user share, while this run
/// starts in it.
fn sessions() -> TempDir {
    TempDir::new().expect("a folder for Open MPI")
}

/// The output of a run. The run is repeated if Open MPI reports a rank as failed that has ended in order: sometimes it
/// sees the end of a process before it receives its last message (open-mpi/ompi#7833).
fn output_of(command: &mut Command) -> Output {
    const TRIES: usize = 3;
    let is_unheard = |said: &str| said.contains("with PID 0 on") && said.contains("improperly");
    let sessions = sessions();
    command.env(SESSIONS, sessions.path());
    for _ in 1..TRIES {
        let output = command.output().expect("mpirun is here");
        if output.status.success() || !is_unheard(&String::from_utf8_lossy(&output.stderr)) {
            return output;
        }
    }
    command.output().expect("mpirun is here")
}

fn done(folder: &Path, ranks: usize, arguments: &[&str]) -> String {
    let output = command(folder, ranks, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{ranks} ranks, {arguments:?}: {said}"
    );
    said
}

/// The values of these keys in a run's JSON, a line each.
fn counts(file: &Path, keys: &[&str]) -> String {
    let text = fs::read_to_string(file).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    keys.iter()
        .map(|&key| json[key].to_string() + "\n")
        .collect()
}

/// The output and the counts of a run on the CPU.
fn file_and_counts(
    at: &Path,
    ranks: usize,
    arguments: &[&str],
    output: &str,
    keys: &[&str],
) -> (Vec<u8>, String) {
    let more = [
        "-o", output, "--json", "r.json", "--device", "cpu", "--quiet",
    ];
    assert_eq!(done(at, ranks, &[arguments, &more].concat()), "");
    let bytes = fs::read(at.join(output)).unwrap();
    fs::remove_file(at.join(output)).unwrap();
    (bytes, counts(&at.join("r.json"), keys))
}

/// So many ranks write the file of the single run, and count the same.
fn same_file_and_counts(
    at: &Path,
    sizes: &[usize],
    arguments: &[&str],
    output: &str,
    keys: &[&str],
) {
    let single = file_and_counts(at, 1, arguments, output, keys);
    for &ranks in sizes {
        let many = file_and_counts(at, ranks, arguments, output, keys);
        assert_eq!(many.1, single.1, "{arguments:?} on {ranks} ranks");
        assert!(many.0 == single.0, "{arguments:?} on {ranks} ranks");
    }
}

fn refused(folder: &Path, ranks: usize, arguments: &[&str]) -> String {
    let output = command(folder, ranks, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("trioxide: "))
        .collect();
    assert_eq!(lines.len(), 1, "one message of all ranks: {said}");
    lines[0].to_owned()
}

/// One rank under mpirun writes the file of the single run.
fn one_rank_is_the_single_run(folder: &Path, arguments: &[&str]) {
    let arguments = [arguments, &["--device", "cpu", "--quiet", "-o"]].concat();
    done(folder, 1, &[&arguments[..], &["one.ply"]].concat());
    let mut one_rank = mpirun(1);
    one_rank.args(arguments).arg("many.ply").current_dir(folder);
    assert!(output_of(&mut one_rank).status.success());
    let file = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(file("one.ply") == file("many.ply"));
}

/// A folder with meshes of all kinds: a grid, whose edges tie; random points; holes; regions and segments; formats that
/// one rank reads.
fn meshes() -> TempDir {
    static FILES: LazyLock<Vec<(OsString, Vec<u8>)>> = LazyLock::new(|| {
        let made = made_meshes();
        let entries = fs::read_dir(made.path()).unwrap().map(Result::unwrap);
        let file = |entry: fs::DirEntry| (entry.file_name(), fs::read(entry.path()).unwrap());
        entries.map(file).collect()
    });
    let folder = TempDir::new().unwrap();
    for (name, bytes) in &*FILES {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Makes the meshes, once for all tests.
fn made_meshes() -> TempDir {
    let folder = TempDir::new().unwrap();
    let make = |arguments: &[&str]| {
        done(folder.path(), 1, &[arguments, &["--quiet"]].concat());
    };
    make(&["generate", "grid", "-n", "900", "-o", "grid.ply"]);
    make(&["generate", "random", "-n", "1500", "-o", "random.ply"]);
    make(&["generate", "disk", "-n", "400", "-o", "disk.off"]);
    let outline = "9 2 0 1\n1 0 0\n2 4 0\n3 4 3\n4 0 3\n5 1 1\n6 2 1\n7 2 2\n8 1 2\n9 3 2.5\n\
                   9 1\n1 1 2 7\n2 2 3 7\n3 3 4 7\n4 4 1 7\n5 5 6 5\n6 6 7 5\n7 7 8 5\n8 8 5 5\n9 3 9 4\n\
                   1\n1 1.5 1.5\n";
    fs::write(folder.path().join("holes.poly"), outline).unwrap();
    make(&[
        "triangulate",
        "holes.poly",
        "--area",
        "0.02",
        "-o",
        "holes.ply",
    ]);
    // As text it is lifted, and half of its triangles run clockwise.
    fs::write(folder.path().join("flat.ply"), with_regions("0", false)).unwrap();
    fs::write(folder.path().join("text.ply"), with_regions("4.5", true)).unwrap();
    make(&["convert", "flat.ply", "regions.ply"]);
    folder
}

/// A grid with regions and a segment, in the plane of this `height`; the second triangle of each square runs clockwise
/// if `is_turned`.
fn with_regions(height: &str, is_turned: bool) -> String {
    let mut file = String::from("ply\nformat ascii 1.0\n");
    file += "comment segments 1 vertices 441 faces 800\ncomment segment 22 43 3\n";
    file += "element vertex 441\nproperty double x\nproperty double y\nproperty double z\n";
    file += "element face 800\nproperty list uchar int vertex_indices\nproperty int region\nend_header\n";
    for i in 0..441 {
        file += &format!("{} {} {height}\n", i % 21, i / 21);
    }
    for i in 0..400 {
        let (a, region) = (i % 20 + 21 * (i / 20), i % 20 / 7);
        let (mut b, mut c) = (a + 22, a + 21);
        if is_turned {
            (b, c) = (c, b);
        }
        file += &format!("3 {} {} {} {region}\n", a, a + 1, a + 21);
        file += &format!("3 {} {b} {c} {region}\n", a + 1);
    }
    file
}

/// Writes `rich.ply`, a mesh with all attributes, and a field.
fn write_rich(at: &Path) {
    let mut rich = String::from("ply\nformat ascii 1.0\nelement vertex 441\n");
    for name in ["x", "y", "z", "nx", "ny", "nz", "s", "t", "height"] {
        rich += &format!("property double {name}\n");
    }
    rich += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    rich += "element face 400\nproperty list uchar int vertex_indices\nend_header\n";
    for i in 0..441 {
        let (x, y) = (i % 21, i / 21);
        let tilt = f64::from(i % 7) / 10.0;
        rich += &format!(
            "{x} {y} 0 {tilt} 0.25 1 {tilt} 0.5 {i} {} 9 {}\n",
            i % 256,
            y
        );
    }
    for i in 0..400 {
        let a = i % 20 + 21 * (i / 20);
        rich += &format!("3 {} {} {}\n", a, a + 1, a + 21);
    }
    fs::write(at.join("rich.ply"), rich).unwrap();
}

#[test]
fn smooth_writes_the_file_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    let make = |arguments: &[&str]| {
        done(at, 1, &[arguments, &["--quiet"]].concat());
    };
    make(&["generate", "tets", "-n", "600", "-o", "tets.vtu"]);
    make(&["generate", "scan", "-n", "900", "-o", "scan.ply"]);
    fs::write(at.join("fixed.txt"), "5\n100\n101\n").unwrap();
    let taubin = ["--method", "taubin"];
    let tolerance = ["--tolerance", "0.001"];
    for (ranks, mesh, output, more) in [
        (2, "scan.ply", "s.ply", &taubin[..]),
        (4, "regions.ply", "s.ply", &tolerance),
        (3, "random.ply", "s.ply", &["--precision", "f32"]),
        (2, "disk.off", "s.off", &["--weights", "cotangent"]),
        (
            4,
            "scan.ply",
            "s.ply",
            &["--form", "b-coloured", "--fixed", "fixed.txt"],
        ),
        (3, "tets.vtu", "s.vtu", &[]),
        (2, "tets.vtu", "s.vtu", &["--form", "b-coloured", "--guard"]),
    ] {
        let run = |ranks| {
            let json = format!("{ranks}.json");
            let arguments = [
                "smooth",
                mesh,
                "-o",
                output,
                "--max-iterations",
                "20",
                "--device",
                "cpu",
                "--quiet",
                "--json",
                &json,
            ];
            done(at, ranks, &[&arguments[..], more].concat());
            let keys = [
                "moving_vertices",
                "iterations",
                "max_displacement",
                "rms_displacement",
            ];
            (
                fs::read(at.join(output)).unwrap(),
                counts(&at.join(json), &keys),
            )
        };
        let (single, many) = (run(1), run(ranks));
        assert_eq!(many.1, single.1, "{mesh} on {ranks} ranks");
        assert!(many.0 == single.0, "{mesh} on {ranks} ranks");
    }
    fs::write(at.join("wrong.txt"), "900000\n").unwrap();
    let wrong = ["smooth", "scan.ply", "--fixed", "wrong.txt"];
    assert!(refused(at, 2, &wrong).contains("the mesh has"));
    let untangle = ["smooth", "scan.ply", "--untangle"];
    let said = "--untangle and --improve are for one process: start one";
    assert!(refused(at, 2, &untangle).contains(said));
    let exact = ["smooth", "scan.ply", "--form", "b-exact"];
    assert!(refused(at, 2, &exact).contains("several processes smooth by forms a and b-coloured"));
}

#[test]
fn a_fault_ends_all_ranks_with_one_message_and_leaves_no_file() {
    let folder = meshes();
    let at = folder.path();
    let grid = fs::read(at.join("grid.ply")).unwrap();
    let n = grid.len();
    // One triangle is there twice.
    let mut twice = grid.clone();
    twice.copy_within(n - 13 * 40..n - 13 * 39, n - 13);
    fs::write(at.join("twice.ply"), twice).unwrap();
    fs::write(at.join("short.ply"), &grid[..n - 5]).unwrap();
    for (mesh, cause) in [
        ("twice.ply", "triangle 1681 is triangle 1642 again"),
        ("short.ply", "short.ply:"),
        ("nothing.ply", "check its name and folder"),
    ] {
        let arguments = [
            "polylla", mesh, "-o", "out.ply", "--device", "cpu", "--quiet",
        ];
        let said = refused(at, 3, &arguments);
        assert!(said.contains(cause), "{said}");
    }
    let to = ["polylla", "grid.ply", "-o", "no/such/out.ply"];
    assert!(refused(at, 2, &to).contains("there is no folder"));
    std::os::unix::fs::symlink("/dev/full", at.join("full.ply")).unwrap();
    let to = [
        "polylla", "grid.ply", "-o", "full.ply", "--device", "cpu", "--quiet",
    ];
    assert!(refused(at, 2, &to).contains("is no file"));
    let left = fs::read_dir(at)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name());
    let left: Vec<_> = left
        .filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with("out") || name.starts_with('.')
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_does_not_run_on_ranks_refuses_with_one_sentence() {
    let folder = meshes();
    for (arguments, cause) in [
        (
            &["info", "grid.ply"][..],
            "trioxide info does not run on several ranks",
        ),
        (
            &["polylla", "grid.ply", "--method", "indexed"],
            "--method indexed is for one process",
        ),
        (
            &["polylla", "grid.ply", "--ties", "first"],
            "--ties first is for one process",
        ),
        (
            &["polylla", "generate:tets:600:1", "--rule", "cavity"],
            "--rule cavity is for one process",
        ),
        (
            &["polylla", "grid.ply", "--device", "serial"],
            "--device serial is for one process",
        ),
    ] {
        let said = refused(folder.path(), 2, arguments);
        assert!(said.contains(cause), "{said}");
    }
    // Usage: as in the single run, once.
    let usage = command(folder.path(), 3, &["polylla"]);
    let said = String::from_utf8_lossy(&usage.stderr).into_owned();
    assert_eq!(said.matches("Usage:").count(), 1, "{said}");
}

/// The processes that a process has started, from Linux's list of all.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name in brackets may hold any text. The state and the parent follow it.
        let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
        behind.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    ids.filter(is_child).collect()
}

/// Waits for mpirun, and says whether it succeeded. Open MPI may wait for itself for ever where a rank dies while it
/// starts: once no rank has been alive for some seconds, it is killed.
fn end_of(running: &mut std::process::Child) -> bool {
    let mut alone = 0;
    loop {
        if let Some(status) = running.try_wait().unwrap() {
            return status.success();
        }
        let is_alive = |id: &u32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let state = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
            !matches!(state.trim_start().chars().next(), None | Some('Z'))
        };
        alone = match children(running.id()).iter().any(is_alive) {
            true => 0,
            false => alone + 1,
        };
        if alone == 100 {
            running.kill().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn a_killed_rank_ends_all_and_leaves_no_file() {
    let folder = meshes();
    let at = folder.path();
    done(
        at,
        1,
        &[
            "polylla",
            "random.ply",
            "-o",
            "one.ply",
            "--device",
            "cpu",
            "--quiet",
        ],
    );
    let single = fs::read(at.join("one.ply")).unwrap();
    for wait in [0, 50, 200] {
        let sessions = sessions();
        let mut running = mpirun(3)
            .env(SESSIONS, sessions.path())
            .args([
                "polylla",
                "random.ply",
                "-o",
                "out.ply",
                "--device",
                "cpu",
                "--quiet",
            ])
            .current_dir(at)
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("mpirun is here");
        let victim = loop {
            match children(running.id())[..] {
                [_, victim, _] => break victim,
                _ => assert!(running.try_wait().unwrap().is_none(), "it ended first"),
            }
        };
        std::thread::sleep(std::time::Duration::from_millis(wait));
        let kill = Command::new("kill")
            .args(["-9", &victim.to_string()])
            .output();
        kill.expect("kill is here");
        let has_ended = !end_of(&mut running);
        assert!(has_ended || wait > 0, "a rank was killed at the start");
        // The file is whole if the rank was killed after it was written, and else is not there.
        if let Ok(file) = fs::read(at.join("out.ply")) {
            assert!(wait > 0 && file == single, "after {wait} ms");
            fs::remove_file(at.join("out.ply")).unwrap();
        }
        let left = fs::read_dir(at).unwrap().flatten();
        let names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert_eq!(names.filter(|name| name.starts_with('.')).count(), 0);
    }
}
