//! Commands that run in parallel, three for every two cores, since some wait. The output of each is shown whole when it
//! has ended.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, available_parallelism};
use std::time::Instant;

use crate::process::{command_line, spawn_piped};

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

/// Runs all jobs, begun in their order; one that fails does not end the others.
pub(super) fn run_all(jobs: Vec<Job>) -> Vec<Ended> {
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
                    let outcome = run(job);
                    ended.lock().expect("no job panics").push(outcome);
                }
            });
        }
    });
    ended.into_inner().expect("no job panics")
}

fn run(job: Job) -> Ended {
    let Job {
        name,
        mut command,
        mark,
    } = job;
    let start = Instant::now();
    let words = command_line(&command);
    let (output, result) = match output_of_both(&mut command) {
        Ok((output, true)) => (output, Ok(())),
        Ok((output, false)) => (output, Err(format!("{name} failed: {words}"))),
        Err(error) => (
            String::new(),
            Err(format!("{name}: {words} cannot be started: {error}")),
        ),
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

/// Both streams in one text, in order, and whether the command succeeded.
fn output_of_both(command: &mut Command) -> std::io::Result<(String, bool)> {
    let (mut child, mut reader) = spawn_piped(command.stdin(Stdio::null()))?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok((text, child.wait()?.success()))
}

#[cfg(test)]
mod tests {
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
        let mut ended = run_all(jobs);
        ended.sort_by(|a, b| a.name.cmp(&b.name));
        let [absent, version, wrong] = &ended[..] else {
            panic!("{} jobs ended", ended.len())
        };
        assert!(absent.result.as_ref().unwrap_err().contains("be started"));
        assert!(version.result.is_ok());
        assert_eq!(version.marked.len(), 1);
        assert!(wrong.result.as_ref().unwrap_err().contains("wrong failed"));
    }
}
