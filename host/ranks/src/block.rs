//! The input as ranks first hold it: each has a block of the vertices and a block of the triangles, by their ids.

use std::ops::Range;

use bytemuck::Pod;
use glam::{DVec2, DVec3};
use trioxide::mesh::{Segment, Triangulation};
use trioxide_mesh::parallel::{self, GRAIN};

use crate::ids::partition;
use crate::transport::{Mail, Ranks, Reduction, split_off};

/// Ids from 0 in blocks of one size, one for each rank; the last blocks may be shorter, or empty.
///
/// The rank of an id's block is the *directory* of the id: other ranks ask it about the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    total: u64,
    length: u64,
    ranks: usize,
}

impl Blocks {
    /// Blocks of `total` ids.
    pub fn new(total: u64, ranks: usize) -> Self {
        Self::of_chunks(total, 1, ranks)
    }

    /// Blocks of `total` ids, of whole chunks of `chunk` ids each.
    pub fn of_chunks(total: u64, chunk: u64, ranks: usize) -> Self {
        let chunks = total.div_ceil(chunk).div_ceil(ranks as u64).max(1);
        Self {
            total,
            length: chunk * chunks,
            ranks,
        }
    }

    /// Number of ids of a block, except of the last ones.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The ids of a rank's block.
    pub fn range(&self, rank: usize) -> Range<u64> {
        let start = |rank: u64| (rank * self.length).min(self.total);
        start(rank as u64)..start(rank as u64 + 1)
    }

    /// The ids of each rank's block.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> + use<> {
        let blocks = *self;
        (0..self.ranks).map(move |rank| blocks.range(rank))
    }

    /// The rank whose block has this id.
    pub fn rank(&self, id: u64) -> usize {
        (id / self.length) as usize
    }
}

impl Ranks<'_> {
    /// Blocks of `total` ids for these ranks.
    pub fn blocks(&self, total: u64) -> Blocks {
        Blocks::new(total, self.size())
    }

    /// The ids of this rank's block of `total`.
    pub fn block(&self, total: u64) -> Range<u64> {
        self.blocks(total).range(self.rank())
    }
}

/// Vertex ids of cells that lie near each other: a first id of the whole mesh, and a 32-bit distance from it for each.
#[derive(Clone, Debug, Default)]
pub struct Corners {
    first: u64,
    behind: Vec<u32>,
}

impl Corners {
    /// The ids `first + behind[i]`.
    pub fn new(first: u64, behind: Vec<u32>) -> Self {
        Self { first, behind }
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.behind.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    /// The id at place `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> u64 {
        self.first + u64::from(self.behind[i])
    }

    /// The ids of cell `i`, of `N` corners.
    #[inline(always)]
    pub fn cell<const N: usize>(&self, i: usize) -> [u64; N] {
        std::array::from_fn(|k| self.get(N * i + k))
    }

    /// The first id, and the distance of each id from it.
    pub fn parts(&self) -> (u64, &[u32]) {
        (self.first, &self.behind)
    }

    /// The smallest and the largest id; `None` without any.
    pub fn ends(&self) -> Option<[u64; 2]> {
        let ends = parallel::map_pieces(self.len(), GRAIN, |range| {
            // Two loops over one number each are vectorised.
            let behind = &self.behind[range];
            let least = behind.iter().fold(u32::MAX, |least, &v| least.min(v));
            let most = behind.iter().fold(0, |most, &v| most.max(v));
            [least, most]
        });
        let ends = ends
            .into_iter()
            .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        ends.map(|ends| ends.map(|v| self.first + u64::from(v)))
    }

    /// The place of the first id that is `end` or larger.
    pub fn beyond(&self, end: u64) -> Option<usize> {
        parallel::position(&self.behind, |&v| self.first + u64::from(v) >= end)
    }

    /// The ids as 32 bits, for a mesh that has no others.
    pub fn narrow(&self) -> Vec<u32> {
        parallel::map(&self.behind, |&v| (self.first + u64::from(v)) as u32)
    }
}

impl From<Vec<u32>> for Corners {
    fn from(ids: Vec<u32>) -> Self {
        Self::new(0, ids)
    }
}

/// Compares the ids, not how they are stored.
impl PartialEq for Corners {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (0..self.len()).all(|i| self.get(i) == other.get(i))
    }
}

/// A rank's block of a mesh whose cells have one number of corners: of triangles, or of tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<P = DVec2> {
    /// Vertices of the whole mesh.
    pub vertices: u64,
    /// Cells of the whole mesh.
    pub cells: u64,
    /// Corners of a cell.
    pub size: usize,
    /// Points of the block's vertices.
    pub points: Vec<P>,
    /// Vertex ids of the block's cells, `size` each.
    pub corners: Corners,
    /// Region ids of the block's cells, if the mesh has them.
    pub regions: Option<Vec<i32>>,
    /// All segments of the mesh: every rank has them, since there are few.
    pub segments: Vec<Segment>,
}

