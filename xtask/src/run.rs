//! `cargo xtask run`: builds the `trioxide` binary and runs it.

use std::ffi::OsString;
use std::process::Command;

use crate::process::run as run_command;
use crate::{Error, build};

/// Builds the `trioxide` binary with optimizations and runs it: `cargo xtask run -- polylla mesh.off -o polygons.vtu`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of `trioxide`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    run_command(Command::new(build::trioxide()?).args(&arguments.arguments))
}
