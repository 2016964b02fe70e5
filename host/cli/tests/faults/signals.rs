//! Signals, from outside and of the system, and processes that are killed.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use super::{Place, large, sentence};

/// Returns a command that starts with these dispositions of signals, whatever those of this process are: a background
/// job of a script inherits an ignored SIGINT.
fn with_signals(
    mut command: Command,
    dispositions: &'static [(libc::c_int, libc::sighandler_t)],
) -> Command {
    let set = move || {
        for &(signal, disposition) in dispositions {
            // SAFETY: it may be called between fork and exec, and sets no handler.
            unsafe { libc::signal(signal, disposition) };
        }
        Ok(())
    };
    // SAFETY: the closure calls one function that may be called between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(set) };
    command
}

const DEFAULT: &[(libc::c_int, libc::sighandler_t)] = &[
    (libc::SIGINT, libc::SIG_DFL),
    (libc::SIGTERM, libc::SIG_DFL),
    (libc::SIGHUP, libc::SIG_DFL),
];
/// Those of `nohup trioxide … &` in a script.
const BACKGROUND: &[(libc::c_int, libc::sighandler_t)] = &[
    (libc::SIGINT, libc::SIG_IGN),
    (libc::SIGTERM, libc::SIG_DFL),
    (libc::SIGHUP, libc::SIG_IGN),
];

fn send(child: &Child, signal: libc::c_int) {
    // SAFETY: a child that was not waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

/// Sends a signal to a process while it writes, at several times; the output is the old one or whole, and there is
/// nothing else.
fn interrupt(signal: libc::c_int) {
    let place = Place::new();
    fs::write(place.path("large.off"), large(50_000)).unwrap();
    let start = || {
        let command = place.command(&["convert", "large.off", "a.ply", "--quiet"]);
        with_signals(command, DEFAULT).spawn().unwrap()
    };
    let begun = Instant::now();
    assert!(start().wait().unwrap().success());
    let takes = begun.elapsed();
    let whole = fs::read(place.path("a.ply")).unwrap();
    let mut ended = 0;
    for step in 0..12 {
        fs::write(place.path("a.ply"), b"old").unwrap();
        let mut child = start();
        thread::sleep(takes * step / 11);
        send(&child, signal);
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
        assert_eq!(
            place.files(),
            ["a.ply", "large.off", "square.off"],
            "step {step}"
        );
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

/// A terminal that is closed.
#[test]
fn sighup_leaves_the_old_output_and_no_other_file() {
    interrupt(libc::SIGHUP);
}

#[test]
fn a_killed_process_leaves_the_old_output_and_no_other_file() {
    interrupt(libc::SIGKILL);
}

/// The command sets no handler for these signals: it goes on where the process that has started it ignores them.
#[test]
fn ignored_signals_stay_ignored_and_sigterm_ends_the_command() {
    for (signal, goes_on) in [
        (libc::SIGINT, true),
        (libc::SIGHUP, true),
        (libc::SIGTERM, false),
    ] {
        let place = Place::new();
        let pipe = place.pipe("slow.xyz");
        let command = place.command(&["convert", "slow.xyz", "a.ply", "--quiet"]);
        let mut child = with_signals(command, BACKGROUND).spawn().unwrap();
        // It has started when it opens its input.
        let mut input = File::options().write(true).open(&pipe).unwrap();
        input.write_all(b"0 0 0\n").unwrap();
        send(&child, signal);
        if goes_on {
            input.write_all(b"1 0 0\n").unwrap();
            drop(input);
            assert!(child.wait().unwrap().success(), "{signal}");
            assert_eq!(place.files(), ["a.ply", "slow.xyz", "square.off"]);
        } else {
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(place.files(), ["slow.xyz", "square.off"]);
        }
    }
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
    send(&child, libc::SIGABRT);
    drop(writer);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("memory"), "{message}");
}
