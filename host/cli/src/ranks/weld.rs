//! `mpirun … trioxide weld`.

use glam::DVec3;
use serde_json::json;
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::weld::{self, Carried, Method};
use trioxide_arguments::device::to_values;
use trioxide_arguments::names::{FLAGS, worded};
use trioxide_arguments::note_all;
use trioxide_operations::weld::{Totals, note_of_ratio, notes_of};
use trioxide_ranks::block::Whole;
use trioxide_ranks::output::{self, Surface};
use trioxide_ranks::weld::{
    Plan, Wanted, Welded, epsilon_for_ratio, gather, gather_map, scatter, weld,
};
use trioxide_ranks::{Block, Ranks, Result};

use super::files::{check_output, write_surface};
use super::rank::{Starting, at_first, has_extension, is_quiet, refuse, with_file};
use super::report::{Ending, Run, report_beside};
use super::slices::{grid_of, note_first_reads, ownership, read_slices};
use crate::commands;
use crate::commands::weld::{Options, check_arguments, write_maps};

/// This rank's block of the input.
struct Input {
    block: Block<DVec3>,
    attributes: VertexAttributes,
    locked: Vec<bool>,
    /// Where rank 0 has read the mesh for all: the mesh there, an empty one elsewhere.
    kept: Option<Kept>,
}

#[derive(Default)]
struct Kept {
    mesh: Mesh,
    /// Number of locked vertices, if any are asked for.
    locked: Option<u64>,
}

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    check_arguments(options)?;
    check_output(options.output.as_deref(), false)?;
    refuse_options(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let input = read(ranks, options, quiet)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let in_file = |fault| with_file(fault, &options.input);
    let carried = Carried {
        attributes: &input.attributes,
        locked: &input.locked,
        regions: None,
    };
    let (wanted, block) = (&options.weld, &input.block);
    // Rank 0 makes the whole mesh anew where it has read it.
    let is_kept = input.kept.is_some();
    let plan = Plan {
        ownership: ownership(&options.input)?,
        wanted: Wanted {
            map: is_kept || options.map.is_some() || options.removed.is_some(),
            mesh: is_kept || options.output.is_some(),
        },
        ..Plan::default()
    };
    let search = |ratio| {
        let guards = wanted.guards();
        epsilon_for_ratio(ranks, &on, block, &carried, &guards, ratio, &plan)
    };
    let found = wanted.ratio.map(search).transpose().map_err(in_file)?;
    let settings = wanted.settings(found);
    let welded = weld(ranks, &on, block, &carried, &settings, &plan).map_err(in_file)?;
    let mut totals = Totals {
        vertices: block.vertices,
        faces: block.cells,
        found,
        locked: input.kept.as_ref().and_then(|kept| kept.locked),
        welded_vertices: welded.clusters,
        welded_faces: welded.faces,
        method: Some(Method::Grid),
        rounds: Some(u64::from(welded.rounds.count)),
        ..Totals::of(&settings)
    };
    let notes: Vec<_> = note_of_ratio(wanted, &totals).into_iter().collect();
    note_all(&notes, quiet);
    match input.kept {
        None => write_slices(ranks, options, &input.block, &welded)?,
        Some(kept) => {
            let whole = gather(ranks, input.block.vertices, &welded)?;
            ranks.phase("write");
            let made = whole.map(|whole| take_whole(options, &settings, &kept.mesh, whole));
            let mesh = ranks.agree(made.transpose())?;
            if let Some(mesh) = &mesh {
                totals.faces = kept.mesh.faces.len() as u64;
                totals.welded_faces = mesh.faces.len() as u64;
            }
            if let Some(path) = &options.output {
                write_surface(ranks, path, mesh, quiet)?;
            }
        }
    }
    let mut counts = to_values(totals.counts());
    counts.push(("gathered_vertices", json!(welded.rounds.gathered)));
    let run = Run {
        command: "weld",
        input: &options.input,
        options: &options.device,
        is_output_taken: options.takes_output(),
    };
    report_beside(ranks, run, on, counts)
}

