//! `cargo xtask test`: everything that this machine can check.

mod emulated;
mod jobs;
mod needs;
mod peers;
mod programs;
mod python;
mod quick;

use std::env::{self, consts::EXE_SUFFIX};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::limited::{Limit, Streams, succeed};
use crate::process::{cargo, output_of};
use crate::{Error, emulate, mpi};

use jobs::{Ended, Job, run_all};
use programs::Settings;
use python::Prepared;

/// A test that cannot run here prints this mark and its reason, and counts as passed for cargo.
const SKIPPED: &str = "skipped: ";

/// Runs everything that this machine can check: format, lints, tests, documentation, assembled kernels.
///
/// On Debian, as root and without a device compiler, a browser or an MPI, their packages are named and installed first;
/// packages of PyPI go into target/python/venv. Steps that cannot run here (no GPU, no ptxas, no Python) are listed at
/// the end with their reasons. Continuous integration runs the same command.
///
/// A program of the run that takes longer than --limit is ended with all processes that it started; the summary names
/// it and has its last output. A signal that ends the run ends them too; an ignored SIGINT stays ignored, as in the
/// background of a script.
///
/// --quick checks the format, the lints, and on the CPU the families of kernels that changed: a minute or less.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Check format, lints, and the conformance on the CPU of families that differ from the last commit (or, if nothing
    /// does, from the branch's base on main). Compiles no kernel for the device.
    #[arg(long)]
    quick: bool,
    /// With --quick: test these families of kernels (folders of gpu/src, collective), not the changed ones.
    #[arg(value_name = "FAMILY", requires = "quick")]
    families: Vec<String>,
    /// Write and read every format against meshio, VTK, Gmsh, laspy and trimesh, from PyPI, and print a table. Runs no
    /// other test.
    #[arg(long, conflicts_with = "quick")]
    peers: bool,
    /// Install nothing: without a device compiler the prebuilt kernels are tested; parts that need a browser, an MPI or
    /// packages of PyPI are skipped where these are missing.
    #[arg(long)]
    no_install: bool,
    /// Longest time of one program of the run; of a build, from one line of cargo's to the next.
    #[arg(long, value_name = "MINUTES", default_value_t = Limit::MINUTES, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// A step's name, its outcome and the time it took.
struct Outcome {
    name: &'static str,
    result: Result<(), Error>,
    time: Duration,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let limit = Limit::minutes(arguments.limit, "--limit MINUTES");
    if arguments.quick {
        return run_quick(&arguments.families, limit);
    }
    if arguments.peers {
        return peers::run(limit);
    }
    let mut skipped = Vec::new();
    let mut outcomes = Vec::new();
    let no_install = arguments.no_install;
    needs::provide(no_install, limit, &mut outcomes, &mut skipped);
    // Downloads wait for the network while the compiler works.
    let python = thread::spawn(move || python::prepare(no_install, limit));
    let steps = vec![Step::new("format", FORMAT)];
    run_steps(steps, !has_gpu(), limit, &mut outcomes, &mut skipped);
    run_tests(python, limit, &mut outcomes, &mut skipped);
    summarize(&outcomes, &skipped)
}

