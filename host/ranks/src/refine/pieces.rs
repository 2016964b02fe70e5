//! The part after the last round in host memory, with ids of the whole mesh.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytemuck::Pod;
use trioxide::Device;
use trioxide::formats::atomic_file::AtomicFile;
use trioxide::formats::ply::SharedFile;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{SharePieces, segments};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::part::{EdgePart, Edges};
use super::{Elements, Left};
use crate::block::{Block, to_blocks};
use crate::check::check_ids;
use crate::directory::Fetched;
use crate::fault::Result;
use crate::ids::IdSet;
use crate::ownership::Position;
use crate::part::owned_bits;
use crate::transport::Ranks;

/// The part of a rank after a run, in host memory and without points: so it is compiled once.
pub struct Pieces {
    /// Ids and owners of the part after the last round.
    part: EdgePart,
    /// Number of vertices of the part.
    vertices: usize,
    /// Vertices of the triangles by local ids, three each.
    corners: Vec<u32>,
    /// Side of each half-edge, and tag of each edge, where edges have tags.
    sides: Vec<u32>,
    tags: Vec<u32>,
    /// Whether this rank owns each triangle: a bit each.
    owned: Vec<u32>,
    /// Whether an owned triangle has each of the first vertices: several ranks may give one of these to a file.
    is_used: Vec<AtomicBool>,
    /// Vertices of the input: vertices with smaller ids are in the ranks' blocks.
    given: u64,
    /// This rank.
    me: u32,
}

