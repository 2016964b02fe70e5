//! `cargo xtask build`: the `trioxide` binary.

use std::path::PathBuf;
use std::process::Command;

use crate::debian::{install, is_debian, is_root};
use crate::process::{cargo, output_of, run as run_command};
use crate::{Error, mpi, ptxas, target_dir, workspace};

/// Builds the `trioxide` binary with optimizations: target/release/trioxide.
///
/// Machine code of the kernels for the common GPUs is embedded, made by NVIDIA's ptxas: the one of TRIOXIDE_PTXAS, PATH
/// or /usr/local/cuda/bin, or from PyPI. Without one the binary has only PTX, and a machine's first run compiles the
/// kernels that it launches.
///
/// With a device compiler (`cargo xtask doctor`) the kernels are built; otherwise the prebuilt ones are embedded. The
/// same as: cargo build --release --package trioxide-cli --bin trioxide
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// With MPI, so that `mpirun -n 4 target/release/trioxide …` works on one mesh: needs an MPI with headers and
    /// libclang, which are installed on Debian as root.
    #[arg(long)]
    mpi: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let path = match arguments.mpi {
        true => {
            provide_mpi()?;
            trioxide_with(&["--features", "mpi"])?
        }
        false => trioxide()?,
    };
    println!("{}", path.display());
    Ok(())
}

/// Installs the packages for MPI where that is possible.
fn provide_mpi() -> Result<(), Error> {
    let missing = mpi::missing();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() || !is_debian() {
        return Err(format!(
            "--mpi needs {}, which are not here: {}",
            missing.join(", "),
            mpi::remedy()
        )
        .into());
    }
    install(mpi::DEBIAN_PACKAGES)
}

/// Builds the binary. Returns its path.
///
/// # Errors
///
/// Errors of cargo.
pub fn trioxide() -> Result<PathBuf, Error> {
    trioxide_with(&[])
}

/// As [`trioxide`], with more arguments of cargo.
pub(crate) fn trioxide_with(more: &[&str]) -> Result<PathBuf, Error> {
    let name = format!("trioxide{}", std::env::consts::EXE_SUFFIX);
    let path = target_dir().join("release").join(name);
    // On standard error, as cargo's own progress: standard output may belong to the program that runs.
    let time = if path.exists() {
        ""
    } else {
        "; 2 to 4 minutes from nothing"
    };
    eprintln!("building trioxide (release{time})");
    let mut build = cargo(&[
        "build",
        "--release",
        "--package",
        "trioxide-cli",
        "--bin",
        "trioxide",
    ]);
    build.args(more);
    ptxas::name_for(&mut build);
    run_command(&mut build)?;
    Ok(path)
}

/// The commit of the sources, with the suffix `-dirty` if they differ; `None` outside a repository.
pub fn commit() -> Option<String> {
    let text = output_of(
        Command::new("git")
            .args([
                "describe",
                "--always",
                "--dirty",
                "--abbrev=40",
                "--exclude=*",
            ])
            .current_dir(workspace()),
    )?;
    Some(text.trim().to_owned())
}
