//! Which rank owns each cell, or each point. The result of a run does not depend on it: only the time does.
//!
//! [`Ownership::Near`] leaves cells where they are if few vertices are in several ranks' blocks. [`Ownership::Curve`] sorts the cells along a Morton curve, by the key of their first vertex and then by their id, and cuts
//! the order into parts of equal length; points likewise. The keys are integers: the coordinates in 32 bits each of the bounding box (of three, 21), bits
//! interleaved.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use trioxide::generate::Grid;
use trioxide_mesh::parallel;

use crate::block::{Block, Blocks};
use crate::fault::Result;
use crate::ids::{IdSet, partition};
use crate::layers::Layers;
use crate::transport::{Mail, Ranks, Reduction};

/// A choice of owners.
#[derive(Clone, Default)]
pub enum Ownership {
    /// Blocks of ids where these follow the elements' place well enough; else parts of a curve.
    #[default]
    Near,
    /// Equal parts of a space-filling curve.
    Curve,
    /// Each rank owns its block of ids: nothing moves. For meshes whose ids follow their place, as those of a grid do.
    Blocks,
    /// The mesh is this grid, of which each rank makes and owns its rows: nothing crosses ([`Part::of_grid`](crate::Part::of_grid)).
    Rows(Grid),
    /// The owner of each cell by its id: for tests.
    Given(Arc<dyn Fn(u64) -> usize + Send + Sync>),
}

impl Ownership {
    /// The owner of each cell of this rank's block. Collective.
    pub fn owners<P: Position>(&self, ranks: &Ranks, block: &Block<P>) -> Vec<u32> {
        let first = Blocks::new(block.cells, ranks.size()).range(ranks.rank());
        match self {
            Ownership::Given(owner) => first.map(|id| owner(id) as u32).collect(),
            Ownership::Blocks => vec![ranks.rank() as u32; first.count()],
            Ownership::Rows(grid) => {
                let rows = Layers::of(grid, ranks.size());
                first.map(|id| rows.owner(id) as u32).collect()
            }
            Ownership::Near | Ownership::Curve => along_the_curve(ranks, block, first.start),
        }
    }

    /// Whether each rank owns the points of its block.
    pub fn keeps_blocks(&self, ranks: &Ranks) -> bool {
        matches!(self, Ownership::Blocks | Ownership::Rows(_)) || ranks.size() == 1
    }

    /// The plain grid of which each rank owns its rows, or its block of points.
    pub(crate) fn plain_grid(&self) -> Option<Grid> {
        match self {
            Ownership::Rows(grid) if grid.is_plain() => Some(*grid),
            _ => None,
        }
    }

    /// The owner of each point of this rank's block of `total` points, all of which lie within `bounds`. Collective.
    pub fn owners_of_points<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        bounds: [[f64; 3]; 2],
    ) -> Vec<u32> {
        if self.keeps_blocks(ranks) {
            return vec![ranks.rank() as u32; points.len()];
        }
        let first = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
        self.owners_within(ranks, total, points, |i| first + i as u64, || bounds)
    }

    /// The owner of each of this rank's elements, of `total` in all: element i lies at `points[i]`, and `id(i)` is its id. Along the curve,
    /// unless owners are given. Collective.
    pub fn owners_of<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        id: impl Fn(usize) -> u64 + Sync,
    ) -> Vec<u32> {
        self.owners_within(ranks, total, points, id, || bounds(ranks, points))
    }

    fn owners_within<P: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        points: &[P],
        id: impl Fn(usize) -> u64 + Sync,
        bounds: impl FnOnce() -> [[f64; 3]; 2],
    ) -> Vec<u32> {
        match self {
            Ownership::Given(owner) => (0..points.len()).map(|i| owner(id(i)) as u32).collect(),
            _ if ranks.size() == 1 => vec![0; points.len()],
            // Later elements have ids that do not follow their place.
            _ => {
                let bounds = bounds();
                let place = |(i, &p): (usize, &P)| (key(p, bounds), id(i));
                let places = points.par_iter().enumerate().map(place).collect();
                equal_parts(ranks, places, total)
            }
        }
    }
}

/// A cell's place along the curve: its key, then its id.
type Place = (u64, u64);

