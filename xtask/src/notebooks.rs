//! `cargo xtask notebooks`: the notebooks of examples/notebooks, executed.

use std::fs;
use std::path::PathBuf;

use crate::process::{cargo, run as run_command};
use crate::python::{Environment, place_package};
use crate::{Error, target_dir, workspace};

const NOTEBOOKS: &str = "examples/notebooks";
/// Packages of PyPI that they need, and that execute them.
const PACKAGES: [&str; 5] = ["numpy", "scipy", "nbformat", "nbclient>=0.10", "ipykernel"];
const EXECUTE: &str = "xtask/src/notebooks.py";

/// Executes the notebooks of examples/notebooks, and compares the text that they print with the text in the files.
///
/// The Python package is built from the sources; Jupyter's packages come from PyPI.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the outputs, pictures too, into the files.
    #[arg(long)]
    refresh: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    run_command(&mut cargo(&["build", "--package", "trioxide-python"]))?;
    let environment = Environment::open(&target_dir().join("python").join("venv"))??;
    if let Some(missing) = environment.install(&PACKAGES).first() {
        return Err(format!("{missing} cannot be installed: is PyPI reachable?").into());
    }
    let mode = match arguments.refresh {
        true => "refresh",
        false => "check",
    };
    let mut python = environment.python();
    python
        .arg(workspace().join(EXECUTE))
        .arg(mode)
        .args(notebooks()?)
        .env("PYTHONPATH", place_package()?);
    run_command(&mut python)
}

fn notebooks() -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(workspace().join(NOTEBOOKS))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "ipynb")
    });
    paths.sort();
    Ok(paths)
}
