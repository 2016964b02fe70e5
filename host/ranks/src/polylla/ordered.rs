//! The polygons of a run in the order of the single one.
//!
//! A rank gets the polygons whose smallest half-edge lies in its block of all half-edges. Polygons within its part,
//! with local ids, become its slice of the file at once; others come as lists of ids.

use std::ops::Range;

use rayon::slice::ParallelSliceMut;
use trioxide::{Device, mesh};
use trioxide_mesh::parallel;

use super::{Found, PIECE};
use crate::block::Blocks;
use crate::check::{check_corners, check_ids};
use crate::fault::Result;
use crate::ids::partition;
use crate::merged::{Interleaving, Run};
use crate::part::half_edge;
use crate::transport::{Mail, Ranks, offsets, split_off};

/// A rank's slice of the list of all polygons; the slices in the order of ranks are the list of the single run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// Smallest half-edge of each polygon, ascending; ids of the whole mesh.
    pub half_edges: Vec<u64>,
    /// The polygons, each from the origin of its smallest half-edge, by the vertex ids of the whole mesh.
    pub polygons: mesh::Polygons,
    /// Region id of each, if the mesh has them.
    pub regions: Option<Vec<i32>>,
}

impl Found {
    /// This rank's slice of the polygons in the order of the single run, of a mesh with these numbers of vertices and
    /// triangles. Collective.
    ///
    /// # Errors
    /// Errors of the device; more vertices, or corners of a slice, than 32-bit ids name.
    pub fn into_ordered(
        self,
        ranks: &Ranks,
        on: &Device,
        [vertices, triangles]: [u64; 2],
    ) -> Result<Ordered> {
        ranks.agree(check_ids(vertices))?;
        let here = ranks.agree(self.share.download(on))?;
        ranks.phase("order of polygons");
        let held = HeldHere { found: &self, here };
        let blocks = ranks.blocks(3 * triangles);
        let own = held.within(blocks.range(ranks.rank()));
        let came = Came::exchange(ranks, &held, blocks, own.clone())?;
        let places = came.among(&held, own.clone());
        let of_run = |run: Range<usize>| own.start + run.start..own.start + run.end;
        let half_edges = places.collect(1, |run, all| match run {
            Run::Owned(run) => fill(all, of_run(run), |i| held.half_edge(i)),
            Run::Ghost(i) => all[0] = came.heads[i][0],
        });
        let sizes = places.collect(1, |run, all| match run {
            Run::Owned(run) => fill(all, of_run(run), |i| held.corners(i..i + 1).len() as u32),
            Run::Ghost(i) => all[0] = came.list(i).len() as u32,
        });
        let offsets = offsets(sizes.iter().copied());
        let vertices = fill_lists(&offsets, |range, all| {
            let mut rest = all;
            places.for_runs(range, |run| match run {
                Run::Owned(run) => {
                    let corners = held.corners(of_run(run));
                    let list = split_off(&mut rest, corners.len());
                    fill(list, corners, |k| held.vertex(k));
                }
                Run::Ghost(i) => {
                    let list = came.list(i);
                    split_off(&mut rest, list.len()).copy_from_slice(list);
                }
            });
        });
        let regions = self.regions.as_ref().map(|_| {
            places.collect(1, |run, all| match run {
                Run::Owned(run) => fill(all, of_run(run), |i| held.region(i) as i32),
                Run::Ghost(i) => all[0] = came.heads[i][1] as u32 as i32,
            })
        });
        Ok(Ordered {
            half_edges,
            polygons: mesh::Polygons { offsets, vertices },
            regions,
        })
    }
}

/// Writes `value` of each element of a range to its place.
fn fill<T>(places: &mut [T], range: Range<usize>, value: impl Fn(usize) -> T) {
    for (place, i) in places.iter_mut().zip(range) {
        *place = value(i);
    }
}

/// A list of lists with these starts; `write` gives the lists of a range.
fn fill_lists(offsets: &[u32], write: impl Fn(Range<usize>, &mut [u32]) + Sync) -> Vec<u32> {
    let n = offsets.len() - 1;
    let mut all = parallel::zeroed(offsets[n] as usize);
    let mut rest = &mut all[..];
    let piece = |first: usize| {
        let range = first..n.min(first + PIECE);
        let count = offsets[range.end] - offsets[range.start];
        (range, split_off(&mut rest, count as usize))
    };
    let mut pieces: Vec<_> = (0..n).step_by(PIECE).map(piece).collect();
    parallel::for_each_mut(&mut pieces, |_, (range, list)| write(range.clone(), list));
    all
}

/// The polygons that a rank has within its part, and across ranks.
struct HeldHere<'a> {
    found: &'a Found,
    /// Smallest half-edges, ascending, and polygons within the part, by local ids.
    here: (Vec<u32>, mesh::Polygons),
}