/// The arrays of a mesh that is whole in memory.
#[derive(Clone, Copy)]
pub struct Whole<'a, P> {
    /// Points of all vertices.
    pub points: &'a [P],
    /// Vertex ids of all cells.
    pub corners: &'a [u32],
    /// Corners of a cell.
    pub size: usize,
    /// Region id of each cell.
    pub regions: Option<&'a [i32]>,
    /// Segments.
    pub segments: &'a [Segment],
}

impl<'a, P> From<&'a Triangulation<P>> for Whole<'a, P> {
    fn from(mesh: &'a Triangulation<P>) -> Self {
        Self {
            points: &mesh.points,
            corners: mesh.triangles.as_flattened(),
            size: 3,
            regions: mesh.regions.as_deref(),
            segments: &mesh.segments,
        }
    }
}

impl<P: Pod + Send + Sync> Block<P> {
    /// The block of rank `rank` of a mesh that is whole in memory.
    pub fn of<'a>(mesh: impl Into<Whole<'a, P>>, rank: usize, ranks: usize) -> Self {
        let mesh = mesh.into();
        let (vertices, cells) = (mesh.points.len(), mesh.corners.len() / mesh.size);
        let points = part(mesh.points, Blocks::new(vertices as u64, ranks).range(rank));
        let range = Blocks::new(cells as u64, ranks).range(rank);
        let size = mesh.size as u64;
        let corners = part(mesh.corners, size * range.start..size * range.end);
        Self {
            vertices: vertices as u64,
            cells: cells as u64,
            size: mesh.size,
            points: points.to_vec(),
            corners: corners.to_vec().into(),
            regions: mesh.regions.map(|all| part(all, range).to_vec()),
            segments: mesh.segments.to_vec(),
        }
    }

    /// The blocks of a mesh that one rank has read. Collective: the other ranks give none.
    pub fn scatter(ranks: &Ranks, mesh: Option<Whole<P>>) -> Self {
        let whole = mesh.unwrap_or(Whole {
            points: &[],
            corners: &[],
            size: 0,
            regions: None,
            segments: &[],
        });
        let mut head = [
            whole.points.len() as u64,
            whole.corners.len() as u64,
            whole.size as u64,
            u64::from(whole.regions.is_some()),
        ];
        ranks.reduce_all(&mut head, Reduction::Max);
        let [vertices, corners, size, has_regions] = head;
        let cells = corners / size.max(1);
        let points = deal(ranks, whole.points, vertices, 1);
        let corners = deal(ranks, whole.corners, cells, size);
        let regions = deal(ranks, whole.regions.unwrap_or_default(), cells, 1);
        let flat = |segment: &Segment| [segment.ends[0], segment.ends[1], segment.marker as u32];
        let segments: Vec<[u32; 3]> = whole.segments.iter().map(flat).collect();
        let segment = |[a, b, marker]: [u32; 3]| Segment {
            ends: [a, b],
            marker: marker as i32,
        };
        let segments = ranks.all(&segments).into_items().into_iter().map(segment);
        Self {
            vertices,
            cells,
            size: size as usize,
            points,
            corners: corners.into(),
            regions: (has_regions != 0).then_some(regions),
            segments: segments.collect(),
        }
    }
}

/// The points in the plane of this height, where all lie in it.
pub fn in_plane_of(points: &[DVec3], height: f64) -> Option<Vec<DVec2>> {
    let is_there = parallel::all(points, |p| p.z == height);
    is_there.then(|| parallel::map(points, |p| p.truncate()))
}

/// Places that a thread fills at a time.
const PIECE: usize = 1 << 14;

/// Writes `value(i)` of each of `n` elements, if it has one, to the place of `id(i)` in the blocks; `block` is this
/// rank's. The ids of a rank ascend, and no two ranks have the same. Values for this rank's own block do not travel.
/// Collective.
pub fn to_blocks<T: Pod + Send + Sync>(
    ranks: &Ranks,
    blocks: Blocks,
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    value: impl Fn(usize) -> Option<T> + Sync,
    block: &mut [T],
) {
    let range = blocks.range(ranks.rank());
    let [start, end] = [range.start, range.end].map(|end| partition(n, |i| id(i) < end));
    let elsewhere = parallel::filter_collect(n - (end - start), |i| {
        let i = if i < start { i } else { i - start + end };
        Some((id(i), value(i)?))
    });
    let of_ranks = by_blocks(blocks, elsewhere.len(), |i| elsewhere[i].0);
    let counts = of_ranks.iter().map(Range::len);
    let ids = Mail::from_parts(parallel::map(&elsewhere, |item| item.0), counts);
    let values = ids.with(parallel::map(&elsewhere, |item| item.1));
    drop(elsewhere);
    let ids = ranks.exchange(&ids);
    let values = ranks.exchange_known(&values, &ids.counts());
    let place = |id: u64| (id - range.start) as usize;
    fill(
        block,
        end - start,
        |i| place(id(start + i)),
        |i| value(start + i),
    );
    for rank in 0..ranks.size() {
        let (ids, values) = (ids.of(rank), values.of(rank));
        fill(block, ids.len(), |i| place(ids[i]), |i| Some(values[i]));
    }
}

