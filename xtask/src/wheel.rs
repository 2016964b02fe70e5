//! `cargo xtask wheel`: the Python package as one file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::run as run_command;
use crate::python::Environment;
use crate::{Error, target_dir};

/// Lists a wheel, refuses libraries of CUDA and a library without kernels, and prints its size.
const CHECK: &str = "\
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
libraries = [name for name in names if '.so' in name or name.endswith(('.pyd', '.dll', '.dylib'))]
assert len(libraries) == 1 and libraries[0].startswith('trioxide/_trioxide'), f'libraries in the wheel: {libraries}'
library = wheel.read(libraries[0])
assert b'.visible .entry' in library, 'the library has no PTX'
assert b'libcudart' not in library, 'the library needs a library of CUDA'
assert 'trioxide/py.typed' in names and 'trioxide/_trioxide.pyi' in names, names
print(f'{sys.argv[1]}: {len(library) / 1e6:.1f} MB of code')
";

/// The checks of an installed wheel, with a driver or without.
const TRY: &str = "\
import trioxide
mesh = trioxide.generate('random', 1000, seed=1)
polygons = trioxide.polylla(mesh, device='cpu')
assert len(polygons.offsets) - 1 == 316, polygons
print(trioxide.__version__, polygons, trioxide.devices())
";

/// Make one wheel of the Python package, for CPython 3.9 and later: kernels inside, no library of CUDA.
///
/// maturin comes from PyPI into a virtual environment below the target folder. The wheel is checked, installed into a
/// fresh environment and tried.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder for the wheel.
    #[arg(short, long, value_name = "FOLDER", default_value = "out/wheels")]
    out: PathBuf,
    /// Profile of cargo to build with; dev builds faster, and its kernels and library are optimised too.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let folder = target_dir().join("python");
    let environment = Environment::open(&folder.join("venv"))??;
    if !environment.install(&["maturin>=1.7,<2"]).is_empty() {
        return Err("maturin cannot be installed: is PyPI reachable?".into());
    }
    let out = crate::workspace().join(&arguments.out);
    fs::create_dir_all(&out)?;
    let before = wheels(&out)?;
    for old in before {
        fs::remove_file(old)?;
    }
    let mut maturin = environment.python();
    maturin
        .args([
            "-m",
            "maturin",
            "build",
            "--profile",
            &arguments.profile,
            "--out",
        ])
        .arg(&out)
        .current_dir(crate::workspace().join("host").join("python"));
    run_command(&mut maturin)?;
    let made = wheels(&out)?;
    let [wheel] = &made[..] else {
        return Err(format!("maturin made {} wheels, not one", made.len()).into());
    };
    run_command(environment.python().args(["-c", CHECK]).arg(wheel))?;
    let fresh = folder.join("fresh");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    let fresh = Environment::open(&fresh)??;
    let path = wheel.to_string_lossy();
    if !fresh.install(&[&*path]).is_empty() {
        return Err(format!("{path} cannot be installed").into());
    }
    run_command(fresh.python().args(["-c", TRY]).current_dir(&folder))
}

/// Wheels in a folder.
fn wheels(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    Ok(paths.into_iter().filter(is_wheel).collect())
}
