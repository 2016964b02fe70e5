//! `cargo xtask bench`: builds `trioxide-bench` (host/bench) and runs it. Its plots need crates that no other part
//! needs, so they are compiled on demand.

use std::ffi::OsString;
use std::process::Command;

use crate::process::{cargo, command_line, run as run_command};
use crate::{Error, target_dir};

/// Times the papers' experiments and writes their tables and figures with our numbers: FAMILY.json, FAMILY.md, plots/.
///
/// `cargo xtask bench --help` lists its options.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Arguments of `trioxide-bench bench`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    forward("bench", &arguments.arguments)
}

/// Builds `trioxide-bench` and runs a command of it. If the command fails, it has printed the reason, and this process
/// ends with the same status.
pub(crate) fn forward(command: &str, arguments: &[OsString]) -> Result<(), Error> {
    run_command(&mut cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "trioxide-bench",
    ]))?;
    let name = format!("trioxide-bench{}", std::env::consts::EXE_SUFFIX);
    let mut program = Command::new(target_dir().join("release").join(name));
    program.arg(command).args(arguments);
    let status = program
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", command_line(&program)))?;
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
    Ok(())
}
