//! `mpirun … trioxide polylla` of tetrahedra.

use glam::{DVec3, Vec3};
use trioxide::formats::pvtu::Cells;
use trioxide_arguments::device::to_values;
use trioxide_operations::Precision;
use trioxide_operations::polyhedra::{Totals, polyhedral};
use trioxide_ranks::output::pieces;
use trioxide_ranks::polyhedra::find;
use trioxide_ranks::{Fault, Ranks, Result};

use super::files::is_pvtu;
use super::rank::{Starting, is_quiet, with_file};
use super::report::{Ending, Run, report};
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
    ranks.phase("read");
    let quiet = is_quiet(ranks, &options.device);
    let wanted = options.polyhedra();
    let settings = wanted.settings();
    let reading = Reading {
        with_regions: settings.constrained,
        is_kept: options.output.is_some(),
    };
    let read = TetInput::read(ranks, (&options.input, options.reading), reading, quiet)?;
    let input = read.input();
    let precision = options.polylla.precision;
    let in_file = |fault| with_file(fault, &options.input, precision);
    let part = read.part(ranks, precision).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = match precision {
        Precision::F64 => find::<DVec3>,
        Precision::F32 => find::<Vec3>,
    };
    let found = find(ranks, &on, input, part, settings).map_err(in_file)?;
    let counts = found.counts;
    let [vertices, tetrahedra] = [input.block.vertices, input.block.cells];
    if let Some(path) = &options.output {
        let lists = found.gather(ranks, &on)?;
        ranks.phase("write");
        let TetInput { mesh, fields, .. } = read;
        let made = lists.map(|lists| polyhedral(mesh, fields, &lists, &wanted));
        let made = ranks.agree(made.transpose().map_err(Fault::from))?;
        if is_pvtu(path) {
            pieces::write_whole(ranks, path, made.map(Cells::Polyhedra))?;
        } else {
            let written = made.map_or(Ok(()), |mesh| write(options, path, &mesh));
            ranks.agree(written.map_err(Fault::from))?;
        }
    }
    let totals = Totals {
        vertices,
        tetrahedra,
        polyhedra: counts.polyhedra,
        single_tetrahedra: counts.single_tetrahedra,
        most_tetrahedra: counts.most_tetrahedra,
        faces: counts.faces,
        regions: counts.regions,
        barrier_faces: counts.barrier_faces,
        regions_with_barriers: counts.regions_with_barriers,
        barrier_tips: counts.barrier_tips,
        barrier_faces_left: counts.barrier_faces_left,
        pinched: counts.pinched,
        split_rounds: counts.split_rounds,
    };
    let run = Run {
        command: "polylla",
        input: &options.input,
        options: &options.device,
        on,
        is_output_taken: false,
    };
    report(ranks, run, to_values(totals.counts()))
}
