//! The tests of the Python package, on the library from the build of the workspace's tests.

use std::ffi::OsStr;
use std::path::Path;

use super::jobs::Job;
use super::needs::FORBIDDEN;
use crate::limited::Limit;
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

/// The environment of the package's tests.
pub(super) struct Prepared {
    environment: Environment,
    is_parallel: bool,
    /// Tests that are skipped, with the reason.
    pub(super) skipped: Option<String>,
    limit: Limit,
}

/// Makes the environment and installs the packages that the tests need, unless it is forbidden. Names them before.
pub(super) fn prepare(is_forbidden: bool, limit: Limit) -> Result<Prepared, String> {
    prepare_in(
        &target_dir().join("python").join("venv"),
        is_forbidden,
        limit,
    )
}

fn prepare_in(folder: &Path, is_forbidden: bool, limit: Limit) -> Result<Prepared, String> {
    let environment = Environment::at(folder, limit);
    let all: Vec<&str> = NEEDED.iter().chain(&OTHERS).copied().collect();
    let is_made = environment.is_made();
    let wanted = match is_made {
        true => environment.missing(&all),
        false => all,
    };
    let missing = if wanted.is_empty() || is_forbidden {
        wanted
    } else {
        println!(
            "\n== install: this run installs packages of PyPI in {}; with --no-install it does not\n  {}",
            folder.display(),
            wanted.join(" ")
        );
        if !is_made {
            environment.make().map_err(|error| error.to_string())??;
        }
        environment.install(&wanted)
    };
    let reason = match is_forbidden {
        true => FORBIDDEN,
        false => "cannot be installed: is PyPI reachable?",
    };
    let names = missing.join(", ");
    if NEEDED.iter().any(|needed| missing.contains(needed)) {
        return Err(format!("no {names}: {reason}"));
    }
    Ok(Prepared {
        environment,
        is_parallel: !missing.contains(&PARALLEL),
        skipped: (!missing.is_empty()).then(|| format!("tests with {names}: {reason}")),
        limit,
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
        limit,
        ..
    } = prepared;
    // A test that hangs shows where, some time before it is ended.
    let trace = format!("faulthandler_timeout={}", limit.time.as_secs() / 4);
    let root = crate::workspace().join("host").join("python");
    let built = place_package()?;
    let package = built.join("trioxide");
    let job = |name: &str, tests: &[&OsStr]| {
        let mut command = environment.python();
        command
            .args([
                "-m",
                "pytest",
                "-rs",
                "-p",
                "no:cacheprovider",
                "-o",
                &trace,
            ])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_installation_names_the_packages_and_makes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join("venv");
        let prepared = prepare_in(&venv, true, Limit::default());
        let names = "numpy, pytest, scipy, meshio, pyvista, trimesh, tqdm, mypy, pytest-xdist";
        assert_eq!(prepared.err(), Some(format!("no {names}: --no-install")));
        assert!(!venv.exists());
    }
}