fn along_the_curve<P: Position>(ranks: &Ranks, block: &Block<P>, first: u64) -> Vec<u32> {
    if ranks.size() == 1 {
        return vec![0; block.corners.len() / block.size.max(1)];
    }
    let size = block.size.max(1);
    let cells = block.corners.len() / size;
    let asked = IdSet::of(cells, |i| block.corners.get(size * i));
    let points = fetch(ranks, block.vertices, &asked.to_vec(), &block.points);
    let bounds = bounds(ranks, &block.points);
    let keys: Vec<u64> = points.par_iter().map(|&p| key(p, bounds)).collect();
    let place = |i: usize| {
        let at = asked.place(block.corners.get(size * i));
        let at = at.expect("it was asked for");
        (keys[at as usize], first + i as u64)
    };
    equal_parts(ranks, parallel::collect(cells, place), block.cells)
}

/// The part of each of this rank's places among equal parts of all of them.
fn equal_parts(ranks: &Ranks, places: Vec<Place>, total: u64) -> Vec<u32> {
    let cuts = cuts(ranks, &places, total);
    let owner = |place: &Place| cuts.partition_point(|cut| cut <= place) as u32;
    places.par_iter().map(owner).collect()
}

/// Items of elements from the directories that hold them: `ids` ascend, `held` are those of this rank's block. Collective.
pub fn fetch<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: &[T],
) -> Vec<T> {
    let start = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
    fetch_by(ranks, total, ids, |id| held[(id - start) as usize])
}

/// As [`fetch`]: `held` gives the items of this rank's block by their ids. Collective.
pub fn fetch_by<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    fetch_at(ranks, total, ids.len(), |i| ids[i], held)
}

/// As [`fetch_by`], of `n` ids: `id(i)` ascends. Collective.
pub fn fetch_at<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    n: usize,
    id: impl Fn(usize) -> u64 + Sync,
    held: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let blocks = Blocks::new(total, ranks.size());
    let before = |end: u64| partition(n, |i| id(i) < end);
    let own = blocks.range(ranks.rank());
    let own = before(own.start)..before(own.end);
    // Items of the rank's own block do not travel.
    let other = |k: usize| id(if k < own.start { k } else { k + own.len() });
    let counts = (0..ranks.size()).map(|rank| {
        let range = blocks.range(rank);
        let count = before(range.end) - before(range.start);
        if rank == ranks.rank() { 0 } else { count }
    });
    let questions = parallel::collect(n - own.len(), other);
    let questions = Mail::from_parts(questions, counts);
    let answers = ranks.exchange(&questions).map(|&id| held(id));
    let received = ranks.exchange_expected(&answers, &questions.counts());
    let received = received.items();
    parallel::collect(n, |i| match i {
        _ if i < own.start => received[i],
        _ if i < own.end => held(id(i)),
        _ => received[i - own.len()],
    })
}

/// As [`fetch`]: `held` gives the items of this rank's block for a list of their ids. Collective.
///
/// # Errors
/// That of `held` on any rank.
pub fn fetch_list<T: bytemuck::Pod + Send + Sync>(
    ranks: &Ranks,
    total: u64,
    ids: &[u64],
    held: impl FnOnce(&[u64]) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let questions = questions(ranks, total, ids);
    let asked = ranks.exchange(&questions);
    let answers = asked.with(ranks.agree(held(asked.items()))?);
    let received = ranks.exchange_expected(&answers, &questions.counts());
    Ok(received.into_items())
}

/// Ascending ids for the directories that hold them.
fn questions(ranks: &Ranks, total: u64, ids: &[u64]) -> Mail<u64> {
    let blocks = Blocks::new(total, ranks.size());
    let counts = (0..ranks.size()).map(|rank| {
        let range = blocks.range(rank);
        let below = |id: u64| ids.partition_point(|&other| other < id);
        below(range.end) - below(range.start)
    });
    Mail::from_parts(ids.to_vec(), counts)
}

/// Points of the plane or of space.
pub trait Position: bytemuck::Pod + Send + Sync {
    /// Number of coordinates.
    const DIMENSIONS: usize;

    /// The coordinates; 0 behind the last.
    fn coordinates(self) -> [f64; 3];

    /// A point of the plane; of space, at height 0.
    fn of_plane(point: DVec2) -> Self;
}

