//! `mpirun … trioxide refine`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2, Vec3};
use serde_json::json;
use trioxide::fields::Carried;
use trioxide::formats::ancestry;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{Mesh, Triangulation};
use trioxide::{Device, Error};
use trioxide_arguments::device::to_values;
use trioxide_arguments::names::{FLAGS, worded};
use trioxide_arguments::note;
use trioxide_operations::Precision;
use trioxide_operations::error::refine::too_fine;
use trioxide_operations::refine::{Cells, Dimensions, Totals, with_carried};
use trioxide_ranks::block::in_plane_of;
use trioxide_ranks::output::pieces;
use trioxide_ranks::ownership::Position;
use trioxide_ranks::refine::{self, DEGENERATE, Refined, gather, part_to_refine};
use trioxide_ranks::transport::Reduction;
use trioxide_ranks::{Block, Fault, Part, Ranks, Result};

use super::files::{check_surface, is_pvtu, write_surface};
use super::rank::{Starting, has_extension, is_quiet, with_file};
use super::report::{Counts, Ending, Run, report};
use super::slices::{grid_of, note_first_reads, ownership, read_slices};
use crate::commands;
use crate::commands::refine::{self as command, Options};

/// This rank's block of the input.
enum Input {
    Plane(Block<DVec2>),
    Space(Block<DVec3>),
}

/// What rank 0 keeps of a mesh that it has read for all; other ranks keep nothing.
#[derive(Default)]
struct Kept {
    carried: Carried,
    /// Of the segments, where their places among all cross in place of these.
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
    refuse(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let (input, kept) = read(ranks, options, quiet)?;
    match input {
        Input::Plane(block) => run_on::<DVec2, Vec2>(ranks, starting, options, &block, kept),
        Input::Space(block) => run_on::<DVec3, Vec3>(ranks, starting, options, &block, kept),
    }
}

/// Refuses what one process does and several do not.
fn refuse(options: &Options) -> Result<()> {
    let output = options.output.as_deref();
    check_surface(output)?;
    let wrong = if command::is_edges_file(&options.input) {
        "an .edges file to read is for one process: convert it to another format"
    } else if output.is_some_and(command::is_edges_file) {
        "an .edges file to write is for one process: write another format"
    } else if options.refine.coarsen_to.is_some() {
        "--coarsen-to is for one process: leave it out"
    } else {
        return Ok(());
    };
    Err(Error::Argument(format!("{wrong}, or start it without mpirun")).into())
}

/// Refines points that are `P` in double precision, and `S` in single; writes what the options ask for.
fn run_on<'a, P, S>(
    ranks: &Ranks,
    starting: Starting,
    options: &'a Options,
    block: &Block<P>,
    kept: Kept,
) -> Result<Ending<'a>>
where
    P: AnyPoint<Double = P> + Position,
    S: AnyPoint<Double = P>,
    Mesh: From<Triangulation<P>>,
{
    let is_carried = ranks.reduce(u64::from(!kept.carried.is_empty()), Reduction::Or) != 0;
    let record = options.maps.is_some() || (options.output.is_some() && is_carried);
    let triangles = block.cells as usize;
    let marking = options
        .settings(triangles, "triangle")
        .and_then(|settings| settings.marking(triangles, None).map_err(worded));
    let settings = refine::Options {
        marking: ranks.agree(marking.map_err(Fault::from))?,
        rounds: options.refine.most_rounds(),
        max_triangles: options.refine.max_triangles.map(|most| most as u64),
        record,
    };
    let part = match options.refine.precision {
        Precision::F64 => part_to_refine::<P>,
        Precision::F32 => part_to_refine::<S>,
    };
    let part = part(ranks, block, &ownership(&options.input)?);
    let part = part.map_err(|fault| explained(fault, options))?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let refined = match options.refine.precision {
        Precision::F64 => refined::<P>,
        Precision::F32 => refined::<S>,
    };
    let wants_mesh = options.output.is_some() || record;
    let output = options.output.as_deref();
    let file = output.filter(|path| !record && has_extension(path, "ply"));
    let wanted = match file {
        Some(path) => Wanted::File(path),
        None if wants_mesh => Wanted::Blocks,
        None => Wanted::Counts,
    };
    let refined = refined(ranks, &on, options, block, part, &settings, wanted);
    let (of_run, refined) = refined.map_err(|fault| explained(fault, options))?;
    match (refined, output.filter(|path| !record && is_pvtu(path))) {
        (Some(refined), Some(path)) => write_pieces(ranks, path, refined)?,
        (Some(refined), None) => write_gathered(ranks, options, block, kept, &refined)?,
        (None, _) => {}
    }
    let run = Run {
        command: "refine",
        input: &options.input,
        options: &options.device,
        on,
        is_output_taken: false,
    };
    report(ranks, run, of_run)
}

