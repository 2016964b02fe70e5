//! `mpirun … trioxide polylla` of tetrahedra.

use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::formats::pvtu::Cells;
use trioxide_arguments::device::Precision;
use trioxide_ranks::output::pieces;
use trioxide_ranks::polyhedra::find;
use trioxide_ranks::{Fault, Ranks, Result};

use super::files::is_pvtu;
use super::rank::{Starting, is_quiet, with_file};
use super::report::{Ending, Run, report};
use super::tets::{Reading, TetInput};
use crate::commands::polylla::Options;
use crate::commands::polylla::polyhedra::{check_options, polyhedral, settings, write};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    let output = options.output.as_deref();
    check_options(options, output.filter(|path| !is_pvtu(path)))?;
    ranks.phase("read");
    let quiet = is_quiet(ranks, &options.device);
    let settings = settings(options);
    let reading = Reading {
        with_regions: settings.constrained,
        is_kept: options.output.is_some(),
    };
    let read = TetInput::read(ranks, (&options.input, options.reading), reading, quiet)?;
    let input = read.input();
    let precision = options.device.precision;
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
        let made = lists.map(|lists| polyhedral(options, mesh, fields, &lists));
        let made = ranks.agree(made.transpose().map_err(Fault::from))?;
        if is_pvtu(path) {
            pieces::write_whole(ranks, path, made.map(Cells::Polyhedra))?;
        } else {
            let written = made.map_or(Ok(()), |mesh| write(options, path, &mesh));
            ranks.agree(written.map_err(Fault::from))?;
        }
    }
    let of_run = vec![
        ("vertices", json!(vertices)),
        ("tetrahedra", json!(tetrahedra)),
        ("polyhedra", json!(counts.polyhedra)),
        ("single_tetrahedra", json!(counts.single_tetrahedra)),
        ("most_tetrahedra", json!(counts.most_tetrahedra)),
        ("faces", json!(counts.faces)),
        ("regions", json!(counts.regions)),
        ("barrier_faces", json!(counts.barrier_faces)),
        ("regions_with_barriers", json!(counts.regions_with_barriers)),
        ("barrier_tips", json!(counts.barrier_tips)),
        ("barrier_faces_left", json!(counts.barrier_faces_left)),
        ("pinched", json!(counts.pinched)),
        ("split_rounds", json!(counts.split_rounds)),
    ];
    let run = Run {
        command: "polylla",
        input: &options.input,
        options: &options.device,
        on,
        is_output_taken: false,
    };
    report(ranks, run, of_run)
}
