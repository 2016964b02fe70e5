//! `cargo xtask fuzz`: coverage-guided fuzzing on stable Rust. The targets are in tests/targets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{cargo, output_of, run as run_command};
use crate::{Error, target_dir};

/// Fuzzes readers and pipelines: libFuzzer chooses inputs that reach new code.
///
/// Each target starts from fixtures and from the inputs of earlier runs (target/fuzz/corpus). A finding ends its
/// target, is kept in target/fuzz/findings, and the exit status is 1.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Targets to run, one after the other [default: all].
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Time for each target.
    #[arg(long, default_value_t = 5.0, value_name = "N")]
    minutes: f64,
    /// Print the targets' names, and run none.
    #[arg(long)]
    list: bool,
    /// Run only this input, on the one target named: repeats a finding.
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    input: Option<PathBuf>,
}

/// Options of the compiler: counters at edges, with a table of them, and the operands of comparisons.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // Counters of functions that the linker drops would point nowhere.
    "-Clink-dead-code",
];
/// With a target, build scripts and macros are built without the options.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Seconds that one input may take.
const TIMEOUT: u32 = 20;
/// Mebibytes that a fuzzer may take.
const MEMORY: u32 = 4096;
/// Bytes of the longest input.
const LONGEST: u32 = 8192;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let program = build()?;
    let all = names(&program)?;
    if arguments.list {
        all.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    if let Some(unknown) = arguments.targets.iter().find(|name| !all.contains(name)) {
        return Err(format!(
            "{unknown:?} is no target; the targets are {}",
            all.join(", ")
        )
        .into());
    }
    let chosen = match arguments.targets.is_empty() {
        true => &all,
        false => &arguments.targets,
    };
    if let Some(input) = &arguments.input {
        let [target] = &chosen[..] else {
            return Err("--input is an input of one target: name it".into());
        };
        let folder = Folders::new(target)?;
        return run_command(folder.command(&program, target).arg(input));
    }
    write_seeds(&program)?;
    let mut found = Vec::new();
    for target in chosen {
        let outcome = fuzz(&program, target, arguments.minutes)?;
        println!("{outcome}");
        if outcome.finding.is_some() {
            found.push(target.as_str());
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!("findings in {}", found.join(", ")).into()),
    }
}

/// Builds the fuzzers' program.
fn build() -> Result<PathBuf, Error> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("the fuzzers are built on x86-64 Linux only".into());
    }
    let target = target_dir().join("fuzz");
    eprintln!("building the fuzzers (a minute or two from nothing)");
    let mut command = cargo(&[
        "build",
        "--release",
        "--target",
        TARGET,
        "--manifest-path",
        "tests/fuzz/Cargo.toml",
    ]);
    command
        .env("CARGO_TARGET_DIR", &target)
        .env("TRIOXIDE_PTX", "prebuilt")
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"));
    run_command(&mut command)?;
    Ok(target.join(TARGET).join("release/trioxide-fuzz"))
}

fn names(program: &Path) -> Result<Vec<String>, Error> {
    let list = output_of(Command::new(program).env("TRIOXIDE_FUZZ_LIST", "1"));
    let list = list.ok_or("the fuzzers do not list their targets")?;
    Ok(list.lines().map(str::to_owned).collect())
}

fn fuzz_dir() -> PathBuf {
    target_dir().join("fuzz")
}

fn write_seeds(program: &Path) -> Result<(), Error> {
    let scratch = Folders::new("seeds")?;
    run_command(
        Command::new(program)
            .env("TRIOXIDE_FUZZ_SEEDS", fuzz_dir().join("seeds"))
            .env("TRIOXIDE_FUZZ_FOLDER", scratch.files.path()),
    )
}

/// The folders of a target.
struct Folders {
    corpus: PathBuf,
    findings: PathBuf,
    /// The files that its readers read: in memory if the system has such a folder.
    files: tempfile::TempDir,
}

