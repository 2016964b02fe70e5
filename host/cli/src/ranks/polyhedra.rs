//! `mpirun … trioxide polylla` of tetrahedra.

use glam::{DVec3, Vec3};
use trioxide::formats::pvtu::Cells;
use trioxide_arguments::device::to_values;
use trioxide_operations::polyhedra::polyhedral;
use trioxide_ranks::output::pieces;
use trioxide_ranks::polyhedra::find;
use trioxide_ranks::{Ranks, Result};

use super::files::is_pvtu;
use super::rank::{Starting, in_precision, is_quiet, refuse_of_polyhedra, with_file};
use super::report::{Ending, report};
use super::tets::{Reading, TetInput};
use crate::commands::polylla::Options;
use crate::commands::polylla::{check_volume, write};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    let output = options.output.as_deref();
    check_volume(options, output.filter(|path| !is_pvtu(path)))?;
    let wanted = options.polyhedra();
    refuse_of_polyhedra(&wanted)?;
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
    let part = read.part(ranks, precision).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = in_precision!(precision, find::<DVec3, Vec3>);
    let found = find(ranks, &on, input, part, settings).map_err(in_file)?;
    let totals = found.totals;
    if let Some(path) = &options.output {
        let lists = found.gather(ranks, &on)?;
        ranks.phase("write");
        let TetInput { mesh, fields, .. } = read;
        let made = lists.map(|lists| polyhedral(mesh, fields, &lists, &wanted));
        let made = ranks.agree(made.transpose())?;
        if is_pvtu(path) {
            pieces::write_whole(ranks, path, made.map(Cells::Polyhedra))?;
        } else {
            ranks.agree(made.map_or(Ok(()), |mesh| write(options, path, &mesh)))?;
        }
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "polylla", run, to_values(totals.counts()))
}
