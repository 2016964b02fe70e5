//! Vertex clustering on ranks, to the clusters, positions and triangles of the single run.
//!
//! | stage | work | data sent |
//! | --- | --- | --- |
//! | distribution | points to the ranks along a curve ([`Ownership`]), unless the blocks are apart in space | a row a point |
//! | ghosts | cubes of space that several ranks have, and the points in them | two words a cube, a row a ghost |
//! | weld | each rank decides its own points as far as it can, and sends the states to the others ([`Rest`]) | four bytes a ghost |
//! | clusters | the owner of a representative has all members, in the order of their ids: positions are sums of the single run | two words a ghost; of points with owners elsewhere a word and a row |
//! | triangles | the rank that has a triangle's middle vertex finds repeated ones | three words and a byte a triangle |
//!
//! Representatives, clusters and triangles stay on the device. Only the data for other ranks and the [`Wanted`] results
//! come to the host.
//!
//! Where ranks own the [blocks](crate::Ownership::Rows) of a plain grid, the host has no points or triangles, and the
//! first two stages send nothing.
//!
//! A scan over the blocks of the input's ids numbers the new vertices, which stay in the blocks of their
//! representatives:
//! the blocks in the order of ranks are the single run's arrays.

mod boxes;
mod clusters;
mod cubes;
mod faces;
mod ghosts;
mod grid;
mod numbered;
mod part;
mod points;
mod resident;
mod rounds;
mod whole;

use glam::DVec3;
use trioxide::Device;
use trioxide::mesh::{Segment, VertexAttributes};
use trioxide::weld::{
    self, Carried, EpsilonFound, Error, Guards, Options, carry_share, check_share, weld_segments,
};

use crate::block::Block;
use crate::directory::Fetched;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::ownership::Ownership;
use crate::transport::Ranks;

use faces::Triangles;
use numbered::Numbered;
use points::{Dealt, Source};
use resident::Resident;

pub use rounds::{Rest, Rounds};
pub use whole::{gather, gather_map, scatter};

/// Sharing of the work, and the arrays that are asked for. The result does not depend on the plan.
#[derive(Clone, Default)]
pub struct Plan {
    /// Owners of the points.
    pub ownership: Ownership,
    /// Treatment of points that wait for other ranks.
    pub rest: Rest,
    /// Arrays that come to the host's memory.
    pub wanted: Wanted,
}

/// The arrays of a welded mesh that come to the host's memory. [`Welded`] has empty lists for the others; counts and
/// segments are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The new vertex of each old one, and the representatives.
    pub map: bool,
    /// Positions, attributes, triangles and regions.
    pub mesh: bool,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            map: true,
            mesh: true,
        }
    }
}

/// A rank's slice of a welded mesh: the slices in the order of ranks are the single run's arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Welded {
    /// New vertices of the whole mesh.
    pub clusters: u64,
    /// Remaining triangles of the whole mesh.
    pub faces: u64,
    /// New vertex of each vertex of the block.
    pub map: Vec<u64>,
    /// Old vertex that represents each new one, ascending.
    pub representatives: Vec<u64>,
    /// New positions.
    pub points: Vec<DVec3>,
    /// Attributes of the new vertices.
    pub attributes: VertexAttributes,
    /// New vertices of the block's remaining triangles, three each.
    pub corners: Vec<u64>,
    /// Regions of these, if the mesh has them and a triangle remains.
    pub regions: Option<Vec<i32>>,
    /// All segments that remain.
    pub segments: Vec<Segment>,
    /// Counts of the rounds.
    pub rounds: Rounds,
}

/// Welds the mesh, or the cloud without triangles, whose blocks the ranks hold; `carried` has the attributes and locks
/// of the block's vertices. A plain grid of the plan's ownership without attributes and locks needs only the block's
/// [counts](Block::counts_of_grid). Collective.
///
/// # Errors
/// As [`weld::weld`], in the same words on every rank; methods that need one process ([`check_share`]).
pub fn weld(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    carried: &Carried,
    options: &Options,
    plan: &Plan,
) -> Result<Welded> {
    ranks.agree(check(ranks, block, options))?;
    let dealt = Dealt::deal(ranks, block, carried, &plan.ownership, options.reach());
    let resident = Resident::find(ranks, on, &dealt, options.reach())?;
    let (mut decided, rounds) = resident.decide(ranks, on, options, plan)?;
    let Resident { part, mesh, .. } = resident;

    ranks.phase("clusters");
    let of_ghosts = clusters::join(ranks, on, &part, &mut decided)?;
    let carried = ranks.agree(carry_share(on, &mesh, options, &decided))?;
    drop(mesh);
    let decided = (decided, of_ghosts);
    let (mut welded, mut numbered) =
        clusters::number(ranks, on, &dealt, &part, decided, carried, plan.wanted)?;
    drop(part);
    let triangles = Triangles::of(block, &dealt);
    drop(dealt);
    welded.rounds = rounds;
    let is_wanted = plan.wanted.mesh;
    let left = faces::weld(ranks, on, &triangles, &mut numbered, options, is_wanted)?;
    welded.faces = ranks.sum(left.count as u64);
    welded.corners = left.corners;
    welded.regions = left.regions.filter(|_| welded.faces > 0);
    welded.segments = segments(ranks, on, block, &mut numbered, options)?;
    Ok(welded)
}

