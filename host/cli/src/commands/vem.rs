//! `trioxide vem`: the Poisson problem on a planar mesh or on polyhedra, by virtual elements.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{ReadOptions, read_polyhedra};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result, formats, render};
use trioxide_arguments::device::Report;
use trioxide_arguments::names::worded;

use super::help;
use trioxide_arguments::{account, is_standard_output, print, write_json};
use trioxide_operations::vem;

const DEFAULTS: &str = "Where defaults come from: this machine (--threads: all cores); --problem sine is a usual test of such methods.";

/// Solve a Poisson problem on a planar mesh or on polyhedra by virtual elements, and measure the error
///
/// The mesh is moved and scaled so that its longer side is from 0 to 1. Values are given on the boundary. A .vtu file
/// has that mesh, with the fields `solution` and `exact` at its vertices.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::faces_to_read("Mesh to read, of polyhedra a .vtu"))]
    mesh: PathBuf,
    #[command(flatten)]
    vem: vem::Options,
    /// Solution to write: as a picture, .png or .svg, or as fields of the mesh, .vtu or .ply
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadOptions,
    /// CPU threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the time of each stage
    #[arg(long)]
    timings: bool,
    /// Write errors, counts and times as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Print errors only
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let is_space = formats::is_polyhedra(&options.mesh);
    if is_space && options.output.is_some() {
        return Err(Error::Argument(format!(
            "{} has polyhedra, and the solution on them is not written: leave -o out",
            options.mesh.display()
        )));
    }
    // A bad output is refused before a long read.
    let target = options.output.as_deref().map(Target::of).transpose()?;
    let pool = trioxide::device::threads(options.threads.map(usize::from))?;
    let (mesh, report) = pool
        .install(|| match is_space {
            true => {
                let mesh = read_polyhedra(&options.mesh)?;
                account::part("read");
                let report = trioxide_operations::vem_in_space(mesh, &options.vem);
                Ok((Mesh::default(), report.map_err(worded)?))
            }
            false => {
                let mesh = super::read_mesh(&options.mesh, options.reading, options.quiet)?;
                trioxide_operations::vem(mesh, &options.vem).map_err(worded)
            }
        })
        .map_err(|error: Error| error.in_file(&options.mesh))?;
    let (run, counts) = (report.run, report.totals.counts());
    let given = Report::of("vem", &options.mesh, run, counts);
    if let Some(target) = target {
        account::part("work of the host");
        target.write(mesh, &report.values, options.quiet)?;
        account::part("write");
    }
    if let Some(path) = &options.json {
        let mut object = given.to_json();
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&to_text(&given, options.timings))?;
    match options.timings {
        true => print(&account::to_text(32, &given.stages)),
        false => Ok(()),
    }
}

/// The kind of file that the solution is written to.
enum Target<'a> {
    Picture(&'a Path, render::Format),
    Mesh(&'a Path, &'static formats::Format),
}

impl Target<'_> {
    fn of(path: &Path) -> Result<Target<'_>> {
        match formats::Format::to_write(path) {
            Ok(format) if ["VTU", "PLY"].contains(&format.name) => Ok(Target::Mesh(path, format)),
            Ok(format) => Err(Error::Format {
                path: path.to_owned(),
                reason: format!(
                    "{} does not hold a field: write .vtu, .ply, or a picture, .png or .svg",
                    format.name
                ),
            }),
            Err(_) => match render::Format::of_path(path) {
                Ok(format) => Ok(Target::Picture(path, format)),
                Err(_) => Err(Error::Format {
                    path: path.to_owned(),
                    reason: "a solution is written as .vtu or .ply, or as a picture, .png or .svg"
                        .to_owned(),
                }),
            },
        }
    }

    /// Writes the mesh, which has the solution as a field, or the picture of it.
    fn write(&self, mesh: Mesh, values: &[f64], quiet: bool) -> Result<()> {
        match *self {
            Target::Picture(path, format) => {
                let mesh = mesh.into_polygon_mesh()?;
                let values = vem::polygon_values(&mesh, values);
                let drawing = render::Options {
                    legend: true,
                    ..render::Options::default()
                };
                let picture = render::render_values(&mesh.into(), &values, &drawing, format)?;
                write_atomically(path, |file| file.write_all(&picture))
            }
            Target::Mesh(path, format) => {
                formats::write(path, &mesh)?;
                if !quiet {
                    super::note_losses(format, &mesh);
                }
                Ok(())
            }
        }
    }
}

/// Counts, errors and times.
fn to_text(report: &Report, timings: bool) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<32} {value}\n"));
    for (key, value) in &report.counts {
        let value = match value.as_f64() {
            Some(number) if value.is_f64() => format!("{number:.4e}"),
            _ => value.to_string(),
        };
        row(&key.replace('_', " "), value);
    }
    if timings {
        for stage in &report.stages {
            row(stage.name, format!("{:.3} ms", stage.milliseconds));
        }
    }
    row(
        "time without files",
        format!("{:.3} ms", report.milliseconds()),
    );
    text
}
