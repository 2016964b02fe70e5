//! The refined mesh in the order of its ids: a block of it a rank, or all of it at rank 0.

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{NONE, Refinement, Segment, Triangulation};
use trioxide::refine::{End, segments};
use trioxide_mesh::parallel;

use super::part::Edges;
use super::rows::{ancestor, corners, sides, tags};
use super::{Counts, Left, Round, Run};
use crate::block::{Block, Blocks, to_blocks};
use crate::check::check_ids;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::output::to_first;
use crate::owned::Owned;
use crate::ownership::{Position, fetch};
use crate::rows::Rows;
use crate::transport::{Mail, Ranks, Reduction};

/// A rank's block of a refined mesh: the blocks of all ranks, one behind the other, are the single run's arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined<P> {
    /// Elements of the whole mesh.
    pub counts: Counts,
    /// Points of the block's vertices.
    pub points: Vec<P>,
    /// Vertices of the block's triangles, three each.
    pub corners: Vec<u64>,
    /// Triangle of the input that each of them is a part of.
    pub ancestors: Vec<u64>,
    /// Region of each of them, if the mesh has regions.
    pub regions: Option<Vec<i32>>,
    /// All segments, in the order of their edges' ids.
    pub segments: Vec<Segment>,
    /// Where this rank's new elements come from, of each round; empty lists, if that is not asked for.
    pub rounds: Vec<Round>,
    /// The reason why it ended.
    pub end: End,
    /// How often the ranks told each other edges to divide, in all rounds.
    pub exchanges: u64,
}

impl<P: AnyPoint> Run<P>
where
    P::Double: Position,
{
    /// The refined mesh in the order of its ids; `block` is of the input. Collective.
    ///
    /// # Errors
    /// Segments of a mesh with more vertices than they name; errors of the device.
    pub fn into_blocks(
        self,
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
    ) -> Result<Refined<P::Double>> {
        let (counts, mut part) = (self.counts, self.part);
        match part.has_tags {
            // Segments have the order of their edges' ids.
            true => part.name_edges(ranks),
            false => part.edges = Edges::Unneeded,
        }
        let pieces = match self.left {
            Left::Whole(share) => share.download(on),
            Left::Divided(divided) => divided.named(ranks, &mut part, counts).download(on),
        };
        ranks.phase("pieces");
        let owned = part.to_owned(ranks, &ranks.agree(pieces.map_err(Fault::from))?);
        drop(part);
        ranks.phase("order of triangles");
        let points = points(ranks, block, &owned, counts.vertices);
        let (corners, ancestors) = triangles(ranks, &owned.rows, counts.triangles);
        let regions = block.regions.as_ref().map(|regions| {
            let asked = IdSet::of_list(&ancestors);
            let found = fetch(ranks, block.cells, &asked.to_vec(), regions);
            let place = |t: u64| asked.place(t).expect("it was asked for");
            parallel::map(&ancestors, |&t| found[place(t) as usize])
        });
        let segments = match block.segments.is_empty() {
            true => Vec::new(),
            false => {
                ranks.agree(check_ids(counts.vertices))?;
                tagged(ranks, &owned.rows, &self.markers)
            }
        };
        Ok(Refined {
            counts,
            points,
            corners,
            ancestors,
            regions,
            segments,
            rounds: self.rounds,
            end: self.end,
            exchanges: self.exchanges,
        })
    }
}

/// The points of this rank's block of all vertices, in the precision of the run. Collective.
fn points<P: AnyPoint>(
    ranks: &Ranks,
    block: &Block<P::Double>,
    owned: &Owned<P>,
    vertices: u64,
) -> Vec<P::Double>
where
    P::Double: Position,
{
    let size = ranks.size();
    let blocks = Blocks::new(vertices, size);
    let mut points: Vec<P> = parallel::zeroed(blocks.range(ranks.rank()).count());
    // Vertices of the input without a triangle are here alone. Where each has one, the block may be left out.
    let given = ranks.reduce(block.points.len() as u64, Reduction::Sum);
    let first = Blocks::new(block.vertices, size).range(ranks.rank()).start;
    let of_input = |i: usize| Some(P::from_f64(block.points[i]));
    let id = |i: usize| first + i as u64;
    to_blocks(ranks, blocks, block.points.len(), id, of_input, &mut points);
    let id = |i: usize| owned.vertices[i];
    let value = |i: usize| (id(i) >= given).then(|| owned.points[i]);
    to_blocks(ranks, blocks, owned.points.len(), id, value, &mut points);
    parallel::map(&points, |&p| p.to_f64())
}

