//! `cargo xtask test --peers`: every format against other programs.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::process::{cargo, run as run_command};

/// The script that writes, reads and compares.
const SCRIPT: &str = include_str!("peers.py");

/// Packages of PyPI: meshio needs h5py for XDMF, laspy lazrs for .laz.
const PACKAGES: [&str; 6] = ["meshio", "h5py", "vtk", "gmsh", "laspy", "lazrs"];

/// Installs the other programs into a virtual environment below `target`, writes and reads every format against them, and prints a
/// table. Without Python or a connection it says what is missing, and passes.
pub(super) fn run() -> Result<(), Error> {
    let target = crate::workspace().join("target");
    let folder = target.join("peers");
    let environment = folder.join("venv");
    let python = environment
        .join(if cfg!(windows) { "Scripts" } else { "bin" })
        .join("python");
    fs::create_dir_all(&folder)?;
    if !python.exists() {
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .status();
        match made {
            Ok(status) if status.success() => {}
            Ok(_) => {
                return skip("python3 -m venv fails (on Debian: apt-get install python3-venv)");
            }
            Err(error) => return skip(&format!("python3 cannot be started: {error}")),
        }
    }
    // One after the other: what cannot be installed is left out, and the script says so.
    let mut installed = 0;
    for package in PACKAGES {
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            package,
        ];
        if Command::new(&python)
            .args(pip)
            .status()
            .is_ok_and(|status| status.success())
        {
            installed += 1;
        }
    }
    if installed == 0 {
        return skip("no package can be installed: is PyPI reachable?");
    }
    run_command(&mut cargo(&["build", "--package", "trioxide-cli"]))?;
    let binary = target_folder(&target)
        .join("debug")
        .join(format!("trioxide{}", std::env::consts::EXE_SUFFIX));
    let script = folder.join("peers.py");
    fs::write(&script, SCRIPT)?;
    let files = folder.join("files");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    run_command(Command::new(&python).arg(&script).arg(binary).arg(files))
}

/// Where cargo builds.
fn target_folder(default: &Path) -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or(default.to_owned(), Into::into)
}

fn skip(reason: &str) -> Result<(), Error> {
    println!("skipped: the formats against other programs: {reason}");
    Ok(())
}
