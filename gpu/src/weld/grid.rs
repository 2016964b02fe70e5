//! The grid: points bucketed by the hash of their cell, gathered in that order.
//!
//! A bucket is a place in a table, and several cells may share it: which points are near is for the distance to say. So
//! there are no keys to compare, no empty slots, and no limit on the number of cells along an axis.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use gpu_macros::kernel;

use crate::view::{Atomic, In, Out, PREFETCHED_AHEAD};

/// Largest absolute value of a coordinate, 2^990: differences of two and sums of 2^32 are finite.
pub const LARGEST_COORDINATE: f64 = f64::from_bits((1023 + 990) << 52);

/// Cells of a block along each axis. The buckets of a block follow each other, so that a neighbourhood lies in few places.
const BLOCK: u32 = 4;
/// Buckets of a block.
pub const BLOCK_BUCKETS: u32 = BLOCK * BLOCK * BLOCK;

/// Cell coordinates below this are floors; beyond they follow the floating-point numbers.
const FLOORED: f64 = (1u32 << 30) as f64;

/// What is near, and where to look for it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Grid {
    /// Corner of a cell.
    pub origin: [f64; 3],
    /// 1 / side of a cell; the side is twice `reach` or more.
    pub inverse_side: f64,
    /// A little more than epsilon: no coordinate of a neighbour is farther.
    pub reach: f64,
    /// Power of two that differences are multiplied by before they are squared, so that squares neither overflow nor vanish.
    pub scale: f64,
    /// Square of epsilon times `scale`.
    pub bound: f64,
    /// Blocks of the table.
    pub blocks: u32,
    /// Nothing: fills the struct.
    pub padding: u32,
}

/// A point as the neighbour search reads it: one sector of the device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Site {
    /// Position.
    pub point: [f64; 3],
    /// Vertex.
    pub id: u32,
    /// Nothing: fills the sector.
    pub padding: u32,
}

impl Grid {
    /// Whether two points are at most epsilon apart.
    ///
    /// Squares of scaled differences: with epsilon 0, two numbers that differ do so by 2^-1074 at least, of which the scale
    /// makes 2^-74.
    #[inline(always)]
    pub fn is_near(&self, a: [f64; 3], b: [f64; 3]) -> bool {
        let x = (a[0] - b[0]) * self.scale;
        let y = (a[1] - b[1]) * self.scale;
        let z = (a[2] - b[2]) * self.scale;
        x * x + y * y + z * z <= self.bound
    }

    /// Cell of a coordinate, modulo 2^32; it never decreases as the coordinate grows.
    ///
    /// Floors, as far as a floor has a fraction to drop. Beyond, a cell is 2^23 neighbouring numbers: 2^-29 of the distance
    /// from the origin, and wider than any cell before.
    #[inline(always)]
    fn cell(&self, x: f64, axis: usize) -> u32 {
        let t = (x - self.origin[axis]) * self.inverse_side;
        if t > -FLOORED && t < FLOORED {
            let towards_zero = t as i32;
            return (towards_zero - i32::from(towards_zero as f64 > t)) as u32;
        }
        let magnitude = t.to_bits() & (u64::MAX >> 1);
        let far = ((magnitude - FLOORED.to_bits()) >> 23) as u32;
        let cell = far.wrapping_add(FLOORED as u32);
        if t < 0.0 { !cell } else { cell }
    }

    /// First bucket of the block of a cell.
    #[inline(always)]
    fn block(&self, x: u32, y: u32, z: u32) -> u32 {
        let mut h = (x / BLOCK).wrapping_mul(0x8DA6_B343)
            ^ (y / BLOCK).wrapping_mul(0xD816_3841)
            ^ (z / BLOCK).wrapping_mul(0xCB1A_B31F);
        h = (h ^ h >> 16).wrapping_mul(0x7FEB_352D);
        h = (h ^ h >> 15).wrapping_mul(0x846C_A68B);
        h ^= h >> 16;
        ((u64::from(h) * u64::from(self.blocks)) >> 32) as u32 * BLOCK_BUCKETS
    }

    /// Bucket of a cell.
    #[inline(always)]
    fn bucket_of_cell(&self, x: u32, y: u32, z: u32) -> u32 {
        self.block(x, y, z) + (z % BLOCK * BLOCK + y % BLOCK) * BLOCK + x % BLOCK
    }

    /// Bucket of a point.
    #[inline(always)]
    pub fn bucket(&self, p: [f64; 3]) -> u32 {
        self.bucket_of_cell(self.cell(p[0], 0), self.cell(p[1], 1), self.cell(p[2], 2))
    }