/// Builds all tests with the lints, then runs the test programs and the other commands in parallel. Most programs wait
/// for one thread, or for processes that they start.
fn run_tests(
    python: JoinHandle<Result<Prepared, String>>,
    limit: Limit,
    outcomes: &mut Vec<Outcome>,
    skipped: &mut Vec<String>,
) {
    // The build may replace this program's file by an equal one: then the system reports the old one as deleted.
    let xtask = env::current_exe();
    let driver = match missing_component("clippy") {
        None => clippy_driver(),
        Some(component) => Err(remedy_for(component)),
    };
    if let Err(reason) = &driver {
        skipped.push(format!("lints: {reason}"));
    }
    let settings = Settings {
        prebuilt: !has_gpu(),
        driver: driver.ok(),
        limit: limit.by_line(),
    };
    println!("\n== build: all tests, with the lints, and the library of the Python package");
    let mut jobs = Vec::new();
    let mut warnings = 0;
    outcomes.push(timed("build", || {
        (jobs, warnings) = programs::build(&settings, mpi::missing().is_empty())?;
        Ok(())
    }));
    if jobs.is_empty() {
        return;
    }
    if settings.driver.is_some() {
        outcomes.push(timed("lints", || match warnings {
            0 => Ok(()),
            count => Err(format!("{count} warnings, above").into()),
        }));
    }
    let by_cargo = |name: &str, words| {
        let mut command = cargo(words);
        settings.apply(&mut command);
        Job {
            name: name.to_owned(),
            command,
            mark: SKIPPED,
        }
    };
    let mut others = Vec::new();
    let mut driver = None;
    match (emulate::REFUSAL, emulate::place("debug")) {
        (Some(reason), _) => skipped.push(format!("emulated kernels: {reason}")),
        // The build has made it.
        (None, Err(error)) => outcomes.push(timed("emulator", || Err(error))),
        (None, Ok(folder)) => {
            for job in &mut jobs {
                emulated::name_driver(job, &folder, has_gpu());
            }
            match emulated::job(&folder) {
                Ok(job) => others.push(job),
                Err(error) => outcomes.push(timed("emulated kernels", || Err(error))),
            }
            driver = Some(folder);
        }
    }
    // With a GPU, Python's arrays are on it.
    let for_python = driver.filter(|_| !has_gpu());
    let python = python.join().expect("making an environment does not panic");
    if let Ok(Prepared {
        skipped: Some(tests),
        ..
    }) = &python
    {
        skipped.push(format!("python: {tests}"));
    }
    match python.map(|python| python::jobs(python, for_python.as_deref())) {
        Ok(Ok(jobs)) => others.extend(jobs),
        Ok(Err(error)) => outcomes.push(timed("python", || Err(error))),
        Err(reason) => skipped.push(format!("python: {reason}")),
    }
    match xtask {
        Ok(xtask) => {
            let mut command = Command::new(xtask);
            command.args(["ptx", "--check", "--quick"]);
            others.push(Job {
                name: "kernels".to_owned(),
                command,
                mark: SKIPPED,
            });
        }
        Err(error) => skipped.push(format!("kernels: {error}")),
    }
    others.push(by_cargo("examples in comments", DOCS));
    // After the longest programs, so that no long one is the last.
    let behind = jobs.len().min(3);
    jobs.splice(behind..behind, others);
    println!(
        "\n== tests: {} test programs and other commands, beside each other",
        jobs.len()
    );
    outcomes.push(timed("tests", || {
        let ended = run_all(jobs, limit);
        let mut failed = Vec::new();
        for Ended {
            name,
            marked,
            result,
        } in ended
        {
            skipped.extend(
                marked
                    .iter()
                    .map(|line| format!("{name}: {}", reason(line))),
            );
            failed.extend(result.err());
        }
        match failed.is_empty() {
            true => Ok(()),
            false => Err(failed.join("\n").into()),
        }
    }));
}

/// Format, lints and conformance of the changed families.
fn run_quick(named: &[String], limit: Limit) -> Result<(), Error> {
    let scope = quick::scope(named)?;
    let mut steps = vec![Step::new("format", FORMAT), Step::new("lints", QUICK_LINTS)];
    if scope.families.is_empty() {
        println!(
            "quick: format and lints, no case of the conformance suite: {}",
            scope.reason
        );
    } else {
        let families = scope.families.join(", ");
        println!(
            "quick: format, lints, conformance on the CPU of {families}: {}",
            scope.reason
        );
        println!("the kernels are not compiled for the device: `cargo xtask test` does that");
        let mut step = Step::new("conformance", CONFORMANCE);
        step.environment = Some(("TRIOXIDE_FAMILIES", scope.families.join(",")));
        steps.push(step);
    }
    let (mut outcomes, mut skipped) = (Vec::new(), Vec::new());
    run_steps(steps, true, limit, &mut outcomes, &mut skipped);
    summarize(&outcomes, &skipped)
}

