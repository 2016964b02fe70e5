//! `cargo xtask dist`: a folder to carry to a machine without Rust and the archive for users, made by the benchmarks'
//! crate.

use std::ffi::OsString;

use crate::{Error, bench};

/// Makes the archive for users, and a folder to carry to a GPU machine: the binary, the bench plans, and a script that
/// runs them.
///
/// `cargo xtask dist --help` lists its options.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Arguments of `trioxide-bench dist`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    bench::forward("dist", &arguments.arguments)
}
