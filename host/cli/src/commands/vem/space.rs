//! `trioxide vem` of polyhedra.

use std::time::Instant;

use glam::DVec3;
use serde_json::{Value, json};
use trioxide::device::Stage;
use trioxide::formats::read_polyhedra;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::{Error, Result};
use trioxide_vem::{self as vem, SpaceProblem};

use trioxide_arguments::{is_standard_output, print, write_json};

use super::{Options, ProblemName, device_name, to_json, to_text};

/// Runs the command on polyhedra.
pub fn run(options: &Options) -> Result<()> {
    if options.output.is_some() {
        return Err(Error::Argument(format!(
            "{} has polyhedra, and the solution on them is not written: leave -o out",
            options.mesh.display()
        )));
    }
    let problem = match options.problem {
        ProblemName::Patch => SpaceProblem::PATCH,
        ProblemName::Sine => SpaceProblem::SINE,
    };
    let pool = trioxide::device::threads(options.threads.map(usize::from))?;
    let (results, stages) = pool
        .install(|| solve(read_polyhedra(&options.mesh)?, problem))
        .map_err(|error: Error| error.in_file(&options.mesh))?;
    if let Some(path) = &options.json {
        let mut object = to_json(&results, &stages);
        object["command"] = json!("vem");
        object["input"] = json!(options.mesh.to_string_lossy());
        object["device"] = json!(device_name(pool.current_num_threads()));
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&to_text(&results, &stages, options.timings))
}

type Results = Vec<(&'static str, Value)>;

fn solve(mut mesh: PolyhedralMesh, problem: SpaceProblem) -> Result<(Results, Vec<Stage>)> {
    fit_unit_cube(&mut mesh);
    let mut solution = vem::solve_in_space(&mesh, problem.source, problem.solution)?;
    let start = Instant::now();
    let (exact, gradient) = (problem.solution, problem.gradient);
    let errors = vem::errors_in_space(&mesh, &solution.values, exact, gradient);
    let mut stages = std::mem::take(&mut solution.stages);
    stages.push(Stage {
        name: "measure errors",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    });
    let results = vec![
        ("vertices", json!(mesh.points.len())),
        ("polyhedra", json!(mesh.len())),
        ("unknowns", json!(solution.unknowns)),
        ("iterations", json!(solution.iterations)),
        ("l2_error", json!(errors.l2)),
        ("h1_error", json!(errors.h1)),
        ("max_vertex_error", json!(errors.max_vertex)),
    ];
    Ok((results, stages))
}

/// Moves and scales a mesh so that the longest side of its bounds is from 0 to 1.
fn fit_unit_cube(mesh: &mut PolyhedralMesh) {
    let used = || mesh.faces.vertices.iter().map(|&v| mesh.points[v as usize]);
    let least = used().fold(DVec3::INFINITY, DVec3::min);
    let most = used().fold(DVec3::NEG_INFINITY, DVec3::max);
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
