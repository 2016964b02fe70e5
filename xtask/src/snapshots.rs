//! `cargo xtask snapshots`: compares the pipelines' results with the checked-in ones, or accepts them.

use crate::Error;
use crate::process::{cargo, run as run_command};

/// Compares the results on small meshes with the snapshots in tests/tests/snapshots.
///
/// A result that differs is shown line by line, and the exit status is 1. If the change is intended, --accept writes
/// it; commit it. `cargo xtask test` makes the same comparison.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the present results as the snapshots.
    #[arg(long)]
    accept: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut command = cargo(&["test", "--package", "trioxide-tests", "--test", "snapshots"]);
    command.env(
        "INSTA_UPDATE",
        if arguments.accept { "always" } else { "no" },
    );
    run_command(&mut command).map_err(|error| {
        if arguments.accept {
            error
        } else {
            format!("{error}\nif the change is meant: cargo xtask snapshots --accept").into()
        }
    })
}
