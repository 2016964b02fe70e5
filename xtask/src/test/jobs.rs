//! Commands that run in parallel, three for every two cores, since some wait. The output of each is shown whole when it
//! has ended.

use std::io::Write;
use std::process::Command;
use std::sync::Mutex;
use std::thread::{self, available_parallelism};
use std::time::Instant;

use crate::limited::{End, Limit, Streams, run_to_end};
use crate::process::command_line;

/// A command with a name for its heading.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) command: Command,
    /// The text before the reason in a line about something skipped.
    pub(super) mark: &'static str,
}

/// The end of a job.
pub(super) struct Ended {
    pub(super) name: String,
    /// The text after the mark in every line that has it.
    pub(super) marked: Vec<String>,
    pub(super) result: Result<(), String>,
}

/// Runs all jobs, begun in their order, each within the limit; one that fails does not end the others.
pub(super) fn run_all(jobs: Vec<Job>, limit: Limit) -> Vec<Ended> {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let workers = (cores + cores / 2).min(jobs.len());
    let queue = Mutex::new(jobs.into_iter());
    let ended = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let job = queue.lock().expect("no job panics").next();
                    let Some(job) = job else { break };
                    let outcome = run(job, limit);
                    ended.lock().expect("no job panics").push(outcome);
                }
            });
        }
    });
    ended.into_inner().expect("no job panics")
}

fn run(job: Job, limit: Limit) -> Ended {
    let Job {
        name,
        mut command,
        mark,
    } = job;
    let start = Instant::now();
    let words = command_line(&command);
    let mut output = Vec::new();
    let take = |line: &[u8]| output.extend_from_slice(line);
    let end = run_to_end(&mut command, limit, Streams::OutputAndErrors, take);
    let output = String::from_utf8_lossy(&output);
    let result = match end {
        Ok(end) if end.is_success() => Ok(()),
        Ok(end @ End::Exited(_)) => Err(format!("{name} {end}: {words}")),
        Ok(end) => Err(format!("{name} {end}: {words}{}", last_lines(&output))),
        Err(error) => Err(format!("{name}: {words} cannot be started: {error}")),
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut stdout = std::io::stdout().lock();
    // If the output is closed, the summary ends the run.
    let _ = write!(stdout, "\n-- {name}, {seconds:.1} s\n{output}");
    let marked = output
        .lines()
        .filter_map(|line| Some(line.split_once(mark)?.1.trim().to_owned()))
        .collect();
    Ended {
        name,
        marked,
        result,
    }
}

/// Returns the last lines of a program that did not end by itself: they name the test that ran. Python's stack of a
/// test is some thirty calls deep.
fn last_lines(output: &str) -> String {
    const COUNT: usize = 40;
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return "\n  it printed nothing".to_owned();
    }
    let last = &lines[lines.len().saturating_sub(COUNT)..];
    format!("\n  its last output:\n    {}", last.join("\n    "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::cargo;

    #[test]
    fn all_jobs_end_and_failures_are_reported() {
        let job = |name: &str, words: &[&str]| Job {
            name: name.to_owned(),
            command: cargo(words),
            mark: "cargo ",
        };
        let jobs = vec![
            job("version", &["--version"]),
            job("wrong", &["no-such-command"]),
            Job {
                name: "absent".into(),
                command: Command::new("/nonexistent/program"),
                mark: "cargo ",
            },
        ];
        let mut ended = run_all(jobs, Limit::default());
        ended.sort_by(|a, b| a.name.cmp(&b.name));
        let [absent, version, wrong] = &ended[..] else {
            panic!("{} jobs ended", ended.len())
        };
        assert!(absent.result.as_ref().unwrap_err().contains("be started"));
        assert!(version.result.is_ok());
        assert_eq!(version.marked.len(), 1);
        assert!(wrong.result.as_ref().unwrap_err().contains("wrong failed"));
    }

    #[cfg(unix)]
    #[test]
    fn a_job_that_hangs_is_ended_and_named() {
        let mut command = Command::new("sh");
        let script = "seq 50; printf 'test a_loop ... '; sleep 1000 & sleep 1000";
        command.args(["-c", script]);
        let job = Job {
            name: "far: test loops".into(),
            command,
            mark: "skipped: ",
        };
        let limit = Limit {
            time: Duration::from_secs(1),
            ..Limit::minutes(1, "--limit MINUTES")
        };
        let error = run_all(vec![job], limit).remove(0).result.unwrap_err();
        let (first, rest) = error.split_once('\n').unwrap();
        assert_eq!(
            first,
            format!(
                "far: test loops was ended after 1 s; --limit MINUTES sets a longer time: sh -c {script}"
            )
        );
        assert!(
            rest.starts_with("  its last output:\n    12\n    13\n"),
            "{rest}"
        );
        assert!(rest.ends_with("    50\n    test a_loop ... "), "{rest}");
    }
}
