//! Faults around a command: disks, pipes, signals, limits. docs/TRUST.md has the table. A command ends with a result, or with one
//! sentence and status 1; never by a signal of its own, never with half an output.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const SQUARE: &str = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";
const TRIOXIDE: &str = env!("CARGO_BIN_EXE_trioxide");

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path("square.off"), SQUARE).unwrap();
        place
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(TRIOXIDE);
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs the binary by a shell, under the limits that `before` sets.
    fn limited(&self, before: &str, arguments: &str) -> Output {
        let script = format!("{before}; exec {TRIOXIDE} {arguments}");
        let mut shell = Command::new("sh");
        let shell = shell.current_dir(self.0.path()).args(["-c", &script]);
        shell.output().unwrap()
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// A pipe with a name.
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let status = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(status.success());
        path
    }

    /// Names of the files here, ascending.
    fn files(&self) -> Vec<String> {
        let entries = self.0.path().read_dir().unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

/// Checks that a command failed with one sentence and status 1; the sentence.
#[track_caller]
fn sentence(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{:?}: {message}",
        output.status
    );
    let ours: Vec<&str> = message
        .lines()
        .filter(|line| line.starts_with("trioxide: "))
        .collect();
    assert_eq!(ours.len(), 1, "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    for name in [
        "a.off", "a.obj", "a.ply", "a.stl", "a.node", "a.vtu", "a.edges", "a.ale", "a.xyz",
        "a.las", "a.laz", "a.svg",
    ] {
        let before = place.files();
        // In blocks of 512 bytes. The system's signal of the limit would end the process.
        fs::write(place.path("large.off"), large()).unwrap();
        let arguments = match name {
            "a.svg" => format!("render large.off -o {name}"),
            _ => format!("convert large.off {name}"),
        };
        let message = sentence(&place.limited("ulimit -f 1", &arguments));
        assert!(message.contains("File too large"), "{name}: {message}");
        fs::remove_file(place.path("large.off")).unwrap();
        assert_eq!(place.files(), before, "{name}");
    }
}

/// A mesh whose files are some tens of kilobytes.
fn large() -> String {
    let n = 2_000;
    let mut text = format!("OFF\n{} {} 0\n", 2 * n, 2 * (n - 1));
    for i in 0..n {
        text += &format!("{i}.125 0.5 0\n{i}.25 1.5 0\n");
    }
    for i in (0..2 * n - 2).step_by(2) {
        text += &format!(
            "3 {} {} {}\n3 {} {} {}\n",
            i,
            i + 2,
            i + 1,
            i + 1,
            i + 2,
            i + 3
        );
    }
    text
}

