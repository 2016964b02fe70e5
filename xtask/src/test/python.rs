//! The tests of the Python package, on the library from the build of the workspace's tests.

use std::ffi::OsStr;
use std::path::Path;

use super::jobs::Job;
use crate::process::LIBRARY_PATH;
use crate::python::{Environment, place_package};
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

/// Jobs of pytest on the package, whose library is built, and on its examples in comments; tests of a GPU run on the
/// emulator in the folder `driver`, if it is given.
pub(super) fn jobs(prepared: Prepared, driver: Option<&Path>) -> Result<Vec<Job>, Error> {
    let Prepared {
        environment,
        is_parallel,
    } = prepared;
    let root = crate::workspace().join("host").join("python");
    let built = place_package()?;
    let package = built.join("trioxide");
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
