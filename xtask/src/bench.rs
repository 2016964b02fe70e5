//! `cargo xtask bench`: the papers' tables with our columns.
//!
//! The binary times one mesh (`trioxide bench`); this runs it over the sizes of the paper and sets its times beside those that
//! the paper prints, which are in xtask/papers/.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::process::{command_line, output_of};
use crate::{Error, build, workspace};

/// Times a family at the sizes of its paper and writes the paper's tables with our columns: FAMILY.md and FAMILY.json.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to time.
    #[arg(value_enum)]
    family: Family,
    /// Numbers of triangles: paper, quick (up to a million), or a list such as 100k,4m.
    #[arg(long, default_value = "quick", value_parser = parse_sizes)]
    sizes: Sizes,
    /// Machine to run on, as for `trioxide`.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Threads of the CPU.
    #[arg(long)]
    threads: Option<String>,
    /// Precision of coordinates; the paper's is f32.
    #[arg(long, default_value = "f64")]
    precision: String,
    /// Runs that count, of each mesh.
    #[arg(long, default_value = "20")]
    runs: String,
    /// Take the runs from this folder instead: what `trioxide bench refine --json` wrote on a machine without Rust.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Folder for the tables.
    #[arg(long, default_value = "out/bench")]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Family {
    /// Longest-edge bisection, 0.1 % of the triangles of a Delaunay triangulation marked: tables 5.2 to 5.6.
    Refine,
}

#[derive(Clone, Debug)]
enum Sizes {
    Paper,
    Quick,
    Given(Vec<u64>),
}

fn parse_sizes(text: &str) -> Result<Sizes, String> {
    let size = |word: &str| {
        let (digits, factor) = match word.to_ascii_lowercase().pop() {
            Some('k') => (&word[..word.len() - 1], 1e3),
            Some('m') => (&word[..word.len() - 1], 1e6),
            _ => (word, 1.0),
        };
        let number: f64 = digits
            .parse()
            .map_err(|_| format!("`{word}` is no number such as 100k or 4m"))?;
        Ok((number * factor).round() as u64)
    };
    match text {
        "paper" => Ok(Sizes::Paper),
        "quick" => Ok(Sizes::Quick),
        list => list
            .split(',')
            .map(size)
            .collect::<Result<_, String>>()
            .map(Sizes::Given),
    }
}

/// Largest size of `quick`.
const QUICK: u64 = 1_000_000;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let Family::Refine = arguments.family;
    let paper: Value = serde_json::from_str(include_str!("../papers/refine.json"))?;
    let tables = paper["tables"]
        .as_array()
        .ok_or("refine.json has no tables")?;
    let mut sizes: Vec<u64> = match &arguments.sizes {
        Sizes::Given(sizes) => sizes.clone(),
        Sizes::Paper | Sizes::Quick => tables
            .iter()
            .flat_map(|table| table["rows"].as_array().into_iter().flatten())
            .filter_map(|row| row["triangles"].as_u64())
            .filter(|&size| matches!(arguments.sizes, Sizes::Paper) || size <= QUICK)
            .collect(),
    };
    sizes.sort_unstable();
    sizes.dedup();

    let runs = match &arguments.from {
        Some(folder) => read_runs(folder)?,
        None => time(arguments, &sizes)?,
    };
    let out = workspace().join(&arguments.out);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let write = |name: &str, text: String| {
        let path = out.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
        Ok::<_, Error>(())
    };
    let text = markdown(&paper, tables, &runs);
    print!("{text}");
    let commit = output_of(
        Command::new("git")
            .args(["rev-parse", "HEAD"])
            .current_dir(workspace()),
    );
    let result = json!({
        "schema": 1,
        "family": "refine",
        "commit": commit.as_deref().map(str::trim),
        "precision": arguments.precision,
        "runs": runs,
    });
    write("refine.md", text)?;
    write("refine.json", serde_json::to_string_pretty(&result)? + "\n")
}

/// Times each size.
fn time(arguments: &Arguments, sizes: &[u64]) -> Result<Vec<Value>, Error> {
    let binary = build::trioxide()?;
    let mut runs = Vec::new();
    for &triangles in sizes {
        let start = Instant::now();
        // A triangulation has about twice as many triangles as points.
        let points = (triangles / 2).max(4).to_string();
        let mut command = Command::new(&binary);
        command
            .args(["bench", "refine", "--mesh", "random", "-n", &points])
            .args(["--mark", "fraction:0.001", "--runs", &arguments.runs])
            .args([
                "--device",
                &arguments.device,
                "--precision",
                &arguments.precision,
            ])
            .args(["--json", "-", "--quiet"])
            .stderr(Stdio::inherit());
        if let Some(threads) = &arguments.threads {
            command.args(["--threads", threads]);
        }
        let output = command
            .output()
            .map_err(|error| format!("{} cannot be started: {error}", command_line(&command)))?;
        if !output.status.success() {
            return Err(format!("{} failed", command_line(&command)).into());
        }
        let run: Value = serde_json::from_slice(&output.stdout)?;
        println!(
            "{triangles} triangles: {:.3} ms in steps 1 to 7 ({:.0} s in all)",
            stage(&run, "refine", "steps 1 to 7"),
            start.elapsed().as_secs_f64()
        );
        runs.push(run);
    }
    Ok(runs)
}

