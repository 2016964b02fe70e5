//! The line on a terminal that says how far a command is; nothing of it where standard error is no terminal.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with a grid of 2,500 points.
fn place() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = piped(&folder, &["generate", "grid", "-n", "2500", "-o", "a.off"]);
    assert!(output.status.success());
    folder
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide"));
    command.current_dir(folder.path()).args(arguments);
    command.env("TERM", "xterm").env("RAYON_NUM_THREADS", "1");
    command
}

fn piped(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// All that the command writes to a terminal, as its standard error.
fn on_terminal(folder: &TempDir, arguments: &[&str]) -> String {
    let (mut main, mut terminal) = (0, 0);
    let null = std::ptr::null_mut();
    let size = libc::winsize {
        ws_row: 24,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: both numbers are written; neither a name nor modes are asked for.
    let opened = unsafe {
        libc::openpty(
            &mut main,
            &mut terminal,
            null,
            null.cast(),
            &raw const size as *mut _,
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: the descriptors are new, and nothing else owns them.
    let (mut main, terminal) = unsafe { (File::from_raw_fd(main), OwnedFd::from_raw_fd(terminal)) };
    let mut command = command(folder, arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(terminal)
        .spawn()
        .unwrap();
    // The last copy of the terminal here: reading ends with the child.
    drop(command);
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = main.read(&mut bytes) {
        text.extend_from_slice(&bytes[..length]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(text).unwrap()
}

/// Commands that take more than a second, and words that the line must have had.
const LONG: [(&[&str], &[&str]); 3] = [
    (
        &[
            "smooth",
            "a.off",
            "--max-iterations",
            "30000",
            "--device",
            "cpu",
        ],
        &["smooth: sweeps, sweep ", " of 30,000 (", " %)"],
    ),
    (
        &[
            "smooth",
            "a.off",
            "--max-iterations",
            "20000",
            "--device",
            "serial",
        ],
        &["smooth, sequentially, sweep ", " of 20,000 ("],
    ),
    (
        &["refine", "a.off", "--rounds", "9", "--device", "serial"],
        &["refine: ", "round ", " of 9 ("],
    ),
];

#[test]
fn a_terminal_shows_stages_and_counts() {
    let folder = place();
    for (arguments, words) in LONG {
        let text = on_terminal(&folder, arguments);
        for word in words {
            assert!(text.contains(word), "{arguments:?}: no `{word}` in {text}");
        }
    }
}

#[test]
fn a_pipe_and_quiet_runs_show_nothing() {
    let folder = place();
    let (arguments, _) = LONG[0];
    let quiet = [arguments, &["--quiet"]].concat();
    assert_eq!(on_terminal(&folder, &quiet), "");
    let output = piped(&folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("sweep"), "{text}");
}

#[test]
fn a_short_run_shows_nothing_but_its_notes() {
    let folder = place();
    let text = on_terminal(&folder, &["smooth", "a.off", "--device", "cpu"]);
    assert!(
        !text.contains("sweep") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert!(text.contains("nothing is written"), "{text}");
}
