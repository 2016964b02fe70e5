//! `mpirun … trioxide polylla`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2};
use serde_json::json;
use trioxide::Error;
use trioxide::formats::Format;
use trioxide::generate::Grid;
use trioxide::half_edges::Point;
use trioxide::mesh::Ties;
use trioxide_arguments::device::Precision;
use trioxide_arguments::note;
use trioxide_arguments::polylla::Method;
use trioxide_ranks::polylla::{Found, find, part_to_find_in};
use trioxide_ranks::{Block, Fault, Ownership, Part, Ranks, Result, output};

use super::report::{Run, report};
use super::run::{Starting, has_extension, is_quiet, with_file};
use super::slices::{grid_of, note_first_reads, read_slices};
use crate::commands;
use crate::commands::polylla::{Options, check_usage, digest_row};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run(ranks: &Ranks, options: &Options, starting: Starting) -> Result<()> {
    check_usage(options)?;
    refuse(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let input = match grid_of(&options.input)? {
        Some(grid) => Input::Grid(grid),
        None => Input::Block(read(ranks, options, quiet)?),
    };
    let in_file = |fault| with_file(fault, &options.input, options.device.precision);
    let part = match options.device.precision {
        Precision::F64 => part_of::<DVec2>,
        Precision::F32 => part_of::<Vec2>,
    };
    let part = part(ranks, &input).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = match options.device.precision {
        Precision::F64 => find::<DVec2>,
        Precision::F32 => find::<Vec2>,
    };
    let found = find(ranks, &on, part).map_err(in_file)?;
    let counts = found.counts;
    let digest = options.digest.then(|| {
        ranks.phase("digest");
        found.digest(ranks)
    });
    let [vertices, triangles] = match &input {
        Input::Block(block) => [block.vertices, block.cells],
        Input::Grid(grid) => [grid.vertices(), grid.triangles()],
    };
    if let Some(path) = &options.output {
        write(ranks, path, input, found, quiet)?;
    }
    let mut of_run = vec![
        ("vertices", json!(vertices)),
        ("triangles", json!(triangles)),
        ("polygons", json!(counts.polygons)),
        ("regions", json!(counts.regions)),
        ("frontier_edges", json!(counts.frontier_edges)),
        ("barrier_tips", json!(counts.barrier_tips)),
        ("weakly_simple", json!(counts.weakly_simple)),
    ];
    of_run.extend(digest.map(digest_row));
    let run = Run {
        command: "polylla",
        input: &options.input,
        options: &options.device,
        on: &on,
        is_output_taken: false,
    };
    report(ranks, run, of_run)
}

/// What a rank has of the input.
enum Input {
    /// Its block, read or scattered.
    Block(Block),
    /// Nothing yet: it makes its part.
    Grid(Grid),
}

/// This rank's part of the mesh. Collective.
fn part_of<P: Point>(ranks: &Ranks, input: &Input) -> Result<Part> {
    match input {
        Input::Block(block) => part_to_find_in::<P>(ranks, block, &Ownership::Curve),
        Input::Grid(grid) => Part::of_grid(ranks, grid),
    }
}

/// Writes the polygons of all ranks. Collective.
fn write(ranks: &Ranks, path: &Path, input: Input, found: Found, quiet: bool) -> Result<()> {
    let block = match input {
        Input::Block(block) => block,
        Input::Grid(grid) => Block::of_vertices_of_grid(ranks, &grid),
    };
    let polygons = found.into_polygons();
    if is_pvtu(path) {
        let has_segments = !block.segments.is_empty();
        if has_segments {
            note(
                quiet,
                "the pieces of .pvtu hold no segments: write .ply to keep them",
            );
        }
        return output::write_pvtu(ranks, path, &block, &polygons);
    }
    let ordered = polygons.ordered(ranks, block.cells);
    if is_ply(path) {
        return output::write_ply(ranks, path, &block, &ordered);
    }
    let said = "rank 0 gathers the polygons and writes them: .ply and .pvtu are written by all";
    note(quiet, said);
    let written = match output::gather(ranks, &block, &ordered)? {
        Some(mesh) => commands::write_mesh(path, &mesh, quiet),
        None => Ok(()),
    };
    ranks.agree(written.map_err(Fault::from))
}

fn is_pvtu(path: &Path) -> bool {
    has_extension(path, "pvtu")
}

fn is_ply(path: &Path) -> bool {
    has_extension(path, "ply")
}

/// Refuses what one process does and several do not.
fn refuse(options: &Options) -> Result<()> {
    if let Some(output) = options.output.as_ref().filter(|path| !is_pvtu(path)) {
        Format::to_write(output)?;
    }
    let wrong = if commands::is_volume(&options.input) {
        "polyhedra are made by one process"
    } else if options.method == Method::Indexed {
        "--method indexed is for one process"
    } else if options.strict {
        "--strict is for one process"
    } else if options.ties() == Ties::First {
        "--ties first is for one process"
    } else {
        return Ok(());
    };
    Err(Error::Argument(format!("{wrong}: leave it out, or start it without mpirun")).into())
}

/// This rank's block of the input: read from the file by all ranks, or by rank 0 for all.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<Block> {
    let slice = read_slices(ranks, &options.input, in_plane)?;
    let mut block = match slice {
        Some(block) => block,
        None => {
            let whole = match ranks.rank() {
                0 => read_whole(options, quiet).map(Some),
                _ => Ok(None),
            };
            note_first_reads(
                quiet,
                &options.input,
                ": plain triangles in binary .ply are read by each",
            );
            let whole = ranks.agree(whole.map_err(Fault::from))?;
            Block::scatter(ranks, whole.as_ref().map(Into::into))
        }
    };
    if options.unconstrained {
        block.regions = None;
        block.segments.clear();
    }
    Ok(block)
}

/// This rank's vertices in the plane of the first of all; `None` where they are not.
fn in_plane(z: f64, points: Vec<DVec3>) -> Option<Vec<DVec2>> {
    let is_planar = |p: &DVec3| p.z == z && p.z.is_finite();
    let points = points.iter();
    points.map(|p| is_planar(p).then(|| p.truncate())).collect()
}

/// The whole mesh.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<trioxide::mesh::Triangulation> {
    let mesh = commands::read_mesh(&options.input, quiet)?;
    let checked = commands::check_faces(&mesh).and_then(|()| {
        if mesh.attributes != Default::default() || !mesh.fields.is_empty() {
            return Err(Error::Argument(
                "fields, normals, colours and texture coordinates are carried by one process: start it without mpirun, or leave \
                 them out of the input"
                    .to_owned(),
            ));
        }
        mesh.into_triangulation()
    });
    checked.map_err(|error| error.in_file(&options.input))
}
