//! A rank's part of a mesh: the cells (triangles, or tetrahedra) that it owns, and the ghosts around them.
//!
//! The ghosts are all cells that touch a vertex of an owned one. Local ids ascend with the ids of the whole mesh, of vertices and
//! of cells: what compares two local ids decides as in the whole mesh.

use std::ops::Range;

use glam::DVec2;
use trioxide::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{NONE, Segment, Triangulation};
use trioxide::polylla::{self, Constraints};

use crate::block::{Block, Blocks};
use crate::cells::Cells;
use crate::fault::{Fault, Result};
use crate::ids::{IdSet, Ids, Owners};
use crate::merged::{Merged, Run};
use crate::ownership::{Ownership, Position, fetch_at};
use crate::rows::{Rows, vertices};
use crate::shape::Shape;
use crate::shared::{Near, Shared};
use crate::transport::{Mail, Ranks, Reduction};

pub use crate::rows::Halo;

/// Blocks stay with their ranks where at most one vertex in so many may be of several: then their ghosts are few.
const FEW: u64 = 16;

/// A rank's part of a mesh.
pub struct Part<P = DVec2> {
    /// Points of the vertices, and vertices of the owned cells and the ghosts.
    pub shape: Shape<P>,
    /// Corners of a cell.
    pub size: usize,
    /// Region of each cell, if the mesh has them.
    pub regions: Option<Vec<i32>>,
    /// Segments that may be edges at an owned cell's vertex, by local ids.
    pub segments: Vec<Segment>,
    /// Place of each of these segments among all of the mesh.
    pub places: Vec<usize>,
    /// Id in the whole mesh of each vertex.
    pub vertices: Ids,
    /// The vertices of owned cells, whose cells are all here.
    pub owned_vertices: Ids,
    /// Id in the whole mesh of each cell.
    pub cells: Ids,
    /// The rank that owns each cell.
    pub owners: Owners,
    /// Where items of cells go and come from.
    pub halo: Halo,
    /// The vertices of owned cells at which other ranks own cells too: vertex and rank, ascending.
    pub shared: Vec<[u64; 2]>,
}

impl<P: Position> Part<P> {
    /// This rank's part of the mesh whose blocks the ranks hold. Collective.
    ///
    /// # Errors
    /// A vertex id out of range; a part with more cells or vertices than 32-bit ids name.
    pub fn build(ranks: &Ranks, block: &Block<P>, ownership: &Ownership) -> Result<Self> {
        Self::with_segments(ranks, block, &block.segments, ownership)
    }

    /// As [`Part::build`], with no regard to segments. Collective.
    ///
    /// # Errors
    /// As there.
    pub fn without_segments(
        ranks: &Ranks,
        block: &Block<P>,
        ownership: &Ownership,
    ) -> Result<Self> {
        Self::with_segments(ranks, block, &[], ownership)
    }

