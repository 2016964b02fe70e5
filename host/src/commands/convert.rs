//! `trioxide convert`: a mesh from one format to another.

use std::path::PathBuf;

use clap::Args;
use trioxide::Result;
use trioxide::formats::{self, Format};

/// Convert a mesh to the format of the output's extension
#[derive(Args)]
pub struct Options {
    /// Mesh to read: .off, .obj, .ply, .vtu, .edges, or .node and .ele (either name or the bare stem)
    input: PathBuf,
    /// File to write: .off, .obj, .ply, .vtu, .edges, .ale, or .node and .ele
    output: PathBuf,
    /// Do not say what was written or lost
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // A bad output is refused before a long read.
    let format = Format::to_write(&options.output)?;
    let mesh = formats::read(&options.input)?;
    formats::write(&options.output, &mesh)?;
    if options.quiet {
        return Ok(());
    }
    super::note_losses(format, &mesh);
    super::print(&format!(
        "{}: {} vertices, {} faces\n",
        options.output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))
}
