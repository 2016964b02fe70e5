//! One module a command: its options (clap) and its run.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{self, Encoding, Format};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result};

pub mod bench;
mod cell_quality;
pub mod convert;
mod device;
pub mod devices;
pub mod generate;
pub mod info;
pub mod polylla;
pub mod refine;
pub mod render;
pub mod selftest;
pub mod smooth;
pub mod vem;
pub mod volume;
pub mod weld;

/// Whether `--json` names standard output, which then holds nothing else.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes what `--json FILE|-` asks for: one object, to the file or to standard output.
pub fn write_json(path: &Path, object: &Value) -> Result<()> {
    let mut text = serde_json::to_string_pretty(object).expect("an object of names and numbers");
    text.push('\n');
    if is_standard_output(path) {
        return print(&text);
    }
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

/// Reads a mesh, and says on standard error what of the file is not in it, unless `quiet`.
pub fn read_mesh(path: &Path, quiet: bool) -> Result<Mesh> {
    let (mesh, notes) = formats::read_with_notes(path)?;
    for note in notes.iter().filter(|_| !quiet) {
        eprintln!("trioxide: {}: {note}", path.display());
    }
    Ok(mesh)
}

/// Says on standard error what of `mesh` a file of this format does not hold.
pub fn note_losses(format: &Format, mesh: &Mesh) {
    note_losses_in(format, mesh, Encoding::default());
}

/// As [`note_losses`], for a file in this encoding.
pub fn note_losses_in(format: &Format, mesh: &Mesh, encoding: Encoding) {
    for loss in format.losses(mesh, encoding) {
        eprintln!("trioxide: {loss}");
    }
}

/// Writes `text` to standard output.
pub fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Who closed the pipe has read enough.
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::file(Path::new("standard output"), source))
        }
        _ => Ok(()),
    }
}