    /// Calls `look(first, last)` for runs of buckets that hold all that is near `p`; a bucket may come twice.
    ///
    /// A neighbour's coordinates lie between those of `p` less and plus the reach, as rounded: rounding keeps order, and so
    /// does [`Grid::cell`]. No margin depends on how large the coordinates are.
    #[inline(always)]
    pub fn each_run(&self, p: [f64; 3], mut look: impl FnMut(u32, u32)) {
        let low = |axis: usize| self.cell(p[axis] - self.reach, axis);
        let high = |axis: usize| self.cell(p[axis] + self.reach, axis);
        let (x_low, y_low, z_low) = (low(0), low(1), low(2));
        let (x_high, y_high, z_high) = (high(0), high(1), high(2));
        let mut z = z_low;
        loop {
            let mut y = y_low;
            loop {
                let mut x = x_low;
                loop {
                    // The cells of a row in a block are neighbours in the table.
                    let left = x_high.wrapping_sub(x);
                    let run = left.min(BLOCK - 1 - x % BLOCK);
                    let first = self.bucket_of_cell(x, y, z);
                    look(first, first + run);
                    if left == run {
                        break;
                    }
                    x = x.wrapping_add(run + 1);
                }
                if y == y_high {
                    break;
                }
                y = y.wrapping_add(1);
            }
            if z == z_high {
                break;
            }
            z = z.wrapping_add(1);
        }
    }
}

/// Item `i` of a list, or `i` itself where the list is empty: all elements.
#[inline(always)]
pub(super) fn item(list: In<u32>, i: u32) -> u32 {
    if list.is_empty() { i } else { list.at(i) }
}

/// A point drawn from all for the choice of the cells' side; always the same ones.
#[kernel]
pub fn sample_points(i: u32, points: In<DVec3>, samples: Out<DVec3>) {
    let mixed = i.wrapping_mul(0x9E37_79B9) ^ i << 7;
    let v = (u64::from(mixed.wrapping_mul(0x85EB_CA6B)) * u64::from(points.len())) >> 32;
    samples.set(i, points.at(v as u32));
}

/// Finds the bucket of point `list[i]`; finds a vertex in `found[0]` if a coordinate is not finite or too large.
#[kernel]
pub fn place_points(
    i: u32,
    list: In<u32>,
    points: In<DVec3>,
    grid: In<Grid>,
    keys: Out<u32>,
    found: Atomic,
) {
    let v = item(list, i);
    let p = points.at(v).to_array();
    let is_in_range = |x: f64| (-LARGEST_COORDINATE..=LARGEST_COORDINATE).contains(&x);
    if is_in_range(p[0]) && is_in_range(p[1]) && is_in_range(p[2]) {
        keys.set(i, grid.at(0).bucket(p));
    } else {
        keys.set(i, 0);
        found.min(0, v);
    }
}

/// Counts the points of each bucket; a point's rank is the count before it.
#[kernel]
pub fn count_points(i: u32, keys: In<u32>, counts: Atomic, ranks: Out<u32>) {
    if cfg!(not(target_arch = "nvptx64")) && i + PREFETCHED_AHEAD < keys.len() {
        counts.prefetch(keys.at(i + PREFETCHED_AHEAD));
    }
    ranks.set(i, counts.add(keys.at(i), 1));
}

/// Points that make a bucket crowded.
const CROWDED: u32 = 64;

/// Measures how many points are in crowded buckets (`found[1]`), and the largest bucket (the complement of `found[2]`).
#[kernel]
pub fn measure_buckets(bucket: u32, counts: In<u32>, found: Atomic) {
    let count = counts.at(bucket);
    if count > CROWDED {
        found.add(1, count);
        found.min(2, !count);
    }
}

/// Copies point `list[i]` to its place.
#[kernel]
pub fn gather_points(
    i: u32,
    list: In<u32>,
    points: In<DVec3>,
    keys: In<u32>,
    ranks: In<u32>,
    offsets: In<u32>,
    sites: Out<Site>,
) {
    offsets.prefetch_item(keys, i);
    let id = item(list, i);
    let site = Site {
        point: points.at(id).to_array(),
        id,
        padding: 0,
    };
    sites.set(offsets.at(keys.at(i)) + ranks.at(i), site);
}

/// Calls `visit(slot, site)` for every site near `p` whose id is below `id`.
#[inline(always)]
pub(super) fn each_lower_neighbour(
    p: [f64; 3],
    id: u32,
    grid: &Grid,
    offsets: In<u32>,
    sites: In<Site>,
    mut visit: impl FnMut(u32, u32),
) {
    grid.each_run(p, |first, last| {
        let mut slot = offsets.at(first);
        let end = offsets.at(last + 1);
        while slot < end {
            let site = sites.at(slot);
            if site.id < id && grid.is_near(p, site.point) {
                visit(slot, site.id);
            }
            slot += 1;
        }
    });
}