    fn with_segments(
        ranks: &Ranks,
        block: &Block<P>,
        all: &[Segment],
        ownership: &Ownership,
    ) -> Result<Self> {
        if let Ownership::Rows(grid) = ownership {
            return Self::of_grid(ranks, grid);
        }
        ranks.phase("ownership");
        ranks.agree(check_corners(ranks, block))?;
        let of_block = Cells::of_block(ranks, block);
        let total = block.vertices;
        let mut near = None;
        let stays = match ownership {
            _ if ranks.size() == 1 => true,
            Ownership::Blocks => true,
            Ownership::Near => {
                let found = Near::find(ranks, of_block.vertices(), total);
                near = found.are_few(ranks, FEW).then_some(found);
                near.is_some()
            }
            Ownership::Curve | Ownership::Rows(_) | Ownership::Given(_) => false,
        };
        let dealt = (!stays).then(|| {
            let owners = ownership.owners(ranks, block);
            ranks.phase("distribution");
            deal(ranks, &of_block, &owners).sorted()
        });
        let owned = dealt.as_ref().map_or(of_block, |rows| Cells::Rows {
            rows,
            size: block.size,
        });

        ranks.phase("ghosts");
        let near = near.unwrap_or_else(|| Near::find(ranks, owned.vertices(), total));
        let shared = Shared::find(ranks, near, total);
        let (sent, ghosts) = shared.send(ranks, &owned);
        let counts = ghosts.counts().into_iter();
        let stride = owned.stride();
        let counts: Vec<usize> = counts.map(|words| words as usize / stride).collect();
        let ghosts = Rows {
            words: ghosts.into_items(),
            stride,
        };
        let (before, ghost) = (|id| owned.before(id), |i| ghosts.id(i));
        let merged = Merged::new(ranks, owned.len(), before, &sent, &counts, ghost);
        let Merged {
            places,
            owners,
            halo,
        } = merged;

        let of_ghosts = |i: usize| vertices(ghosts.get(i), block.size);
        let of_ghosts: Vec<u64> = (0..ghosts.len()).flat_map(of_ghosts).copied().collect();
        let set = shared.vertices.with(&of_ghosts);
        let ids = set.to_ids();
        ranks.agree(check_size(ranks, ids.len(), block.size * places.len()))?;
        let first = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
        let points = fetch_at(
            ranks,
            total,
            ids.len(),
            |i| ids.get(i),
            |id| block.points[(id - first) as usize],
        );
        let local = |vertex: u64| match &ids {
            Ids::Range { .. } => ids.place(vertex),
            Ids::List(_) => set.place(vertex),
        };
        let local = |vertex: u64| local(vertex).unwrap_or(NONE);
        let corners = places.collect(block.size, |run, corners| match run {
            Run::Owned(cells) => {
                for (i, corners) in cells.zip(corners.chunks_exact_mut(block.size)) {
                    for (k, corner) in corners.iter_mut().enumerate() {
                        *corner = local(owned.corner(i, k));
                    }
                }
            }
            Run::Ghost(i) => {
                for (corner, &vertex) in corners.iter_mut().zip(vertices(ghosts.get(i), block.size))
                {
                    *corner = local(vertex);
                }
            }
        });
        let (segments, of_segments) = local_segments(all, local, |v| shared.has(v));
        check_segments(ranks, total, all, &shared, &set)?;
        let region = |i: usize| ghosts.get(i)[stride - 1] as i32;
        Ok(Self {
            shape: Shape::Lists { points, corners },
            size: block.size,
            regions: block.regions.as_ref().map(|_| {
                places.collect(1, |run, regions| match run {
                    Run::Owned(cells) => {
                        let cells = regions.iter_mut().zip(cells);
                        cells.for_each(|(to, i)| *to = owned.region(i));
                    }
                    Run::Ghost(i) => regions[0] = region(i),
                })
            }),
            segments,
            places: of_segments,
            cells: places.all_ids(|i| owned.id(i), ghost),
            vertices: ids,
            owned_vertices: shared.vertices.to_ids(),
            owners,
            halo,
            shared: shared.others,
        })
    }
}

impl Part {
    /// The constraints of a part of triangles, whose half-edges are `mesh`; `None` where it has neither regions nor segments.
    ///
    /// # Errors
    /// As [`Constraints::of`], by local ids.
    pub fn constraints<P: Point>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> polylla::Result<Option<Constraints>> {
        // Points and triangles play no part.
        let constrained = Triangulation {
            regions: self.regions.clone(),
            segments: self.segments.clone(),
            ..Triangulation::default()
        };
        Constraints::of(on, mesh, &constrained)
    }

    /// The id in the whole mesh of a triangle's half-edge.
    pub fn half_edge(&self, h: u32) -> u64 {
        half_edge(&self.cells, h)
    }

    /// Whether this rank owns each half-edge: a bit each.
    pub fn owned_half_edges(&self, rank: usize) -> Vec<u32> {
        owned_bits(&self.owners, rank, 3)
    }
}

/// `each` bits of every cell with these owners: set where a rank owns it.
pub(crate) fn owned_bits(owners: &Owners, rank: usize, each: usize) -> Vec<u32> {
    let mut bits = vec![0_u32; (each * owners.len()).div_ceil(32)];
    for cells in owners.of_rank(rank as u32) {
        set_range(&mut bits, each * cells.start..each * cells.end);
    }
    bits
}

/// The id in the whole mesh of a half-edge of triangles with these ids.
pub(crate) fn half_edge(cells: &Ids, h: u32) -> u64 {
    3 * cells.get(h as usize / 3) + u64::from(h % 3)
}

/// Sets a range of bits, 32 to a word.
fn set_range(bits: &mut [u32], range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    let (first, last) = (range.start / 32, (range.end - 1) / 32);
    let from = u32::MAX << (range.start % 32);
    let until = u32::MAX >> (31 - (range.end - 1) % 32);
    if first == last {
        bits[first] |= from & until;
        return;
    }
    bits[first] |= from;
    bits[first + 1..last].fill(u32::MAX);
    bits[last] |= until;
}

