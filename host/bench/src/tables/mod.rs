//! `cargo xtask bench`: the papers' experiments, their tables with our columns and their figures with our curves.
//!
//! The binary times a case (`trioxide bench`); [`plan`] lists the cases; the families set their times beside the
//! papers' printed ones, which are in host/bench/papers/.

mod compare;
mod families;
mod page;
mod papers;
pub(crate) mod plan;
mod plot;
mod results;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use families::Made;
pub(crate) use families::{FAMILIES, Family};
use plan::{Case, Sizes, parse_sizes};
use plot::Plot;
pub(crate) use results::SCHEMA;
use results::{Run, read_folder, runs_of};
use table::{Table, all_stages};
use xtask::process::command_line;
use xtask::{Error, build, workspace};

/// Times the papers' experiments and writes their tables and figures with our numbers: FAMILY.json, FAMILY.md, plots/.
///
/// `quick` ends within five minutes on two cores. Where there is no Rust, `cargo xtask dist` makes a folder that runs
/// the same plans, and --from takes its results.
#[derive(clap::Args)]
pub struct Arguments {
    /// Families to time: nothing or `all` for all.
    #[arg(value_parser = family_names())]
    families: Vec<String>,
    /// Sizes: paper, quick, or numbers of vertices such as 100k,4m.
    #[arg(long, default_value = "quick", value_parser = parse_sizes)]
    sizes: Sizes,
    /// Machine to run on, as for `trioxide`.
    #[arg(long, default_value = "auto")]
    device: String,
    /// Threads of the CPU.
    #[arg(long)]
    threads: Option<String>,
    /// Precision of coordinates; the refinement paper's is f32. Clustering is always f64.
    #[arg(long, default_value = "f64")]
    precision: String,
    /// Runs that count, of each measurement.
    #[arg(long, default_value = "20")]
    runs: String,
    /// Take the runs from this folder instead: the files of `trioxide bench --json` or run.sh on a machine without
    /// Rust.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sizes", "device", "threads", "precision", "runs"])]
    from: Option<PathBuf>,
    /// Folder for the results.
    #[arg(long, default_value = "out/bench")]
    out: PathBuf,
    /// Print the tables of all families as one Markdown text, and nothing else, to standard output.
    #[arg(long)]
    markdown: bool,
    /// Compare two results, or two files of `trioxide bench --json`: the ratio of each stage, and whether it is beyond
    /// noise. Fails when something got slower. Where other work disturbs, give folders with the files of several
    /// processes for each case.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["families", "from", "markdown"])]
    compare: Option<Vec<PathBuf>>,
    /// Write the tables of docs/BENCHMARKS.md from the records in docs/results, and nothing else.
    #[arg(long, conflicts_with_all = ["families", "from", "markdown", "compare"])]
    page: bool,
}

fn family_names() -> PossibleValuesParser {
    let names = FAMILIES.iter().map(|family| family.name);
    PossibleValuesParser::new(names.chain(["all"]))
}

/// Runs the command.
///
/// # Errors
///
/// A sentence for the person at the terminal.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    if let Some([old, new]) = arguments.compare.as_deref() {
        return match compare::compare(old, new)? {
            true => Ok(()),
            false => Err("something got slower".into()),
        };
    }
    if arguments.page {
        return page::write();
    }
    let is_named = |name: &str| arguments.families.iter().any(|named| named == name);
    let is_all = arguments.families.is_empty() || is_named("all");
    let families = FAMILIES
        .iter()
        .filter(|family| is_all || is_named(family.name));
    let given = arguments.from.as_deref().map(read_folder).transpose()?;
    let out = workspace().join(&arguments.out);
    let plots = out.join("plots");
    fs::create_dir_all(&plots).map_err(|error| format!("{}: {error}", plots.display()))?;
    // With --markdown standard output is the text alone.
    let say = |line: String| match arguments.markdown {
        true => eprintln!("{line}"),
        false => println!("{line}"),
    };
    let write = |path: PathBuf, bytes: &[u8]| -> Result<(), Error> {
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        say(path.display().to_string());
        Ok(())
    };
    let give = |name: &str, title: &str, runs: &[Run], made: Made| -> Result<String, Error> {
        let stages = all_stages(name, runs);
        let text = markdown(title, runs, &made.tables);
        let mut pictures = Vec::new();
        for plot in &made.plots {
            let svg = plot.svg()?;
            write(plots.join(format!("{}.svg", plot.id)), svg.as_bytes())?;
            write(plots.join(format!("{}.png", plot.id)), &plot.png()?)?;
            pictures.push(json!({"id": plot.id, "title": plot.title, "svg": svg}));
        }
        let tables = made.tables.iter().chain([&stages]).map(Table::to_json);
        let result = json!({
            "schema": SCHEMA,
            "family": name,
            "runs": runs.iter().map(|run| &run.0).collect::<Vec<_>>(),
            "tables": tables.collect::<Vec<_>>(),
            "plots": pictures,
        });
        let result = serde_json::to_string_pretty(&result)? + "\n";
        write(out.join(format!("{name}.json")), result.as_bytes())?;
        let whole = format!("{text}\n{}\n{}", shown(&made.plots), stages.to_markdown());
        write(out.join(format!("{name}.md")), whole.as_bytes())?;
        Ok(text)
    };
    let mut all = String::new();
    for family in families {
        let mut runs = match &given {
            Some(given) => of_family(given, family.name),
            None => time(arguments, family, &say)?,
        };
        if runs.is_empty() {
            if is_named(family.name) {
                return Err(format!("there is no run of {}", family.name).into());
            }
            continue;
        }
        runs.sort_by_key(|run| (run.parameter("mesh").to_owned(), run.n()));
        let made = (family.made_of)(&runs);
        all += &give(family.name, family.title, &runs, made)?;
    }
    // Families of `trioxide bench` without a paper: their stages alone.
    let given = given.as_deref().filter(|_| is_all).unwrap_or_default();
    for name in others(given) {
        let runs = of_family(given, &name);
        let made = Made {
            tables: vec![all_stages(&name, &runs)],
            plots: Vec::new(),
        };
        all += &give(&name, &name, &runs, made)?;
    }
    if all.is_empty() {
        return Err("there is no run of any family".into());
    }
    if arguments.markdown {
        print!("{all}");
    } else {
        print!("\n{all}");
    }
    Ok(())
}

