//! `trioxide bench run`: whole processes, as their user waits for them, beside a plain copy of their files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use trioxide::{Error, Result};
use trioxide_arguments::{is_standard_output, print, write_json};

/// Time a command of trioxide in whole processes: medians, the share of each part, and cp of the same files
///
/// trioxide bench run --runs 5 polylla IN.ply -o OUT.ply --device cuda. The row "outside" is the loading and the end of
/// the process, which it cannot time itself.
#[derive(Args)]
pub struct Options {
    /// Runs that count, after one that does not
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write the medians as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// The command and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// Milliseconds of a run: from outside, and of the parts that it has timed.
struct Run {
    wall: f64,
    parts: Vec<(String, f64)>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    run_once(&options.command)?;
    let runs: Vec<Run> = (0..options.runs)
        .map(|_| run_once(&options.command))
        .collect::<Result<_>>()?;
    let wall = median(runs.iter().map(|run| run.wall).collect());
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in runs.iter().flat_map(|run| &run.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let of = |name: &str| {
        let time = |run: &Run| {
            run.parts
                .iter()
                .find(|(n, _)| n == name)
                .map_or(0.0, |p| p.1)
        };
        median(runs.iter().map(time).collect())
    };
    let parts: Vec<(&str, f64)> = names.into_iter().map(|name| (name, of(name))).collect();
    let files = files_of(&options.command);
    let copies: Vec<(PathBuf, f64)> = files
        .into_iter()
        .map(|file| {
            let times = (0..options.runs).map(|_| copy(&file));
            let times = times.collect::<Result<Vec<f64>>>()?;
            Ok((file, median(times)))
        })
        .collect::<Result<_>>()?;
    let times: Vec<f64> = runs.iter().map(|run| run.wall).collect();
    give(options, &times, wall, &parts, &copies)
}

fn give(
    options: &Options,
    times: &[f64],
    wall: f64,
    parts: &[(&str, f64)],
    copies: &[(PathBuf, f64)],
) -> Result<()> {
    let copied: f64 = copies.iter().map(|(_, time)| time).sum();
    let row_json = |name: &str, time: f64| json!({"name": name, "milliseconds": time});
    if let Some(path) = &options.json {
        let object = json!({
            "schema": "trioxide-bench-run/1",
            "command": options.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
            "runs": times,
            "milliseconds": wall,
            "parts": parts.iter().map(|(name, time)| row_json(name, *time)).collect::<Vec<Value>>(),
            "cp": copies
                .iter()
                .map(|(file, time)| row_json(&file.to_string_lossy(), *time))
                .collect::<Vec<Value>>(),
            "cp_milliseconds": copied,
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let mut text = String::new();
    for (name, time) in parts {
        let share = 100.0 * time / wall;
        text += &format!("{name:<32} {time:>10.3} ms {share:>6.1} %\n");
    }
    let (least, most) = times
        .iter()
        .fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), &t| {
            (a.min(t), b.max(t))
        });
    text += &format!(
        "{:<32} {wall:>10.3} ms, median of {} ({least:.3} to {most:.3})\n",
        "whole run",
        times.len()
    );
    for (file, time) in copies {
        text += &format!("{:<32} {time:>10.3} ms\n", format!("cp {}", file.display()));
    }
    if copied > 0.0 {
        text += &format!("{:<32} {:>10.2} times cp\n", "", wall / copied);
    }
    print(&text)
}

/// Runs the command in a process of its own.
fn run_once(command: &[OsString]) -> Result<Run> {
    let binary = std::env::current_exe().map_err(|e| Error::file(Path::new("trioxide"), e))?;
    let account =
        std::env::temp_dir().join(format!("trioxide-account-{}.json", std::process::id()));
    let mut process = Command::new(&binary);
    // After the command's name, and before its other words, which may end in further steps with their own options.
    let (name, rest) = command.split_first().expect("clap asks for a command");
    process.arg(name).arg("--account").arg(&account).args(rest);
    process.stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = process.output().map_err(|e| Error::file(&binary, e))?;
    let wall = start.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim().trim_start_matches("trioxide: ");
        return Err(Error::Argument(format!(
            "the command that is timed fails ({}): {message}",
            output.status
        )));
    }
    let text = std::fs::read_to_string(&account).map_err(|e| Error::file(&account, e))?;
    std::fs::remove_file(&account).map_err(|e| Error::file(&account, e))?;
    let object: Value = serde_json::from_str(&text).expect("the account of a run");
    let parts = object["parts"].as_array().into_iter().flatten();
    let mut parts: Vec<(String, f64)> = parts
        .map(|part| {
            let name = part["name"].as_str().unwrap_or_default();
            (
                name.to_owned(),
                part["milliseconds"].as_f64().unwrap_or(0.0),
            )
        })
        .collect();
    let timed: f64 = parts.iter().map(|(_, time)| time).sum();
    parts.push(("outside".to_owned(), wall - timed));
    Ok(Run { wall, parts })
}

/// The regular files among the words of the command: its inputs, and the outputs of the run before.
fn files_of(command: &[OsString]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for word in &command[1..] {
        let path = PathBuf::from(word);
        if path.is_file() && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

/// Milliseconds of `cp` of a file to another in the same folder.
fn copy(file: &Path) -> Result<f64> {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".cp-{}", std::process::id()));
    let to = PathBuf::from(name);
    let start = Instant::now();
    let mut cp = Command::new("cp");
    let status = cp.arg("--").arg(file).arg(&to).status();
    let time = start.elapsed().as_secs_f64() * 1e3;
    let removed = std::fs::remove_file(&to);
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(Error::Argument(format!("cp of {} fails", file.display()))),
        Err(error) => return Err(Error::file(Path::new("cp"), error)),
    }
    removed.map_err(|error| Error::file(&to, error))?;
    Ok(time)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}