/// What is wanted of a run.
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
    wanted: Wanted,
) -> Result<(Counts, Option<Refined<P::Double>>)>
where
    P::Double: Position,
{
    let ownership = ownership(&options.input)?;
    let run = refine::run::<P>(ranks, on, block, part, settings, &ownership)?;
    let counts = run.counts;
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
    let refined = match wanted {
        Wanted::Counts => None,
        Wanted::Blocks => Some(run.into_blocks(ranks, on, block)?),
        Wanted::File(path) => {
            run.write_ply(ranks, on, block, path)?;
            None
        }
    };
    Ok((of_run, refined))
}

/// The fault with the mesh's file, and the options that help.
fn explained(fault: Fault, options: &Options) -> Fault {
    let (input, precision) = (&options.input, options.refine.precision);
    match fault.rule() {
        DEGENERATE => {
            let text = format!("{fault}{}", too_fine(FLAGS));
            with_file(Fault::of_mesh(DEGENERATE, 0, text), input, precision)
        }
        _ => with_file(fault, input, precision),
    }
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

/// Writes what the options ask for from the mesh that rank 0 gathers. Collective.
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
        ancestry::write(folder, vertices, &whole.ancestors, &whole.rounds)
    });
    ranks.agree(written.map_err(Fault::from))?;
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

/// This rank's block of the input: read from the file by all ranks, or by rank 0 for all, which keeps what does not
/// cross.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<(Input, Kept)> {
    if let Some(grid) = grid_of(&options.input)? {
        return Ok((Input::Plane(Block::counts_of_grid(&grid)), Kept::default()));
    }
    if let Some(block) = read_slices(ranks, &options.input, with_heights)? {
        return Ok((of_slices(ranks, block), Kept::default()));
    }
    note_first_reads(
        quiet,
        &options.input,
        ": plain triangles in binary .ply are read by each",
    );
    let whole = match ranks.rank() {
        0 => read_whole(options, quiet).map(Some),
        _ => Ok(None),
    };
    let whole = ranks.agree(whole.map_err(Fault::from))?;
    let (mesh, kept) = whole.map_or((None, Kept::default()), |(mesh, kept)| (Some(mesh), kept));
    let (plane, space) = match &mesh {
        None => (None, None),
        Some(Dimensions::Plane(mesh)) => (triangles(mesh), None),
        Some(Dimensions::Space(mesh)) => (None, triangles(mesh)),
    };
    let is_planar = ranks.reduce(u64::from(plane.is_some()), Reduction::Or) != 0;
    let input = match is_planar {
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

/// This rank's vertices, if each has a height that is a finite number: who reads the whole file says what is wrong with
/// others.
fn with_heights(_: f64, points: Vec<DVec3>) -> Option<Vec<DVec3>> {
    points.iter().all(|p| p.z.is_finite()).then_some(points)
}

/// The block in the plane where all ranks' vertices lie in one. Collective.
fn of_slices(ranks: &Ranks, block: Block<DVec3>) -> Input {
    // All are as high as the first of all where nobody's first, and none of the others, differs.
    let heights = ranks.gather(
        block
            .points
            .first()
            .map_or(u64::MAX, |p| (p.z + 0.0).to_bits()),
    );
    let height = f64::from_bits(heights[0]);
    let flat = in_plane_of(&block.points, height);
    let is_space = ranks.reduce(u64::from(flat.is_none()), Reduction::Or) != 0;
    let Some(points) = flat.filter(|_| !is_space) else {
        return Input::Space(block);
    };
    Input::Plane(Block {
        vertices: block.vertices,
        cells: block.cells,
        size: block.size,
        points,
        corners: block.corners,
        regions: block.regions,
        segments: block.segments,
    })
}

/// The whole mesh, and what does not cross.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Dimensions, Kept)> {
    let read = command::read(options, quiet)?;
    let (mut mesh, carried) = (read.mesh, read.carried);
    let markers = match &mut mesh {
        Dimensions::Plane(mesh) => mesh.number(&carried),
        Dimensions::Space(mesh) => mesh.number(&carried),
    };
    Ok((mesh, Kept { carried, markers }))
}
