//! `mpirun … trioxide polylla` of tetrahedra.

use std::path::Path;

use glam::{DVec3, Vec3};
use trioxide::formats::pvtu::Cells;
use trioxide::polyhedra::Rule;
use trioxide_arguments::device::to_values;
use trioxide_operations::polyhedra::MeshPolyhedra;
use trioxide_ranks::levels::{Surfaces, levels_of_polyhedra};
use trioxide_ranks::output::pieces;
use trioxide_ranks::polyhedra::find;
use trioxide_ranks::tets::Input;
use trioxide_ranks::{Ranks, Result};

use super::files::is_pvtu;
use super::levels::{give_levels, refuse_pieces_of_levels};
use super::rank::{Starting, in_precision, is_quiet, refuse, refuse_sizes, with_file};
use super::report::{Ending, report};
use super::tets::{Reading, TetInput};
use crate::commands::polylla::Options;
use crate::commands::polylla::{check_volume, write, write_levels};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    let output = options.output.as_deref();
    check_volume(options, output.filter(|path| !is_pvtu(path)))?;
    let wanted = options.polyhedra();
    let is_cavity = wanted.rule == Rule::Cavity;
    refuse(is_cavity.then_some("--rule cavity is for one process: leave it out"))?;
    refuse_pieces_of_levels(options)?;
    ranks.phase("read");
    let quiet = is_quiet(ranks, &options.device);
    let settings = wanted.settings();
    let reading = Reading {
        with_regions: settings.constrained,
        is_kept: options.output.is_some(),
    };
    let read = TetInput::read(ranks, (&options.input, options.reading), reading, quiet)?;
    let input = read.input();
    let precision = options.polylla.precision;
    let in_file = |fault| with_file(fault, &options.input);
    refuse_sizes(ranks, &input.block.points, precision).map_err(in_file)?;
    let part = read.part(ranks, precision).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = in_precision!(precision, find::<DVec3, Vec3>);
    let found = find(ranks, &on, input, part, settings).map_err(in_file)?;
    let mut totals = found.totals;
    let mut nested = None;
    if let Some(goal) = options.polylla.goal() {
        let slice = found.ordered(ranks, &on)?;
        let surfaces = Surfaces {
            constrained: settings.constrained,
            merged: wanted.merge_faces.then_some(&read.tags),
        };
        let made = read.block_of_grid(ranks);
        let input = Input {
            block: made.as_ref().unwrap_or(input.block),
            ..input
        };
        let levels = levels_of_polyhedra(ranks, input, &slice, surfaces, goal)?;
        totals.levels = Some(levels.parents.len() as u64);
        totals.pieces = levels.counts.last().map(|&count| count as u64);
        nested = give_levels(ranks, options, Some(&levels))?;
    }
    if let Some(path) = &options.output {
        let lists = found.gather(ranks, &on)?;
        ranks.phase("write");
        let TetInput { mesh, fields, .. } = read;
        let made = lists.map(|lists| MeshPolyhedra::of(mesh, fields, &lists, &wanted));
        let mut made = ranks.agree(made.transpose())?;
        if let (Some(made), Some(nested)) = (&mut made, nested) {
            made.nest(nested);
        }
        if is_pvtu(path) {
            let made = made.map(|made| Cells::Polyhedra(made.into_mesh().0));
            pieces::write_whole(ranks, path, made)?;
        } else {
            ranks.agree(made.map_or(Ok(()), |made| write_all(options, path, made)))?;
        }
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "polylla", run, to_values(totals.counts()))
}

/// Writes the polyhedra, and each level to a file of its own if the output has a place for their numbers.
fn write_all(options: &Options, path: &Path, polyhedra: MeshPolyhedra) -> trioxide::Result<()> {
    let each = |file: &Path, level| write(options, file, &polyhedra.level(level));
    let finest = write_levels(path, polyhedra.levels(), each)?;
    write(options, &finest, &polyhedra.into_mesh().0)
}
