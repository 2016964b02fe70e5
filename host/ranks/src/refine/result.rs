//! The refined mesh in the order of its ids: a block of it a rank, or all of it at rank 0.

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{NONE, Refinement, Segment, Triangulation};
use trioxide::refine::End;
use trioxide_mesh::parallel;

use super::pieces::{Pieces, regions_of};
use super::{Elements, Round, Run};
use crate::block::{Block, to_blocks};
use crate::fault::Result;
use crate::output::narrow_ids;
use crate::ownership::Position;
use crate::transport::Ranks;

/// A rank's block of a refined mesh: the blocks in the order of ranks are the single run's arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined<P> {
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// Points of the block's vertices.
    pub points: Vec<P>,
    /// Vertices of the block's triangles, three each.
    pub corners: Vec<u64>,
    /// Triangle of the input that each of them is a part of.
    pub ancestors: Vec<u64>,
    /// Region of each of them, if the mesh has regions.
    pub regions: Option<Vec<i32>>,
    /// All segments, in the order of their edges' ids; without a round, the segments of the input.
    pub segments: Vec<Segment>,
    /// The origins of this rank's new elements for each round; empty lists if they are not asked for.
    pub rounds: Vec<Round>,
    /// The reason why it ended.
    pub end: End,
    /// Number of exchanges of divided edges, in all rounds.
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
        let (counts, of_part) = (self.counts, (self.part, self.left));
        let (pieces, of_part) = Pieces::of(ranks, on, block, of_part, counts)?;
        ranks.phase("order of triangles");
        let points = points(ranks, block, (&pieces, of_part), counts.vertices);
        let rows = pieces.rows_in_order(ranks, counts.triangles);
        let corners = parallel::map(&rows, |&[a, b, c, _]| [a, b, c]);
        let ancestors = parallel::map(&rows, |row| row[3]);
        drop(rows);
        let held = block.regions.as_deref();
        Ok(Refined {
            counts,
            points,
            corners: corners.into_flattened(),
            regions: held.map(|held| regions_of(ranks, block.cells, held, &ancestors)),
            ancestors,
            segments: match self.rounds.is_empty() {
                true => block.segments.clone(),
                false => pieces.segments(ranks, &self.markers)?,
            },
            rounds: self.rounds,
            end: self.end,
            exchanges: self.exchanges,
        })
    }
}

/// The points of this rank's block of all vertices, in the precision of the run. Collective.
pub(super) fn points<P: AnyPoint>(
    ranks: &Ranks,
    block: &Block<P::Double>,
    (pieces, of_part): (&Pieces, Vec<P>),
    vertices: u64,
) -> Vec<P::Double>
where
    P::Double: Position,
{
    let blocks = ranks.blocks(vertices);
    let mut points: Vec<P> = parallel::zeroed(blocks.range(ranks.rank()).count());
    let first = ranks.block(block.vertices).start;
    let of_input = |i: usize| Some(P::from_f64(block.points[i]));
    let id = |i: usize| first + i as u64;
    to_blocks(ranks, blocks, block.points.len(), id, of_input, &mut points);
    let new: Vec<usize> = pieces.new_vertices().flatten().collect();
    let id = |i: usize| pieces.vertex(new[i]);
    let value = |i: usize| Some(of_part[new[i]]);
    to_blocks(ranks, blocks, new.len(), id, value, &mut points);
    parallel::map(&points, |&p| p.to_f64())
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

/// Refuses meshes that one process cannot hold.
fn check_narrow(counts: Elements) -> Result<()> {
    let Elements {
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
    let narrow = |ids: &[u64]| ranks.gather(&narrow_ids(ids));
    let points = ranks.gather(&refined.points);
    let corners = narrow(&refined.corners);
    let ancestors = narrow(&refined.ancestors);
    let regions = refined.regions.as_ref();
    let regions = regions.map(|regions| ranks.gather(regions));
    let rounds = refined.rounds.iter().map(|round| {
        let mut vertices = ranks.gather(&round.vertices);
        let mut triangles = ranks.gather(&round.triangles);
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