impl Pieces {
    /// Downloads a part, from its beginning and end of the last round; the whole mesh has these `counts` now, and
    /// `block`
    /// is of the input. Also returns the points of the part's vertices. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn of<P: AnyPoint>(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        (mut part, left): (EdgePart, Left<P>),
        counts: Elements,
    ) -> Result<(Self, Vec<P>)>
    where
        P::Double: Position,
    {
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
        let SharePieces {
            points,
            corners,
            sides,
            tags,
        } = ranks.agree(here)?;
        // Only blocks have vertices of the input without triangles. Where each vertex has one, the blocks may be left
        // out.
        let given = ranks.sum(block.points.len() as u64);
        let mut pieces = Self {
            owned: owned_bits(&part.owners, ranks.rank(), 1),
            part,
            vertices: points.len(),
            corners,
            sides,
            tags,
            is_used: Vec::new(),
            given,
            me: ranks.rank() as u32,
        };
        pieces.mark_used();
        Ok((pieces, points))
    }

    /// Marks the vertices of owned triangles among the vertices that the part has had from its beginning, which several
    /// ranks may give; the blocks' vertices need no marks.
    fn mark_used(&mut self) {
        if self.part.first_vertices <= self.given {
            return;
        }
        let first = self.vertices - self.part.dividers.len();
        let is_used = parallel::collect(first, |_| AtomicBool::new(false));
        parallel::for_each(self.triangles(), |t| {
            if self.is_own(t) {
                let corners = self.corners[3 * t..3 * t + 3].iter();
                for is_used in corners.filter_map(|&v| is_used.get(v as usize)) {
                    is_used.store(true, Relaxed);
                }
            }
        });
        self.is_used = is_used;
    }

    /// Number of triangles of the part.
    pub fn triangles(&self) -> usize {
        self.part.len()
    }

    /// Id of a vertex.
    pub fn vertex(&self, v: usize) -> u64 {
        self.part.vertices.get(v)
    }

    /// The new vertices that this rank gives to the file: those in edges that its triangles owned, as ascending ranges
    /// with ascending ids.
    pub fn new_vertices(&self) -> impl Iterator<Item = Range<usize>> {
        let n = self.is_used.len();
        let is_new = |v: usize| self.is_used[v].load(Relaxed) && self.vertex(v) >= self.given;
        let starts = |v: usize| is_new(v) && (v == 0 || !is_new(v - 1));
        let ends = |v: usize| is_new(v) && (v + 1 == n || !is_new(v + 1));
        let starts = parallel::filter_collect(n, |v| starts(v).then_some(v));
        let ends = parallel::filter_collect(n, |v| ends(v).then_some(v + 1));
        let first = starts.into_iter().zip(ends).map(|(start, end)| start..end);
        let before = self.vertices - self.part.dividers.len();
        let since = self.part.dividers.of_rank(self.me);
        first.chain(since.map(move |range| before + range.start..before + range.end))
    }

    /// The triangles that this rank owns, in ascending ranges.
    pub fn owned(&self) -> impl Iterator<Item = Range<usize>> {
        self.part.owners.of_rank(self.me)
    }

    /// The vertices that this rank gives and the triangles that it owns, cut where their ids do not grow by one; `None`
    /// where one of both has more than `most` pieces.
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

    /// Whether this rank owns a triangle.
    pub fn is_own(&self, t: usize) -> bool {
        contains(&self.owned, t)
    }

    /// Ids of the vertices of a triangle.
    pub fn corners(&self, t: usize) -> [u64; 3] {
        [0, 1, 2].map(|k| self.vertex(self.corners[3 * t + k] as usize))
    }

    /// Writes triangles with consecutive ids to `file`; `out` is at their place, `regions` are of the part's triangles.
    /// Ids have 32 bits.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        out: &mut AtomicFile,
        file: &SharedFile,
        triangles: Range<usize>,
        regions: Option<&[i32]>,
    ) -> io::Result<()> {
        file.write_triangles(out, triangles.len(), |range| {
            let triangles = triangles.start + range.start..triangles.start + range.end;
            let corners = &self.corners[3 * triangles.start..3 * triangles.end];
            let mut ids = self.part.vertices.near();
            let rows = triangles.zip(corners.as_chunks().0);
            rows.map(move |(t, &[a, b, c])| {
                let corners = [a, b, c].map(|v| ids.get(v as usize));
                (narrow(corners), regions.map_or(0, |of| of[t]))
            })
        })
    }

    /// Vertices of the triangles of this rank's block of all `triangles`, as 32-bit ids. Collective.
    pub fn corners_in_order(&self, ranks: &Ranks, triangles: u64) -> Vec<[u32; 3]> {
        self.in_order(ranks, triangles, |t| narrow(self.corners(t)))
    }

    /// The vertices and the ancestor of each triangle of this rank's block of all `triangles`. Collective.
    pub fn rows_in_order(&self, ranks: &Ranks, triangles: u64) -> Vec<[u64; 4]> {
        self.in_order(ranks, triangles, |t| {
            let [a, b, c] = self.corners(t);
            [a, b, c, self.part.ancestors.get(t)]
        })
    }

    /// The region of each triangle of this rank's block of all `triangles`; `regions` are of the part's. Collective.
    pub fn regions_in_order(&self, ranks: &Ranks, triangles: u64, regions: &[i32]) -> Vec<i32> {
        self.in_order(ranks, triangles, |t| regions[t])
    }

    fn in_order<T: Pod + Send + Sync>(
        &self,
        ranks: &Ranks,
        triangles: u64,
        value: impl Fn(usize) -> T + Sync,
    ) -> Vec<T> {
        let blocks = ranks.blocks(triangles);
        let mut values: Vec<T> = parallel::zeroed(blocks.range(ranks.rank()).count());
        let own = |t: usize| self.is_own(t).then_some(t as u32);
        let owned = parallel::filter_collect(self.triangles(), own);
        let id = |i: usize| self.triangle(owned[i] as usize);
        let value = |i: usize| Some(value(owned[i] as usize));
        to_blocks(ranks, blocks, owned.len(), id, value, &mut values);
        values
    }

    /// The regions of the part's triangles, if the input has any; `held` are of this rank's block of its `cells`
    /// triangles.
    /// Collective.
    pub fn regions(&self, ranks: &Ranks, cells: u64, held: Option<&[i32]>) -> Option<Vec<i32>> {
        let held = held?;
        let ancestors = parallel::collect(self.triangles(), |t| self.part.ancestors.get(t));
        Some(regions_of(ranks, cells, held, &ancestors))
    }

    /// All segments in the order of their edges' ids, each along the edge's owner; `markers` are those of an edge's
    /// segments, by its tag. Collective.
    ///
    /// # Errors
    /// Segments of a mesh with more vertices than they name.
    pub fn segments(&self, ranks: &Ranks, markers: &[Vec<i32>]) -> Result<Vec<Segment>> {
        if !self.part.has_tags {
            return Ok(Vec::new());
        }
        ranks.agree(check_ids(self.part.counts.vertices))?;
        let (sides, tags) = (&self.sides, &self.tags);
        let tagged = parallel::filter_collect(sides.len(), |h| {
            let (edge, tag) = (sides[h] / 2, tags[sides[h] as usize / 2]);
            let is_of_edge = tag != 0 && sides[h] % 2 == 0 && self.is_own(h / 3);
            is_of_edge.then(|| {
                let corners = self.corners(h / 3);
                let [start, end] = [h % 3, (h + 1) % 3].map(|k| corners[k]);
                [self.part.edge(edge), start, end, tag.into()]
            })
        });
        let mut all = ranks.all(&tagged).into_items();
        all.sort_unstable();
        let ends = all.iter().map(|&[_, a, b, _]| [a as u32, b as u32]);
        Ok(segments(markers, ends, all.iter().map(|&[.., tag]| tag)))
    }
}

/// Ids of a mesh with 32-bit ids alone.
fn narrow(ids: [u64; 3]) -> [u32; 3] {
    ids.map(|id| id as u32)
}

/// The regions of triangles of the input with these ids; `held` are of this rank's block of its `cells` triangles.
/// Collective.
pub fn regions_of(ranks: &Ranks, cells: u64, held: &[i32], ids: &[u64]) -> Vec<i32> {
    let found = Fetched::of(ranks, cells, IdSet::of_list(ids), held);
    parallel::map(ids, |&t| found.get(t))
}
