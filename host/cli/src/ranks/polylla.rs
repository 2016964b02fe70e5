//! `mpirun … trioxide polylla`.

use std::path::Path;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::DoublePoint;
use trioxide::fields::{Carried, Fields};
use trioxide::generate::Grid;
use trioxide::half_edges::turn_clockwise;
use trioxide::levels::Nested;
use trioxide::mesh::{Faces, Mesh, PolygonMesh, Ties, Triangulation};
use trioxide::polylla::{PolygonTriangles, triangles_of_polygons};
use trioxide_arguments::device::to_values;
use trioxide_arguments::{note, note_all};
use trioxide_operations::Note;
use trioxide_operations::input::check_faces;
use trioxide_operations::polylla::{DataStructure, add_fields, of_pieces};
use trioxide_ranks::levels::levels;
use trioxide_ranks::output::pieces;
use trioxide_ranks::ownership::Position;
use trioxide_ranks::polylla::{self, Ordered, Points, find, in_words_of_one, part_to_find_in};
use trioxide_ranks::{
    Block, Fault, Ownership, Part, Ranks, Result, check, levels as nested, output,
};

use super::files::{check_output, is_pvtu, write_surface};
use super::levels::{give_levels, refuse_pieces_of_levels};
use super::rank::{Starting, at_first, has_extension, in_precision, is_quiet, refuse, with_file};
use super::report::{Ending, report};
use super::slices::{self, READ_BY_EACH, grid_of, note_first_reads, read_any};
use crate::commands;
use crate::commands::placeholder::{LEVEL, has_place, with_number};
use crate::commands::polylla::{Options, check_usage, write_levels};

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
    if let Some(grid) = grid_of(&options.input)? {
        let input = (Input::Grid(grid), Kept::default());
        return run_on::<DVec2, Vec2>(ranks, starting, options, input);
    }
    match read(ranks, options, quiet)? {
        Read::Plane(block, kept) => {
            run_on::<DVec2, Vec2>(ranks, starting, options, (Input::Block(block), kept))
        }
        Read::Space(block, kept) => {
            run_on::<DVec3, Vec3>(ranks, starting, options, (Input::Block(block), kept))
        }
    }
}

/// Runs on a mesh with points `P` in double precision, or `S` in single.
fn run_on<'a, P, S>(
    ranks: &Ranks,
    starting: Starting,
    options: &'a Options,
    (mut input, mut kept): (Input<P>, Kept<P>),
) -> Result<Ending<'a>>
where
    P: Points<Double = P> + Position + DoublePoint,
    S: Points<Double = P>,
{
    let precision = options.polylla.precision;
    let said_by_one = in_precision!(precision, in_words_of_one::<P, S>);
    let in_file = |input: &Input<P>, fault| {
        let fault = match input {
            Input::Block(block) => said_by_one(ranks, block, fault),
            Input::Grid(_) => fault,
        };
        with_file(fault, &options.input)
    };
    let part_of = in_precision!(precision, part_of::<P, S>);
    let part = part_of(ranks, &input).map_err(|fault| in_file(&input, fault))?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let find = in_precision!(precision, find::<P, S>);
    let settings = polylla::Options {
        strict: options.polylla.strict,
        angles: options.polylla.angles(),
    };
    let found = match find(ranks, &on, part, settings) {
        Ok(found) => found,
        Err(fault) => {
            let Some((turned, count)) = turned(ranks, &input, &fault) else {
                return Err(in_file(&input, fault));
            };
            let again = part_of(ranks, &turned).and_then(|part| find(ranks, &on, part, settings));
            match again {
                Ok(found) => {
                    kept.mesh.as_mut().map(turn_clockwise);
                    let quiet = is_quiet(ranks, &options.device);
                    note_all(Note::turned_triangles(count).as_slice(), quiet);
                    input = turned;
                    found
                }
                // As the single run has it.
                Err(other) if is_all(&input, count) => return Err(in_file(&turned, other)),
                Err(_) => return Err(in_file(&input, fault)),
            }
        }
    };
    let mut totals = found.totals;
    if options.polylla.digest {
        ranks.phase("digest");
        totals.digest = Some(found.digest(ranks, &on)?);
    }
    let [vertices, triangles] = match &input {
        Input::Block(block) => [block.vertices, block.cells],
        Input::Grid(grid) => [grid.vertices(), grid.triangles()],
    };
    (totals.vertices, totals.triangles) = (vertices, triangles);
    let goal = options.polylla.goal();
    if options.output.is_some() || goal.is_some() {
        ranks.phase("polygons to the host");
        let block = match input {
            Input::Block(block) => block,
            Input::Grid(grid) => Block::of_vertices_of_grid(ranks, &grid),
        };
        let is_carried = ranks.any(kept.carried != Carried::default()) || goal.is_some();
        match options.output.as_deref().filter(|_| !is_carried) {
            Some(path) if is_pvtu(path) => {
                let polygons = found.into_polygons(ranks, &on)?;
                pieces::write_polygons(ranks, path, &block, polygons)?;
            }
            Some(path) if has_extension(path, "ply") => {
                let ordered = found.into_ordered(ranks, &on, [vertices, triangles])?;
                output::write_ply(ranks, path, &block, ordered)?;
            }
            _ => {
                let ordered = found.into_ordered(ranks, &on, [vertices, triangles])?;
                let nested = goal.map(|goal| levels(ranks, &block, &ordered, goal));
                let nested = nested.transpose()?;
                if let Some(nested) = &nested {
                    totals.levels = Some(nested.parents.len() as u64);
                    totals.pieces = nested.counts.last().map(|&count| count as u64);
                }
                write_gathered(ranks, options, (block, kept), ordered, nested.as_ref())?;
            }
        }
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "polylla", run, to_values(totals.counts()))
}