impl HeldHere<'_> {
    /// Smallest half-edge of a polygon within the part.
    fn half_edge(&self, i: usize) -> u64 {
        half_edge(&self.found.cells, self.here.0[i])
    }

    /// The polygons within the part whose smallest half-edges are in a range.
    fn within(&self, half_edges: Range<u64>) -> Range<usize> {
        let before = |end: u64| partition(self.here.0.len(), |i| self.half_edge(i) < end);
        before(half_edges.start)..before(half_edges.end)
    }

    /// The polygons across ranks whose smallest half-edges are in a range.
    fn crossing(&self, half_edges: Range<u64>) -> Range<usize> {
        let all = &self.found.crossing.half_edges;
        let before = |end: u64| all.partition_point(|&h| h < end);
        before(half_edges.start)..before(half_edges.end)
    }

    /// The places of the corners of polygons within the part.
    fn corners(&self, polygons: Range<usize>) -> Range<usize> {
        let offsets = &self.here.1.offsets;
        let [start, end] = [polygons.start, polygons.end].map(|i| offsets.get(i).copied());
        start.unwrap_or(0) as usize..end.unwrap_or(0) as usize
    }

    /// The vertex at a corner.
    fn vertex(&self, corner: usize) -> u32 {
        self.found
            .vertices
            .get(self.here.1.vertices[corner] as usize) as u32
    }

    /// The region of a polygon within the part, as bits; 0 without regions.
    fn region(&self, i: usize) -> u32 {
        let regions = self.found.regions.as_ref();
        regions.map_or(0, |regions| regions[self.here.0[i] as usize / 3] as u32)
    }

    /// The head of a polygon: its smallest half-edge, its number of corners and its region.
    fn head(&self, polygon: Polygon) -> [u64; 2] {
        let (half_edge, size, region) = match polygon {
            Polygon::Within(i) => {
                let size = self.corners(i..i + 1).len();
                (self.half_edge(i), size, self.region(i))
            }
            Polygon::Crossing(i) => {
                let crossing = &self.found.crossing;
                let regions = crossing.regions.as_ref();
                let region = regions.map_or(0, |regions| regions[i] as u32);
                (crossing.half_edges[i], crossing.get(i).len(), region)
            }
        };
        [half_edge, (size as u64) << 32 | u64::from(region)]
    }

    /// The vertices of a polygon.
    fn set_vertices(&self, polygon: Polygon, list: &mut [u32]) {
        match polygon {
            Polygon::Within(i) => fill(list, self.corners(i..i + 1), |k| self.vertex(k)),
            Polygon::Crossing(i) => {
                let vertices = self.found.crossing.get(i);
                fill(list, 0..vertices.len(), |k| vertices[k] as u32);
            }
        }
    }
}

/// A polygon that a rank has, by its place among those of its kind.
#[derive(Clone, Copy)]
enum Polygon {
    Within(usize),
    Crossing(usize),
}

/// Polygons that other ranks have sent, and polygons across ranks that were here.
struct Came {
    /// The head of each.
    heads: Vec<[u64; 2]>,
    /// Start of each in `vertices`, and the end of the last.
    offsets: Vec<u32>,
    vertices: Vec<u32>,
}

impl Came {
    /// Sends the polygons that are not within this rank's part and block to the ranks of their blocks; the polygons
    /// `own`
    /// stay. Collective.
    fn exchange(ranks: &Ranks, held: &HeldHere, blocks: Blocks, own: Range<usize>) -> Result<Self> {
        let mut leaving = Vec::new();
        let counts = blocks.ranges().enumerate().map(|(rank, range)| {
            let before = leaving.len();
            if rank != ranks.rank() {
                leaving.extend(held.within(range.clone()).map(Polygon::Within));
            }
            leaving.extend(held.crossing(range).map(Polygon::Crossing));
            leaving.len() - before
        });
        let counts: Vec<usize> = counts.collect();
        let heads = parallel::map(&leaving, |&polygon| held.head(polygon));
        let size = |head: &[u64; 2]| (head[1] >> 32) as u32;
        let corners = heads.iter().map(|head| u64::from(size(head))).sum();
        ranks.agree(check_corners(corners))?;
        let starts = offsets(heads.iter().map(size));
        let vertices = fill_lists(&starts, |range, all| {
            let first = starts[range.start];
            for (i, &polygon) in range.clone().zip(&leaving[range]) {
                let list = (starts[i] - first) as usize..(starts[i + 1] - first) as usize;
                held.set_vertices(polygon, &mut all[list]);
            }
        });
        let mut end = 0;
        let of_ranks = counts.iter().map(|count| {
            let start = end;
            end += count;
            (starts[end] - starts[start]) as usize
        });
        let vertices = Mail::from_parts(vertices, of_ranks);
        let heads = Mail::from_parts(heads, counts.iter().copied());
        let heads = ranks.exchange(&heads).into_items();
        let vertices = ranks.exchange(&vertices).into_items();
        let corners = held.corners(own).len() + vertices.len();
        ranks.agree(check_corners(corners as u64))?;
        Ok(Self {
            offsets: offsets(heads.iter().map(size)),
            heads,
            vertices,
        })
    }

    /// Vertices of a polygon.
    fn list(&self, i: usize) -> &[u32] {
        &self.vertices[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Their places among the polygons within the rank's part that stay.
    fn among(&self, held: &HeldHere, own: Range<usize>) -> Interleaving {
        let mut order = parallel::collect(self.heads.len(), |i| (self.heads[i][0], i));
        order.par_sort_unstable();
        let before = parallel::map(&order, |&(half_edge, _)| {
            partition(own.len(), |i| held.half_edge(own.start + i) < half_edge)
        });
        let order = order.into_iter().map(|(_, i)| i).collect();
        Interleaving::new(order, before, own.len())
    }
}