/// The runs in the `.json` files of a folder, the smallest mesh first.
fn read_runs(folder: &Path) -> Result<Vec<Value>, Error> {
    let mut runs = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let text = fs::read_to_string(&path)?;
            let run = serde_json::from_str(&text);
            runs.push(run.map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    runs.sort_by_key(|run: &Value| run["triangles"].as_u64());
    Ok(runs)
}

/// Our stages, and the columns of the paper that they cover.
const STAGES: [(&str, &[&str]); 5] = [
    ("1, 2 longest edges", &["label longest edges"]),
    (
        "2, 3, 4 marks, propagation",
        &["mark divided edges", "propagate divisions", "link edges"],
    ),
    ("5 counts", &["count divided sides"]),
    ("6 prefix sums", &["prefix sums"]),
    ("7 refinement", &["make room", "divide edges and triangles"]),
];

/// Milliseconds of a stage, 0 where the run has it not.
fn stage(run: &Value, pipeline: &str, name: &str) -> f64 {
    run["stages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|row| row["pipeline"] == pipeline && row["name"] == name)
        .and_then(|row| row["milliseconds"].as_f64())
        .unwrap_or(0.0)
}

fn markdown(paper: &Value, tables: &[Value], runs: &[Value]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let device = runs
        .first()
        .map_or("-".to_owned(), |run| text(&run["device"]));
    let mut out = format!(
        "# Longest-edge bisection\n\nMilliseconds. Paper: {}. Ours: {device}, median.\n",
        text(&paper["source"])
    );
    out += "\n## Ours, by step\n\n| triangles |";
    STAGES
        .iter()
        .for_each(|(name, _)| out += &format!(" {name} |"));
    out += " all steps | edges from triangles | host arrays to host arrays |\n|";
    out += &" --- |".repeat(STAGES.len() + 4);
    for run in runs {
        out += &format!("\n| {} |", run["triangles"]);
        for (_, names) in STAGES {
            let sum: f64 = names.iter().map(|name| stage(run, "refine", name)).sum();
            out += &format!(" {sum:.3} |");
        }
        out += &format!(
            " {:.3} | {:.3} | {:.1} |",
            stage(run, "refine", "steps 1 to 7"),
            stage(run, "edges", "all stages"),
            stage(run, "as waited", "host arrays to host arrays")
        );
    }
    out += "\n";
    for table in tables {
        let columns = table["columns"].as_array().into_iter().flatten();
        let columns: Vec<String> = columns.map(text).collect();
        out += &format!(
            "\n## Table {}: {}\n\n| triangles |",
            text(&table["table"]),
            text(&table["device"])
        );
        columns
            .iter()
            .for_each(|column| out += &format!(" {column} |"));
        out += " ours | ratio |\n|";
        out += &" --- |".repeat(columns.len() + 3);
        for row in table["rows"].as_array().into_iter().flatten() {
            let is_transfer = row["values"].is_array();
            let values = if is_transfer {
                &row["values"]
            } else {
                &row["milliseconds"]
            };
            let values: Vec<f64> = values
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_f64)
                .collect();
            let size = row["triangles"].as_u64().unwrap_or(0);
            let theirs = if is_transfer {
                values[1]
            } else {
                values.iter().sum()
            };
            let ours = nearest(runs, size).map(|run| {
                if is_transfer {
                    stage(run, "as waited", "host arrays to host arrays")
                } else {
                    stage(run, "refine", "steps 1 to 7")
                }
            });
            out += &format!("\n| {size} |");
            values
                .iter()
                .for_each(|value| out += &format!(" {value} |"));
            out += &match ours {
                Some(ours) => format!(" {ours:.3} | {:.1} |", theirs / ours),
                None => " - | - |".to_owned(),
            };
        }
        out += "\n";
        if text(&table["table"]) == "5.6" {
            out += "\nOurs is the whole way there: copies both ways, checks, edges and the round; the paper's is the copy to the device alone.\n";
        }
    }
    out
}

/// The run of a mesh within a tenth of `size`.
fn nearest(runs: &[Value], size: u64) -> Option<&Value> {
    runs.iter().find(|run| {
        let triangles = run["triangles"].as_u64().unwrap_or(0);
        triangles.abs_diff(size) * 10 < size
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_our_columns() {
        let paper: Value = serde_json::from_str(include_str!("../papers/refine.json")).unwrap();
        let tables = paper["tables"].as_array().unwrap();
        assert_eq!(tables.len(), 5);
        let run = json!({"device": "CPU", "triangles": 99_800, "stages": [
            {"pipeline": "refine", "name": "steps 1 to 7", "milliseconds": 0.5},
            {"pipeline": "refine", "name": "make room", "milliseconds": 0.25},
        ]});
        let text = markdown(&paper, tables, &[run]);
        assert!(
            text.contains("| 99800 | 0.000 | 0.000 | 0.000 | 0.000 | 0.250 | 0.500 |"),
            "{text}"
        );
        assert!(
            text.contains("| 100000 | 0.4 | 0.3 | 0.3 | 0.5 | 0.3 | 1 | 0.9 | 0.500 | 7.4 |"),
            "{text}"
        );
        assert!(
            text.contains("| 200000 | 0.5 | 0.3 | 0.3 | 0.5 | 0.3 | 1.1 | 1.1 | - | - |"),
            "{text}"
        );
    }

    #[test]
    fn sizes_are_read() {
        assert!(
            matches!(parse_sizes("100k,4m,7"), Ok(Sizes::Given(list)) if list == [100_000, 4_000_000, 7])
        );
        assert!(parse_sizes("many").is_err());
    }
}
