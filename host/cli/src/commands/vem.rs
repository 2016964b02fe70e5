//! `trioxide vem`: the Poisson problem on a planar mesh, by virtual elements.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::DVec2;
use serde_json::{Value, json};
use trioxide::device::Stage;
use trioxide::fields::{Carried, Field};
use trioxide::formats::ReadOptions;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::mesh::{Mesh, PolygonMesh};
use trioxide::{Error, Result, formats, progress, render};
use trioxide_vem::{self as vem, Errors, Problem, Solution};

use trioxide_arguments::{account, is_standard_output, print, write_json};
use trioxide_operations::input::check_faces;

const DEFAULTS: &str = "Where defaults come from: this machine (--threads: all cores); --problem sine is a usual test of such methods.";

mod space;

/// Solve a Poisson problem on a planar mesh or on polyhedra by virtual elements, and measure the error
///
/// The mesh is moved and scaled so that its longer side is from 0 to 1. Values are given on the boundary. A .vtu file
/// has that mesh, with the fields `solution` and `exact` at its vertices.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Mesh to read: .off, .obj, .ply, .vtu, .vtp, .vtk, .msh, .mesh, .inp, .xdmf, .edges, or .node and .ele (either
    /// name or the bare stem); or polyhedra, .vtu
    mesh: PathBuf,
    /// Exact solution: a linear one, or sin(pi x) sin(pi y)
    #[arg(long, value_enum, default_value = "sine")]
    problem: ProblemName,
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

#[derive(Clone, Copy, ValueEnum)]
enum ProblemName {
    Patch,
    Sine,
}

impl ProblemName {
    fn problem(self) -> Problem {
        match self {
            ProblemName::Patch => Problem::PATCH,
            ProblemName::Sine => Problem::SINE,
        }
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if formats::is_polyhedra(&options.mesh) {
        return space::run(options);
    }
    // A bad output is refused before a long read.
    let target = options.output.as_deref().map(Target::of).transpose()?;
    let pool = trioxide::device::threads(options.threads.map(usize::from))?;
    let (outcome, carried) = pool
        .install(|| {
            let mut mesh = super::read_mesh(&options.mesh, options.reading, options.quiet)?;
            check_faces(&mesh)?;
            let carried = Carried::take(&mut mesh)?;
            let outcome = Outcome::of(mesh, options.problem)?;
            account::stages(&outcome.stages);
            Ok((outcome, carried))
        })
        .map_err(|error: Error| error.in_file(&options.mesh))?;

    let (object, text) = (outcome.to_json(), outcome.to_text(options.timings));
    let stages = outcome.stages.clone();
    if let Some(target) = target {
        account::part("work of the host");
        outcome.write(target, carried, options)?;
        account::part("write");
    }
    if let Some(path) = &options.json {
        let mut object = object;
        object["command"] = json!("vem");
        object["input"] = json!(options.mesh.to_string_lossy());
        object["device"] = json!(device_name(pool.current_num_threads()));
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&text)?;
    match options.timings {
        true => print(&account::to_text(32, &stages)),
        false => Ok(()),
    }
}

/// What the solution is written as.
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
}

fn device_name(threads: usize) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("CPU, {threads} thread{plural}")
}

struct Outcome {
    mesh: PolygonMesh,
    solution: Solution,
    errors: Errors,
    /// Largest diameter of a polygon.
    mesh_size: f64,
    stages: Vec<Stage>,
}

impl Outcome {
    fn of(mesh: Mesh, problem: ProblemName) -> Result<Outcome> {
        let problem = problem.problem();
        let mut mesh = mesh.into_polygon_mesh()?;
        fit_unit_square(&mut mesh);
        let mut solution = vem::solve(&mesh, problem.source, problem.solution)?;
        progress::stage("measure errors");
        let start = Instant::now();
        let errors = vem::errors(&mesh, &solution.values, problem.solution, problem.gradient);
        let mesh_size = vem::mesh_size(&mesh);
        let mut stages = std::mem::take(&mut solution.stages);
        stages.push(Stage {
            name: "measure errors",
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
        });
        Ok(Outcome {
            mesh,
            solution,
            errors,
            mesh_size,
            stages,
        })
    }