impl Position for DVec2 {
    const DIMENSIONS: usize = 2;

    fn coordinates(self) -> [f64; 3] {
        [self.x, self.y, 0.0]
    }

    fn of_plane(point: DVec2) -> Self {
        point
    }
}

impl Position for DVec3 {
    const DIMENSIONS: usize = 3;

    fn coordinates(self) -> [f64; 3] {
        self.to_array()
    }

    fn of_plane(point: DVec2) -> Self {
        point.extend(0.0)
    }
}

/// The smallest and the largest coordinates of all points.
pub fn bounds<P: Position>(ranks: &Ranks, points: &[P]) -> [[f64; 3]; 2] {
    let mut bits = [u64::MAX; 6];
    let of_pieces = parallel::map_pieces(points.len(), parallel::GRAIN, |range| {
        let mut bits = [u64::MAX; 6];
        for p in &points[range] {
            let [x, y, z] = p.coordinates().map(to_ordered);
            for (least, value) in bits.iter_mut().zip([x, y, z, !x, !y, !z]) {
                *least = (*least).min(value);
            }
        }
        bits
    });
    for of_piece in of_pieces {
        for (least, value) in bits.iter_mut().zip(of_piece) {
            *least = (*least).min(value);
        }
    }
    ranks.reduce_all(&mut bits, Reduction::Min);
    let [x, y, z, not_x, not_y, not_z] = bits;
    [
        [x, y, z].map(from_ordered),
        [!not_x, !not_y, !not_z].map(from_ordered),
    ]
}

/// The bits of a number such that they compare as the numbers do.
pub fn to_ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

fn from_ordered(bits: u64) -> f64 {
    f64::from_bits(match bits >> 63 {
        0 => !bits,
        _ => bits & !(1 << 63),
    })
}

/// Key along the curve: 32 bits a coordinate, or 21 of three, interleaved.
fn key<P: Position>(p: P, [least, most]: [[f64; 3]; 2]) -> u64 {
    let bits = if P::DIMENSIONS == 2 { 32 } else { 21 };
    let cells = ((1_u64 << bits) - 1) as f64;
    let coordinates = p.coordinates();
    let mut key = 0;
    for k in 0..P::DIMENSIONS {
        // A number that is not finite, or an extent of 0, becomes some integer too: the check of the mesh refuses such points later.
        let extent = most[k] - least[k];
        let quantized = ((coordinates[k] - least[k]) / extent * cells) as u32;
        key |= spread(quantized, bits, P::DIMENSIONS) << k;
    }
    key
}