/// Refuses options that several processes do not support.
fn refuse_options(options: &Options) -> Result<()> {
    let wrong = match options.weld.method {
        Method::Auto | Method::Grid if options.weld.memory_limit.is_some() => {
            (FLAGS.option)("memory_limit")
        }
        Method::Auto | Method::Grid => return Ok(()),
        method => (FLAGS.value)("method", method.name()),
    };
    refuse(Some(&format!("{wrong} is for one process: leave it out")))
}

/// Reads this rank's block. Each rank reads its slice of plain triangles in binary `.ply` that become `.ply`; else rank
/// 0 reads for all, and keeps the mesh.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<Input> {
    let by_all = (options.output.as_deref()).is_none_or(|path| has_extension(path, "ply"));
    let slices = || match grid_of(&options.input)? {
        // Its points follow from their ids.
        Some(grid) if grid.is_plain() => Ok(Some(Block::counts_of_grid(&grid))),
        _ => read_slices(ranks, &options.input, |_, points| Some(points)),
    };
    if by_all
        && options.merging.lock.is_empty()
        && let Some(block) = slices()?
    {
        return Ok(Input {
            block,
            attributes: VertexAttributes::default(),
            locked: Vec::new(),
            kept: None,
        });
    }
    note_first_reads(
        quiet,
        &options.input,
        " and writes the result: from plain triangles in binary .ply to .ply, without \
             --lock, each does",
    );
    let read = at_first(ranks, || read_whole(options, quiet))?;
    let (kept, locked) = read.unwrap_or_default();
    let mesh = &kept.mesh;
    let whole = Whole {
        points: &mesh.points,
        corners: weld::triangles(mesh).as_flattened(),
        size: 3,
        regions: Carried::of(mesh, &[]).regions,
        // They get their new ends where the mesh is.
        segments: &[],
    };
    let is_first = ranks.rank() == 0;
    let block = Block::scatter(ranks, is_first.then_some(whole));
    let carried = Carried::of(mesh, &locked);
    let (attributes, locked) = scatter(ranks, block.vertices, is_first.then_some(&carried));
    Ok(Input {
        block,
        attributes,
        locked,
        kept: Some(kept),
    })
}

/// Reads the whole mesh, and finds its locked vertices.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Kept, Vec<bool>)> {
    let mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    note_all(&notes_of(&mesh), quiet);
    let locked = (options.merging.locks(mesh.points.len())?.find(&mesh))
        .map_err(|error| worded(error.into()).in_file(&options.input))?;
    let count = locked.iter().filter(|&&lock| lock).count() as u64;
    let kept = Kept {
        mesh,
        locked: (!options.merging.lock.is_empty()).then_some(count),
    };
    Ok((kept, locked))
}

/// Writes the files of the options, each rank its slice. Collective.
fn write_slices(
    ranks: &Ranks,
    options: &Options,
    block: &Block<DVec3>,
    welded: &Welded,
) -> Result<()> {
    if options.map.is_some() || options.removed.is_some() {
        let map = gather_map(ranks, block.vertices, welded)?;
        ranks.phase("write");
        let write = |whole: weld::Welded| write_maps(options, &whole.map, whole.removed());
        ranks.agree(map.map_or(Ok(()), write))?;
    }
    if let Some(path) = &options.output {
        let surface = Surface {
            vertices: welded.clusters,
            points: &welded.points,
            corners: output::narrow_ids(&welded.corners),
            regions: welded.regions.clone(),
            segments: &welded.segments,
        };
        output::write_surface(ranks, path, surface)?;
    }
    Ok(())
}

/// Makes the welded mesh from rank 0's, and writes the maps of the options.
fn take_whole(
    options: &Options,
    settings: &weld::Options,
    mesh: &Mesh,
    mut whole: weld::Welded,
) -> trioxide::Result<Mesh> {
    let welded = whole.take_mesh(mesh, settings);
    let welded = welded.map_err(|error| worded(error.into()).in_file(&options.input))?;
    write_maps(options, &whole.map, whole.removed())?;
    Ok(welded)
}