/// Refuses vertex ids that are out of range.
fn check_corners<P>(ranks: &Ranks, block: &Block<P>) -> Result<()> {
    let ends = block.corners.ends();
    if ends.is_none_or(|[_, most]| most < block.vertices) {
        return Ok(());
    }
    let Some(i) = block.corners.beyond(block.vertices) else {
        return Ok(());
    };
    let first = Blocks::new(block.cells, ranks.size())
        .range(ranks.rank())
        .start;
    let id = first + (i / block.size) as u64;
    let element = if block.size == 3 { "triangle" } else { "cell" };
    let text = format!("{element} {id} has a vertex index that is out of range");
    Err(Fault::of_mesh(1, id, text))
}

/// Refuses a part that 32-bit ids do not name.
pub(crate) fn check_size(ranks: &Ranks, vertices: usize, corners: usize) -> Result<()> {
    if corners < NONE as usize && vertices < NONE as usize {
        return Ok(());
    }
    let rank = ranks.rank();
    Err(trioxide::Error::Argument(format!(
        "rank {rank} would hold {vertices} vertices, and cells with {corners} corners, more than 32-bit ids name: use more ranks"
    ))
    .into())
}

/// Sends the cells of the block to their owners; the ones that this rank owns.
fn deal<P: Sync>(ranks: &Ranks, cells: &Cells<P>, owners: &[u32]) -> Rows {
    let stride = cells.stride();
    let owner = |i: usize| owners[i] as usize;
    let rows = Mail::rows(ranks.size(), owners.len(), stride, owner, |i, row| {
        cells.set(i, row);
    });
    let words = ranks.exchange(&rows).into_items();
    Rows { words, stride }
}

/// The segments that have an end at an owned cell's vertex, and both ends here, by local ids; and their places among all.
fn local_segments(
    all: &[Segment],
    local: impl Fn(u64) -> u32,
    is_of_owned: impl Fn(u64) -> bool,
) -> (Vec<Segment>, Vec<usize>) {
    let mut segments = Vec::new();
    let mut places = Vec::new();
    for (place, segment) in all.iter().enumerate() {
        let ends = segment.ends.map(u64::from);
        let here = ends.map(&local);
        if ends.into_iter().any(&is_of_owned) && !here.contains(&NONE) {
            segments.push(Segment {
                ends: here,
                ..*segment
            });
            places.push(place);
        }
    }
    (segments, places)
}

/// Refuses segments that are no edges, as far as ids say so: where an owned cell has one end, all cells of the edge are here,
/// and the other end with them. Collective.
fn check_segments(
    ranks: &Ranks,
    vertices: u64,
    segments: &[Segment],
    shared: &Shared,
    here: &IdSet,
) -> Result<()> {
    if segments.is_empty() {
        return Ok(());
    }
    let is_here = |v: &u64| here.has(*v);
    let ends = |segment: &Segment| segment.ends.map(u64::from);
    let is_outside = |s: &Segment| ends(s).iter().any(|&v| v >= vertices);
    if let Some(segment) = segments.iter().position(is_outside) {
        return Err(polylla::Error::SegmentOutOfRange { segment }.into());
    }
    let is_seen: Vec<bool> = segments
        .iter()
        .map(|s| ends(s).into_iter().any(|v| shared.has(v)))
        .collect();
    let mut seen: Vec<u64> = is_seen
        .chunks(64)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, &bit| word << 1 | u64::from(bit))
        })
        .collect();
    ranks.reduce_all(&mut seen, Reduction::Or);
    let is_wrong = |i: usize| {
        let is_alone = seen[i / 64] >> (i % 64) & 1 == 0;
        is_alone || is_seen[i] && !ends(&segments[i]).iter().all(is_here)
    };
    ranks.agree(match (0..segments.len()).find(|&i| is_wrong(i)) {
        None => Ok(()),
        Some(i) => Err(no_edge(i, segments[i].ends)),
    })
}

/// The fault of a segment that is no edge.
pub(crate) fn no_edge(segment: usize, [from, to]: [u32; 2]) -> Fault {
    let error = polylla::Error::NoEdge {
        segment: segment as u32,
        from,
        to,
    };
    Fault::of_mesh(100, segment as u64, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_bits_is_set_and_no_other_bit() {
        for (start, end) in [
            (0, 0),
            (0, 1),
            (3, 29),
            (31, 33),
            (32, 64),
            (5, 128),
            (40, 128),
        ] {
            let mut bits = [0; 4];
            set_range(&mut bits, start..end);
            for i in 0..128 {
                let is_set = bits[i / 32] >> (i % 32) & 1 != 0;
                assert_eq!(is_set, (start..end).contains(&i), "{i} of {start}..{end}");
            }
        }
    }
}
