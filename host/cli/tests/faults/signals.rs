//! Signals, from outside and of the system, and processes that are killed.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::{Place, sentence};

/// Sends a signal to a process while it writes, at several times; the output is the old one or whole, and there is
/// nothing else.
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
        // A background job of a shell ignores SIGINT, and so do the processes that it starts.
        // SAFETY: no handler is set, but the default.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
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
