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

/// Steps across a cell: the resolution of a site's place.
pub const CELL_STEPS: u32 = 1 << STEP_BITS;
const STEP_BITS: u32 = 8;
/// Cells of a block along each axis. The buckets of a block follow each other, so that a neighbourhood lies in few places.
const BLOCK: u32 = 1 << BLOCK_BITS;
const BLOCK_BITS: u32 = 2;
/// Buckets of a block.
pub const BLOCK_BUCKETS: u32 = BLOCK * BLOCK * BLOCK;
/// Bits of a place along an axis: the steps of a block.
const PLACE_BITS: u32 = STEP_BITS + BLOCK_BITS;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;
/// Largest number of blocks along an axis; beyond it they count from 0 again.
const BLOCKS_MASK: u32 = u32::MAX >> PLACE_BITS;

/// Steps below this are floors; beyond they follow the floating-point numbers.
const FLOORED: f64 = (1u64 << 50) as f64;

/// Steps that the places of two vertices may be farther apart than the vertices, along an axis: one because of the floors,
/// and less than one because of rounding.
pub const STEP_ERROR: u32 = 2;

/// What is near, and where to look for it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Grid {
    /// Corner of a cell.
    pub origin: [f64; 3],
    /// Steps in a unit of length; a cell is [`CELL_STEPS`] of them.
    pub inverse_step: f64,
    /// Power of two that differences are multiplied by before they are squared, so that squares neither overflow nor vanish.
    pub scale: f64,
    /// Square of epsilon times `scale`.
    pub bound: f64,
    /// Most steps that neighbours may be apart along an axis: less than half a cell.
    pub reach: u32,
    /// Most steps that the places of neighbours may be apart, squared.
    pub place_bound: u32,
    /// Blocks of the table.
    pub blocks: u32,
    /// Nothing: fills the struct.
    pub padding: u32,
}

/// A vertex as the neighbour search reads it. Most that are not near are found to be so by their places.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Site {
    /// Steps from the corner of the block along each axis, ten bits each.
    pub place: u32,
    /// Vertex.
    pub id: u32,
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

    /// Steps from the origin to a coordinate, modulo 2^32; before that they never decrease as the coordinate grows.
    ///
    /// Floors, as far as a floor has a fraction to drop. Beyond, a step is four neighbouring numbers: one before at first, and
    /// wider farther out.
    #[inline(always)]
    fn steps(&self, x: f64, axis: usize) -> u32 {
        let t = (x - self.origin[axis]) * self.inverse_step;
        if t > -FLOORED && t < FLOORED {
            let towards_zero = t as i64;
            return (towards_zero - i64::from(towards_zero as f64 > t)) as u32;
        }
        let magnitude = t.to_bits() & (u64::MAX >> 1);
        let steps = ((magnitude - FLOORED.to_bits()) >> 2) + FLOORED as u64;
        (if t < 0.0 { !steps } else { steps }) as u32
    }

    /// Steps from the origin to a point.
    #[inline(always)]
    fn steps_to(&self, p: [f64; 3]) -> [u32; 3] {
        [
            self.steps(p[0], 0),
            self.steps(p[1], 1),
            self.steps(p[2], 2),
        ]
    }

    /// First bucket of a block.
    #[inline(always)]
    fn block(&self, x: u32, y: u32, z: u32) -> u32 {
        let mut h =
            x.wrapping_mul(0x8DA6_B343) ^ y.wrapping_mul(0xD816_3841) ^ z.wrapping_mul(0xCB1A_B31F);
        h = (h ^ h >> 16).wrapping_mul(0x7FEB_352D);
        h = (h ^ h >> 15).wrapping_mul(0x846C_A68B);
        h ^= h >> 16;
        ((u64::from(h) * u64::from(self.blocks)) >> 32) as u32 * BLOCK_BUCKETS
    }

    /// Bucket of a point.
    #[inline(always)]
    pub fn bucket(&self, p: [f64; 3]) -> u32 {
        let [x, y, z] = self.steps_to(p);
        let cell = |steps: u32| steps >> STEP_BITS & (BLOCK - 1);
        self.block(x >> PLACE_BITS, y >> PLACE_BITS, z >> PLACE_BITS)
            + (cell(z) * BLOCK + cell(y)) * BLOCK
            + cell(x)
    }

    /// Place of a point in its block.
    #[inline(always)]
    pub fn place(&self, p: [f64; 3]) -> u32 {
        let [x, y, z] = self.steps_to(p);
        (x & PLACE_MASK) | (y & PLACE_MASK) << PLACE_BITS | (z & PLACE_MASK) << (2 * PLACE_BITS)
    }

    /// Calls `look(first, last, corner)` for runs of buckets that hold all that is near `p`; a bucket may come twice. `corner`
    /// is the way from the corner of the buckets' block to `p`, in steps.
    #[inline(always)]
    pub fn each_run(&self, p: [f64; 3], mut look: impl FnMut(u32, u32, [u32; 3])) {
        let [x, y, z] = self.steps_to(p);
        Span::new(z, self.reach).each_block(|z_block, z_first, z_last, from_z| {
            Span::new(y, self.reach).each_block(|y_block, y_first, y_last, from_y| {
                Span::new(x, self.reach).each_block(|x_block, x_first, x_last, from_x| {
                    let block = self.block(x_block, y_block, z_block);
                    let mut z = z_first;
                    while z <= z_last {
                        let mut y = y_first;
                        while y <= y_last {
                            // The cells of a row in a block are neighbours in the table.
                            let row = block + (z * BLOCK + y) * BLOCK;
                            look(row + x_first, row + x_last, [from_x, from_y, from_z]);
                            y += 1;
                        }
                        z += 1;
                    }
                });
            });
        });
    }
}

