//! Names of options on the command line.

use trioxide_operations::Error;
use trioxide_operations::error::Names;

/// `--memory-limit`, `--method grid`.
pub const FLAGS: Names = Names {
    option: flag,
    value: |option, value| format!("{} {value}", flag(option)),
};

fn flag(option: &str) -> String {
    format!("--{}", option.replace('_', "-"))
}

/// An operation's error, with the command line's names of options.
pub fn worded(error: Error) -> trioxide::Error {
    error.worded(FLAGS)
}
