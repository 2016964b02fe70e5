//! `trioxide triangulate`: an outline or points into triangles.

use std::path::PathBuf;

use clap::Args;
use trioxide::Result;
use trioxide::formats::{self, Format, ReadOptions};
use trioxide_arguments::device::Report;
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, is_standard_output, note, print, write_json};
use trioxide_operations::triangulate;

const DEFAULTS: &str = "Where defaults come from: --max-vertices is trioxide's own, so that a refinement that does not end stops; --angle and --area have none.";

/// Triangulate points or an outline (constrained Delaunay), with a smallest angle and a largest area on request
///
/// The area that the segments enclose is triangulated, less the holes; points alone up to their convex hull. Only this
/// area is refined. A .poly file has holes and regions too. Segments keep their markers; vertices of the input keep
/// their numbers. Notes report bounds that were not reached, and segments that were left out.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Outline to read: a .poly file of Triangle; or the points and segments of a mesh or cloud in the plane: .ply,
    /// .vtu, .vtk, .msh, .mesh, .obj, .xyz, .node and others
    input: PathBuf,
    /// Triangulation to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    triangulate: triangulate::Options,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each part of the run
    #[arg(long)]
    timings: bool,
    /// Write counts and times as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Do not say what was written, left out or not reached
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Options { input, output, .. } = options;
    let format = Format::to_write(output)?;
    account::part("work of the host");
    let (outline, notes) = formats::poly::read_outline_as(input, options.reading)?;
    account::part("read");
    say(options, &notes);
    let (mesh, report) = trioxide_operations::triangulate(&outline, &options.triangulate)
        .map_err(|error| worded(error).in_file(input))?;
    say(options, &report.notes);
    let report = Report::of("triangulate", input, report.run, report.totals.counts());
    formats::write(output, &mesh)?;
    account::part("write");
    if !options.quiet {
        super::note_losses(format, &mesh);
    }
    if let Some(path) = &options.json {
        let mut object = report.to_json();
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&format!(
        "{}: {} vertices, {} triangles\n",
        output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))?;
    super::print_timings(options.timings)
}

fn say(options: &Options, notes: &[String]) {
    for said in notes {
        note(
            options.quiet,
            format_args!("{}: {said}", options.input.display()),
        );
    }
}