impl Site {
    /// Whether this may be near what is `corner` steps away from the corner of the block; steps modulo 2^32.
    #[inline(always)]
    fn may_be_near(self, corner: [u32; 3], bound: u32) -> bool {
        let x = (self.place & PLACE_MASK).wrapping_sub(corner[0]);
        let y = (self.place >> PLACE_BITS & PLACE_MASK).wrapping_sub(corner[1]);
        let z = (self.place >> (2 * PLACE_BITS)).wrapping_sub(corner[2]);
        let square = |d: u32| d.wrapping_mul(d);
        square(x) + square(y) + square(z) <= bound
    }
}

/// Steps along an axis, modulo 2^32.
#[derive(Clone, Copy)]
struct Span {
    middle: u32,
    low: u32,
    high: u32,
}

impl Span {
    #[inline(always)]
    fn new(middle: u32, reach: u32) -> Self {
        Self {
            middle,
            low: middle.wrapping_sub(reach),
            high: middle.wrapping_add(reach),
        }
    }

    /// Calls `visit(block, first, last, from)` for the blocks of the span, with the first and the last cell in each, and the
    /// steps from its corner to the middle.
    #[inline(always)]
    fn each_block(self, mut visit: impl FnMut(u32, u32, u32, u32)) {
        let cell = |steps: u32| steps >> STEP_BITS & (BLOCK - 1);
        let last_block = self.high >> PLACE_BITS;
        let mut block = self.low >> PLACE_BITS;
        let mut first = cell(self.low);
        loop {
            let is_last = block == last_block;
            let last = if is_last { cell(self.high) } else { BLOCK - 1 };
            visit(
                block,
                first,
                last,
                self.middle.wrapping_sub(block << PLACE_BITS),
            );
            if is_last {
                break;
            }
            block = (block + 1) & BLOCKS_MASK;
            first = 0;
        }
    }
}

/// Item `i` of a list, or `i` itself where the list is empty: all elements.
#[inline(always)]
pub(super) fn item(list: In<u32>, i: u32) -> u32 {
    if list.is_empty() { i } else { list.at(i) }
}

/// Two points that follow each other, drawn from all for the choice of the cells' side; always the same ones.
#[kernel]
pub fn sample_points(i: u32, points: In<DVec3>, samples: Out<DVec3>) {
    let mixed = i.wrapping_mul(0x9E37_79B9) ^ i << 7;
    let v = (u64::from(mixed.wrapping_mul(0x85EB_CA6B)) * u64::from(points.len())) >> 32;
    let v = v as u32;
    samples.set(2 * i, points.at(v));
    samples.set(
        2 * i + 1,
        points.at(if v + 1 < points.len() { v + 1 } else { v }),
    );
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

/// Copies vertex `list[i]` to its place, and its position into `sorted` unless that is empty.
#[kernel]
pub fn gather_points(
    i: u32,
    list: In<u32>,
    points: In<DVec3>,
    keys: In<u32>,
    ranks: In<u32>,
    offsets: In<u32>,
    grid: In<Grid>,
    sites: Out<Site>,
    sorted: Out<DVec3>,
) {
    offsets.prefetch_item(keys, i);
    let id = item(list, i);
    let point = points.at(id);
    let slot = offsets.at(keys.at(i)) + ranks.at(i);
    let place = grid.at(0).place(point.to_array());
    sites.set(slot, Site { place, id });
    if !sorted.is_empty() {
        sorted.set(slot, point);
    }
}

/// The grid with its vertices: what a neighbour search reads.
///
/// Positions are those of the vertices, or of the slots where the vertices' ids say nothing about where they are: what is
/// near lies near in memory either way. An index into them, and into any array beside them, is called a row.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub grid: Grid,
    pub offsets: In<'a, u32>,
    pub sites: In<'a, Site>,
    pub positions: In<'a, DVec3>,
    /// Whether rows are slots.
    pub by_slot: bool,
}

impl Search<'_> {
    /// Vertex of a row.
    #[inline(always)]
    pub fn vertex(&self, row: u32) -> u32 {
        if self.by_slot {
            self.sites.at(row).id
        } else {
            row
        }
    }

    /// Calls `visit(row, vertex)` for every vertex near that of `row` with a lower id.
    #[inline(always)]
    pub fn each_lower_neighbour(&self, row: u32, mut visit: impl FnMut(u32, u32)) {
        let v = self.vertex(row);
        let p = self.positions.at(row).to_array();
        self.grid.each_run(p, |first, last, corner| {
            let mut slot = self.offsets.at(first);
            let end = self.offsets.at(last + 1);
            while slot < end {
                let site = self.sites.at(slot);
                // Without a branch on the first, which would go either way.
                if (site.id < v) & site.may_be_near(corner, self.grid.place_bound) {
                    let row = if self.by_slot { slot } else { site.id };
                    if self.grid.is_near(p, self.positions.at(row).to_array()) {
                        visit(row, site.id);
                    }
                }
                slot += 1;
            }
        });
    }
}