/// The input as a rank has it.
enum Input<P> {
    /// Its block, read or scattered.
    Block(Block<P>),
    /// Nothing yet: it makes its part.
    Grid(Grid),
}

/// The parts that rank 0 keeps of a mesh that it has read for all; other ranks keep nothing.
struct Kept<P> {
    carried: Carried,
    /// The mesh, where its triangles have fields.
    mesh: Option<Triangulation<P>>,
}

impl<P> Default for Kept<P> {
    fn default() -> Self {
        Self {
            carried: Carried::default(),
            mesh: None,
        }
    }
}

impl<P: DoublePoint> Kept<P> {
    /// Puts the carried fields on the mesh of the polygons, and those of levels; `half_edges` are the polygons'
    /// smallest.
    fn put(mut self, mesh: &mut Mesh, half_edges: &[u32], nested: Option<&Nested>) {
        let cells = &mut self.carried.fields.cells;
        if let (Some(whole), Faces::Polygons(polygons)) = (&self.mesh, &mesh.faces) {
            *cells = cells.mixed(&triangles_of_polygons(whole, polygons, half_edges));
        }
        if let Some(nested) = nested {
            add_fields(nested, cells);
        }
        self.carried.put(mesh);
    }

    /// The pieces of a level as a mesh, with the carried fields.
    fn level(
        &self,
        polygons: &PolygonMesh<DVec3>,
        half_edges: &[u32],
        nested: &Nested,
        level: usize,
    ) -> Mesh {
        let mut mesh = Mesh::from(nested.mesh(polygons, level));
        let mut carried = self.carried.clone();
        if let Some(whole) = &self.mesh {
            let (polygons, count) = (&polygons.polygons, nested.pieces(level));
            let triangles = PolygonTriangles::of_mesh(whole, polygons, half_edges);
            let (of_pieces, firsts) =
                of_pieces(&triangles, half_edges, &nested.ancestors(level), count);
            let cells = &mut carried.fields.cells;
            *cells = cells.mixed(&of_pieces.mix(whole, &firsts));
        }
        carried.put(&mut mesh);
        mesh
    }
}

/// The mesh with its clockwise triangles turned, and their number; `None` where a fault has other causes. Collective.
fn turned<P: Position + DoublePoint>(
    ranks: &Ranks,
    input: &Input<P>,
    fault: &Fault,
) -> Option<(Input<P>, usize)> {
    match input {
        Input::Block(block) => {
            let (block, count) = check::turned(ranks, block, fault)?;
            Some((Input::Block(block), count))
        }
        Input::Grid(_) => None,
    }
}

/// Whether the mesh has `count` triangles.
fn is_all<P>(input: &Input<P>, count: usize) -> bool {
    matches!(input, Input::Block(block) if block.cells == count as u64)
}

/// This rank's part of the mesh. Collective.
fn part_of<P: Points>(ranks: &Ranks, input: &Input<P::Double>) -> Result<Part<P::Double>> {
    match input {
        Input::Block(block) => part_to_find_in::<P>(ranks, block, &Ownership::Near),
        Input::Grid(grid) => Part::of_grid(ranks, grid),
    }
}