/// The triangles of this rank's block, by their ids: their vertices, and the triangles of the input that they are parts of. Collective.
fn triangles(ranks: &Ranks, owned: &Rows, triangles: u64) -> (Vec<u64>, Vec<u64>) {
    let blocks = Blocks::new(triangles, ranks.size());
    let mut rows: Vec<[u64; 4]> = parallel::zeroed(blocks.range(ranks.rank()).count());
    let value = |i: usize| {
        let row = owned.get(i);
        let corners = corners(row);
        Some([corners[0], corners[1], corners[2], ancestor(row)])
    };
    let id = |i: usize| owned.id(i);
    to_blocks(ranks, blocks, owned.len(), id, value, &mut rows);
    let corners = parallel::map(&rows, |&[a, b, c, _]| [a, b, c]);
    let ancestors = parallel::map(&rows, |row| row[3]);
    (corners.into_flattened(), ancestors)
}

/// All segments, in the order of the ids of their edges, along their owners. Collective.
fn tagged(ranks: &Ranks, owned: &Rows, markers: &[i32]) -> Vec<Segment> {
    let mut mine: Vec<[u64; 4]> = Vec::new();
    for row in owned.words.chunks_exact(owned.stride) {
        let corners = corners(row);
        for (k, (&side, &tag)) in sides(row).iter().zip(tags(row)).enumerate() {
            if tag != 0 && side & 1 == 0 {
                mine.push([side >> 1, corners[k], corners[(k + 1) % 3], tag]);
            }
        }
    }
    let copies = mine.repeat(ranks.size());
    let counts = std::iter::repeat_n(mine.len(), ranks.size());
    let mut all = ranks
        .exchange(&Mail::from_parts(copies, counts))
        .into_items();
    all.sort_unstable();
    let ends = all.iter().map(|&[_, a, b, _]| [a as u32, b as u32]);
    segments(markers, ends, all.iter().map(|&[.., tag]| tag))
}

/// The refined mesh as the single run has it.
#[derive(Clone, Debug, Default)]
pub struct Whole<P> {
    /// Points, triangles, regions and segments.
    pub mesh: Triangulation<P>,
    /// Triangle of the input that each triangle is a part of.
    pub ancestors: Vec<u32>,
    /// The records of the rounds, if they were asked for.
    pub rounds: Vec<Refinement>,
}

/// Refuses meshes that no process holds.
fn check_narrow(counts: Counts) -> Result<()> {
    let Counts {
        vertices,
        edges,
        triangles,
    } = counts;
    if vertices.max(edges).max(triangles) < u64::from(NONE) {
        return Ok(());
    }
    Err(trioxide::Error::Argument(format!(
        "{vertices} vertices, {edges} edges and {triangles} triangles are more than the 32-bit ids of one process: let each rank write"
    ))
    .into())
}

/// The refined mesh at rank 0; other ranks get none. Collective.
///
/// # Errors
/// More vertices, edges or triangles than 32-bit ids name.
pub fn gather<P: Position>(ranks: &Ranks, refined: &Refined<P>) -> Result<Option<Whole<P>>> {
    ranks.phase("gather");
    ranks.agree(check_narrow(refined.counts))?;
    let narrow = |ids: &[u64]| {
        let ids = parallel::map(ids, |&id| id as u32);
        to_first(ranks, &ids)
    };
    let points = to_first(ranks, &refined.points);
    let corners = narrow(&refined.corners);
    let ancestors = narrow(&refined.ancestors);
    let regions = refined.regions.as_ref();
    let regions = regions.map(|regions| to_first(ranks, regions));
    let rounds = refined.rounds.iter().map(|round| {
        let mut vertices = to_first(ranks, &round.vertices);
        let mut triangles = to_first(ranks, &round.triangles);
        vertices.sort_unstable();
        triangles.sort_unstable();
        Refinement {
            divided: vertices.iter().map(|&[_, edge, ..]| edge as u32).collect(),
            ends: vertices
                .iter()
                .map(|&[.., a, b]| [a as u32, b as u32])
                .collect(),
            parents: triangles.iter().map(|&[_, parent]| parent as u32).collect(),
        }
    });
    let rounds = rounds.collect();
    Ok((ranks.rank() == 0).then(|| Whole {
        mesh: Triangulation {
            points,
            triangles: corners.as_chunks().0.to_vec(),
            regions,
            segments: refined.segments.clone(),
        },
        ancestors,
        rounds,
    }))
}
