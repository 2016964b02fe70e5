//! `mpirun … trioxide polylla`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2};
use trioxide::fields::{Carried, Fields};
use trioxide::generate::Grid;
use trioxide::half_edges::Point;
use trioxide::mesh::{Faces, Mesh, Ties, Triangulation};
use trioxide::polylla::triangles_of_polygons;
use trioxide::{Device, Error};
use trioxide_arguments::device::to_values;
use trioxide_arguments::note;
use trioxide_operations::Precision;
use trioxide_operations::input::check_faces;
use trioxide_operations::polylla::{DataStructure, Totals};
use trioxide_ranks::block::in_plane_of;
use trioxide_ranks::output::pieces;
use trioxide_ranks::polylla::{self, Found, find, part_to_find_in};
use trioxide_ranks::transport::Reduction;
use trioxide_ranks::{Block, Fault, Ownership, Part, Ranks, Result, output};

use super::files::{check_surface, is_pvtu, write_surface};
use super::rank::{Starting, has_extension, is_quiet, with_file};
use super::report::{Ending, Run, report};
use super::slices::{grid_of, note_first_reads, read_slices};
use crate::commands;
use crate::commands::polylla::{Options, check_usage};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    if commands::is_volume(&options.input, options.reading) {
        return super::polyhedra::run(ranks, options, starting);
    }
    check_usage(options)?;
    refuse(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let (input, kept) = match grid_of(&options.input)? {
        Some(grid) => (Input::Grid(grid), Kept::default()),
        None => {
            let (block, kept) = read(ranks, options, quiet)?;
            (Input::Block(block), kept)
        }
    };
    let said_by_one = match options.polylla.precision {
        Precision::F64 => polylla::in_words_of_one::<DVec2>,
        Precision::F32 => polylla::in_words_of_one::<Vec2>,
    };
    let in_file = |fault| {
        let fault = match &input {
            Input::Block(block) => said_by_one(ranks, block, fault),
            Input::Grid(_) => fault,
        };
        with_file(fault, &options.input, options.polylla.precision)
    };
    let part = match options.polylla.precision {
        Precision::F64 => part_of::<DVec2>,
        Precision::F32 => part_of::<Vec2>,
    };
    let part = part(ranks, &input).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = match options.polylla.precision {
        Precision::F64 => find::<DVec2>,
        Precision::F32 => find::<Vec2>,
    };
    let settings = polylla::Options {
        strict: options.polylla.strict,
    };
    let found = find(ranks, &on, part, settings).map_err(in_file)?;
    let counts = found.counts;
    let digest = match options.polylla.digest {
        true => {
            ranks.phase("digest");
            Some(found.digest(ranks, &on)?)
        }
        false => None,
    };
    let [vertices, triangles] = match &input {
        Input::Block(block) => [block.vertices, block.cells],
        Input::Grid(grid) => [grid.vertices(), grid.triangles()],
    };
    if let Some(path) = &options.output {
        write(ranks, path, (input, kept), (found, &on), quiet)?;
    }
    let totals = Totals {
        vertices,
        triangles,
        polygons: counts.polygons,
        regions: counts.regions,
        frontier_edges: counts.frontier_edges,
        barrier_tips: counts.barrier_tips,
        weakly_simple: counts.weakly_simple,
        digest,
        repair_rounds: None,
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

/// What a rank has of the input.
enum Input {
    /// Its block, read or scattered.
    Block(Block),
    /// Nothing yet: it makes its part.
    Grid(Grid),
}

/// What rank 0 keeps of a mesh that it has read for all; other ranks keep nothing.
#[derive(Default)]
struct Kept {
    carried: Carried,
    /// The mesh, where its triangles have fields.
    mesh: Option<Triangulation>,
}

impl Kept {
    /// The mesh of the polygons with what is carried; `half_edges` are the smallest of the polygons.
    fn put(mut self, mesh: &mut Mesh, half_edges: &[u64]) {
        if let (Some(whole), Faces::Polygons(polygons)) = (&self.mesh, &mesh.faces) {
            let half_edges: Vec<u32> = half_edges.iter().map(|&h| h as u32).collect();
            let mix = triangles_of_polygons(whole, polygons, &half_edges);
            self.carried.fields.cells = self.carried.fields.cells.mixed(&mix);
        }
        self.carried.put(mesh);
    }
}

/// This rank's part of the mesh. Collective.
fn part_of<P: Point>(ranks: &Ranks, input: &Input) -> Result<Part> {
    match input {
        Input::Block(block) => part_to_find_in::<P>(ranks, block, &Ownership::Near),
        Input::Grid(grid) => Part::of_grid(ranks, grid),
    }
}

/// Writes the polygons of all ranks. Collective.
fn write(
    ranks: &Ranks,
    path: &Path,
    (input, kept): (Input, Kept),
    (found, on): (Found, &Device),
    quiet: bool,
) -> Result<()> {
    ranks.phase("polygons to the host");
    let block = match input {
        Input::Block(block) => block,
        Input::Grid(grid) => Block::of_vertices_of_grid(ranks, &grid),
    };
    let is_carried = ranks.reduce(u64::from(!kept.carried.is_empty()), Reduction::Or) != 0;
    if is_pvtu(path) && !is_carried {
        let polygons = found.into_polygons(ranks, on)?;
        return pieces::write_polygons(ranks, path, &block, polygons);
    }
    let ordered = found.into_ordered(ranks, on, [block.vertices, block.cells])?;
    if has_extension(path, "ply") && !is_carried {
        return output::write_ply(ranks, path, &block, ordered);
    }
    let said = "rank 0 gathers the polygons and writes them: .ply and .pvtu without fields are written by all";
    note(quiet, said);
    let mesh = output::gather(ranks, &block, &ordered)?;
    let half_edges = match is_carried {
        true => output::to_first(ranks, &ordered.half_edges),
        false => Vec::new(),
    };
    drop(ordered);
    ranks.phase("write");
    let mesh = mesh.map(|mut mesh| {
        kept.put(&mut mesh, &half_edges);
        mesh
    });
    write_surface(ranks, path, mesh, quiet)
}

/// Refuses what one process does and several do not.
fn refuse(options: &Options) -> Result<()> {
    check_surface(options.output.as_deref())?;
    let wrong = if options.polylla.method == DataStructure::Indexed {
        "--method indexed is for one process"
    } else if options.polylla.ties == Ties::First {
        "--ties first is for one process"
    } else {
        return Ok(());
    };
    Err(Error::Argument(format!("{wrong}: leave it out, or start it without mpirun")).into())
}

/// This rank's block of the input: read from the file by all ranks, or by rank 0 for all, which keeps what does not
/// cross.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<(Block, Kept)> {
    let slice = read_slices(ranks, &options.input, in_plane)?;
    let (mut block, mut kept) = match slice {
        Some(block) => (block, Kept::default()),
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
            let (mesh, carried) = whole.unzip();
            let block = Block::scatter(ranks, mesh.as_ref().map(Into::into));
            let carried = carried.unwrap_or_default();
            let has_fields = !carried.fields.cells.is_empty() && options.output.is_some();
            let mesh = mesh.filter(|_| has_fields);
            (block, Kept { carried, mesh })
        }
    };
    if options.polylla.unconstrained {
        block.regions = None;
        block.segments.clear();
        kept.carried.fields.sides = Fields::default();
    }
    Ok((block, kept))
}

/// This rank's vertices in the plane of the first of all; `None` where they are not.
fn in_plane(z: f64, points: Vec<DVec3>) -> Option<Vec<DVec2>> {
    in_plane_of(&points, z).filter(|points| points.is_empty() || z.is_finite())
}

/// The whole mesh, and what it carries.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Triangulation, Carried)> {
    let mut mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    let carried = check_faces(&mesh).and_then(|()| Carried::take(&mut mesh));
    carried
        .and_then(|carried| Ok((mesh.into_triangulation()?, carried)))
        .map_err(|error| error.in_file(&options.input))
}