/// The epsilon that removes the fraction `ratio` of the points, as [`weld::epsilon_for_ratio`] finds it. Collective.
///
/// # Errors
/// As there.
pub fn epsilon_for_ratio(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    carried: &Carried,
    guards: &Guards,
    ratio: f64,
    plan: &Plan,
) -> Result<EpsilonFound> {
    let options = Options {
        guards: *guards,
        ..Options::new(0.0)
    };
    ranks.agree(weld::check_ratio(ratio))?;
    ranks.agree(check(ranks, block, &options))?;
    // The reach is not known yet. Blocks that are apart remain so for a reach that is small compared with them.
    let dealt = Dealt::deal(ranks, block, carried, &plan.ownership, 0.0);
    ranks.phase("search epsilon");
    let samples = weld::samples_of_spacing(block.vertices);
    let samples: Vec<DVec3> = match dealt.source {
        Source::Grid(grid) => samples.iter().map(|&v| grid.place(v).extend(0.0)).collect(),
        Source::Lists(..) => {
            let asked = IdSet::of_list(&samples);
            let sampled = Fetched::of(ranks, block.vertices, asked, &block.points);
            samples.iter().map(|&v| sampled.get(v)).collect()
        }
    };
    let spacing = weld::spacing_of(&samples, block.vertices);
    let mut fault = None;
    // The search begins below the spacing, doubles, and goes back: parts for a wider reach serve a narrower one.
    let with = |epsilon: f64| Options { epsilon, ..options };
    let mut resident: Option<Resident> = None;
    let mut kept = |epsilon: f64| {
        let options = with(epsilon);
        let resident = match resident.take() {
            Some(wide) if wide.reach >= options.reach() => resident.insert(wide),
            _ => {
                let reach = options.reach().max(with(spacing).reach());
                resident.insert(Resident::find(ranks, on, &dealt, reach)?)
            }
        };
        resident.count_kept(ranks, on, &options, plan)
    };
    let removed = |epsilon: f64| {
        kept(epsilon)
            .map(|kept| weld::fraction_removed(block.vertices as usize, kept as usize))
            .map_err(|error| {
                fault = Some(error);
                trioxide::Error::Interrupted.into()
            })
    };
    let extent = || {
        let [least, most] = dealt.source.bounds();
        Ok(weld::extent_between(least, most))
    };
    // All ranks search with the same numbers, so all make the same clusterings.
    let found = weld::search(ratio, spacing, extent, removed);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(found?),
    }
}

/// Refuses options, and points and triangles of the block that cannot be welded.
fn check(ranks: &Ranks, block: &Block<DVec3>, options: &Options) -> Result<()> {
    let first = |total: u64| ranks.block(total).start;
    check_share(&block.points, options).map_err(|error| match error {
        Error::Coordinate { vertex } => {
            let vertex = first(block.vertices) + vertex as u64;
            let error = Error::Coordinate {
                vertex: vertex as usize,
            };
            Fault::of_mesh(0, vertex, error.to_string())
        }
        error => error.into(),
    })?;
    let Some(i) = block.corners.beyond(block.vertices) else {
        return Ok(());
    };
    let face = first(block.cells) + i as u64 / 3;
    let error = Error::FaceIndex {
        face: face as usize,
    };
    Err(Fault::of_mesh(1, face, error.to_string()))
}

/// The segments that remain, on every rank. Collective.
fn segments(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    numbered: &mut Numbered,
    options: &Options,
) -> Result<Vec<Segment>> {
    if block.segments.is_empty() {
        return Ok(Vec::new());
    }
    let ends = block.segments.iter().flat_map(|segment| segment.ends);
    let ends = ends.map(u64::from).filter(|&v| v < block.vertices);
    let asked = IdSet::of_list(&ends.collect::<Vec<u64>>());
    let new = numbered.fetch(ranks, on, asked)?;
    let end = |v: u32| (u64::from(v) < block.vertices).then(|| new.get(v.into()) as u32);
    let left = weld_segments(&block.segments, end, options.keep_degenerate);
    Ok(ranks.agree(left)?.0)
}
