//! `trioxide convert`: a mesh from one format to another.

use std::path::{Path, PathBuf};

use super::help;
use clap::Args;
use trioxide::divide::{self, Divided};
use trioxide::finite::Kept;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{self, Encoding, Format, PolyhedraFormat, ReadOptions, WriteOptions};
use trioxide::mesh::Mesh;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::{Error, Result};
use trioxide_arguments::{account, note};

const DEFAULTS: &str = "Where defaults come from: --encoding binary holds every number exactly; --msh-version is Gmsh's newest.";

/// Convert a mesh to the format of the output's extension
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::any_mesh_to_read("Mesh to read"))]
    input: PathBuf,
    #[arg(help = format!("{}; of cells: {}; of polyhedra: {}", help::mesh_to_write(), help::volumes(), help::polyhedra()))]
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
    /// Write the boundary surface of a volume mesh or of polyhedra: the faces of one cell only
    #[arg(long)]
    boundary: bool,
    /// Divide faces into triangles, by their shortest diagonals; with --boundary those of a volume mesh's boundary
    #[arg(long, conflicts_with = "tetrahedra")]
    triangles: bool,
    /// Divide pyramids, wedges and hexahedra into tetrahedra: two cells divide their common face alike
    #[arg(long)]
    tetrahedra: bool,
    /// Leave out vertices with a coordinate that is not a finite number (NaN), and the faces, cells and segments that
    /// use one; a note counts them
    #[arg(long)]
    drop_invalid: bool,
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
    if formats::is_polyhedra_as(input, *reading) {
        let encoding = options.volume.volume_encoding.or(encoding);
        convert_polyhedra(options, output, encoding)?;
        return super::print_timings(options.timings && !quiet);
    }
    if super::is_volume(input, *reading) {
        let mut volume = options.volume;
        volume.volume_encoding = volume.volume_encoding.or(encoding);
        convert_volume(options, output, volume)?;
        return super::print_timings(options.timings && !quiet);
    }
    if options.tetrahedra {
        return Err(Error::Argument(format!(
            "--tetrahedra divides cells, and {} has none: --triangles divides faces",
            input.display()
        )));
    }
    if options.volume.volume_encoding.is_some() {
        return Err(Error::Argument(format!(
            "--volume-encoding goes with volume meshes, and {} has no cells: use --encoding",
            input.display()
        )));
    }
    // A bad output is refused before a long read.
    if is_of_polyhedra(output) {
        return Err(Error::Argument(format!(
            "{} holds polyhedra, and {} has no cells: write a mesh of faces",
            output.display(),
            input.display()
        )));
    }
    let format = Format::to_write(output)?;
    let mut mesh = super::read_mesh(input, *reading, *quiet)?;
    if options.boundary {
        return Err(Error::Argument(format!(
            "--boundary goes with volume meshes, and {} has no cells: leave it out",
            input.display()
        )));
    }
    if options.drop_invalid {
        note_dropped(mesh.drop_invalid(), input, *quiet);
    }
    if options.triangles {
        mesh = divided(divide::triangles(mesh), input, *quiet)?;
    }
    let writing = WriteOptions {
        encoding,
        ..options.volume.into()
    };
    write(format, output, &mesh, writing, *quiet)?;
    super::print_timings(options.timings && !quiet)
}

