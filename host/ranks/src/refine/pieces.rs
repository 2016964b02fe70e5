//! The part behind the last round in host memory, by the ids of the whole mesh.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{SharePieces, segments};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::part::{EdgePart, Edges};
use super::{Counts, Left};
use crate::block::Block;
use crate::check::check_ids;
use crate::directory::fetch;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::ownership::Position;
use crate::part::owned_bits;
use crate::transport::{Mail, Ranks, Reduction};

/// What a run leaves on a rank, in host memory.
pub struct Pieces<P> {
    /// Ids and owners of the part, which is behind the last round.
    part: EdgePart,
    /// Its points and triangles by local ids.
    here: SharePieces<P>,
    /// Whether this rank owns each triangle: a bit each.
    owned: Vec<u32>,
    /// Whether an owned triangle has each vertex of which nobody knows who is to name it; these are the first ones.
    is_used: Vec<AtomicBool>,
    /// Vertices of the input: those with smaller ids are in the ranks' blocks.
    given: u64,
    /// This rank.
    me: u32,
}

impl<P: AnyPoint> Pieces<P>
where
    P::Double: Position,
{
    /// Of the part at the beginning of the last round and what is left of it, where the whole mesh has these `counts` now; `block` is of the
    /// input. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn of(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        (mut part, left): (EdgePart, Left<P>),
        counts: Counts,
    ) -> Result<Self> {
        let has_tags = part.has_tags;
        match has_tags {
            // Segments have the order of their edges' ids.
            true => part.name_edges(ranks),
            false => part.edges = Edges::Unneeded,
        }
        let here = match left {
            Left::Whole(share) => share.download(on, has_tags),
            Left::Divided(divided) => {
                let share = divided.named(ranks, &mut part, counts);
                ranks.phase("pieces");
                share.download(on, has_tags)
            }
        };
        let here = ranks.agree(here.map_err(Fault::from))?;
        let owned = owned_bits(&part.owners, ranks.rank(), 1);
        // Vertices of the input without a triangle are in the blocks alone. Where each has one, the blocks may be left out.
        let given = ranks.reduce(block.points.len() as u64, Reduction::Sum);
        // Of vertices that a part has had from its beginning all ranks may give the same ones, but for those of the blocks.
        let first = match part.first_vertices > given {
            true => here.points.len() - part.dividers.len(),
            false => 0,
        };
        let is_used = parallel::collect(first, |_| AtomicBool::new(false));
        parallel::for_each(if first > 0 { part.len() } else { 0 }, |t| {
            if contains(&owned, t) {
                let corners = &here.corners[3 * t..3 * t + 3];
                for is_used in corners.iter().filter_map(|&v| is_used.get(v as usize)) {
                    is_used.store(true, Relaxed);
                }
            }
        });
        Ok(Self {
            part,
            here,
            owned,
            is_used,
            given,
            me: ranks.rank() as u32,
        })
    }

    /// Number of triangles of the part.
    pub fn triangles(&self) -> usize {
        self.part.len()
    }

    /// Id of a vertex.
    pub fn vertex(&self, v: usize) -> u64 {
        self.part.vertices.get(v)
    }

    /// Where a vertex lies.
    pub fn point(&self, v: usize) -> P {
        self.here.points[v]
    }

    /// The vertices that this rank gives the others: of the new ones each rank those in edges that its triangles owned. They lie together in
    /// ascending ranges, and their ids ascend.
    pub fn new_vertices(&self) -> impl Iterator<Item = Range<usize>> {
        let n = self.is_used.len();
        let is_new = |v: usize| self.is_used[v].load(Relaxed) && self.vertex(v) >= self.given;
        let starts = |v: usize| is_new(v) && (v == 0 || !is_new(v - 1));
        let ends = |v: usize| is_new(v) && (v + 1 == n || !is_new(v + 1));
        let starts = parallel::filter_collect(n, |v| starts(v).then_some(v));
        let ends = parallel::filter_collect(n, |v| ends(v).then_some(v + 1));
        let first = starts.into_iter().zip(ends).map(|(start, end)| start..end);
        let before = self.here.points.len() - self.part.dividers.len();
        let since = self.part.dividers.of_rank(self.me);
        first.chain(since.map(move |range| before + range.start..before + range.end))
    }

    /// The triangles that this rank owns, in ascending ranges.
    pub fn owned(&self) -> impl Iterator<Item = Range<usize>> {
        self.part.owners.of_rank(self.me)
    }

    /// The vertices that this rank gives and the triangles that it owns, cut where their ids do not go by one; `None` where there are more than
    /// `most` pieces of one of them.
    pub fn runs(&self, most: usize) -> Option<[Vec<Range<usize>>; 2]> {
        let (vertices, triangles) = (&self.part.vertices, &self.part.triangles);
        Some([
            vertices.cut(self.new_vertices(), most)?,
            triangles.cut(self.owned(), most)?,
        ])
    }

    /// Id of a triangle.
    pub fn triangle(&self, t: usize) -> u64 {
        self.part.triangles.get(t)
    }

    /// The triangle of the input that a triangle is a part of.
    pub fn ancestor(&self, t: usize) -> u64 {
        self.part.ancestors.get(t)
    }

    /// Whether this rank owns a triangle.
    pub fn is_own(&self, t: usize) -> bool {
        contains(&self.owned, t)
    }

    /// Ids of the vertices of a triangle.
    pub fn corners(&self, t: usize) -> [u64; 3] {
        [0, 1, 2].map(|k| self.vertex(self.here.corners[3 * t + k] as usize))
    }

    /// The vertices of triangles that lie together, by ids of a mesh that has no others than 32 bits name.
    pub fn rows(&self, triangles: Range<usize>) -> impl Iterator<Item = [u32; 3]> {
        let corners = &self.here.corners[3 * triangles.start..3 * triangles.end];
        let mut ids = self.part.vertices.near();
        let rows = corners.as_chunks().0.iter();
        rows.map(move |corners: &[u32; 3]| corners.map(|v| ids.get(v as usize) as u32))
    }

    /// The regions of the triangles of the input with these ids, of which there are `n`, if it has regions. Collective.
    pub fn regions(
        ranks: &Ranks,
        block: &Block<P::Double>,
        n: usize,
        id: impl Fn(usize) -> u64 + Sync,
    ) -> Option<Vec<i32>> {
        let regions = block.regions.as_ref()?;
        let asked = IdSet::of(n, &id);
        let found = fetch(ranks, block.cells, &asked.to_vec(), regions);
        let place = |t: u64| asked.place(t).expect("it was asked for");
        Some(parallel::collect(n, |i| found[place(id(i)) as usize]))
    }

    /// All segments, with their `markers`, ascending, in the order of the ids of their edges, along their owners. Collective.
    ///
    /// # Errors
    /// Segments of a mesh with more vertices than they name.
    pub fn segments(&self, ranks: &Ranks, markers: &[i32]) -> Result<Vec<Segment>> {
        if !self.part.has_tags {
            return Ok(Vec::new());
        }
        ranks.agree(check_ids(self.part.counts.vertices))?;
        let SharePieces { sides, tags, .. } = &self.here;
        let tagged = parallel::filter_collect(sides.len(), |h| {
            let (edge, tag) = (sides[h] / 2, tags[sides[h] as usize / 2]);
            let is_of_edge = tag != 0 && sides[h] % 2 == 0 && self.is_own(h / 3);
            is_of_edge.then(|| {
                let corners = self.corners(h / 3);
                let [start, end] = [h % 3, (h + 1) % 3].map(|k| corners[k]);
                [self.part.edge(edge), start, end, tag.into()]
            })
        });
        let copies = tagged.repeat(ranks.size());
        let counts = std::iter::repeat_n(tagged.len(), ranks.size());
        let mut all = ranks
            .exchange(&Mail::from_parts(copies, counts))
            .into_items();
        all.sort_unstable();
        let ends = all.iter().map(|&[_, a, b, _]| [a as u32, b as u32]);
        Ok(segments(markers, ends, all.iter().map(|&[.., tag]| tag)))
    }
}
