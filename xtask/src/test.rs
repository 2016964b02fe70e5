//! `cargo xtask test`: everything this machine can check.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cuda_builder::{DEBIAN_PACKAGES, RUSTC_VARIABLE, search_device_compiler};

use crate::Error;
use crate::process::{cargo, output_of, run as run_command, run_and_collect};
use crate::report::{BROWSER_PACKAGE, BROWSER_VARIABLE, find_browser};

/// A test that cannot run here says so with this mark and its reason, and counts as passed for cargo.
const SKIPPED: &str = "skipped: ";

/// Runs everything this machine can check: format, lints, tests, documentation, assembled kernels.
///
/// On Debian, as root and without a device compiler or a browser, their packages are installed first. What cannot run here
/// (no GPU, no ptxas) is listed at the end with its reason. This is what continuous integration runs.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Install nothing: without a device compiler the prebuilt kernels are tested, without a browser no page.
    #[arg(long)]
    no_install: bool,
}

/// A step's name, its outcome and the time it took.
struct Outcome {
    name: &'static str,
    result: Result<(), Error>,
    time: Duration,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut skipped = Vec::new();
    let mut outcomes = Vec::new();
    if search_device_compiler().found.is_none() {
        match install_reason_against(arguments) {
            None => outcomes.push(timed("install", install_device_compiler)),
            Some(reason) => skipped.push(format!("building the kernels from source: {reason}")),
        }
    }
    if !arguments.no_install && env::var_os(BROWSER_VARIABLE).is_none() && find_browser().is_err() {
        // Without a browser its tests are skipped, and say so themselves.
        if is_root() && is_debian() {
            let installed = timed("browser", || install(&[BROWSER_PACKAGE]));
            match &installed.result {
                Ok(()) => outcomes.push(installed),
                Err(error) => skipped.push(format!("installing a browser: {error}")),
            }
        }
    }
    for (name, words) in [
        ("format", &["fmt", "--all", "--check"][..]),
        (
            "lints",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--features",
                "trioxide-bench/report",
                "--",
                "-D",
                "warnings",
            ],
        ),
        (
            "tests",
            &[
                "test",
                "--workspace",
                "--features",
                "trioxide-bench/report",
                "--lib",
                "--bins",
                "--tests",
                "--examples",
                "--no-fail-fast",
            ],
        ),
        ("doc tests", &["test", "--workspace", "--doc"]),
        (
            "kernels",
            &[
                "run",
                "--quiet",
                "--package",
                "xtask",
                "--",
                "ptx",
                "--check",
            ],
        ),
    ] {
        if let Some(component) = missing_component(words[0]) {
            skipped.push(format!(
                "{name}: {component} is missing (rustup component add {component})"
            ));
            continue;
        }
        println!("\n== {name}: cargo {}", words.join(" "));
        outcomes.push(timed(name, || {
            let (lines, result) = run_and_collect(&mut cargo(words), SKIPPED);
            // The test harness goes on behind the reason.
            let reason = |line: &String| line.trim_end_matches(") ... ignored").to_owned();
            skipped.extend(lines.iter().map(|line| format!("{name}: {}", reason(line))));
            result
        }));
    }
    summarize(&outcomes, &skipped)
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

/// Why no device compiler is installed, if none is to be.
fn install_reason_against(arguments: &Arguments) -> Option<String> {
    if arguments.no_install {
        Some("no device compiler, and --no-install".into())
    } else if env::var_os(RUSTC_VARIABLE).is_some() {
        Some(format!("{RUSTC_VARIABLE} is set to no usable compiler"))
    } else if !is_debian() {
        Some("no device compiler (`cargo xtask doctor` has the remedies)".into())
    } else if !is_root() {
        let packages = DEBIAN_PACKAGES.join(" ");
        Some(format!(
            "no device compiler; as root: apt-get install --no-install-recommends {packages}"
        ))
    } else {
        None
    }
}

fn is_root() -> bool {
    output_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

fn install_device_compiler() -> Result<(), Error> {
    install(DEBIAN_PACKAGES)?;
    let search = search_device_compiler();
    match search.found {
        Some(_) => Ok(()),
        None => Err(format!(
            "the packages are installed, and still there is no device compiler\n{search}"
        )
        .into()),
    }
}

/// Installs Debian's packages.
fn install(packages: &[&str]) -> Result<(), Error> {
    println!("== install: {}", packages.join(" "));
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["--quiet=2", "--option=Dpkg::Use-Pty=0"]);
        command
    };
    run_command(apt_get().arg("update"))?;
    run_command(
        apt_get()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages),
    )
}

/// Prints what passed, failed and was skipped.
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
            println!("{:<12}{error}", "");
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

#[cfg(test)]
mod tests {
    use super::*;

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
