//! `cargo xtask report`: the page of the benchmarks' crate.

use std::ffi::OsString;

pub(crate) use crate::browser::{
    DEBIAN_PACKAGE as BROWSER_PACKAGE, VARIABLE as BROWSER_VARIABLE, find as find_browser,
};
use crate::{Error, bench};

/// Writes one HTML page: timings, tables and plots, and meshes before and after to turn and to zoom into.
///
/// `cargo xtask report --help` lists its options.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Arguments of `trioxide-bench report`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    bench::forward("report", &arguments.arguments)
}
