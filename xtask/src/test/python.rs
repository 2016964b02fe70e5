//! The tests of the Python package, on the library that the workspace's tests share their build with.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::jobs::Job;
use crate::process::LIBRARY_PATH;
use crate::python::Environment;
use crate::{Error, target_dir};

/// Packages of PyPI without which no test runs.
const NEEDED: [&str; 2] = ["numpy", "pytest"];
/// Packages whose tests are skipped where they cannot be installed.
const OTHERS: [&str; 7] = [
    "scipy", "meshio", "pyvista", "trimesh", "tqdm", "mypy", PARALLEL,
];
/// Runs tests in several processes.
const PARALLEL: &str = "pytest-xdist";
/// Processes that run tests: most tests wait for one thread.
const WORKERS: &str = "2";
/// Mark of a line with a skipped test and its reason.
const SKIPPED: &str = "SKIPPED ";

/// The environment of the package's tests, or the reason why there is none.
pub(super) struct Prepared {
    environment: Environment,
    is_parallel: bool,
}

/// Makes the environment and installs the packages that the tests need.
pub(super) fn prepare() -> Result<Prepared, String> {
    let environment = Environment::open(&target_dir().join("python").join("venv"))
        .map_err(|error| error.to_string())??;
    if let Some(package) = environment.install(&NEEDED).first() {
        return Err(format!("{package} cannot be installed: is PyPI reachable?"));
    }
    let is_parallel = !environment.install(&OTHERS).contains(&PARALLEL);
    Ok(Prepared {
        environment,
        is_parallel,
    })
}

/// Tests of arrays and meshes on a GPU.
const ON_GPU: [&str; 2] = ["tests/test_device_arrays.py", "tests/test_resident.py"];

/// pytest on the package, whose library is built, and its examples in comments; the tests of a GPU on that of the
/// emulator in the folder `driver`, if one is named.
pub(super) fn jobs(prepared: Prepared, driver: Option<&Path>) -> Result<Vec<Job>, Error> {
    let Prepared {
        environment,
        is_parallel,
    } = prepared;
    let folder = target_dir().join("python");
    let root = crate::workspace().join("host").join("python");
    let built = folder.join("package");
    let package = built.join("trioxide");
    if package.exists() {
        fs::remove_dir_all(&package)?;
    }
    copy_sources(&root.join("python").join("trioxide"), &package)?;
    let library = format!("{DLL_PREFIX}_trioxide{DLL_SUFFIX}");
    let name = if cfg!(windows) {
        "_trioxide.pyd"
    } else {
        "_trioxide.abi3.so"
    };
    fs::copy(target_dir().join("debug").join(library), package.join(name))?;
    let job = |name: &str, tests: &[&OsStr]| {
        let mut command = environment.python();
        command
            .args(["-m", "pytest", "-rs", "-p", "no:cacheprovider"])
            .args(tests)
            .current_dir(&root)
            .env("PYTHONPATH", &built)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        Job {
            name: name.to_owned(),
            command,
            mark: SKIPPED,
        }
    };
    let mut all = job("python", &["tests".as_ref(), package.as_ref()]);
    if is_parallel {
        all.command.args(["-n", WORKERS, "--dist", "worksteal"]);
    }
    let Some(driver) = driver else {
        return Ok(vec![all]);
    };
    all.command
        .args(ON_GPU.iter().flat_map(|file| ["--ignore", file]));
    let mut on_gpu = job("python, emulated", &ON_GPU.map(OsStr::new));
    on_gpu.command.env(LIBRARY_PATH, driver);
    Ok(vec![all, on_gpu])
}

/// Copies the package without what a build or Python left there.
fn copy_sources(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let is_source = ["py", "pyi", "typed"].iter().any(|wanted| {
            path.extension()
                .is_some_and(|extension| extension == *wanted)
        });
        if let Some(name) = path.file_name().filter(|_| is_source) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