#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    for name in ["a.off", "a.ply", "a.vtu", "a.las", "a.laz"] {
        std::os::unix::fs::symlink("/dev/full", place.path(name)).unwrap();
        let message = sentence(
            &place
                .command(&["convert", "square.off", name])
                .output()
                .unwrap(),
        );
        assert!(message.contains("No space left on device"), "{message}");
    }
    let mut command = place.command(&["info", "square.off"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let message = sentence(
        &command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap(),
    );
    assert!(message.contains("standard output"), "{message}");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    // Not even root writes there.
    for output in ["/proc/a.off", "none/a.off", "/sys/a.ply"] {
        let message = sentence(
            &place
                .command(&["convert", "square.off", output])
                .output()
                .unwrap(),
        );
        assert!(message.contains(output), "{message}");
    }
    assert_eq!(place.files(), ["square.off"]);
}

#[test]
fn a_closed_pipe_loses_nothing_but_what_it_was_for() {
    let place = Place::new();
    for arguments in [
        &["info", "square.off"][..],
        &["polylla", "square.off", "-o", "a.off", "--json", "-"],
        &["devices"],
        &["selftest", "--list"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    }
    assert!(fs::read(place.path("a.off")).unwrap().starts_with(b"OFF"));
}

/// Sends a signal to a process while it writes, at several times; the output is the old one or whole, and there is nothing else.
fn interrupt(signal: libc::c_int) {
    let place = Place::new();
    let arguments = [
        "generate", "random", "-n", "60000", "--seed", "1", "-o", "a.ply", "--quiet",
    ];
    let start = Instant::now();
    assert!(place.spawn(&arguments).wait().unwrap().success());
    let takes = start.elapsed();
    let whole = fs::read(place.path("a.ply")).unwrap();
    let mut ended = 0;
    for step in 0..12 {
        fs::write(place.path("a.ply"), b"old").unwrap();
        let mut child = place.spawn(&arguments);
        thread::sleep(takes * step / 11);
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        let found = fs::read(place.path("a.ply")).unwrap();
        if status.success() {
            assert!(found == whole, "step {step}");
        } else {
            assert_eq!(status.signal(), Some(signal));
            assert!(
                found == b"old" || found == whole,
                "step {step}: {} bytes",
                found.len()
            );
            ended += 1;
        }
        assert_eq!(place.files(), ["a.ply", "square.off"], "step {step}");
    }
    assert!(ended > 0, "no process was there for the signal");
}

#[test]
fn sigint_leaves_the_old_output_and_no_other_file() {
    interrupt(libc::SIGINT);
}

#[test]
fn sigterm_leaves_the_old_output_and_no_other_file() {
    interrupt(libc::SIGTERM);
}

#[test]
fn a_killed_process_leaves_the_old_output_and_no_other_file() {
    interrupt(libc::SIGKILL);
}

/// A file that is written has no name: not even a killed process leaves one.
#[test]
fn an_output_has_no_name_before_it_is_whole() {
    let place = Place::new();
    let pipe = place.pipe("slow.xyz");
    let mut child = place.spawn(&["convert", "slow.xyz", "a.ply"]);
    let mut input = File::options().write(true).open(&pipe).unwrap();
    input.write_all(b"0 0 0\n1 0 0\n").unwrap();
    assert_eq!(place.files(), ["slow.xyz", "square.off"]);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(place.files(), ["a.ply", "slow.xyz", "square.off"]);
}

/// The file is mapped: without a handler the system ends the process with SIGBUS.
#[test]
fn an_input_that_shrinks_while_it_is_read_is_an_error() {
    let place = Place::new();
    let path = place.path("shrinks.xyz");
    let mut errors = 0;
    for _ in 0..10 {
        let mut text = Vec::new();
        for i in 0..3_000_000u32 {
            text.extend_from_slice(b"0.5 0.25 ");
            text.extend_from_slice(i.to_string().as_bytes());
            text.push(b'\n');
        }
        fs::write(&path, &text).unwrap();
        drop(text);
        let mut command = place.command(&["info", "shrinks.xyz"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let maps = format!("/proc/{}/maps", child.id());
        let is_mapped = || fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("shrinks.xyz"));
        while !is_mapped() && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(0)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{:?}: {message}",
            output.status
        );
        if message.contains("an input file became shorter while it was read") {
            sentence(&output);
            errors += 1;
            break;
        }
    }
    assert!(errors > 0, "the file never shrank in time");
}

#[test]
fn pipes_are_inputs_and_outputs() {
    let place = Place::new();
    let pipe = place.pipe("in.off");
    let mut child = place.spawn(&["convert", "in.off", "a.off"]);
    fs::write(&pipe, SQUARE).unwrap();
    assert!(child.wait().unwrap().success());
    let expected = fs::read(place.path("a.off")).unwrap();

    let pipe = place.pipe("out.off");
    let child = thread::spawn(move || {
        let mut bytes = Vec::new();
        File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    });
    assert!(
        place
            .spawn(&["convert", "square.off", "out.off"])
            .wait()
            .unwrap()
            .success()
    );
    assert_eq!(child.join().unwrap(), expected);
    assert!(
        place
            .path("out.off")
            .metadata()
            .is_ok_and(|metadata| !metadata.is_file())
    );
}

/// Waits for a process that may hang.
#[track_caller]
fn ends(mut child: Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the command hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// A pair of pipes that one program writes one after the other: the question whether it holds tetrahedra read the second first.
#[test]
fn a_pair_of_pipes_is_read_in_order() {
    for (ele, faces) in [
        ("2 3 0\n0 0 1 2\n1 0 2 3\n", "faces"),
        ("1 4 0\n0 0 1 2 3\n", "cells"),
    ] {
        let place = Place::new();
        let (node, elements) = (place.pipe("a.node"), place.pipe("a.ele"));
        let child = place.spawn(&["info", "a.node", "--json", "a.json"]);
        let writer = thread::spawn(move || {
            let z = if faces == "cells" { "1" } else { "0" };
            fs::write(
                node,
                format!("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 1 1 0\n3 0 1 {z}\n"),
            )
            .unwrap();
            fs::write(elements, ele).unwrap();
        });
        assert_eq!(ends(child), Some(0), "{faces}");
        writer.join().unwrap();
        let json = fs::read_to_string(place.path("a.json")).unwrap();
        assert!(json.contains(faces), "{json}");
    }
}

/// The cells of a `.vtu` say what it holds, and a pipe can be read once.
#[test]
fn tetrahedra_come_through_a_pipe_as_vtu() {
    let place = Place::new();
    assert!(
        place
            .spawn(&[
                "generate", "tets", "-n", "64", "--seed", "1", "-o", "tets.vtu"
            ])
            .wait()
            .unwrap()
            .success()
    );
    let bytes = fs::read(place.path("tets.vtu")).unwrap();
    let pipe = place.pipe("pipe.vtu");
    let child = place.spawn(&["convert", "pipe.vtu", "a.vtu"]);
    fs::write(pipe, &bytes).unwrap();
    assert_eq!(ends(child), Some(0));
    assert!(fs::read(place.path("a.vtu")).unwrap() == bytes);
}

#[test]
fn dev_stdout_is_an_output_of_json_and_no_mesh() {
    let place = Place::new();
    let output = place
        .command(&["info", "square.off", "--json", "/dev/stdout"])
        .output()
        .unwrap();
    assert!(output.stdout.starts_with(b"{"));
    let message = sentence(
        &place
            .command(&["convert", "square.off", "/dev/stdout"])
            .output()
            .unwrap(),
    );
    assert!(
        message.contains("/dev/stdout: the extension is none"),
        "{message}"
    );
}

#[test]
fn names_need_not_be_utf_8() {
    let place = Place::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    fs::copy(place.path("square.off"), place.path(name(b"caf\xe9.off"))).unwrap();
    let mut command = place.command(&["polylla"]);
    command.args([
        name(b"caf\xe9.off"),
        OsStr::new("-o"),
        name(b"\xff\xfe.ply"),
        OsStr::new("--json"),
        name(b"\x80.json"),
    ]);
    assert!(command.output().unwrap().status.success());
    assert!(
        place.path(name(b"\xff\xfe.ply")).is_file() && place.path(name(b"\x80.json")).is_file()
    );
    let mut command = place.command(&["info"]);
    sentence(&command.arg(name(b"none\xe9.off")).output().unwrap());
    let mut command = place.command(&["info"]);
    sentence(&command.arg(name(b"a.\xe9")).output().unwrap());
}

#[test]
fn of_two_runs_on_one_output_one_is_whole() {
    let place = Place::new();
    let arguments = |seed: &'static str| {
        [
            "generate", "random", "-n", "20000", "--seed", seed, "-o", "a.ply", "--quiet",
        ]
    };
    let results = ["1", "2"].map(|seed| {
        assert!(place.spawn(&arguments(seed)).wait().unwrap().success());
        fs::read(place.path("a.ply")).unwrap()
    });
    assert!(results[0] != results[1]);
    for _ in 0..5 {
        for child in ["1", "2", "1", "2"].map(|seed| place.spawn(&arguments(seed))) {
            assert_eq!(ends(child), Some(0));
        }
        assert!(results.contains(&fs::read(place.path("a.ply")).unwrap()));
        assert_eq!(place.files(), ["a.ply", "square.off"]);
    }
}

/// From too little for the program to start (the system's or the loader's error, 126, 127) to enough.
#[test]
fn a_limit_of_memory_is_an_error() {
    let place = Place::new();
    fs::write(place.path("large.off"), large()).unwrap();
    let mut worked = false;
    for kibibytes in [40_000, 80_000, 160_000, 320_000, 640_000, 4_000_000] {
        for arguments in [
            "polylla large.off --device cpu",
            "weld large.off --epsilon 0.1 --device cpu",
            "convert large.off a.laz",
        ] {
            let output = place.limited(&format!("ulimit -v {kibibytes}"), arguments);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!message.contains("panicked"), "{kibibytes}: {message}");
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 1 | 126 | 127)),
                "{arguments}, {kibibytes}: {:?}: {message}",
                output.status
            );
            if code == Some(1) {
                assert!(message.contains("trioxide: "), "{message}");
            }
            worked |= code == Some(0);
        }
    }
    assert!(worked, "no limit was enough");
}

