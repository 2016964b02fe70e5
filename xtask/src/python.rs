//! Virtual environments of Python, packages of PyPI in them, and trioxide's own package from a build.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::limited::{Limit, Streams, run_to_end};
use crate::process::output_of;
use crate::{Error, target_dir};

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
    /// Time to make it, and of an installation.
    limit: Limit,
}

impl Environment {
    /// Opens or makes the environment in `folder`; the inner error is the reason why it cannot be made.
    ///
    /// # Errors
    /// The folder around it cannot be made.
    pub(crate) fn open(folder: &Path) -> Result<Result<Self, String>, Error> {
        let environment = Self::at(folder, Limit::default());
        Ok(match environment.is_made() {
            true => Ok(environment),
            false => environment.make()?.map(|()| environment),
        })
    }

    /// Returns the environment in `folder`, which may have to be made.
    pub(crate) fn at(folder: &Path, limit: Limit) -> Self {
        Self {
            folder: folder.to_owned(),
            limit,
        }
    }

    /// Returns whether the environment is whole: pip comes last.
    pub(crate) fn is_made(&self) -> bool {
        self.program("python").exists() && self.program("pip").exists()
    }

    /// Makes the environment; the inner error is the reason why it cannot be made.
    ///
    /// # Errors
    /// The folder around it cannot be made.
    pub(crate) fn make(&self) -> Result<Result<(), String>, Error> {
        fs::create_dir_all(&self.folder)?;
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(&self.folder);
        let made = run_to_end(&mut command, self.limit, Streams::None, |_| {});
        Ok(match made {
            Ok(end) if end.is_success() => Ok(()),
            Ok(end) => Err(format!(
                "python3 -m venv {end} (on Debian: apt-get install python3-venv)"
            )),
            Err(error) => Err(format!("python3 cannot be started: {error}")),
        })
    }

    /// A program of the environment.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        self.folder.join(programs).join(name)
    }

    /// Its Python.
    pub(crate) fn python(&self) -> Command {
        Command::new(self.program("python"))
    }

    /// Installs missing packages. Returns the packages that cannot be installed.
    pub(crate) fn install<'p>(&self, packages: &[&'p str]) -> Vec<&'p str> {
        let missing = self.missing(packages);
        if missing.is_empty() || self.pip(&missing) {
            return Vec::new();
        }
        // One package that cannot be installed prevents the installation of all.
        missing
            .into_iter()
            .filter(|package| !self.pip(&[package]))
            .collect()
    }

    /// The missing packages, by their names; only pip checks a path.
    pub(crate) fn missing<'p>(&self, packages: &[&'p str]) -> Vec<&'p str> {
        const LOOK: &str = "\
import importlib.metadata, re, sys
for package in sys.argv[1:]:
    try:
        importlib.metadata.version(re.split('[<>=!~]', package)[0])
    except (importlib.metadata.PackageNotFoundError, ValueError):
        print(package)
";
        let Some(listed) = output_of(self.python().args(["-c", LOOK]).args(packages)) else {
            return packages.to_vec();
        };
        let is_listed = |package: &&str| listed.lines().any(|line| line == *package);
        packages.iter().copied().filter(is_listed).collect()
    }

    fn pip(&self, packages: &[&str]) -> bool {
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        let end = run_to_end(
            self.python().args(pip).args(packages),
            self.limit,
            Streams::None,
            |_| {},
        );
        end.is_ok_and(|end| end.is_success())
    }
}

/// Puts the package together from its sources and the library of a development build. Returns the folder for
/// PYTHONPATH.
pub(crate) fn place_package() -> Result<PathBuf, Error> {
    let folder = target_dir().join("python").join("package");
    let package = folder.join("trioxide");
    if package.exists() {
        fs::remove_dir_all(&package)?;
    }
    let sources = ["host", "python", "python", "trioxide"]
        .iter()
        .collect::<PathBuf>();
    copy_sources(&crate::workspace().join(sources), &package)?;
    let library = format!("{DLL_PREFIX}_trioxide{DLL_SUFFIX}");
    let name = if cfg!(windows) {
        "_trioxide.pyd"
    } else {
        "_trioxide.abi3.so"
    };
    fs::copy(target_dir().join("debug").join(library), package.join(name))?;
    Ok(folder)
}

/// Copies the package without files that a build or Python wrote there.
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
