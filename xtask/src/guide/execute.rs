//! Runs the commands of a page in a folder of its own.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::compare::difference;
use super::page::{Block, Page};
use crate::process::{cargo, output_of, run as run_command};
use crate::python::{self, Environment};
use crate::{Error, target_dir, workspace};

/// The parts of a machine that a page may name as needed.
pub(super) const NEEDS: [&str; 7] = [
    "a checkout",
    "a GPU",
    "CuPy",
    "MPI",
    "Python",
    "Slurm",
    "the archive",
];

/// The programs that commands find.
pub(super) struct Tools {
    path: OsString,
    /// The folder of the Python package.
    package: Option<PathBuf>,
    /// Needs that this machine does not meet, with the reason.
    missing: Vec<(&'static str, String)>,
}

/// The result of a page.
#[derive(Default)]
pub(super) struct Done {
    pub(super) commands: usize,
    pub(super) outputs: usize,
    pub(super) pictures: usize,
    pub(super) skipped: Vec<String>,
    pub(super) fault: Option<String>,
}

impl Tools {
    /// Finds out which of these needs the machine meets. Commands find `binary` by the name `trioxide`.
    pub(super) fn prepare(binary: &Path, needs: &BTreeSet<&str>) -> Result<Self, Error> {
        let programs = target_dir().join("guide").join("bin");
        fresh(&programs)?;
        let name = format!("trioxide{}", env::consts::EXE_SUFFIX);
        fs::copy(binary, programs.join(name))?;
        let mut folders = vec![programs];
        let mut missing = vec![
            (
                "a checkout",
                "the check does not build or test the sources".to_owned(),
            ),
            (
                "the archive",
                "the check does not run `cargo xtask dist`".to_owned(),
            ),
        ];
        let mut package = None;
        if needs.contains("Python") {
            match provide_environment()? {
                Ok(environment) => {
                    run_command(&mut cargo(&["build", "--package", "trioxide-python"]))?;
                    package = Some(python::place_package()?);
                    folders.extend(environment.program("python3").parent().map(Path::to_owned));
                    if !has_cupy(&environment) {
                        missing.push(("CuPy", "Python has no module cupy".to_owned()));
                    }
                }
                Err(reason) => {
                    missing.extend(["CuPy", "Python"].map(|need| (need, reason.clone())));
                }
            }
        }
        folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        if !Path::new("/proc/driver/nvidia/version").exists() {
            missing.push(("a GPU", "this machine has no driver of NVIDIA's".to_owned()));
        }
        if needs.contains("MPI")
            && let Err(reason) = try_mpi(binary)
        {
            missing.push(("MPI", reason));
        }
        if output_of(Command::new("sbatch").arg("--version")).is_none() {
            missing.push(("Slurm", "sbatch cannot be started".to_owned()));
        }
        Ok(Self {
            path: env::join_paths(folders)?,
            package,
            missing,
        })
    }

    /// The reason why a block cannot run here.
    fn reason_against(&self, block: &Block) -> Option<String> {
        let needs: BTreeSet<&str> = block.needs().collect();
        let missing = self.missing.iter().find(|(name, _)| needs.contains(name));
        missing.map(|(name, reason)| format!("needs {name}: {reason}"))
    }
}

/// Makes an environment with NumPy and SciPy; the inner error is the reason why there is none.
fn provide_environment() -> Result<Result<Environment, String>, Error> {
    let environment = match Environment::open(&target_dir().join("python").join("venv"))? {
        Ok(environment) => environment,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(match environment.install(&["numpy", "scipy"]).first() {
        Some(package) => Err(format!("{package} cannot be installed: is PyPI reachable?")),
        None => Ok(environment),
    })
}

fn has_cupy(environment: &Environment) -> bool {
    output_of(environment.python().args(["-c", "import cupy"])).is_some()
}

/// Whether two ranks of this binary work together here.
fn try_mpi(binary: &Path) -> Result<(), String> {
    let output = Command::new("mpirun")
        .args(["-n", "2", "--oversubscribe", "--bind-to", "none"])
        .arg(binary)
        .args(["polylla", "generate:grid:100", "--digest", "--quiet"])
        .envs(AS_ROOT)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("mpirun cannot be started: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().find(|line| line.starts_with("trioxide: "));
            Err(line.or(said.lines().next()).unwrap_or_default().to_owned())
        }
    }
}

/// Open MPI refuses root without them, and more processes than cores.
const AS_ROOT: [(&str, &str); 3] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];

