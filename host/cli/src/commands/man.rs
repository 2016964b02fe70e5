//! `trioxide man`: the pages of the manual.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use trioxide::{Error, Result};

/// Write the pages of the manual, one a command, to a folder
///
/// The folder is made if it is not there. In ~/.local/share/man/man1 the pages are found by `man trioxide` and `man
/// trioxide-polylla`.
#[derive(Args)]
pub struct Options {
    /// Folder for the pages
    folder: PathBuf,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let folder = &options.folder;
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(crate::Cli::command(), folder));
    written.map_err(|source| Error::file(folder, source))
}
