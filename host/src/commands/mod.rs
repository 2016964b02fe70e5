//! One module a command: its options (clap) and its run.

use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use trioxide::formats::Format;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::mesh::Mesh;
use trioxide::{Error, Result};

pub mod bench;
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

/// Says on standard error which tags of `mesh` a file of this format does not hold.
pub fn note_losses(format: &Format, mesh: &Mesh) {
    let lost = [
        ("regions", mesh.regions.is_some() && !format.keeps_regions),
        (
            "segments",
            !mesh.segments.is_empty() && !format.keeps_segments,
        ),
    ];
    for (what, _) in lost.iter().filter(|(_, is_lost)| *is_lost) {
        let name = format.name;
        eprintln!("trioxide: {name} holds no {what}: those of the input are not in the output");
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
