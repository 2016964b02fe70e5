//! Whole meshes smoothed under the options of the devices.

use gpu::smooth::{ONE_BLOCK_LANES, Vector};

use crate::{smooth as reference, smooth_weights};
use trioxide::mesh::Mesh;
use trioxide::smooth::{
    Blocks, BoundaryRule, Error, Filter, Form, Moves, Options, Result, Schedule, Smoothed, Weights,
};
use trioxide::volume::VolumeMesh;

/// Smooths a volume mesh as [`trioxide::smooth::run`] does, without a curve's order. The mesh keeps the rules of
/// [`DeviceMesh`](trioxide::smooth::DeviceMesh).
///
/// # Errors
/// An [`Error`] for options that do not go together, or form B over many blocks ([`Error::Race`]).
///
/// # Panics
/// May panic for a mesh that breaks a rule.
pub fn volume<P: Vector>(mesh: &VolumeMesh, fixed: &[bool], options: &Options) -> Result<Smoothed> {
    let nodes = mesh.points.len();
    options.check(fixed, nodes)?;
    options.check_kind(false, mesh.cells.iter().all(|cell| cell.len() == 4))?;
    let mut points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let rows = reference::neighbours(nodes, mesh.cells.iter());
    let mut weights = weigh(&points, &rows, mesh.cells.iter(), options.weights);
    let mut stays = match options.boundary {
        BoundaryRule::Fixed => reference::boundary_nodes(nodes, mesh.cells.iter()),
        BoundaryRule::Slide => {
            spread(&mut weights, &rows);
            smooth_weights::slide(&points, &rows, mesh.cells.iter(), &mut weights)
        }
    };
    if let Some(regions) = &mesh.regions {
        let interface = reference::interface_nodes(nodes, mesh.cells.iter(), regions);
        stays.iter_mut().zip(interface).for_each(|(s, i)| *s |= i);
    }
    let moving = moving(&rows, &stays, fixed);
    let graph = reference::Graph {
        rows: &rows,
        weights: &weights,
        moving: &moving,
    };
    let moves = if options.guard {
        let by_cell = reference::cell_neighbours(nodes, mesh.cells.iter());
        let order = reference::colour_order(&by_cell, &moving);
        let cells_of = reference::cells_of(nodes, mesh.cells.iter());
        reference::guarded(
            &mut points,
            &graph,
            &order,
            (&cells_of, false),
            Schedule::new(options),
        )
    } else {
        sweep(&mut points, &graph, options)?
    };
    Ok(smoothed(points, &moving, moves))
}

/// Smooths a surface mesh as [`trioxide::smooth::run_surface`] does, without a curve's order. The mesh keeps the rules
/// of [`DeviceMesh`](trioxide::smooth::DeviceMesh).
///
/// # Errors
/// As [`volume`].
///
/// # Panics
/// As [`volume`].
pub fn surface<P: Vector>(mesh: &Mesh, fixed: &[bool], options: &Options) -> Result<Smoothed> {
    let nodes = mesh.points.len();
    options.check(fixed, nodes)?;
    let faces = || (0..mesh.faces.len()).map(|f| mesh.faces.get(f));
    let is_in_space = mesh.points.iter().any(|p| p.z != mesh.points[0].z);
    options.check_kind(is_in_space, faces().all(|face| face.len() == 3))?;
    let mut points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let rows = reference::surface_neighbours(nodes, faces());
    let mut weights = weigh(&points, &rows, faces(), options.weights);
    let mut stays = match options.boundary {
        BoundaryRule::Fixed => reference::border_nodes(nodes, faces()),
        BoundaryRule::Slide => {
            spread(&mut weights, &rows);
            smooth_weights::slide_border(&points, &rows, faces(), &mut weights)
        }
    };
    if let Some(regions) = &mesh.regions {
        let interface = reference::interface_nodes(nodes, faces(), regions);
        stays.iter_mut().zip(interface).for_each(|(s, i)| *s |= i);
    }
    let moving = moving(&rows, &stays, fixed);
    let graph = reference::Graph {
        rows: &rows,
        weights: &weights,
        moving: &moving,
    };
    let moves = if options.guard {
        let by_face = reference::cell_neighbours(nodes, faces());
        let order = reference::colour_order(&by_face, &moving);
        let faces_of = reference::cells_of(nodes, faces());
        reference::guarded(
            &mut points,
            &graph,
            &order,
            (&faces_of, true),
            Schedule::new(options),
        )
    } else {
        sweep(&mut points, &graph, options)?
    };
    Ok(smoothed(points, &moving, moves))
}

/// Writes out the weights if all are equal.
fn spread(weights: &mut Vec<Vec<f64>>, rows: &[Vec<u32>]) {
    if weights.is_empty() {
        *weights = rows.iter().map(|row| vec![1.0; row.len()]).collect();
    }
}

/// The weight of each neighbour; none if all are equal.
fn weigh<'a, P: Vector>(
    points: &[P],
    rows: &[Vec<u32>],
    cells: impl Iterator<Item = &'a [u32]>,
    weights: Weights,
) -> Vec<Vec<f64>> {
    match weights {
        Weights::Uniform => Vec::new(),
        Weights::InverseLength => smooth_weights::inverse_lengths(points, rows),
        Weights::Cotangent => smooth_weights::cotangents(points, rows, cells),
    }
}

fn moving(rows: &[Vec<u32>], stays: &[bool], fixed: &[bool]) -> Vec<bool> {
    (0..rows.len())
        .map(|v| !stays[v] && !rows[v].is_empty() && !fixed.get(v).copied().unwrap_or(false))
        .collect()
}

fn smoothed<P: Vector>(points: Vec<P>, moving: &[bool], moves: Moves) -> Smoothed {
    Smoothed {
        points: points.into_iter().map(P::to_f64).collect(),
        moving: moving.iter().filter(|&&moves| moves).count() as u32,
        moves,
    }
}

fn sweep<P: Vector>(
    points: &mut [P],
    graph: &reference::Graph<'_>,
    options: &Options,
) -> Result<Moves> {
    let schedule = Schedule::new(options);
    if let Filter::Hc { alpha, beta } = options.method {
        return Ok(reference::hc(points, graph, [alpha, beta], schedule));
    }
    let by_id = reference::id_order(graph.moving);
    Ok(match (options.form, options.blocks) {
        (Form::A, _) => reference::form_a(points, graph, schedule),
        (Form::B, Blocks::One) => {
            reference::in_chunks(points, graph, &by_id, ONE_BLOCK_LANES, schedule)
        }
        (Form::B, Blocks::Many) => return Err(Error::Race),
        (Form::BColoured, _) => {
            let order = reference::colour_order(graph.rows, graph.moving);
            reference::form_b(points, graph, &order, schedule)
        }
        (Form::BExact, _) => reference::form_b(points, graph, &by_id, schedule),
    })
}
