//! `cargo xtask platforms`: the library and the command for other systems, checked without a linker for them.

use std::path::Path;
use std::process::Command;

use cuda_builder::search_device_compiler;

use crate::debian::{install, is_debian, is_root};
use crate::process::{output_of, run as run_command};
use crate::{Error, target_dir, workspace};

/// A system other than Linux on x86-64.
struct Platform {
    target: &'static str,
    /// A program that builds the standard library for it, and its package in Debian.
    needs: Option<(&'static str, &'static str)>,
}

const PLATFORMS: [Platform; 3] = [
    Platform {
        target: "aarch64-unknown-linux-gnu",
        needs: None,
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        needs: Some(("x86_64-w64-mingw32-dlltool", "binutils-mingw-w64-x86-64")),
    },
    Platform {
        target: "aarch64-apple-darwin",
        needs: None,
    },
];

/// Check that library and command compile for Arm's Linux, Windows and macOS; warnings are errors.
///
/// The compiler of the kernels checks the standard library for each system too, from its sources. Nothing is linked or
/// run. It takes minutes, so `cargo xtask test` does not do it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Targets to check.
    #[arg(value_name = "TARGET", value_parser = PLATFORMS.map(|platform| platform.target))]
    targets: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    for Platform { target, needs } in &PLATFORMS {
        if !arguments.targets.is_empty() && !arguments.targets.iter().any(|asked| asked == target) {
            continue;
        }
        if let Some((program, package)) = needs {
            provide(program, package)?;
        }
        println!("== {target}");
        let mut check = cargo_with_std_sources(&target_dir().join("platforms"))?;
        check
            .args(["check", "-Zbuild-std=std", "--target", target])
            .args(["--package", "trioxide", "--package", "trioxide-cli"])
            .env("RUSTFLAGS", "-Dwarnings");
        run_command(&mut check)?;
    }
    Ok(())
}

fn provide(program: &str, package: &str) -> Result<(), Error> {
    let is_there = || output_of(Command::new(program).arg("--version")).is_some();
    if !is_there() && is_root() && is_debian() {
        install(&[package])?;
    }
    match is_there() {
        true => Ok(()),
        false => {
            Err(format!("{program} is not found (on Debian: apt-get install {package})").into())
        }
    }
}

/// A cargo whose compiler has the sources of the standard library, for `-Zbuild-std`, with a target folder of its own.
/// The kernels stay as they are.
///
/// # Errors
/// There is no such compiler.
pub(crate) fn cargo_with_std_sources(target_dir: &Path) -> Result<Command, Error> {
    let compiler = search_device_compiler().found.ok_or(
        "the standard library must be built: there is no compiler with its sources (`cargo xtask doctor`)",
    )?;
    let own_cargo = compiler.rustc.with_file_name("cargo");
    let mut command = Command::new(match own_cargo.is_file() {
        true => own_cargo,
        false => "cargo".into(),
    });
    command
        .current_dir(workspace())
        .env("RUSTC", &compiler.rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target_dir)
        .env("TRIOXIDE_PTX", "prebuilt");
    Ok(command)
}
