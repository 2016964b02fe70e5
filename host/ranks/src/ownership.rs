//! Which rank owns each triangle. The result of a run does not depend on it: only the time does.
//!
//! [`Ownership::Curve`] sorts the triangles along a Morton curve, by the key of their first vertex and then by their id, and cuts
//! the order into parts of equal length. The keys are integers: the coordinates in 32 bits each of the bounding box, bits interleaved.

use std::sync::Arc;

use glam::DVec2;
use rayon::prelude::*;

use crate::block::{Block, Blocks};
use crate::transport::{Ranks, Reduction};

/// A choice of owners.
#[derive(Clone, Default)]
pub enum Ownership {
    /// Equal parts of a space-filling curve.
    #[default]
    Curve,
    /// The owner of each triangle by its id: for tests.
    Given(Arc<dyn Fn(u64) -> usize + Send + Sync>),
}

impl Ownership {
    /// The owner of each triangle of this rank's block. Collective.
    pub fn owners(&self, ranks: &Ranks, block: &Block) -> Vec<u32> {
        let first = Blocks::new(block.triangles, ranks.size()).range(ranks.rank());
        match self {
            Ownership::Given(owner) => first.map(|id| owner(id) as u32).collect(),
            Ownership::Curve => along_the_curve(ranks, block, first.start),
        }
    }
}

/// A triangle's place along the curve: its key, then its id.
type Place = (u64, u64);

fn along_the_curve(ranks: &Ranks, block: &Block, first: u64) -> Vec<u32> {
    if ranks.size() == 1 {
        return vec![0; block.corners.len()];
    }
    let firsts: Vec<u64> = block.corners.par_iter().map(|corners| corners[0]).collect();
    let mut asked = firsts.clone();
    asked.par_sort_unstable();
    asked.dedup();
    let points = fetch(ranks, block.vertices, &asked, &block.points);
    let bounds = bounds(ranks, &block.points);
    let keys: Vec<u64> = points.par_iter().map(|&p| key(p, bounds)).collect();
    let place = |(i, vertex): (usize, &u64)| {
        let at = asked.binary_search(vertex).expect("it was asked for");
        (keys[at], first + i as u64)
    };
    let places: Vec<Place> = firsts.par_iter().enumerate().map(place).collect();
    let mut sorted = places.clone();
    sorted.par_sort_unstable();
    let cuts = cuts(ranks, &sorted, block.triangles);
    let owner = |place: &Place| cuts.partition_point(|cut| cut <= place) as u32;
    places.par_iter().map(owner).collect()
}

/// Items of elements from the directories that hold them: `ids` ascend, `held` are those of this rank's block. Collective.
pub fn fetch<T: bytemuck::Pod>(ranks: &Ranks, total: u64, ids: &[u64], held: &[T]) -> Vec<T> {
    let blocks = Blocks::new(total, ranks.size());
    let counts = (0..ranks.size()).map(|rank| {
        let range = blocks.range(rank);
        let below = |id: u64| ids.partition_point(|&other| other < id);
        below(range.end) - below(range.start)
    });
    let asked = ranks.exchange(&crate::transport::Mail::from_parts(ids.to_vec(), counts));
    let start = blocks.range(ranks.rank()).start;
    let answers = asked.map(|id| held[(id - start) as usize]);
    ranks.exchange(&answers).into_items()
}

/// The smallest and the largest coordinates of all points.
fn bounds(ranks: &Ranks, points: &[DVec2]) -> [DVec2; 2] {
    let mut bits = [u64::MAX; 4];
    for p in points {
        let [x, y] = p.to_array().map(to_ordered);
        for (least, value) in bits.iter_mut().zip([x, y, !x, !y]) {
            *least = (*least).min(value);
        }
    }
    ranks.reduce_all(&mut bits, Reduction::Min);
    let [x, y, not_x, not_y] = bits;
    let point = |x, y| DVec2::new(from_ordered(x), from_ordered(y));
    [point(x, y), point(!not_x, !not_y)]
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

/// Key along the curve: 32 bits a coordinate, interleaved.
fn key(p: DVec2, [least, most]: [DVec2; 2]) -> u64 {
    let extent = most - least;
    // A number that is not finite, or an extent of 0, becomes some integer too: the check of the mesh refuses such points later.
    let quantize =
        |x: f64, least: f64, extent: f64| ((x - least) / extent * 4_294_967_295.0) as u32;
    let x = spread(quantize(p.x, least.x, extent.x));
    let y = spread(quantize(p.y, least.y, extent.y));
    x | y << 1
}

/// The bits of a number with a 0 between each two.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// The first place of each part but the first, of parts of equal length of all places: `sorted` are this rank's.
///
/// Each cut is found by bisection, over keys and then over the ids of one key; a round is one sum over all ranks.
fn cuts(ranks: &Ranks, sorted: &[Place], total: u64) -> Vec<Place> {
    let blocks = Blocks::new(total, ranks.size());
    let parts: Vec<u64> = (1..ranks.size()).map(|r| blocks.range(r).start).collect();
    let search = |below: &dyn Fn(usize, u64) -> u64, most: u64| {
        let mut low = vec![0_u64; parts.len()];
        let mut high = vec![most; parts.len()];
        // The largest value with at most `part` places below it.
        while low.iter().zip(&high).any(|(low, high)| low < high) {
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
    };
    let places_below = |place: Place| sorted.partition_point(|other| *other < place) as u64;
    let keys = search(&|_, key| places_below((key, 0)), u64::MAX);
    let ids = search(&|i, id| places_below((keys[i], id)), total);
    keys.into_iter().zip(ids).collect()
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
        assert_eq!(spread(0b1011), 0b100_0101);
        assert_eq!(spread(u32::MAX), 0x5555_5555_5555_5555);
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
