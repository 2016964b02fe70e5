//! `cargo xtask test --peers`: every format against other programs.

use std::fs;

use crate::limited::{self, Limit};
use crate::process::cargo;
use crate::python::Environment;
use crate::{Error, target_dir};

/// The script that writes, reads and compares, and the part of it that runs Gmsh.
const SCRIPTS: [(&str, &str); 2] = [
    ("peers.py", include_str!("peers.py")),
    ("peers_gmsh.py", include_str!("peers_gmsh.py")),
];

/// Packages of PyPI: meshio needs h5py for XDMF, laspy lazrs for .laz, trimesh Pillow for images.
const PACKAGES: [&str; 8] = [
    "meshio", "h5py", "vtk", "gmsh", "laspy", "lazrs", "trimesh", "pillow",
];

/// Installs the other programs into a virtual environment below `target`, writes and reads every format against them,
/// and prints a table. Without Python or a connection it prints the missing part, and passes.
pub(super) fn run(limit: Limit) -> Result<(), Error> {
    let folder = crate::workspace().join("target").join("peers");
    fs::create_dir_all(&folder)?;
    let environment = match Environment::open(&folder.join("venv"))? {
        Ok(environment) => environment,
        Err(reason) => return skip(&reason),
    };
    // Packages that cannot be installed are left out, and the script reports them.
    if environment.install(&PACKAGES).len() == PACKAGES.len() {
        return skip("no package can be installed: is PyPI reachable?");
    }
    limited::run(&mut cargo(&["build", "--package", "trioxide-cli"]), limit)?;
    let binary = target_dir()
        .join("debug")
        .join(format!("trioxide{}", std::env::consts::EXE_SUFFIX));
    for (name, script) in SCRIPTS {
        fs::write(folder.join(name), script)?;
    }
    let script = folder.join(SCRIPTS[0].0);
    let files = folder.join("files");
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    fs::create_dir_all(&files)?;
    let mut compare = environment.python();
    limited::run(compare.arg(&script).arg(binary).arg(files), limit)
}

fn skip(reason: &str) -> Result<(), Error> {
    println!("skipped: the formats against other programs: {reason}");
    Ok(())
}