/// Writes `value(i)` of each i in `0..n`, if it has one, to the place `at(i)`. Places ascend, so each thread has a part
/// of the list to itself.
pub(crate) fn fill<T: Send>(
    list: &mut [T],
    n: usize,
    at: impl Fn(usize) -> usize + Sync,
    value: impl Fn(usize) -> Option<T> + Sync,
) {
    let (mut rest, mut next) = (list, 0);
    let piece = |first: usize| {
        let (begin, end) = (at(first), at(n.min(first + PIECE) - 1) + 1);
        split_off(&mut rest, begin - next);
        next = end;
        (begin, split_off(&mut rest, end - begin))
    };
    let mut pieces: Vec<_> = (0..n).step_by(PIECE).map(piece).collect();
    parallel::for_each_mut(&mut pieces, |k, (begin, places)| {
        for i in k * PIECE..n.min((k + 1) * PIECE) {
            if let Some(value) = value(i) {
                places[at(i) - *begin] = value;
            }
        }
    });
}

/// The items of this rank's block, from all items at rank 0, `each` an id. Collective.
pub fn deal<T: Pod>(ranks: &Ranks, all: &[T], ids: u64, each: u64) -> Vec<T> {
    let count = |range: Range<u64>| match all.is_empty() {
        true => 0,
        false => ((range.end - range.start) * each) as usize,
    };
    let mail = Mail::from_parts(all.to_vec(), ranks.blocks(ids).ranges().map(count));
    ranks.exchange(&mail).into_items()
}

fn part<T>(all: &[T], range: Range<u64>) -> &[T] {
    &all[range.start as usize..range.end as usize]
}

/// The places of ascending ids, `id(i)` of each of `n`, that are in the block of each rank.
pub(crate) fn by_blocks(blocks: Blocks, n: usize, id: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let before = |end: u64| partition(n, |i| id(i) < end);
    let ranges = blocks.ranges();
    ranges
        .map(|range| before(range.start)..before(range.end))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use trioxide::{Device, generate};

    #[test]
    fn blocks_hold_each_id_once() {
        for (total, ranks) in [(0, 3), (1, 4), (7, 3), (9, 3), (10, 7)] {
            let blocks = Blocks::new(total, ranks);
            let mut next = 0;
            for rank in 0..ranks {
                let range = blocks.range(rank);
                assert_eq!(range.start, next);
                assert!(range.clone().all(|id| blocks.rank(id) == rank));
                next = range.end;
            }
            assert_eq!(next, total);
        }
    }

    /// Also of blocks that several threads fill.
    #[test]
    fn values_get_to_the_places_of_their_ids() {
        for (total, chunk) in [(0_u64, 1), (9, 1), (100, 16), (90_000, 1), (90_000, 1024)] {
            for size in [1, 2, 5] {
                let blocks = Blocks::of_chunks(total, chunk, size);
                let of_ranks = run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let mine = |id: &u64| (id / 3 * 5 % 7) as usize % size == ranks.rank();
                    let ids: Vec<u64> = (0..total).filter(mine).collect();
                    let mut block = vec![u64::MAX; blocks.range(ranks.rank()).count()];
                    let value = |i: usize| (ids[i] % 4 != 1).then_some(3 * ids[i]);
                    to_blocks(&ranks, blocks, ids.len(), |i| ids[i], value, &mut block);
                    block
                });
                let expected = |id: u64| if id % 4 == 1 { u64::MAX } else { 3 * id };
                let expected: Vec<u64> = (0..total).map(expected).collect();
                assert_eq!(of_ranks.concat(), expected, "{total} on {size} ranks");
            }
        }
    }

    #[test]
    fn a_scattered_mesh_is_the_same_blocks() {
        let mut mesh = generate::random(&Device::cpu(None).unwrap(), 50, 3).unwrap();
        mesh.regions = Some((0..mesh.triangles.len() as i32).collect());
        mesh.segments = vec![Segment {
            ends: [1, 2],
            marker: -3,
        }];
        for size in [1, 2, 5] {
            let blocks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let read = (ranks.rank() == 0).then(|| mesh.clone());
                Block::scatter(&ranks, read.as_ref().map(Whole::from))
            });
            for (rank, block) in blocks.into_iter().enumerate() {
                assert_eq!(block, Block::of(&mesh, rank, size));
            }
        }
    }
}
