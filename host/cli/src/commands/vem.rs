//! `trioxide vem`: the Poisson problem on a planar mesh or on polyhedra, by virtual elements.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use glam::DVec3;
use trioxide::fields::{Field, MeshFields};
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::volume::{VolumeFormat, WriteOptions};
use trioxide::formats::{Encoding, ReadOptions};
use trioxide::mesh::{Faces, Mesh};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide::{Error, Result, formats, render};
use trioxide_arguments::device::Report;
use trioxide_arguments::names::worded;

use super::help;
use trioxide_arguments::{account, is_standard_output, note_all, print, write_json};
use trioxide_operations::vem;

const DEFAULTS: &str = "Where defaults come from: this machine (--threads: all cores); --problem sine is a usual test of such methods.";

/// Solve a Poisson problem on a planar mesh, on cells or on polyhedra by virtual elements, and measure the error
///
/// Cells count as polyhedra by their faces. The mesh is moved and scaled so that its longer side is from 0 to 1. Values
/// are given on the boundary. A .vtu file has that mesh, with the fields `solution` and `exact` at its vertices.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::solvable_to_read("Mesh to read"))]
    mesh: PathBuf,
    #[command(flatten)]
    vem: vem::Options,
    /// Solution to write: as a picture, .png or .svg, or as fields of the mesh, in a format that holds them: .vtu, .vtk
    /// of cells too, .vtp and .ply of planar meshes too
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
    let (input, reading, quiet) = (&options.mesh, options.reading, options.quiet);
    let is_polyhedra = formats::is_polyhedra_as(input, reading);
    let is_cells = !is_polyhedra && super::is_volume(input, reading);
    // A bad output is refused before a long read.
    let target = options.output.as_deref();
    let kind = match (is_polyhedra, is_cells) {
        (true, _) => Kind::Polyhedra,
        (_, true) => Kind::Cells,
        _ => Kind::Faces,
    };
    let target = target.map(|path| Target::of(path, kind)).transpose()?;
    let pool = trioxide::device::threads(options.threads.map(usize::from))?;
    let (mesh, report) = pool
        .install(|| match (is_polyhedra, is_cells) {
            (true, _) => {
                let mesh = super::read_polyhedra(input, reading, quiet)?;
                let solved = trioxide_operations::vem_in_space(mesh, &options.vem);
                let (mesh, report) = solved.map_err(worded)?;
                Ok((Solved::InSpace(mesh), report))
            }
            (_, true) => {
                let mesh = super::read_volume(input, reading, quiet)?;
                let solved = trioxide_operations::vem_of_cells(mesh, &options.vem);
                let (mesh, report) = solved.map_err(worded)?;
                Ok((Solved::OfCells(mesh), report))
            }
            _ => {
                let mesh = super::read_mesh(input, reading, quiet)?;
                let solved = trioxide_operations::vem(mesh, &options.vem);
                let (mesh, report) = solved.map_err(worded)?;
                Ok((Solved::InPlane(mesh), report))
            }
        })
        .map_err(|error: Error| error.in_file(&options.mesh))?;
    note_all(&report.notes, quiet);
    let (run, counts) = (report.run, report.totals.counts());
    let given = Report::of("vem", &options.mesh, run, counts);
    if let Some(target) = target {
        account::part("work of the host");
        target.write(&mesh, options.quiet)?;
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

/// The mesh with the solution at its vertices.
enum Solved {
    InPlane(Mesh),
    InSpace(PolyhedralMesh),
    OfCells(VolumeMesh),
}

/// The kind of file that the solution is written to.
enum Target<'a> {
    Picture(&'a Path, render::Format),
    Mesh(&'a Path),
}

/// The elements of a mesh that is solved on.
#[derive(Clone, Copy)]
enum Kind {
    Faces,
    Cells,
    Polyhedra,
}

impl Kind {
    /// Whether files of the format of this name hold fields of the vertices of such a mesh; `None` for a name of none.
    fn is_held(self, path: &Path) -> Option<(bool, &'static str)> {
        let format = formats::Format::to_write(path).ok();
        let solution = Field::scalars("solution", vec![0.5; 4]);
        let mut fields = MeshFields::default();
        fields.points.push(solution);
        match self {
            Self::Faces => {
                let mesh = Mesh {
                    points: vec![DVec3::ZERO; 4],
                    faces: Faces::Triangles(vec![[0, 1, 2]]),
                    fields,
                    ..Mesh::default()
                };
                format.map(|format| {
                    let losses = format.losses(&mesh, Encoding::default());
                    (losses.is_empty(), format.name)
                })
            }
            Self::Cells => match VolumeFormat::to_write(path) {
                Ok(format) => {
                    let tetrahedra = TetMesh {
                        points: vec![DVec3::ZERO; 4],
                        tetrahedra: vec![[0, 1, 2, 3]],
                        ..TetMesh::default()
                    };
                    let mesh = VolumeMesh {
                        fields,
                        ..tetrahedra.into()
                    };
                    Some((format.losses(&mesh).is_empty(), format.name))
                }
                Err(_) => format.map(|format| (false, format.name)),
            },
            Self::Polyhedra => format.map(|format| (format.name == "VTU", format.name)),
        }
    }

    fn said(self) -> [&'static str; 2] {
        match self {
            Self::Faces => ["", ".vtu, .vtp, .vtk or .ply"],
            Self::Cells => [" of cells", ".vtu or .vtk"],
            Self::Polyhedra => [" of polyhedra", ".vtu"],
        }
    }
}

impl Target<'_> {
    fn of(path: &Path, kind: Kind) -> Result<Target<'_>> {
        let [elements, names] = kind.said();
        let refused = |reason| Error::Format {
            path: path.to_owned(),
            reason,
        };
        match kind.is_held(path) {
            Some((true, _)) => Ok(Target::Mesh(path)),
            Some((false, name)) => Err(refused(format!(
                "{name} does not hold a field{elements}: write {names}, or a picture, .png or .svg"
            ))),
            None => match render::Format::of_path(path) {
                Ok(format) => Ok(Target::Picture(path, format)),
                Err(_) => Err(refused(format!(
                    "a solution is written as {names}, or as a picture, .png or .svg"
                ))),
            },
        }
    }

    /// Writes the mesh, which has the solution as a field, or the picture of it.
    fn write(&self, solved: &Solved, quiet: bool) -> Result<()> {
        match *self {
            Target::Picture(path, format) => {
                let drawing = render::Options {
                    color: render::Color::Field("solution".to_owned()),
                    legend: true,
                    ..render::Options::default()
                };
                let picture = match solved {
                    Solved::InPlane(mesh) => render::render(mesh, &drawing, format),
                    Solved::InSpace(mesh) => render::render_polyhedra(mesh, &drawing, format),
                    Solved::OfCells(mesh) => render::render_volume(mesh, &drawing, format),
                };
                let picture = picture?;
                write_atomically(path, |file| file.write_all(&picture))
            }
            Target::Mesh(path) => match solved {
                Solved::InPlane(mesh) => super::write_mesh(path, mesh, quiet),
                Solved::InSpace(mesh) => super::write_polyhedra(path, mesh, None, quiet),
                Solved::OfCells(mesh) => {
                    super::write_volume(path, mesh, WriteOptions::default(), quiet)
                }
            },
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
