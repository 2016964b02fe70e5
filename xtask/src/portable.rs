//! Linux programs that run on older systems than this one: linked by zig, which has the symbols of every glibc.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{cargo, output_of, run as run_command};
use crate::python::Environment;
use crate::{Error, ptxas, target_dir};

/// The target of portable programs.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The oldest glibc that portable programs run on: that of Debian 10 and of the systems of `manylinux_2_28`.
pub const GLIBC: (u32, u32) = (2, 28);

/// zig and the programs that let cargo and maturin link by it, from PyPI.
const PACKAGES: [&str; 3] = ["ziglang>=0.15", "cargo-zigbuild>=0.20", "maturin>=1.10,<2"];

/// The virtual environment with zig, cargo-zigbuild and maturin.
///
/// # Errors
/// This machine is not Linux on x86-64, or the packages cannot be had from PyPI.
pub(crate) fn tools() -> Result<Environment, Error> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(format!("programs for {TARGET} are built on that system only").into());
    }
    let environment = Environment::open(&target_dir().join("portable"))??;
    match &environment.install(&PACKAGES)[..] {
        [] => Ok(environment),
        missing => Err(format!(
            "{} cannot be installed: is PyPI reachable?",
            missing.join(", ")
        )
        .into()),
    }
}

/// Lets a command find the programs of `tools`, and NVIDIA's assembler if there is one: its machine code is embedded.
pub(crate) fn provide(command: &mut Command, tools: &Environment) -> Result<(), Error> {
    let own = tools.program("python");
    let folder = own.parent().unwrap_or(Path::new(".")).to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(env::split_paths(&path));
    let path: OsString = env::join_paths(folders)?;
    command.env("PATH", path);
    ptxas::name_for(command);
    Ok(())
}

/// The reason why this machine builds no portable programs.
pub fn refusal() -> Option<Error> {
    match output_of(Command::new("objdump").arg("--version")) {
        Some(_) => tools().err(),
        None => Some("objdump is not found (on Debian: apt-get install binutils)".into()),
    }
}

/// Builds the `trioxide` binary for [`GLIBC`] and later, with machine code of the kernels, and returns its path.
///
/// # Errors
/// Errors of cargo; [`refusal`].
pub fn trioxide() -> Result<PathBuf, Error> {
    let tools = tools()?;
    let (major, minor) = GLIBC;
    let target = format!("{TARGET}.{major}.{minor}");
    eprintln!("building trioxide for {target}, linked by zig");
    let mut build = cargo(&[
        "zigbuild",
        "--release",
        "--package",
        "trioxide-cli",
        "--bin",
        "trioxide",
        "--target",
        &target,
    ]);
    provide(&mut build, &tools)?;
    run_command(&mut build)?;
    let path = target_dir().join(TARGET).join("release").join("trioxide");
    check_glibc(&path)?;
    Ok(path)
}

/// Checks that a program or library needs no newer glibc than [`GLIBC`].
///
/// # Errors
/// It does, or objdump does not list its symbols.
pub(crate) fn check_glibc(path: &Path) -> Result<(), Error> {
    let listed = output_of(Command::new("objdump").arg("-T").arg(path));
    let listed = listed.ok_or_else(|| {
        format!(
            "objdump does not read {} (on Debian: binutils)",
            path.display()
        )
    })?;
    let Some((newest, symbol)) = newest_glibc(&listed) else {
        return Err(format!("{} takes no symbols of glibc", path.display()).into());
    };
    let ((major, minor), (most, least)) = (newest, GLIBC);
    println!("{}: needs glibc {major}.{minor} or later", path.display());
    match newest <= GLIBC {
        true => Ok(()),
        false => Err(format!("{symbol} is newer than glibc {most}.{least}").into()),
    }
}

/// The newest version of glibc in the output of `objdump -T`, with the line of a symbol of it.
fn newest_glibc(listed: &str) -> Option<((u32, u32), &str)> {
    let version = |line: &str| {
        let (_, after) = line.split_once("GLIBC_")?;
        let word = after
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?;
        let mut numbers = word.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let lines = listed.lines();
    lines
        .filter_map(|line| Some((version(line)?, line.trim())))
        .max_by_key(|&(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found() {
        let listed = "\
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.2.5) free
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.28) fcntl64
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.9)  pipe2
0000000000000000      DF *UND*  0000000000000000 (GCC_3.0)    _Unwind_Backtrace
";
        let (version, line) = newest_glibc(listed).unwrap();
        assert_eq!(version, (2, 28));
        assert!(line.ends_with("fcntl64"), "{line}");
        assert_eq!(newest_glibc("no symbols"), None);
    }
}