    fn write(self, target: Target, carried: Carried, options: &Options) -> Result<()> {
        let values = self.solution.values;
        match target {
            Target::Picture(path, format) => {
                let values = vem::polygon_values(&self.mesh, &values);
                let drawing = render::Options {
                    legend: true,
                    ..render::Options::default()
                };
                let mesh = Mesh::from(self.mesh);
                let picture = render::render_values(&mesh, &values, &drawing, format)?;
                write_atomically(path, |file| file.write_all(&picture))
            }
            Target::Mesh(path, format) => {
                let problem = options.problem.problem();
                let exact: Vec<f64> = self
                    .mesh
                    .points
                    .iter()
                    .map(|&p| (problem.solution)(p))
                    .collect();
                let mut mesh = Mesh::from(self.mesh);
                carried.put(&mut mesh);
                mesh.fields.points.push(Field::scalars("solution", values));
                mesh.fields.points.push(Field::scalars("exact", exact));
                formats::write(path, &mesh)?;
                if !options.quiet {
                    super::note_losses(format, &mesh);
                }
                Ok(())
            }
        }
    }

    /// The JSON key, and what stands in the text.
    fn results(&self) -> [(&'static str, Value); 8] {
        [
            ("vertices", json!(self.mesh.points.len())),
            ("polygons", json!(self.mesh.polygons.len())),
            ("unknowns", json!(self.solution.unknowns)),
            ("iterations", json!(self.solution.iterations)),
            ("mesh_size", json!(self.mesh_size)),
            ("l2_error", json!(self.errors.l2)),
            ("h1_error", json!(self.errors.h1)),
            ("max_vertex_error", json!(self.errors.max_vertex)),
        ]
    }

    fn to_json(&self) -> Value {
        to_json(&self.results(), &self.stages)
    }

    fn to_text(&self, timings: bool) -> String {
        to_text(&self.results(), &self.stages, timings)
    }
}

fn milliseconds(stages: &[Stage]) -> f64 {
    stages.iter().map(|stage| stage.milliseconds).sum()
}

fn to_json(results: &[(&'static str, Value)], stages: &[Stage]) -> Value {
    let all = milliseconds(stages);
    let stages: Vec<Value> = stages
        .iter()
        .map(|stage| json!({"name": stage.name, "milliseconds": stage.milliseconds}))
        .collect();
    let mut object = json!({"stages": stages, "milliseconds": all});
    for (key, value) in results {
        object[key] = value.clone();
    }
    object
}

fn to_text(results: &[(&'static str, Value)], stages: &[Stage], timings: bool) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<32} {value}\n"));
    for (key, value) in results {
        let value = match value.as_f64() {
            Some(number) if value.is_f64() => format!("{number:.4e}"),
            _ => value.to_string(),
        };
        row(&key.replace('_', " "), value);
    }
    if timings {
        for stage in stages {
            row(stage.name, format!("{:.3} ms", stage.milliseconds));
        }
    }
    row(
        "time without files",
        format!("{:.3} ms", milliseconds(stages)),
    );
    text
}

/// Moves and scales a mesh so that the longer side of the box around its polygons is from 0 to 1.
fn fit_unit_square(mesh: &mut PolygonMesh) {
    let none = [DVec2::INFINITY, DVec2::NEG_INFINITY];
    // Indices are checked later, by the solver.
    let used = mesh.polygons.vertices.iter();
    let [least, most] = used
        .filter_map(|&v| mesh.points.get(v as usize))
        .fold(none, |[least, most], &p| [least.min(p), most.max(p)]);
    if !(least.is_finite() && most.is_finite()) {
        return;
    }
    // Half of all, since the whole side may be beyond a double.
    let is_wide = !(most - least).is_finite();
    let part = if is_wide { 0.5 } else { 1.0 };
    let side = (part * most - part * least).max_element();
    if side > 0.0 {
        for point in &mut mesh.points {
            // One that is not finite is named as it is.
            if point.is_finite() {
                *point = (part * *point - part * least) / side;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;

    #[test]
    fn a_moved_mesh_gives_the_same_errors() {
        let mesh = Mesh::from(generate::grid(100).unwrap());
        let mut moved = mesh.clone();
        for point in &mut moved.points {
            *point = *point * 64.0 + glam::dvec3(256.0, -1024.0, 5.0);
        }
        let run = |mesh: Mesh| Outcome::of(mesh, ProblemName::Sine).unwrap();
        let (here, there) = (run(mesh.clone()), run(moved));
        assert_eq!(here.solution.unknowns, 64);
        assert!((here.mesh_size - 2f64.sqrt() / 9.0).abs() < 1e-12);
        assert!((here.errors.l2 - there.errors.l2).abs() < 1e-9);
        let mut wide = mesh;
        for point in &mut wide.points {
            *point = (*point - glam::dvec3(0.5, 0.5, 0.0)) * 2.0 * f64::MAX;
        }
        let wide = run(wide);
        assert!((here.errors.l2 - wide.errors.l2).abs() < 1e-9);
        let json = here.to_json();
        assert_eq!(json["polygons"], 162);
        assert!(json["l2_error"].as_f64().unwrap() < 0.05);
        assert!(here.to_text(true).contains("measure errors"));
    }
}