/// Runs a page's commands in order, up to the first fault, and compares outputs and pictures.
pub(super) fn page(page: &Page, tools: &Tools, refresh: bool) -> Result<Done, Error> {
    let stem = page.path.file_stem().unwrap_or_default();
    let folder = target_dir().join("guide").join("scratch").join(stem);
    fresh(&folder)?;
    let mut done = Done::default();
    let mut printed = None;
    for block in &page.blocks {
        if let Some(file) = block.file() {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(path, block.lines.join("\n") + "\n")?;
            continue;
        }
        let printed_before = printed.take();
        if block.language == "sh" {
            if let Some(reason) = tools.reason_against(block) {
                done.skipped
                    .push(format!("{}: {reason}", page.at(block.line)));
                continue;
            }
            match run(block, &folder, tools)? {
                Ok(text) => printed = Some(text),
                Err((line, said)) => {
                    done.fault = Some(format!("{}: the command fails:\n{said}", page.at(line)));
                    return Ok(done);
                }
            }
            done.commands += block.commands().len();
        } else if block.is_output()
            && let Some(printed) = printed_before
        {
            if let Some(difference) = difference(&block.lines, &printed) {
                done.fault = Some(format!("{}: {difference}", page.at(block.line)));
                return Ok(done);
            }
            done.outputs += 1;
        }
    }
    let mut faults = Vec::new();
    for link in page.links.iter().filter(|link| link.is_picture) {
        let (kept, _) = page.resolve(&link.target);
        // Pictures in other folders belong to other pages.
        if kept.parent() != page.path.parent() {
            continue;
        }
        let made = folder.join(&link.target);
        match picture(&made, &workspace().join(kept), refresh)? {
            None => done.pictures += 1,
            Some(fault) => faults.push(format!("{}: {} {fault}", page.at(link.line), link.target)),
        }
    }
    done.fault = (!faults.is_empty()).then(|| faults.join("\n"));
    Ok(done)
}

/// Compares a picture with the one that is kept, or replaces that.
fn picture(made: &Path, kept: &Path, refresh: bool) -> Result<Option<&'static str>, Error> {
    let Ok(bytes) = fs::read(made) else {
        return Ok(Some("is made by no command of this page"));
    };
    if fs::read(kept).is_ok_and(|kept| kept == bytes) {
        return Ok(None);
    }
    if refresh {
        fs::write(kept, bytes)?;
        return Ok(None);
    }
    Ok(Some(
        "is not the picture that the commands make: --refresh replaces it",
    ))
}

/// Runs the commands of a block. Returns their standard output, or the line of the command that failed and its words.
fn run(
    block: &Block,
    folder: &Path,
    tools: &Tools,
) -> Result<Result<String, (usize, String)>, Error> {
    let [script, place] = ["sh", "line"].map(|name| folder.with_extension(name));
    // On the line of the first command: the shell's line numbers are the block's then.
    let trap = "set -eEuo pipefail; trap 'echo $LINENO > \"$GUIDE_LINE\"' ERR; ";
    fs::write(&script, format!("{trap}{}\n", block.lines.join("\n")))?;
    fs::write(&place, "")?;
    let mut command = Command::new("bash");
    command
        .arg(&script)
        .current_dir(folder)
        .env("PATH", &tools.path)
        .env("GUIDE_LINE", &place)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(AS_ROOT)
        .stdin(Stdio::null());
    if let Some(package) = &tools.package {
        command.env("PYTHONPATH", package);
    }
    let output = command
        .output()
        .map_err(|error| format!("bash cannot be started: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(Ok(printed));
    }
    let failed: usize = fs::read_to_string(&place)?.trim().parse().unwrap_or(0);
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(Err((block.line + failed, format!("{printed}{said}"))))
}

/// Makes an empty folder.
fn fresh(folder: &Path) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}
