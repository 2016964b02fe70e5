//! Faults around a command: disks, pipes, signals, limits. docs/TRUST.md has the table. A command ends with a result,
//! or with one sentence and status 1; never by a signal of its own, never with half an output.
#![cfg(target_os = "linux")]

mod disks;
mod limits;
mod pipes;
mod signals;

use std::fs;
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

/// A strip of triangles with `2 * n` vertices. With 2,000 its files are some tens of kilobytes.
fn large(n: usize) -> String {
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
