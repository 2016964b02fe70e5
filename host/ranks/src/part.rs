//! A rank's part of a mesh: the cells (triangles, or tetrahedra) that it owns, and the ghosts around them.
//!
//! The ghosts are all cells that touch a vertex of an owned one. Local ids of vertices and of cells ascend with their
//! ids in the whole mesh: a comparison of two local ids decides as in the whole mesh.

use std::ops::Range;

use glam::DVec2;
use trioxide::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::{NONE, Segment, Triangulation};
use trioxide::polylla::{self, Constraints};

use crate::block::Block;
use crate::cells::{Cells, Dealt, Input};
use crate::directory::fetch;
use crate::fault::{Fault, Result};
use crate::ids::{IdSet, Ids, Lists, Owners};
use crate::merged::{Merged, Run};
use crate::ownership::{Ownership, Position};
use crate::records::Records;
use crate::shape::Shape;
use crate::shared::{Bins, Near, Shared};
use crate::transport::{Ranks, Reduction};

pub use crate::halo::Halo;

/// Blocks stay with their ranks where at most one corner in `FEW` has a vertex that several ranks may have: then there
/// are few ghosts.
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
    /// The halo of the cells.
    pub halo: Halo,
    /// The vertices at which this rank and others own cells, each with another rank; ascending.
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

    /// As [`Part::build`], without the segments. Collective.
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
        let input = Input::of(ranks, block);
        let near = near(ranks, &input, ownership)?;
        let dealt = near.is_none().then(|| {
            let owners = ownership.owners(ranks, block);
            ranks.phase("distribution");
            Dealt::deal(ranks, &input, &owners)
        });
        let owned = dealt.as_ref().map_or(Cells::Block(&input), Cells::Dealt);

        ranks.phase("ghosts");
        let found = Topology::find(ranks, &owned, near, block.vertices)?;
        let first = ranks.block(block.vertices).start;
        let held = |id| block.points[(id - first) as usize];
        let (n, id) = (found.ids.len(), |i| found.ids.get(i));
        let points = fetch(ranks, block.vertices, n, id, held);
        let corners = found.corners(&owned);
        let (segments, of_segments) = found.segments(all);
        found.check_segments(ranks, block.vertices, all)?;
        let Merged {
            places,
            owners,
            halo,
        } = found.merged;
        let ghosts = &found.ghosts;
        let region = |i: usize| ghosts.get(i)[ghosts.stride - 1] as i32;
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
            cells: places.all_ids(|i| owned.id(i), |i| ghosts.id(i)),
            vertices: found.ids,
            owned_vertices: found.shared.vertices.to_ids(),
            owners,
            halo,
            shared: found.shared.others,
        })
    }
}

/// The bins of the block's vertices, if each rank owns its block: by the choice of owners, or where few vertices may be
/// of several ranks. Collective.
fn near(ranks: &Ranks, input: &Input, ownership: &Ownership) -> Result<Option<Near>> {
    let cells = Cells::Block(input);
    let bins = Bins::of(&cells, input.vertices);
    // Places in a block have 32 bits, as those in a part have.
    let points = ranks.block(input.vertices).count();
    let size = check_size(ranks, points, input.corners.len());
    let corners = || check_corners(&cells, input.vertices, bins.ends);
    ranks.agree(size.and_then(|()| corners()))?;
    let stays = matches!(ownership, Ownership::Blocks) || ranks.size() == 1;
    if !stays && !matches!(ownership, Ownership::Near) {
        return Ok(None);
    }
    let near = Near::find(ranks, bins);
    Ok((stays || near.are_few(ranks, FEW)).then_some(near))
}

/// A rank's cells and ghosts without points: so it is compiled once for all kinds of points.
struct Topology {
    shared: Shared,
    ghosts: Records,
    merged: Merged,
    /// Vertices of the cells and the ghosts, as a set and as a list; and their range, where they are one.
    set: IdSet,
    ids: Ids,
    range: Option<Range<u64>>,
}

impl Topology {
    /// Sends the `owned` cells of a mesh with `total` vertices to the ranks that need them as ghosts. Collective.
    fn find(ranks: &Ranks, owned: &Cells, near: Option<Near>, total: u64) -> Result<Self> {
        let near = near.unwrap_or_else(|| Near::find(ranks, Bins::of(owned, total)));
        let shared = Shared::find(ranks, owned, &near, total);
        let ghosts = shared.send(ranks, owned);
        let merged = Merged::new(ranks, owned.len(), |id| owned.before(id), &ghosts);
        let (size, ghosts) = (owned.size(), ghosts.rows);
        let of_ghosts = |i: usize| ghosts.corners(i, size);
        let of_ghosts: Vec<u64> = (0..ghosts.len()).flat_map(of_ghosts).copied().collect();
        let set = shared.vertices.with(&of_ghosts);
        let ids = set.to_ids();
        ranks.agree(check_size(ranks, ids.len(), size * merged.places.len()))?;
        Ok(Self {
            shared,
            ghosts,
            merged,
            set,
            range: ids.range(),
            ids,
        })
    }

