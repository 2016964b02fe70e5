//! Virtual environments of Python, and packages of PyPI in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment in `folder`, made where it is not there; or the reason why it cannot be made.
    ///
    /// # Errors
    /// The folder around it cannot be made.
    pub(crate) fn open(folder: &Path) -> Result<Result<Self, String>, Error> {
        let environment = Self {
            folder: folder.to_owned(),
        };
        if environment.program("python").exists() {
            return Ok(Ok(environment));
        }
        fs::create_dir_all(folder)?;
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(folder)
            .status();
        Ok(match made {
            Ok(status) if status.success() => Ok(environment),
            Ok(_) => {
                Err("python3 -m venv fails (on Debian: apt-get install python3-venv)".to_owned())
            }
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

    /// Installs packages one after the other; those that cannot be installed are returned.
    pub(crate) fn install<'p>(&self, packages: &[&'p str]) -> Vec<&'p str> {
        let is_missing = |package: &&&str| {
            let pip = [
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ];
            let status = self.python().args(pip).arg(package).status();
            !status.is_ok_and(|status| status.success())
        };
        packages.iter().filter(is_missing).copied().collect()
    }
}