/// Converts a volume mesh, or its boundary.
fn convert_volume(
    options: &Options,
    output: &Path,
    volume: super::volume::VolumeOutput,
) -> Result<()> {
    let Options {
        input,
        reading,
        quiet,
        boundary,
        triangles,
        tetrahedra,
        drop_invalid,
        ..
    } = options;
    if *triangles && !boundary {
        return Err(Error::Argument(format!(
            "--triangles divides faces, and {} is a volume mesh: --boundary --triangles writes its surface, \
             --tetrahedra divides its cells",
            input.display()
        )));
    }
    // A bad output is refused before a long read.
    let format = match boundary {
        true => Some(Format::to_write(output)?),
        false => {
            if let (Err(_), Ok(format)) = (VolumeFormat::to_write(output), Format::to_write(output))
            {
                return Err(Error::Argument(format!(
                    "{} is a volume mesh, and {} files hold surfaces only: write its boundary by --boundary, or .vtu",
                    input.display(),
                    format.name
                )));
            }
            if !is_of_polyhedra(output) {
                VolumeFormat::to_write(output)?;
            }
            None
        }
    };
    let mut mesh = super::read_volume(input, *reading, *quiet)?;
    if *drop_invalid {
        note_dropped(mesh.drop_invalid(), input, *quiet);
    }
    if *tetrahedra {
        mesh = divided(divide::tetrahedra(mesh), input, *quiet)?;
    }
    let Some(format) = format else {
        if is_of_polyhedra(output) {
            let mesh = super::polyhedra_of(mesh, input, *quiet)?;
            return write_polyhedra(output, &mesh, volume.volume_encoding, *quiet);
        }
        return super::volume::write(output, &mesh, volume, *quiet);
    };
    let mut surface = mesh.boundary();
    if *triangles {
        surface = divided(divide::triangles(surface), input, *quiet)?;
    }
    write(format, output, &surface, volume.into(), *quiet)
}

/// Unless `quiet`, notes on standard error how many elements were dropped.
fn note_dropped(kept: Option<Kept>, input: &Path, quiet: bool) {
    if let Some(kept) = kept {
        note(
            quiet,
            format_args!("{}: {}", input.display(), kept.sentence()),
        );
    }
}

/// The divided mesh of `input`. Unless `quiet`, notes on standard error name the parts without a proper division.
fn divided<M>(divided: Result<Divided<M>>, input: &Path, quiet: bool) -> Result<M> {
    let Divided { mesh, notes, .. } = divided.map_err(|error| error.in_file(input))?;
    for said in notes {
        note(quiet, format_args!("{}: {said}", input.display()));
    }
    Ok(mesh)
}

/// Whether the file's format holds polyhedra and nothing else.
fn is_of_polyhedra(output: &Path) -> bool {
    let is_written = matches!(PolyhedraFormat::to_write(output), Ok(Some(_)));
    is_written && VolumeFormat::to_write(output).is_err()
}

/// Converts polyhedra, or their boundary.
fn convert_polyhedra(options: &Options, output: &Path, encoding: Option<Encoding>) -> Result<()> {
    let (input, reading, quiet) = (&options.input, options.reading, options.quiet);
    let refuse = |why: &str| {
        let text = format!("{} has polyhedra, which {why}", input.display());
        Err(Error::Argument(text))
    };
    if options.tetrahedra {
        return refuse("--tetrahedra does not divide: leave it out");
    }
    if options.triangles && !options.boundary {
        return refuse("--triangles does not divide: --boundary --triangles writes their surface");
    }
    if !options.boundary {
        formats::check_polyhedra_output(output)?;
        let mesh = super::read_polyhedra(input, reading, quiet)?;
        return write_polyhedra(output, &mesh, encoding, quiet);
    }
    let format = Format::to_write(output)?;
    let mut surface = super::read_polyhedra(input, reading, quiet)?.boundary();
    if options.triangles {
        surface = divided(divide::triangles(surface), input, quiet)?;
    }
    let writing = WriteOptions {
        encoding,
        ..options.volume.into()
    };
    write(format, output, &surface, writing, quiet)
}

fn write_polyhedra(
    output: &Path,
    mesh: &PolyhedralMesh,
    encoding: Option<Encoding>,
    quiet: bool,
) -> Result<()> {
    super::write_polyhedra(output, mesh, encoding, quiet)?;
    if quiet {
        return Ok(());
    }
    trioxide_arguments::print(&format!(
        "{}: {} vertices, {} polyhedra, {} faces, {} tagged faces\n",
        output.display(),
        mesh.points.len(),
        mesh.len(),
        mesh.faces.len(),
        mesh.tagged.len()
    ))
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