/// Writes the polygons of all ranks, and their levels, from the mesh that rank 0 gathers. Collective.
fn write_gathered<P: Position + DoublePoint>(
    ranks: &Ranks,
    options: &Options,
    (block, kept): (Block<P>, Kept<P>),
    ordered: Ordered,
    nested: Option<&nested::Nested>,
) -> Result<()> {
    let quiet = is_quiet(ranks, &options.device);
    let whole = give_levels(ranks, options, nested)?;
    let Some(path) = &options.output else {
        return Ok(());
    };
    let said = "rank 0 gathers the polygons and writes them: .ply and .pvtu without fields and levels are written by all";
    note(quiet, said);
    let mesh = output::gather(ranks, &block, &ordered)?;
    let half_edges = match ranks.any(kept.mesh.is_some()) {
        true => ranks.gather(&ordered.half_edges),
        false => Vec::new(),
    };
    let half_edges: Vec<u32> = half_edges.iter().map(|&h| h as u32).collect();
    drop((block, ordered));
    ranks.phase("write");
    let has_levels = nested.is_some() && has_place(path, LEVEL);
    if has_levels {
        let written = match (&mesh, &whole) {
            (Some(mesh), Some(whole)) => write_each(path, mesh, whole, quiet, |mesh, level| {
                kept.level(mesh, &half_edges, whole, level)
            }),
            _ => Ok(()),
        };
        ranks.agree(written)?;
    }
    let finest = match has_levels {
        true => with_number(path, LEVEL, 0),
        false => path.clone(),
    };
    let mesh = mesh.map(|mut mesh| {
        kept.put(&mut mesh, &half_edges, whole.as_ref());
        mesh
    });
    write_surface(ranks, &finest, mesh, quiet)
}

/// Writes each level above 0 of the polygons of `mesh` to a file; `make` makes the mesh of one.
fn write_each(
    path: &Path,
    mesh: &Mesh,
    nested: &Nested,
    quiet: bool,
    make: impl Fn(&PolygonMesh<DVec3>, usize) -> Mesh,
) -> trioxide::Result<()> {
    let Faces::Polygons(polygons) = &mesh.faces else {
        unreachable!("the faces are polygons");
    };
    let polygons = PolygonMesh {
        points: mesh.points.clone(),
        polygons: polygons.clone(),
        regions: mesh.regions.clone(),
        segments: mesh.segments.clone(),
    };
    let write = |file: &Path, level| commands::write_mesh(file, &make(&polygons, level), quiet);
    write_levels(path, Some(nested.levels()), write).map(drop)
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
        _ => None,
    })?;
    refuse_pieces_of_levels(options)
}

/// This rank's block, and the parts that rank 0 keeps.
enum Read {
    Plane(Block<DVec2>, Kept<DVec2>),
    Space(Block<DVec3>, Kept<DVec3>),
}

/// Reads this rank's block of the input: each rank reads its slice of the file, or rank 0 reads for all, and keeps the
/// parts that do not cross.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<Read> {
    Ok(match read_any(ranks, &options.input)? {
        Some(slices::Input::Plane(block)) => Read::Plane(freed(block, options), Kept::default()),
        Some(slices::Input::Space(block)) => Read::Space(freed(block, options), Kept::default()),
        None => {
            let whole = at_first(ranks, || read_whole(options, quiet));
            note_first_reads(quiet, &options.input, READ_BY_EACH);
            let (plane, space) = match whole? {
                None => (None, None),
                Some(Whole::Plane(mesh, carried)) => (Some((mesh, carried)), None),
                Some(Whole::Space(mesh, carried)) => (None, Some((mesh, carried))),
            };
            if ranks.any(plane.is_some()) {
                let (block, kept) = scatter(ranks, plane, options);
                Read::Plane(block, kept)
            } else {
                let (block, kept) = scatter(ranks, space, options);
                Read::Space(block, kept)
            }
        }
    })
}

/// This rank's block of the mesh that rank 0 has, and the parts that it keeps. Collective.
fn scatter<P: Position>(
    ranks: &Ranks,
    whole: Option<(Triangulation<P>, Carried)>,
    options: &Options,
) -> (Block<P>, Kept<P>) {
    let (mesh, carried) = whole.unzip();
    let block = Block::scatter(ranks, mesh.as_ref().map(Into::into));
    let mut carried = carried.unwrap_or_default();
    let has_fields = !carried.fields.cells.is_empty() && options.output.is_some();
    if options.polylla.unconstrained {
        carried.fields.sides = Fields::default();
    }
    let mesh = mesh.filter(|_| has_fields);
    (freed(block, options), Kept { carried, mesh })
}

/// The block, without constraints if the options say so.
fn freed<P>(mut block: Block<P>, options: &Options) -> Block<P> {
    if options.polylla.unconstrained {
        block.regions = None;
        block.segments.clear();
    }
    block
}

/// A whole mesh, and the data that it carries.
enum Whole {
    Plane(Triangulation, Carried),
    Space(Triangulation<DVec3>, Carried),
}

/// Reads the whole mesh.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<Whole> {
    let mut mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    let carried = check_faces(&mesh).and_then(|()| Carried::take(&mut mesh));
    let whole = carried.and_then(|carried| match mesh.is_planar() {
        true => Ok(Whole::Plane(mesh.into_triangulation()?, carried)),
        false => Ok(Whole::Space(mesh.into_surface()?, carried)),
    });
    whole.map_err(|error| commands::with_remedy(error.in_file(&options.input), "polylla"))
}