    /// The local id of a vertex; [`NONE`] of one that is not here.
    #[inline]
    fn local(&self, vertex: u64) -> u32 {
        let place = match &self.range {
            Some(range) => range
                .contains(&vertex)
                .then(|| (vertex - range.start) as u32),
            None => self.set.place(vertex),
        };
        place.unwrap_or(NONE)
    }

    /// The vertices of all cells, by local ids.
    fn corners(&self, owned: &Cells) -> Vec<u32> {
        let size = owned.size();
        self.merged.places.collect(size, |run, corners| match run {
            Run::Owned(cells) => {
                let mut corners = corners.iter_mut();
                owned.for_each(cells, |vertex| {
                    *corners.next().expect("one of each vertex") = self.local(vertex);
                });
            }
            Run::Ghost(i) => {
                let vertices = corners.iter_mut().zip(self.ghosts.corners(i, size));
                vertices.for_each(|(corner, &vertex)| *corner = self.local(vertex));
            }
        })
    }

    /// The segments that have an end at an owned cell's vertex, and both ends here, by local ids; and their places
    /// among all.
    fn segments(&self, all: &[Segment]) -> (Vec<Segment>, Vec<usize>) {
        let mut segments = Vec::new();
        let mut places = Vec::new();
        for (place, segment) in all.iter().enumerate() {
            let ends = segment.ends.map(u64::from);
            let here = ends.map(|v| self.local(v));
            if ends.into_iter().any(|v| self.shared.has(v)) && !here.contains(&NONE) {
                segments.push(Segment {
                    ends: here,
                    ..*segment
                });
                places.push(place);
            }
        }
        (segments, places)
    }

    /// Refuses segments that are no edges by their ids: where an owned cell has one end, all cells of the edge are
    /// here, and so is the other end. Collective.
    fn check_segments(&self, ranks: &Ranks, vertices: u64, segments: &[Segment]) -> Result<()> {
        if segments.is_empty() {
            return Ok(());
        }
        let is_here = |v: &u64| self.set.has(*v);
        let ends = |segment: &Segment| segment.ends.map(u64::from);
        let is_outside = |s: &Segment| ends(s).iter().any(|&v| v >= vertices);
        if let Some(segment) = segments.iter().position(is_outside) {
            return Err(polylla::Error::SegmentOutOfRange { segment }.into());
        }
        let has_end = |s: &Segment| ends(s).into_iter().any(|v| self.shared.has(v));
        let is_seen: Vec<bool> = segments.iter().map(has_end).collect();
        let word = |bits: &[bool]| {
            let bits = bits.iter().rev();
            bits.fold(0, |word, &bit| word << 1 | u64::from(bit))
        };
        let mut seen: Vec<u64> = is_seen.chunks(64).map(word).collect();
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
}

impl<P: Sync> Part<P> {
    /// Ids in the whole mesh of a cell's vertices.
    pub(crate) fn corners(&self, cell: usize) -> impl Iterator<Item = u64> {
        let corners = self.size * cell..self.size * (cell + 1);
        corners.map(|i| self.vertices.get(self.shape.corner(i) as usize))
    }

    /// Writes the id of a cell and those of its vertices.
    pub(crate) fn write_cell(&self, cell: usize, row: &mut [u64]) {
        let ids = std::iter::once(self.cells.get(cell)).chain(self.corners(cell));
        row.iter_mut().zip(ids).for_each(|(to, id)| *to = id);
    }
}

impl<V: Position> Part<V> {
    /// The constraints of a part of triangles, whose half-edges are `mesh`; `None` where it has neither regions nor
    /// segments.
    ///
    /// # Errors
    /// As [`Constraints::of`], by local ids.
    pub fn constraints<P: AnyPoint<Double = V>>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> polylla::Result<Option<Constraints>> {
        // Points and triangles play no part.
        let constrained = Triangulation {
            points: Vec::new(),
            triangles: Vec::new(),
            regions: self.regions.clone(),
            segments: self.segments.clone(),
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

/// Refuses vertex ids that are out of range; `ends` are the smallest and the largest id.
fn check_corners(cells: &Cells, total: u64, ends: Option<[u64; 2]>) -> Result<()> {
    if ends.is_none_or(|[_, most]| most < total) {
        return Ok(());
    }
    let Some(&i) = cells.with_vertex(|vertex| vertex >= total).first() else {
        return Ok(());
    };
    let id = cells.id(i);
    let element = if cells.size() == 3 {
        "triangle"
    } else {
        "cell"
    };
    let text = format!("{element} {id} has a vertex index that is out of range");
    Err(Fault::of_mesh(1, id, text))
}

/// Refuses a part with more elements than 32-bit ids name.
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
