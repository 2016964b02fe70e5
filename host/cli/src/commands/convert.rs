//! `trioxide convert`: a mesh from one format to another.

use std::path::PathBuf;

use clap::Args;
use trioxide::Result;
use trioxide::formats::{self, Encoding, Format};

/// Convert a mesh to the format of the output's extension
///
/// Volume meshes are read and written as .vtu, .vtk, .msh, .mesh, .meshb, or .node and .ele.
#[derive(Args)]
pub struct Options {
    /// Mesh to read: .off, .obj, .ply, .stl, .vtu, .edges, .xyz, .las, .laz, or .node and .ele (either name or the bare stem)
    input: PathBuf,
    /// File to write: .off, .obj, .ply, .stl, .vtu, .edges, .xyz, .las, .laz, .ale, or .node and .ele
    output: PathBuf,
    /// Encoding of a .ply or .stl file, or of a volume mesh's .vtu, .vtk or .msh file [default: binary]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    #[command(flatten)]
    volume: super::volume::VolumeOutput,
    /// Do not say what was written or lost
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if formats::is_volume(&options.input) {
        let Options { input, output, .. } = options;
        let mut volume = options.volume;
        volume.volume_encoding = volume.volume_encoding.or(options.encoding);
        return super::volume::convert(input, output, volume, options.quiet);
    }
    // A bad output is refused before a long read.
    let format = Format::to_write(&options.output)?;
    let mesh = super::read_mesh(&options.input, options.quiet)?;
    formats::write_encoded(&options.output, &mesh, options.encoding)?;
    if options.quiet {
        return Ok(());
    }
    super::note_losses_in(format, &mesh, options.encoding.unwrap_or_default());
    trioxide_arguments::print(&format!(
        "{}: {} vertices, {} faces\n",
        options.output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))
}
