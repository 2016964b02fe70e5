//! Packages of Debian, for a machine that lacks a program.

use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::limited::{self, Limit};
use crate::process::{output_of, run};

/// Whether this runs as root.
pub(crate) fn is_root() -> bool {
    output_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

/// Whether this is Debian, or a system derived from it.
pub(crate) fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

/// Installs Debian's packages, from lists of today.
///
/// # Errors
/// Errors of [`install_listed`].
pub(crate) fn install(packages: &[&str]) -> Result<(), Error> {
    let limit = Limit::default();
    println!("== install: {}", packages.join(" "));
    list_packages(limit)?;
    install_listed(packages, limit)
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["--quiet=2", "--option=Dpkg::Use-Pty=0"]);
    command
}

/// Downloads the lists of Debian's packages.
///
/// # Errors
/// There is no apt-get, or it takes too long; without a network the old lists stay.
pub(crate) fn list_packages(limit: Limit) -> Result<(), Error> {
    limited::run(apt_get().arg("update"), limit)
}

/// Installs Debian's packages that the lists have.
///
/// # Errors
/// A package is not in the lists, cannot be downloaded in time, or does not get on with the system's.
pub(crate) fn install_listed(packages: &[&str], limit: Limit) -> Result<(), Error> {
    let install = || {
        let mut command = apt_get();
        command
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages);
        command
    };
    limited::run(install().arg("--download-only"), limit)?;
    // Without a limit: it waits for no network and asks nothing, and ended midway it leaves a broken system.
    run(&mut install())
}
