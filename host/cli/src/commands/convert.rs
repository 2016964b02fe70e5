//! `trioxide convert`: a mesh from one format to another.

use std::path::{Path, PathBuf};

use super::help;
use clap::Args;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{self, Encoding, Format, ReadOptions, WriteOptions};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result};
use trioxide_arguments::account;

const DEFAULTS: &str = "Where defaults come from: --encoding binary holds every number exactly; --msh-version is Gmsh's newest.";

/// Convert a mesh to the format of the output's extension
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh to read"))]
    input: PathBuf,
    #[arg(help = format!("{}; of cells: {}", help::mesh_to_write(), help::volumes()))]
    #[arg(value_name = "OUTPUT", required_unless_present = "named")]
    output: Option<PathBuf>,
    /// File to write, as the other commands name it
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE",
        conflicts_with = "output",
        id = "named"
    )]
    named: Option<PathBuf>,
    /// Write the boundary surface of a volume mesh: the faces of one cell only
    #[arg(long)]
    boundary: bool,
    #[arg(long, value_enum, help = help::encoded())]
    encoding: Option<Encoding>,
    /// Compress a .vtu or .vtp file, by all threads: --encoding compressed
    #[arg(long, conflicts_with_all = ["encoding", "volume_encoding"])]
    compress: bool,
    #[command(flatten)]
    volume: super::volume::VolumeOutput,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each part of the run
    #[arg(long)]
    timings: bool,
    /// Do not say what was written or lost
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Options {
        input,
        reading,
        quiet,
        ..
    } = options;
    let output = options.output.as_ref().or(options.named.as_ref());
    let output = output.expect("clap asks for one of both");
    let encoding = match options.compress {
        true => Some(Encoding::Compressed),
        false => options.encoding,
    };
    if super::is_volume(input, *reading) {
        let mut volume = options.volume;
        volume.volume_encoding = volume.volume_encoding.or(encoding);
        if options.boundary {
            let format = Format::to_write(output)?;
            let mesh = super::read_volume(input, *reading, *quiet)?.boundary();
            write(format, output, &mesh, volume.into(), *quiet)?;
            return super::print_timings(options.timings && !quiet);
        }
        if let (Err(_), Ok(format)) = (VolumeFormat::to_write(output), Format::to_write(output)) {
            return Err(Error::Argument(format!(
                "{} is a volume mesh, and {} files hold surfaces only: write its boundary by --boundary, or .vtu",
                input.display(),
                format.name
            )));
        }
        super::volume::convert(input, *reading, output, volume, *quiet)?;
        return super::print_timings(options.timings && !quiet);
    }
    if options.volume.volume_encoding.is_some() {
        return Err(Error::Argument(format!(
            "--volume-encoding goes with volume meshes, and {} has no cells: use --encoding",
            input.display()
        )));
    }
    // A bad output is refused before a long read.
    let format = Format::to_write(output)?;
    let mesh = super::read_mesh(input, *reading, *quiet)?;
    if options.boundary {
        return Err(Error::Argument(format!(
            "--boundary goes with volume meshes, and {} has no cells: leave it out",
            input.display()
        )));
    }
    let writing = WriteOptions {
        encoding,
        ..options.volume.into()
    };
    write(format, output, &mesh, writing, *quiet)?;
    super::print_timings(options.timings && !quiet)
}

fn write(
    format: &Format,
    output: &Path,
    mesh: &Mesh,
    options: WriteOptions,
    quiet: bool,
) -> Result<()> {
    account::part("work of the host");
    formats::write_as(output, mesh, options)?;
    account::part("write");
    if quiet {
        return Ok(());
    }
    super::note_losses_in(format, mesh, options.encoding.unwrap_or_default());
    trioxide_arguments::print(&format!(
        "{}: {} vertices, {} faces\n",
        output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))
}
