//! The requirements of `--mpi`: an MPI with its headers, and libclang, with which the crate `mpi` reads them.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::process::output_of;

/// Debian's packages of both.
pub(crate) const DEBIAN_PACKAGES: &[&str] = &["libopenmpi-dev", "openmpi-bin", "libclang-dev"];

/// The parts of this machine's MPI, each with a finding; `None` for a missing part.
pub(crate) fn findings() -> [(&'static str, Option<String>); 3] {
    let first_line = |program: &str| {
        let version = output_of(Command::new(program).arg("--version"))?;
        Some(version.lines().next().unwrap_or_default().to_owned())
    };
    [
        ("mpicc", first_line("mpicc")),
        ("mpirun", first_line("mpirun")),
        (
            "libclang",
            libclang().map(|path| path.display().to_string()),
        ),
    ]
}

/// The names of the missing parts.
pub(crate) fn missing() -> Vec<&'static str> {
    let missing = findings().into_iter().filter(|(_, found)| found.is_none());
    missing.map(|(name, _)| name).collect()
}

/// The commands that install them.
pub(crate) fn remedy() -> String {
    let packages = DEBIAN_PACKAGES.join(" ");
    format!("as root: apt-get install --no-install-recommends {packages}")
}

/// The library, where the crate `clang-sys` searches it.
fn libclang() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("LIBCLANG_PATH")
        .into_iter()
        .map(Into::into)
        .collect();
    if let Some(folder) = output_of(Command::new("llvm-config").arg("--libdir")) {
        folders.push(folder.trim().into());
    }
    folders.extend(
        [
            "/usr/lib",
            "/usr/lib64",
            "/usr/local/lib",
            "/usr/lib/x86_64-linux-gnu",
        ]
        .map(Into::into),
    );
    if let Ok(versions) = std::fs::read_dir("/usr/lib") {
        let names = versions.flatten().map(|entry| entry.path());
        let is_llvm = |path: &PathBuf| path.to_string_lossy().contains("/llvm");
        folders.extend(names.filter(is_llvm).map(|path| path.join("lib")));
    }
    folders.iter().find_map(|folder| {
        let mut files = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path());
        files.find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (name.starts_with("libclang.so") || name.starts_with("libclang-"))
                && name.contains(".so")
        })
    })
}