#[test]
fn threads_that_cannot_start_are_an_error() {
    let place = Place::new();
    // No bound of the system on threads holds for root: memory for their stacks does.
    let message = sentence(&place.limited(
        "ulimit -v 120000; export MALLOC_ARENA_MAX=1 RAYON_NUM_THREADS=60",
        "info square.off",
    ));
    assert!(
        message.contains("the CPU's threads cannot start"),
        "{message}"
    );
    let message = sentence(
        &place
            .command(&[
                "polylla",
                "square.off",
                "--device",
                "cpu",
                "--threads",
                "65000",
            ])
            .output()
            .unwrap(),
    );
    assert!(
        message.contains("65000 CPU threads are more than"),
        "{message}"
    );
    let output = place
        .command(&["polylla", "square.off", "--threads", "100000"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Raises SIGABRT from outside: no allocation has failed, so nothing speaks of memory.
#[test]
fn an_abort_of_another_cause_is_no_lack_of_memory() {
    let place = Place::new();
    let pipe = place.pipe("in.off");
    let mut command = place.command(&["info", "in.off"]);
    let child = command
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It has started when it opens its input.
    let writer = File::options().write(true).open(&pipe).unwrap();
    // SAFETY: a child that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGABRT) };
    drop(writer);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("memory"), "{message}");
}