/// The lowest `bits` of a number, each `apart` from the next: two, or three.
#[inline]
pub fn spread(x: u32, bits: usize, apart: usize) -> u64 {
    let mut x = u64::from(x) & ((1 << bits) - 1);
    // Halves go apart, then halves of these, and so on.
    for (shift, mask) in match apart {
        2 => [
            (16, 0x0000_ffff_0000_ffff),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ],
        _ => [
            (32, 0x001f_0000_0000_ffff),
            (16, 0x001f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ],
    } {
        x = (x | x << shift) & mask;
    }
    x
}

/// Bits of a key by which places are counted in bins.
const BIN_BITS: u32 = 14;

/// The first place of each part but the first, of parts of equal length of all places; `places` are this rank's.
///
/// Places are counted in bins of keys. A cut lies in one bin, and is found there by bisection, over keys and then over the ids of one
/// key: a round is one sum over all ranks. So only the places in bins with cuts are sorted.
fn cuts(ranks: &Ranks, places: &[Place], total: u64) -> Vec<Place> {
    let blocks = Blocks::new(total, ranks.size());
    let parts: Vec<u64> = (1..ranks.size()).map(|r| blocks.range(r).start).collect();
    let shift = u64::BITS - BIN_BITS;
    let mut here = vec![0_u64; 1 << BIN_BITS];
    for (key, _) in places {
        here[(key >> shift) as usize] += 1;
    }
    let mut all = here.clone();
    ranks.reduce_all(&mut all, Reduction::Sum);
    for counts in [&mut here, &mut all] {
        let mut sum = 0;
        for count in counts {
            sum += std::mem::replace(count, sum);
        }
    }
    // The last bin with no more than the part's start before it.
    let bin_of = |&part: &u64| all.partition_point(|&before| before <= part) - 1;
    let bins: Vec<usize> = parts.iter().map(bin_of).collect();
    let mut has_cut = vec![false; 1 << BIN_BITS];
    bins.iter().for_each(|&bin| has_cut[bin] = true);
    let is_near = |(key, _): &&Place| has_cut[(key >> shift) as usize];
    let mut near: Vec<Place> = places.par_iter().filter(is_near).copied().collect();
    near.par_sort_unstable();
    // How many of all this rank's places stand before one in the bin of cut i.
    let below = |i: usize, place: Place| {
        let first = near.partition_point(|other| (other.0 >> shift) < bins[i] as u64);
        let until = near.partition_point(|other| *other < place);
        here[bins[i]] + (until - first) as u64
    };
    let starts = bins.iter().map(|&bin| (bin as u64) << shift);
    let starts: Vec<u64> = starts.collect();
    let ends = starts
        .iter()
        .map(|start| start | ((1 << shift) - 1))
        .collect();
    let keys = bisect(ranks, &parts, starts, ends, |i, key| below(i, (key, 0)));
    let (least, most) = (vec![0; parts.len()], vec![total; parts.len()]);
    let ids = bisect(ranks, &parts, least, most, |i, id| below(i, (keys[i], id)));
    keys.into_iter().zip(ids).collect()
}

/// For each part the largest value, from `low` to `high`, with at most the part's start before it on all ranks; `below` counts on
/// this one. Collective.
pub fn bisect(
    ranks: &Ranks,
    parts: &[u64],
    mut low: Vec<u64>,
    mut high: Vec<u64>,
    below: impl Fn(usize, u64) -> u64,
) -> Vec<u64> {
    while low != high {
        let middle = |(low, high): (&u64, &u64)| low + (high - low).div_ceil(2);
        let middles: Vec<u64> = low.iter().zip(&high).map(middle).collect();
        let counts = middles.iter().enumerate();
        let mut counts: Vec<u64> = counts.map(|(i, &value)| below(i, value)).collect();
        ranks.reduce_all(&mut counts, Reduction::Sum);
        for (i, &count) in counts.iter().enumerate() {
            match count <= parts[i] {
                true => low[i] = middles[i],
                false => high[i] = middles[i] - 1,
            }
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn ordered_bits_compare_as_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            -2.5,
            -1e-300,
            -0.0,
            0.0,
            1e-300,
            3.0,
            f64::INFINITY,
        ];
        assert!(numbers.map(to_ordered).is_sorted());
        for x in numbers {
            assert_eq!(from_ordered(to_ordered(x)).to_bits(), x.to_bits());
        }
    }

    #[test]
    fn bits_are_interleaved() {
        assert_eq!(spread(0b1011, 32, 2), 0b100_0101);
        assert_eq!(spread(u32::MAX, 32, 2), 0x5555_5555_5555_5555);
        assert_eq!(spread(u32::MAX, 21, 3), 0x1249_2492_4924_9249);
        for x in [0_u32, 1, 0x1234_5678, 0x001f_ffff, 0x000a_bcde] {
            for (bits, apart) in [(32, 2), (21, 3)] {
                let bit = |i: usize| u64::from(x >> i & 1) << (apart * i);
                let expected: u64 = (0..bits).map(bit).sum();
                assert_eq!(spread(x, bits, apart), expected);
            }
        }
    }

    #[test]
    fn parts_of_the_curve_are_equally_long_also_where_keys_are_equal() {
        let mut mesh = trioxide_generate::grid(400).unwrap();
        for size in [2, 3, 7] {
            // All triangles have one key when all points are one.
            for same in [false, true] {
                if same {
                    mesh.points.fill(DVec2::ONE);
                }
                let owners = run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let block = Block::of(&mesh, ranks.rank(), size);
                    Ownership::Curve.owners(&ranks, &block)
                });
                let owners = owners.concat();
                let blocks = Blocks::new(mesh.triangles.len() as u64, size);
                for rank in 0..size {
                    let count = owners.iter().filter(|&&owner| owner == rank as u32).count();
                    assert_eq!(count, blocks.range(rank).count());
                }
            }
        }
    }
}
