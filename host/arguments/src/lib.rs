//! Options and output that the command line (`trioxide-cli`) and the measurements (`trioxide-measure`) share.
//!
//! Start at [`device::DeviceOptions`]: options of every command that runs a pipeline. Such a command prints its
//! [`device::Report`] and writes it as JSON.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use trioxide::formats::atomic_file::{self, write_atomically};
use trioxide::terminal::{visible, visible_line};
use trioxide::{Error, Result};

pub mod account;
pub mod auto;
pub mod device;
pub mod names;
pub mod progress;

/// Whether `--json` names standard output, which then holds nothing else.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || atomic_file::is_standard_output(path)
}

/// Writes the output of `--json FILE|-`: one object, to the file or to standard output.
pub fn write_json(path: &Path, object: &Value) -> Result<()> {
    let mut text = serde_json::to_string_pretty(object).expect("an object of names and numbers");
    text.push('\n');
    if is_standard_output(path) {
        return print(&text);
    }
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

/// Prints a note beside the result on standard error, unless `quiet`.
pub fn note(quiet: bool, text: impl Display) {
    if !quiet {
        print_error(text);
    }
}

/// Prints an operation's notes, each as [`note`].
pub fn note_all(notes: &[impl Display], quiet: bool) {
    notes.iter().for_each(|said| note(quiet, said));
}

/// Prints a line on standard error, with control characters escaped: files and their names may hold any. If standard
/// error is closed or full, the line is lost: `eprintln` would panic, and lose the result.
pub fn print_error(text: impl Display) {
    // One write, so that lines of several processes do not mix.
    let line = format!("trioxide: {}\n", visible_line(&text.to_string()));
    _ = progress::beside(|| io::stderr().lock().write_all(line.as_bytes()));
}

/// Writes `text` to standard output, with a terminal's control characters escaped.
pub fn print(text: &str) -> Result<()> {
    let text = visible(text);
    match progress::beside(|| io::stdout().lock().write_all(text.as_bytes())) {
        // The reader closed the pipe: it has read enough.
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::file(Path::new("standard output"), source))
        }
        _ => Ok(()),
    }
}