/// A call of cargo.
struct Step {
    name: &'static str,
    words: Vec<String>,
    environment: Option<(&'static str, String)>,
}

const FORMAT: &[&str] = &["fmt", "--all", "--check"];
/// Without tests and benchmarks, which would double the time.
const QUICK_LINTS: &[&str] = &[
    "clippy",
    "--workspace",
    "--lib",
    "--bins",
    "--",
    "-D",
    "warnings",
];
/// For the whole workspace: for packages alone, dependencies would have other features and be built again.
const DOCS: &[&str] = &["test", "--workspace", "--doc", "--no-fail-fast"];
/// For the whole workspace, as in the full run: a package alone has dependencies with fewer features, and is built
/// again.
const CONFORMANCE: &[&str] = &[
    "test",
    "--workspace",
    "--test",
    "conformance",
    "--",
    "--quiet",
];

impl Step {
    fn new(name: &'static str, words: &[&str]) -> Self {
        Self {
            name,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: None,
        }
    }
}

/// Runs the steps one after the other; a step that fails does not end the run.
///
/// With `prebuilt` they embed the prebuilt kernels; in the full run the test `ptx` compares those with the sources.
fn run_steps(
    steps: Vec<Step>,
    prebuilt: bool,
    limit: Limit,
    outcomes: &mut Vec<Outcome>,
    skipped: &mut Vec<String>,
) {
    for Step {
        name,
        words,
        environment,
    } in steps
    {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(component) = missing_component(words[0]) {
            skipped.push(format!("{name}: {}", remedy_for(component)));
            continue;
        }
        println!("\n== {name}: cargo {}", words.join(" "));
        outcomes.push(timed(name, || {
            let mut command = cargo(&words);
            if prebuilt {
                command.env("TRIOXIDE_PTX", "prebuilt");
            }
            command.envs(environment);
            if io::stdout().is_terminal() {
                command.env("CARGO_TERM_COLOR", "always");
            }
            // Cargo shows what it builds, and each test is a line.
            succeed(
                &mut command,
                limit.by_line(),
                Streams::OutputAndErrors,
                |line| {
                    // If the output is closed, the summary ends the run.
                    let _ = io::stdout().write_all(line);
                    if let Some((_, found)) = String::from_utf8_lossy(line).split_once(SKIPPED) {
                        skipped.push(format!("{name}: {}", reason(found.trim())));
                    }
                },
            )
        }));
    }
}

/// The reason at the end of a line; the test harness may continue after it.
fn reason(line: &str) -> &str {
    match line.strip_suffix("... ignored") {
        Some(name) => name.trim_end().trim_end_matches(')'),
        None => line,
    }
}

fn has_gpu() -> bool {
    ["/proc/driver/nvidia/version", "/dev/dxg"]
        .iter()
        .any(|path| Path::new(path).exists())
}

fn timed(name: &'static str, step: impl FnOnce() -> Result<(), Error>) -> Outcome {
    let start = Instant::now();
    let result = step();
    Outcome {
        name,
        result,
        time: start.elapsed(),
    }
}

/// Clippy's driver, which lints what it compiles.
fn clippy_driver() -> Result<PathBuf, String> {
    let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
    let root = output_of(Command::new(rustc).args(["--print", "sysroot"]));
    let root = root.ok_or("rustc --print sysroot failed")?;
    let driver = Path::new(root.trim()).join(format!("bin/clippy-driver{EXE_SUFFIX}"));
    match driver.exists() {
        true => Ok(driver),
        false => Err(format!("there is no {}", driver.display())),
    }
}

/// The component that cargo's subcommand needs and this toolchain lacks.
fn missing_component(subcommand: &str) -> Option<&'static str> {
    let component = match subcommand {
        "fmt" => "rustfmt",
        "clippy" => "clippy",
        _ => return None,
    };
    output_of(&mut cargo(&[subcommand, "--version"]))
        .is_none()
        .then_some(component)
}

fn remedy_for(component: &str) -> String {
    format!("{component} is missing (rustup component add {component})")
}

/// Prints the steps that passed, failed and were skipped.
fn summarize(outcomes: &[Outcome], skipped: &[String]) -> Result<(), Error> {
    println!("\n== summary");
    for outcome in outcomes {
        let seconds = outcome.time.as_secs_f64();
        let word = if outcome.result.is_ok() {
            "passed"
        } else {
            "FAILED"
        };
        println!("{:<12}{word}  {seconds:>6.1} s", outcome.name);
        if let Err(error) = &outcome.result {
            println!("{}", indented(&error.to_string()));
        }
    }
    if skipped.is_empty() {
        println!("nothing was skipped");
    } else {
        println!("skipped, {} in all:", skipped.len());
        for reason in skipped {
            println!("  {reason}");
        }
    }
    let failed: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.result.is_err())
        .map(|outcome| outcome.name)
        .collect();
    if failed.is_empty() {
        println!("all that ran has passed");
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")).into())
    }
}

/// Returns an error's lines, below the outcomes of the steps.
fn indented(error: &str) -> String {
    let lines = error.lines().map(|line| format!("{:<12}{line}", ""));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_end_before_the_harness_goes_on() {
        assert_eq!(
            reason("no GPU: use --device cpu)      ... ignored"),
            "no GPU: use --device cpu"
        );
        assert_eq!(reason("no GPU (none at all)"), "no GPU (none at all)");
    }

    #[test]
    fn one_failed_step_fails_all() {
        let outcome = |name, result| Outcome {
            name,
            result,
            time: Duration::ZERO,
        };
        assert!(summarize(&[outcome("lints", Ok(()))], &["gpu: none".into()]).is_ok());
        let outcomes = [
            outcome("lints", Ok(())),
            outcome("tests", Err("boom".into())),
        ];
        assert_eq!(
            summarize(&outcomes, &[]).unwrap_err().to_string(),
            "failed: tests"
        );
    }
}