impl Folders {
    fn new(target: &str) -> Result<Self, Error> {
        let folder = |kind: &str| -> Result<PathBuf, Error> {
            let path = fuzz_dir().join(kind).join(target);
            fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(path)
        };
        let memory = Path::new("/dev/shm");
        let mut files = tempfile::Builder::new();
        files.prefix("trioxide-fuzz-");
        Ok(Self {
            corpus: folder("corpus")?,
            findings: folder("findings")?,
            files: match memory.is_dir() {
                true => files.tempdir_in(memory)?,
                false => files.tempdir()?,
            },
        })
    }

    /// The command that runs one target, without inputs yet.
    fn command(&self, program: &Path, target: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("TRIOXIDE_FUZZ_TARGET", target)
            .env("TRIOXIDE_FUZZ_FOLDER", self.files.path())
            // One thread: the coverage of an input does not depend on others.
            .env("RAYON_NUM_THREADS", "1")
            .arg(format!("-artifact_prefix={}/", self.findings.display()))
            .arg(format!("-timeout={TIMEOUT}"))
            .arg(format!("-rss_limit_mb={MEMORY}"));
        command
    }
}

/// The outcome of a target's run.
struct Outcome {
    target: String,
    minutes: f64,
    executions: u64,
    edges: u64,
    corpus: usize,
    finding: Option<String>,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "{:<20} {:>6.1} min {:>11} runs {:>7} edges {:>6} inputs  {}",
            self.target,
            self.minutes,
            self.executions,
            self.edges,
            self.corpus,
            self.finding.as_deref().unwrap_or("no finding")
        )
    }
}

fn fuzz(program: &Path, target: &str, minutes: f64) -> Result<Outcome, Error> {
    let folders = Folders::new(target)?;
    let log = fuzz_dir().join(format!("{target}.log"));
    let output = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let seconds = (minutes * 60.0).max(1.0) as u64;
    eprintln!("fuzzing {target} for {seconds} s (log: {})", log.display());
    let start = std::time::Instant::now();
    let status = folders
        .command(program, target)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={LONGEST}"))
        .args([
            "-print_final_stats=1",
            "-use_value_profile=1",
            "-close_fd_mask=1",
        ])
        .arg(&folders.corpus)
        .arg(fuzz_dir().join("seeds").join(target))
        .stdout(Stdio::null())
        .stderr(output)
        .status()?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let finding = (!status.success()).then(|| finding(&text));
    Ok(Outcome {
        target: target.to_owned(),
        minutes: start.elapsed().as_secs_f64() / 60.0,
        executions: number_behind(&text, "stat::number_of_executed_units:").unwrap_or(0),
        edges: number_behind(&text, " cov:").unwrap_or(0),
        corpus: fs::read_dir(&folders.corpus)?.count(),
        finding,
    })
}

/// The last number after a word of the log.
fn number_behind(log: &str, word: &str) -> Option<u64> {
    let (_, rest) = log.rsplit_once(word)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The cause and the input of a finding, by its log.
fn finding(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let cause = lines.iter().position(|line| line.contains("panicked at"));
    let cause = match cause {
        Some(i) => lines[i..lines.len().min(i + 2)].join(" "),
        None => {
            let errors = lines.iter().find(|line| line.contains("ERROR: "));
            errors.map_or("the fuzzer failed", |line| line).to_owned()
        }
    };
    let input = lines
        .iter()
        .rev()
        .find_map(|line| line.split_once("Test unit written to "));
    let input = input.map_or("no input was kept", |(_, path)| path);
    format!("FINDING {cause}; input: {input}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "#1024 INITED cov: 12 ft: 3 corp: 2/8b\n#2048 NEW    cov: 15 ft: 9 corp: 3/9b\n\
        thread '<unnamed>' panicked at host/formats/src/off.rs:1:2:\nindex out of bounds\n\
        artifact_prefix='/f/'; Test unit written to /f/crash-1\nstat::number_of_executed_units: 2100\n";

    #[test]
    fn a_log_gives_counts_and_the_finding() {
        assert_eq!(number_behind(LOG, " cov:"), Some(15));
        assert_eq!(
            number_behind(LOG, "stat::number_of_executed_units:"),
            Some(2100)
        );
        assert_eq!(
            finding(LOG),
            "FINDING thread '<unnamed>' panicked at host/formats/src/off.rs:1:2: index out of bounds; input: /f/crash-1"
        );
    }
}
