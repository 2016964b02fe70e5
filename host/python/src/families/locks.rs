//! Vertices that stay where they are: `lock_boundary` and `locked`; `--lock` in a step of a chain.

use clap::{Arg, Command};
use pyo3::prelude::*;
use trioxide::weld::Locks;

use crate::arrays::flags;
use crate::call::{Call, option};

/// The locks of a call on arrays of the host.
pub fn locks(call: &Call<'_, '_>) -> PyResult<Locks> {
    Ok(Locks {
        boundary: option(call.options, "lock_boundary", false)?,
        vertices: flags(call.options, "locked")?,
    })
}

/// Adds the option of a step.
pub fn with_lock(command: Command) -> Command {
    command.arg(Arg::new("lock").long("lock").value_parser(["boundary"]))
}