/// Families of the runs that have no plan, where all are asked for.
fn others(runs: &[Run]) -> BTreeSet<String> {
    let is_other = |name: &String| FAMILIES.iter().all(|family| family.name != name);
    runs.iter().map(Run::family).filter(is_other).collect()
}

fn of_family(runs: &[Run], family: &str) -> Vec<Run> {
    let of = |run: &&Run| run.family() == family;
    runs.iter().filter(of).cloned().collect()
}

/// Runs the plan of a family.
fn time(
    arguments: &Arguments,
    family: &'static Family,
    say: &dyn Fn(String),
) -> Result<Vec<Run>, Error> {
    let binary = build::trioxide()?;
    let commit = build::commit().unwrap_or_default();
    let mut runs = Vec::new();
    for Case {
        file,
        arguments: words,
    } in family.cases(&arguments.sizes)
    {
        let start = Instant::now();
        let mut command = Command::new(&binary);
        command
            .args(&words)
            .args(["--device", &arguments.device])
            .args(["--precision", &arguments.precision])
            .args(["--runs", &arguments.runs, "--json", "-", "--quiet"])
            .env("TRIOXIDE_COMMIT", &commit)
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
        runs.extend(runs_of(serde_json::from_slice(&output.stdout)?)?);
        say(format!(
            "{file}: {:.1} s in all",
            start.elapsed().as_secs_f64()
        ));
    }
    Ok(runs)
}

/// A family's tables, with the machine and the commands.
fn markdown(title: &str, runs: &[Run], tables: &[Table]) -> String {
    let mut text = format!("## {title}\n\n");
    let first = &runs[0].0;
    let machine = &first["machine"];
    let mut facts: Vec<String> = ["device", "driver", "cpu", "os"]
        .iter()
        .filter_map(|key| machine[*key].as_str())
        .map(str::to_owned)
        .collect();
    if let Some(bandwidth) = machine["copy_bandwidth_gb_s"].as_f64() {
        facts.push(format!(
            "a copy moves {bandwidth:.0} GB/s (read plus written)"
        ));
    }
    if let Some(commit) = first["commit"].as_str() {
        facts.push(format!("commit {}", &commit[..commit.len().min(12)]));
    }
    text += &format!(
        "{}. Milliseconds, medians. Floor: the bytes that must move, by the copy's rate; what fits a cache can be below it.\n\n",
        facts.join("; ")
    );
    text += "```sh\n";
    let mut commands: Vec<String> = runs.iter().map(command_of).collect();
    commands.dedup();
    text += &commands.join("\n");
    text += "\n```\n\n";
    for table in tables {
        text += &table.to_markdown();
        text += "\n";
    }
    text
}

/// The command of a run, without the options for its result.
fn command_of(run: &Run) -> String {
    let words = run.0["command"].as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let mut kept = vec!["trioxide"];
    let mut i = 0;
    while i < words.len() {
        match words[i] {
            "--json" => i += 1,
            "--quiet" => {}
            word => kept.push(word),
        }
        i += 1;
    }
    kept.join(" ")
}

/// Links to the plots.
fn shown(plots: &[Plot]) -> String {
    plots
        .iter()
        .map(|plot| format!("![{}](plots/{}.svg)\n", plot.title, plot.id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_its_output() {
        let run =
            Run(json!({"command": ["bench", "weld", "--json", "x.json", "-n", "7", "--quiet"]}));
        assert_eq!(command_of(&run), "trioxide bench weld -n 7");
    }
}
