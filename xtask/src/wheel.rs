//! `cargo xtask wheel`: the Python package as one file, with its library or with its sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::run as run_command;
use crate::python::Environment;
use crate::{Error, licences, portable, target_dir};

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
for licence in ['LICENSE-APACHE', 'LICENSE-MIT', 'LICENSES-OF-CRATES.txt']:
    assert any(name.endswith('.dist-info/licenses/' + licence) for name in names), f'no {licence}: {names}'
print(f'{sys.argv[1]}: {len(library) / 1e6:.1f} MB of code')
";

/// The checks of an installed wheel, with a driver or without.
const TRY: &str = "\
import pathlib
import trioxide
import trioxide._trioxide as native
assert b'.visible .entry' in pathlib.Path(native.__file__).read_bytes(), 'the library has no PTX'
mesh = trioxide.generate('random', 1000, seed=1)
polygons = trioxide.polylla(mesh, device='cpu')
assert len(polygons.offsets) - 1 == 316, polygons
print(trioxide.__version__, polygons, trioxide.devices())
";

/// Make one wheel of the Python package, for CPython 3.9 and later: kernels inside, no library of CUDA.
///
/// On Linux for x86-64 it is linked by zig, and is a wheel of manylinux_2_28. maturin and zig come from PyPI into a
/// virtual environment below the target folder. The wheel is checked, installed into a fresh environment and tried.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder for the wheel.
    #[arg(short, long, value_name = "FOLDER", default_value = "out/wheels")]
    out: PathBuf,
    /// Profile of cargo to build with; dev builds faster, and its kernels and library are optimised too.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// Make the sdist too, and build, install and try a wheel of it by pip.
    #[arg(long)]
    sdist: bool,
}

/// The file of the package with the licences of the crates in its library.
const LICENCES: &str = "LICENSES-OF-CRATES.txt";

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let folder = target_dir().join("python");
    let package = crate::workspace().join("host").join("python");
    let out = crate::workspace().join(&arguments.out);
    fs::create_dir_all(&out)?;
    for old in files(&out, ".whl")?
        .into_iter()
        .chain(files(&out, ".tar.gz")?)
    {
        fs::remove_file(old)?;
    }
    let (environment, is_portable) = match portable::tools() {
        Ok(tools) => (tools, true),
        Err(reason) => {
            eprintln!("the wheel will be for systems as new as this one: {reason}");
            let environment = Environment::open(&folder.join("venv"))??;
            if !environment.install(&["maturin>=1.10,<2"]).is_empty() {
                return Err("maturin cannot be installed: is PyPI reachable?".into());
            }
            (environment, false)
        }
    };
    let maturin = |command: &str| -> Result<Command, Error> {
        let mut maturin = environment.python();
        maturin.args(["-m", "maturin", command, "--out"]).arg(&out);
        maturin.current_dir(&package);
        portable::provide(&mut maturin, &environment)?;
        Ok(maturin)
    };
    fs::write(
        package.join(LICENCES),
        licences::of_crates_in("trioxide-python")?,
    )?;
    let mut build = maturin("build")?;
    build.args(["--profile", &arguments.profile]);
    if is_portable {
        let (major, minor) = portable::GLIBC;
        build.args(["--zig", "--target", portable::TARGET, "--compatibility"]);
        build.arg(format!("manylinux_{major}_{minor}"));
    }
    run_command(&mut build)?;
    let wheel = only(&out, ".whl")?;
    run_command(environment.python().args(["-c", CHECK]).arg(&wheel))?;
    try_out(&wheel, &folder, &arguments.profile)?;
    if arguments.sdist {
        run_command(&mut maturin("sdist")?)?;
        try_out(&only(&out, ".tar.gz")?, &folder, &arguments.profile)?;
    }
    Ok(())
}

/// Installs a wheel, or an sdist by a build with this profile, into a fresh environment, and tries it there.
fn try_out(package: &Path, folder: &Path, profile: &str) -> Result<(), Error> {
    let fresh = folder.join("fresh");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    let fresh = Environment::open(&fresh)??;
    let mut pip = fresh.python();
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ])
    .arg(package)
    .env("MATURIN_PEP517_ARGS", format!("--profile {profile}"));
    run_command(&mut pip)?;
    run_command(fresh.python().args(["-c", TRY]).current_dir(folder))
}

/// The file of trioxide in a folder with this end of its name.
fn only(folder: &Path, end: &str) -> Result<PathBuf, Error> {
    let found = files(folder, end)?;
    match &found[..] {
        [file] => Ok(file.clone()),
        _ => Err(format!("maturin made {} files {end}, not one", found.len()).into()),
    }
}

/// The files of trioxide in a folder with this end of their names.
fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, Error> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("trioxide-") && name.ends_with(end)
    };
    Ok(paths.into_iter().filter(is_ours).collect())
}
