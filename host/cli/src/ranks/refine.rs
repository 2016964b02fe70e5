//! `mpirun … trioxide refine`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::DoublePoint;
use serde_json::json;
use trioxide::Device;
use trioxide::fields::Carried;
use trioxide::formats::ancestry;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{Mesh, Simplices, Triangulation};
use trioxide_arguments::device::to_values;
use trioxide_arguments::names::{FLAGS, worded};
use trioxide_arguments::{note, note_all};
use trioxide_operations::Note;
use trioxide_operations::error::refine::too_fine;
use trioxide_operations::refine::{Cells, Dimensions, Totals, with_carried};
use trioxide_ranks::output::pieces;
use trioxide_ranks::ownership::Position;
use trioxide_ranks::refine::{self, DEGENERATE, Refined, gather, part_to_refine};
use trioxide_ranks::{Block, Fault, Part, Ranks, Result, check};

use super::files::{check_output, is_pvtu, write_surface};
use super::rank::{
    Starting, at_first, check_level, has_extension, in_precision, is_quiet, refuse, with_file,
};
use super::report::{Counts, Ending, report};
use super::slices::{Input, READ_BY_EACH, grid_of, note_first_reads, ownership, read_any};
use crate::commands;
use crate::commands::refine::{self as command, Options};

/// The parts that rank 0 keeps of a mesh that it has read for all; other ranks keep nothing.
#[derive(Default)]
struct Kept {
    carried: Carried,
    /// Markers of the segments, if the segments' places cross in place of the markers.
    markers: Option<Vec<i32>>,
}

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    if commands::is_volume(&options.input, options.reading) {
        return super::refine_tets::run(ranks, options, starting);
    }
    refuse_options(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let (input, kept) = read(ranks, options, quiet)?;
    match input {
        Input::Plane(block) => run_on::<DVec2, Vec2>(ranks, starting, options, block, kept),
        Input::Space(block) => run_on::<DVec3, Vec3>(ranks, starting, options, block, kept),
    }
}

/// Refuses options that several processes do not support.
fn refuse_options(options: &Options) -> Result<()> {
    let output = options.output.as_deref();
    check_output(output, false)?;
    refuse(if command::is_edges_file(&options.input) {
        Some("an .edges file to read is for one process: convert it to another format")
    } else if output.is_some_and(command::is_edges_file) {
        Some("an .edges file to write is for one process: write another format")
    } else {
        None
    })
}

/// Refines a mesh with points `P` in double precision, or `S` in single, and writes the files of the options.
fn run_on<'a, P, S>(
    ranks: &Ranks,
    starting: Starting,
    options: &'a Options,
    mut block: Block<P>,
    kept: Kept,
) -> Result<Ending<'a>>
where
    P: AnyPoint<Double = P> + Position + DoublePoint,
    S: AnyPoint<Double = P>,
    Mesh: From<Triangulation<P>>,
{
    let is_carried = ranks.any(kept.carried != Carried::default());
    let record = options.maps.is_some() || (options.output.is_some() && is_carried);
    let triangles = block.cells as usize;
    let wanted = options
        .settings(triangles, Simplices::Triangles)
        .and_then(|settings| settings.of_triangles(triangles, None).map_err(worded));
    let wanted = ranks.agree(wanted)?;
    let settings = refine::Options {
        marking: wanted.marking,
        seed: wanted.seed,
        rounds: wanted.rounds,
        max_triangles: options.refine.max_triangles.map(|most| most as u64),
        record,
    };
    let part_of = in_precision!(options.refine.precision, part_to_refine::<P, S>);
    let ownership = ownership(&options.input)?;
    let part_of = |block: &Block<P>| part_of(ranks, block, &ownership);
    let part = part_of(&block).map_err(|fault| explained(fault, options))?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let refined = in_precision!(options.refine.precision, refined::<P, S>);
    let wants_mesh = options.output.is_some() || record;
    let output = options.output.as_deref();
    let file = output.filter(|path| !record && has_extension(path, "ply"));
    let wanted = match file {
        Some(path) => Wanted::File(path),
        None if wants_mesh => Wanted::Blocks,
        None => Wanted::Counts,
    };
    let refined =
        |block: &Block<P>, part| refined(ranks, &on, options, block, part, &settings, &wanted);
    let (of_run, refined) = match refined(&block, part) {
        Ok(done) => done,
        Err(fault) => {
            let Some((turned, count)) = check::turned(ranks, &block, &fault) else {
                return Err(explained(fault, options));
            };
            match part_of(&turned).and_then(|part| refined(&turned, part)) {
                Ok(done) => {
                    let quiet = is_quiet(ranks, &options.device);
                    note_all(Note::turned_triangles(count).as_slice(), quiet);
                    block = turned;
                    done
                }
                // As the single run has it.
                Err(other) if count as u64 == block.cells => return Err(explained(other, options)),
                Err(_) => return Err(explained(fault, options)),
            }
        }
    };
    match (refined, output.filter(|path| !record && is_pvtu(path))) {
        (Some(refined), Some(path)) => write_pieces(ranks, path, refined)?,
        (Some(refined), None) => write_gathered(ranks, options, &block, kept, &refined)?,
        (None, _) => {}
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "refine", run, of_run)
}

/// The result that a run is to give.
enum Wanted<'a> {
    Counts,
    /// The refined mesh, in blocks.
    Blocks,
    /// A `.ply` that all ranks write.
    File(&'a Path),
}

