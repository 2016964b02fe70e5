use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::{env, fs};

use super::*;

const SHORT: Limit = Limit {
    time: Duration::from_secs(1),
    by_line: false,
    after: Duration::from_millis(500),
    option: Some("--limit"),
};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Runs a script. Returns its end and its lines.
fn ended(script: &str, limit: Limit) -> (End, Vec<String>) {
    let mut lines = Vec::new();
    let take = |line: &[u8]| lines.push(String::from_utf8_lossy(line).trim().to_owned());
    let end = run_to_end(&mut shell(script), limit, Streams::OutputAndErrors, take);
    (end.unwrap(), lines)
}

/// Returns whether a process has ended; its parent may not know it yet.
fn is_gone(process: &str) -> bool {
    let state = match cfg!(target_os = "linux") {
        true => fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default(),
        false => {
            let mut ps = Command::new("ps");
            let found = ps.args(["-o", "stat=", "-p", process]).output().unwrap();
            format!("State: {}", String::from_utf8(found.stdout).unwrap())
        }
    };
    let state = state.split("State:").nth(1).unwrap_or_default().trim();
    state.is_empty() || state.starts_with('Z')
}

fn wait_until_gone(process: &str) {
    let start = Instant::now();
    while !is_gone(process) {
        assert!(start.elapsed().as_secs() < 20, "{process} runs");
        thread::sleep(STEP);
    }
}

#[test]
fn a_program_ends_with_its_lines() {
    let (end, lines) = ended("echo one; echo two >&2; printf three", Limit::default());
    assert!(end.is_success());
    assert_eq!(lines, ["one", "two", "three"]);
    let (end, _) = ended("exit 3", Limit::default());
    assert_eq!(end.to_string(), "failed (exit status: 3)");
}

/// The child holds the pipe: without its end the reader would wait for ever.
#[test]
fn a_program_that_sleeps_is_ended_with_its_child() {
    let (end, lines) = ended(
        "sleep 1000 & echo $!; printf 'test a_loop ... '; wait",
        SHORT,
    );
    assert_eq!(
        end.to_string(),
        "was ended after 1 s; --limit sets a longer time"
    );
    let [child, last] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(last, "test a_loop ...");
    assert!(is_gone(child));
}

/// As mpirun, which gives each of its processes a process group.
#[cfg(target_os = "linux")]
#[test]
fn a_child_of_another_process_group_is_ended() {
    let (end, lines) = ended("set -m; sleep 1000 & echo $!; wait", SHORT);
    assert!(matches!(end, End::Overdue(_)));
    assert!(is_gone(&lines[0]));
}

#[test]
fn a_program_that_prints_without_end_is_ended() {
    let (end, lines) = ended("while :; do echo on; done", SHORT);
    assert!(matches!(end, End::Overdue(_)));
    assert!(!lines.is_empty());
}

#[test]
fn a_child_that_outlives_its_program_is_ended() {
    let (end, lines) = ended(
        "sleep 1000 & echo $!",
        Limit {
            time: Duration::MAX / 4,
            ..SHORT
        },
    );
    assert!(end.to_string().contains("held its output open"));
    assert!(is_gone(&lines[0]));
}

/// A process that has left the session is not found, and nobody waits for it.
#[cfg(target_os = "linux")]
#[test]
fn nobody_waits_for_a_process_that_has_left() {
    let start = Instant::now();
    let (end, lines) = ended("setsid sleep 20 & echo $!; wait", SHORT);
    assert!(matches!(end, End::Overdue(_)));
    assert!(start.elapsed().as_secs() < 15);
    shell(&format!("kill {}", lines[0])).status().unwrap();
}

#[test]
fn lines_begin_the_time_of_a_limit_by_line_again() {
    let script = "for i in 1 2 3; do sleep 0.8; echo $i; done; sleep 1000";
    let (end, lines) = ended(
        script,
        Limit {
            time: Duration::from_secs(2),
            ..SHORT.by_line()
        },
    );
    assert!(end.to_string().contains("without a line of output"));
    assert_eq!(lines, ["1", "2", "3"]);
}

#[test]
fn an_absent_program_is_an_error() {
    let error = run(&mut Command::new("/nonexistent/program"), SHORT).unwrap_err();
    assert!(error.to_string().contains("cannot be started"));
}

/// Names the process that [`signals_end_the_programs`] starts.
const INNER: &str = "TRIOXIDE_TEST_OF_SIGNALS";

/// As in a background job of a script, SIGINT is ignored, and stays so; SIGTERM ends the process with its programs.
#[test]
fn signals_end_the_programs() {
    if env::var_os(INNER).is_some() {
        let print = |line: &[u8]| print!("{}", String::from_utf8_lossy(line));
        let script = "sleep 1000 & echo process $!; wait";
        let _ = run_to_end(&mut shell(script), Limit::default(), Streams::Output, print);
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "limited::tests::signals_end_the_programs",
            "--nocapture",
        ])
        .env(INNER, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let ignore = || {
        // SAFETY: it may be called between fork and exec.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
        Ok(())
    };
    // SAFETY: the closure calls one function that may be called between fork and exec.
    unsafe { command.pre_exec(ignore) };
    let mut outer = command.spawn().unwrap();
    let mut lines = BufReader::new(outer.stdout.take().unwrap()).lines();
    let child = lines.find_map(|line| Some(line.unwrap().split_once("process ")?.1.to_owned()));
    let child = child.unwrap();
    let send = |signal| {
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(outer.id() as libc::pid_t, signal) };
    };
    send(libc::SIGINT);
    thread::sleep(10 * STEP);
    assert!(!is_gone(&child));
    send(libc::SIGTERM);
    assert_eq!(outer.wait().unwrap().signal(), Some(libc::SIGTERM));
    wait_until_gone(&child);
}
