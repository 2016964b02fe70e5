//! `trioxide triangulate`: an outline or points into triangles.

use std::path::PathBuf;

use clap::Args;
use trioxide::formats::{self, Format, ReadOptions, order_maps};
use trioxide::mesh::Mesh;
use trioxide::outline::OutlineMesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, is_standard_output, note};
use trioxide_operations::triangulate;

use super::help;
use super::merging::write_numbers;
use super::step::{AnyMesh, Step, step_fields};

/// Points to triangles.
const WORK: Work = Work { cpu: 100.0 };

const DEFAULTS: &str = "Where defaults come from: --max-vertices is trioxide's own, so that a refinement that does not end stops; --angle, --area and --size have none.";

/// Triangulate points or an outline (constrained Delaunay), with a smallest angle and a largest area on request
///
/// The GPU or the CPU triangulates and refines by x and y. Every machine gives the same triangles for points and
/// segments in any order. z and the data of points and segments are kept; where vertices are added, points have one z
/// and lose their data.
///
/// The area that the segments enclose is triangulated, less the holes; points alone up to their convex hull. Only this
/// area is refined. A .poly file has holes and regions too. Segments keep their markers, an edge along several that of
/// the first; vertices of the input keep their numbers. Notes report bounds that were not reached, and segments that
/// were left out.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    #[arg(help = help::mesh_to_read(
        "Outline to read: a .poly file of Triangle; or the points and segments of a mesh or cloud"
    ))]
    pub input: PathBuf,
    /// Triangulation to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub triangulate: triangulate::Options,
    /// Mesh of triangles in the plane with the point field of --size, in any format that is read
    #[arg(long, value_name = "MESH", requires = "size")]
    pub background: Option<PathBuf>,
    /// Text file for the first vertex at the place of each, one a line, from 0 on; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub map: Option<PathBuf>,
    /// With --reorder, write the id before of each vertex and of each triangle to this folder: old_vertices.txt and
    /// old_cells.txt
    #[arg(long, value_name = "DIR", requires = "reorder")]
    pub maps: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    check(options)?;
    let Options { input, device, .. } = options;
    // A machine starts while points are read.
    let opening = device.begin(input, WORK);
    let (outline, notes) = formats::poly::read_outline_as(input, options.reading)?;
    account::part("read");
    say(options, &notes);
    let (mesh, report) = apply(options, outline, &opening)?;
    if let Some(output) = &options.output {
        super::write_mesh(output, &mesh, device.quiet)?;
    }
    let is_map_printed = options.map.as_deref().is_some_and(is_standard_output);
    report.give_beside(device, is_map_printed)
}

/// Refuses an output of no format, and two outputs to one place, before anything is read.
pub fn check(options: &Options) -> Result<()> {
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let outputs = [&options.map, &options.device.json];
    let printed = outputs.into_iter().flatten();
    if printed.filter(|path| is_standard_output(path)).count() > 1 {
        return Err(Error::Argument(
            "only one of --map and --json can go to standard output: name a file for the other"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Triangulates an outline on the machine that `opening` gives, if it needs one.
pub fn apply<'a>(
    options: &'a Options,
    outline: OutlineMesh,
    opening: &Opening,
) -> Result<(Mesh, Report<'a>)> {
    let vertices = outline.mesh.points.len() as u32;
    let mut settings = options.triangulate.clone();
    if let Some(path) = &options.background {
        settings.background = Some(super::read_mesh(
            path,
            options.reading,
            options.device.quiet,
        )?);
    }
    let (mesh, report) =
        trioxide_operations::triangulate(opening, outline, &settings).map_err(|error| {
            match (error, &options.background) {
                (trioxide_operations::Error::Background(error), Some(path)) => error.in_file(path),
                (error, _) => worded(error).in_file(&options.input),
            }
        })?;
    say(options, &report.notes);
    if let Some(path) = &options.map {
        match report.firsts.is_empty() {
            true => write_numbers(path, 0..vertices)?,
            false => write_numbers(path, report.firsts.iter().copied())?,
        }
    }
    if let (Some(folder), Some(order)) = (&options.maps, &report.order) {
        order_maps::write(folder, &order.vertices, &order.triangles)?;
    }
    let counts = report.totals.counts();
    let report = Report::of("triangulate", &options.input, report.run, counts);
    Ok((mesh, report))
}

/// Prints notes on the input and the result.
pub fn say(options: &Options, notes: &[String]) {
    for said in notes {
        note(
            options.device.quiet,
            format_args!("{}: {said}", options.input.display()),
        );
    }
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "triangulate"
    }

    step_fields!();

    fn work(&self) -> Work {
        WORK
    }

    fn check(&self, _: bool) -> Result<()> {
        check(self)
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        let (outline, left_out) = OutlineMesh::of_mesh(mesh.surface(self.name())?);
        say(self, left_out.as_slice());
        let (mesh, report) = apply(self, outline, opening)?;
        Ok((AnyMesh::Surface(mesh), Some(report)))
    }
}