/// The counts of a run, and the refined mesh, if it is wanted here. Collective.
fn refined<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    options: &Options,
    block: &Block<P::Double>,
    part: Part<P::Double>,
    settings: &refine::Options,
    wanted: &Wanted,
) -> Result<(Counts, Option<Refined<P::Double>>)>
where
    P::Double: Position,
{
    let ownership = ownership(&options.input)?;
    let run = refine::run::<P>(ranks, on, block, part, settings, &ownership)?;
    let counts = run.counts;
    check_level(&options.refine, run.rounds.len())?;
    let totals = Totals {
        vertices: counts.vertices,
        faces: counts.triangles,
        edges: counts.edges,
        input_vertices: block.vertices,
        input_faces: block.cells,
        rounds: run.rounds.len() as u64,
        end: run.end,
    };
    let mut of_run = to_values(totals.counts());
    of_run.push(("exchanges", json!(run.exchanges)));
    let refined = match *wanted {
        Wanted::Counts => None,
        Wanted::Blocks => Some(run.into_blocks(ranks, on, block)?),
        Wanted::File(path) => {
            run.write_ply(ranks, on, block, path)?;
            None
        }
    };
    Ok((of_run, refined))
}

/// Adds the mesh's file to a fault, and the options that help.
fn explained(fault: Fault, options: &Options) -> Fault {
    let fault = match fault.rule() {
        DEGENERATE => Fault::of_mesh(DEGENERATE, 0, format!("{fault}{}", too_fine(FLAGS))),
        _ => fault,
    };
    with_file(fault, &options.input)
}

/// Writes a piece of each rank. Collective.
fn write_pieces<P: Position>(ranks: &Ranks, path: &Path, refined: Refined<P>) -> Result<()> {
    let slice = pieces::Slice {
        vertices: refined.counts.vertices,
        points: &refined.points,
        offsets: None,
        corners: refined.corners,
        regions: refined.regions,
        segments: &refined.segments,
    };
    pieces::write_slice(ranks, path, slice)
}

/// Writes the files of the options from the mesh that rank 0 gathers. Collective.
fn write_gathered<P: Position>(
    ranks: &Ranks,
    options: &Options,
    block: &Block<P>,
    kept: Kept,
    refined: &Refined<P>,
) -> Result<()>
where
    Mesh: From<Triangulation<P>>,
{
    let quiet = is_quiet(ranks, &options.device);
    note(
        quiet,
        "rank 0 gathers the mesh and writes it: .ply and .pvtu without fields and without --maps are written by all",
    );
    let whole = gather(ranks, refined)?;
    ranks.phase("write");
    let vertices = block.vertices as usize;
    let maps = options.maps.as_ref().zip(whole.as_ref());
    let written = maps.map_or(Ok(()), |(folder, whole)| {
        ancestry::write(
            folder,
            Simplices::Triangles,
            vertices,
            &whole.ancestors,
            &whole.rounds,
        )
    });
    ranks.agree(written)?;
    let Some(path) = &options.output else {
        return Ok(());
    };
    let mesh = whole.map(|whole| {
        let Kept { carried, markers } = kept;
        let parts = (&whole.ancestors[..], &whole.rounds[..]);
        with_carried(whole.mesh.into(), &carried, markers, vertices, parts)
    });
    write_surface(ranks, path, mesh, quiet)
}

/// Reads this rank's block of the input: each rank reads its slice of the file, or rank 0 reads for all, and keeps the
/// parts that do not cross.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<(Input, Kept)> {
    if let Some(grid) = grid_of(&options.input)? {
        return Ok((Input::Plane(Block::counts_of_grid(&grid)), Kept::default()));
    }
    if let Some(input) = read_any(ranks, &options.input)? {
        return Ok((input, Kept::default()));
    }
    note_first_reads(quiet, &options.input, READ_BY_EACH);
    let whole = at_first(ranks, || read_whole(options, quiet))?;
    let (mesh, kept) = whole.map_or((None, Kept::default()), |(mesh, kept)| (Some(mesh), kept));
    let (plane, space) = match &mesh {
        None => (None, None),
        Some(Dimensions::Plane(mesh)) => (triangles(mesh), None),
        Some(Dimensions::Space(mesh)) => (None, triangles(mesh)),
    };
    let input = match ranks.any(plane.is_some()) {
        true => Input::Plane(Block::scatter(ranks, plane.map(Into::into))),
        false => Input::Space(Block::scatter(ranks, space.map(Into::into))),
    };
    Ok((input, kept))
}

/// The triangles of a file other than `.edges`.
fn triangles<V>(input: &Cells<V>) -> Option<&Triangulation<V>> {
    match input {
        Cells::Triangles(mesh) => Some(mesh),
        Cells::Edges(_) => None,
    }
}

/// Reads the whole mesh, and the parts that rank 0 keeps.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Dimensions, Kept)> {
    let read = command::read(options, quiet);
    let read = read.map_err(|error| commands::with_remedy(error, "refine"))?;
    let (mut mesh, carried) = (read.mesh, read.carried);
    let markers = match &mut mesh {
        Dimensions::Plane(mesh) => mesh.number(&carried),
        Dimensions::Space(mesh) => mesh.number(&carried),
    };
    Ok((mesh, Kept { carried, markers }))
}
