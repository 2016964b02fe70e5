//! `mpirun … trioxide polylla`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2};
use trioxide::Device;
use trioxide::fields::{Carried, Fields};
use trioxide::generate::Grid;
use trioxide::half_edges::Point;
use trioxide::mesh::{Faces, Mesh, Ties, Triangulation};
use trioxide::polylla::triangles_of_polygons;
use trioxide_arguments::device::to_values;
use trioxide_arguments::note;
use trioxide_operations::input::check_planar_faces;
use trioxide_operations::polylla::{DataStructure, Totals};
use trioxide_ranks::block::in_plane_of;
use trioxide_ranks::output::pieces;
use trioxide_ranks::polylla::{self, Found, find, in_words_of_one, part_to_find_in};
use trioxide_ranks::{Block, Ownership, Part, Ranks, Result, output};

use super::files::{check_output, is_pvtu, write_surface};
use super::rank::{
    Starting, at_first, has_extension, in_precision, is_quiet, refuse, refuse_levels, with_file,
};
use super::report::{Ending, report};
use super::slices::{READ_BY_EACH, grid_of, note_first_reads, read_slices};
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
    check_output(options.output.as_deref(), false)?;
    refuse_options(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let (input, kept) = match grid_of(&options.input)? {
        Some(grid) => (Input::Grid(grid), Kept::default()),
        None => {
            let (block, kept) = read(ranks, options, quiet)?;
            (Input::Block(block), kept)
        }
    };
    let precision = options.polylla.precision;
    let said_by_one = in_precision!(precision, in_words_of_one::<DVec2, Vec2>);
    let in_file = |fault| {
        let fault = match &input {
            Input::Block(block) => said_by_one(ranks, block, fault),
            Input::Grid(_) => fault,
        };
        with_file(fault, &options.input)
    };
    let part = in_precision!(precision, part_of::<DVec2, Vec2>);
    let part = part(ranks, &input).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = in_precision!(precision, find::<DVec2, Vec2>);
    let settings = polylla::Options {
        strict: options.polylla.strict,
    };
    let found = find(ranks, &on, part, settings).map_err(in_file)?;
    let totals = found.totals;
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
        digest,
        ..totals
    };
    let run = (&*options.input, &options.device, on);
    report(ranks, "polylla", run, to_values(totals.counts()))
}

/// The input as a rank has it.
enum Input {
    /// Its block, read or scattered.
    Block(Block),
    /// Nothing yet: it makes its part.
    Grid(Grid),
}

/// The parts that rank 0 keeps of a mesh that it has read for all; other ranks keep nothing.
#[derive(Default)]
struct Kept {
    carried: Carried,
    /// The mesh, where its triangles have fields.
    mesh: Option<Triangulation>,
}

impl Kept {
    /// Puts the carried fields on the mesh of the polygons; `half_edges` are the polygons' smallest.
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
    let is_carried = ranks.any(!kept.carried.is_empty());
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
        true => ranks.gather(&ordered.half_edges),
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

/// Refuses options that several processes do not support.
fn refuse_options(options: &Options) -> Result<()> {
    refuse(match &options.polylla {
        wanted if wanted.method == DataStructure::Indexed => {
            Some("--method indexed is for one process: leave it out")
        }
        wanted if wanted.ties == Ties::First => {
            Some("--ties first is for one process: leave it out")
        }
        wanted if wanted.min_edge.is_some() => Some("--min-edge is for one process: leave it out"),
        wanted if wanted.convex_pieces => Some("--convex-pieces is for one process: leave it out"),
        wanted if !wanted.angles().are_free() => Some(
            "--feature-angle and --flatness are for surfaces in space, which one process joins: run without mpirun",
        ),
        _ => None,
    })?;
    refuse_levels(&options.polylla)
}

/// Reads this rank's block of the input: each rank reads its slice of the file, or rank 0 reads for all, and keeps the
/// parts that do not cross.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<(Block, Kept)> {
    let slice = read_slices(ranks, &options.input, in_plane)?;
    let (mut block, mut kept) = match slice {
        Some(block) => (block, Kept::default()),
        None => {
            let whole = at_first(ranks, || read_whole(options, quiet));
            note_first_reads(quiet, &options.input, READ_BY_EACH);
            let (mesh, carried) = whole?.unzip();
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

/// This rank's vertices, if they are in the plane of the first vertex of all.
fn in_plane(z: f64, points: Vec<DVec3>) -> Option<Vec<DVec2>> {
    in_plane_of(&points, z).filter(|points| points.is_empty() || z.is_finite())
}

/// Reads the whole mesh, and the data that it carries.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Triangulation, Carried)> {
    let mut mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    let checked = match !mesh.is_planar() && !mesh.faces.is_empty() {
        true => Err(trioxide::Error::Invalid {
            element: "the mesh".to_owned(),
            rule: "is a surface in space, which one process joins: run without mpirun".to_owned(),
        }),
        false => check_planar_faces(&mesh),
    };
    let carried = checked.and_then(|()| Carried::take(&mut mesh));
    carried
        .and_then(|carried| Ok((mesh.into_triangulation()?, carried)))
        .map_err(|error| commands::with_remedy(error.in_file(&options.input), "polylla"))
}
