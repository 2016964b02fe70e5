//! The grid: points bucketed by the hash of their cell, gathered in that order.
//!
//! A bucket is a place in a table, and several cells may share it: which points are near is for the distance to say. So
//! there are no keys to compare, no empty slots, and no limit on the number of cells along an axis.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::{Atomic, In, Out, PREFETCHED_AHEAD, kernel};

use super::near::{Guard, Guards};

/// Largest absolute value of a coordinate, 2^990: differences of two and sums of 2^32 are finite.
pub const LARGEST_COORDINATE: f64 = f64::from_bits((1023 + 990) << 52);

/// Steps across a cell: the resolution of a site's place.
pub const CELL_STEPS: u32 = 1 << STEP_BITS;
const STEP_BITS: u32 = 8;
/// Cells of a block along each axis, and blocks of a region. The buckets of a block follow each other, and the blocks of a
/// region, so that a neighbourhood lies in few places.
const BLOCK_BITS: u32 = 2;
const BLOCK_MASK: u32 = (1 << BLOCK_BITS) - 1;
/// Cells of a block, and blocks of a region.
const BLOCK_CELLS: u32 = 1 << (3 * BLOCK_BITS);
/// Buckets of a region.
pub const REGION_BUCKETS: u32 = BLOCK_CELLS * BLOCK_CELLS;
/// Bits of a place along an axis: the steps of a block.
const PLACE_BITS: u32 = STEP_BITS + BLOCK_BITS;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;

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
    /// Regions of the table.
    pub regions: u32,
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

    /// Bucket of a cell.
    #[inline(always)]
    fn bucket_of(&self, x: u32, y: u32, z: u32) -> u32 {
        let place = |x: u32, y: u32, z: u32| {
            (((z & BLOCK_MASK) << BLOCK_BITS | y & BLOCK_MASK) << BLOCK_BITS) | x & BLOCK_MASK
        };
        let mut h = (x >> (2 * BLOCK_BITS)).wrapping_mul(0x8DA6_B343)
            ^ (y >> (2 * BLOCK_BITS)).wrapping_mul(0xD816_3841)
            ^ (z >> (2 * BLOCK_BITS)).wrapping_mul(0xCB1A_B31F);
        h = (h ^ h >> 16).wrapping_mul(0x7FEB_352D);
        h = (h ^ h >> 15).wrapping_mul(0x846C_A68B);
        h ^= h >> 16;
        let region = ((u64::from(h) * u64::from(self.regions)) >> 32) as u32;
        // Blocks mixed, so that a plane along the axes fills the table as evenly as any other.
        let block = place(x >> BLOCK_BITS, y >> BLOCK_BITS, z >> BLOCK_BITS) ^ (h % BLOCK_CELLS);
        (region * BLOCK_CELLS + block) * BLOCK_CELLS + place(x, y, z)
    }

    /// Bucket of a point.
    #[inline(always)]
    pub fn bucket(&self, p: [f64; 3]) -> u32 {
        let [x, y, z] = self.steps_to(p).map(|steps| steps >> STEP_BITS);
        self.bucket_of(x, y, z)
    }

    /// Place of a point in its block.
    #[inline(always)]
    pub fn place(&self, p: [f64; 3]) -> u32 {
        let [x, y, z] = self.steps_to(p);
        (x & PLACE_MASK) | (y & PLACE_MASK) << PLACE_BITS | (z & PLACE_MASK) << (2 * PLACE_BITS)
    }

    /// Calls `look(first, last, corner)` for runs of buckets that hold all that is near `p`, until it returns false; a bucket
    /// may come twice. `corner` is the way from the corner of the buckets' block to `p`, in steps.
    #[inline(always)]
    pub fn each_run(&self, p: [f64; 3], mut look: impl FnMut(u32, u32, [u32; 3]) -> bool) {
        let Reach { steps, low, high } = self.reach_of(p);
        let mut z = low[2];
        loop {
            let mut y = low[1];
            loop {
                let mut x = low[0];
                loop {
                    let (first, last) = self.run(x, high[0], y, z);
                    if !look(first, last, Self::from_corner(steps, [x, y, z])) {
                        return;
                    }
                    if x >> BLOCK_BITS == high[0] >> BLOCK_BITS {
                        break;
                    }
                    x = high[0];
                }
                if y == high[1] {
                    break;
                }
                y = high[1];
            }
            if z == high[2] {
                break;
            }
            z = high[2];
        }
    }

    /// Where `p` is, and the cells within its reach: two along each axis, or one.
    #[inline(always)]
    fn reach_of(&self, p: [f64; 3]) -> Reach {
        let steps = self.steps_to(p);
        Reach {
            steps,
            low: steps.map(|steps| steps.wrapping_sub(self.reach) >> STEP_BITS),
            high: steps.map(|steps| steps.wrapping_add(self.reach) >> STEP_BITS),
        }
    }

    /// First and last bucket of the cells of a row from `x` to `high`, as far as they are in one block: those are neighbours in
    /// the table.
    #[inline(always)]
    fn run(&self, x: u32, high: u32, y: u32, z: u32) -> (u32, u32) {
        let first = self.bucket_of(x, y, z);
        let is_last = x >> BLOCK_BITS == high >> BLOCK_BITS;
        (first, if is_last { first + (high - x) } else { first })
    }

    /// Steps from the corner of a cell's block to a point.
    #[inline(always)]
    fn from_corner(steps: [u32; 3], cell: [u32; 3]) -> [u32; 3] {
        let from = |steps: u32, cell: u32| steps.wrapping_sub(cell >> BLOCK_BITS << PLACE_BITS);
        [
            from(steps[0], cell[0]),
            from(steps[1], cell[1]),
            from(steps[2], cell[2]),
        ]
    }
}

/// Steps from the origin to a point, and the lowest and highest cell within its reach along each axis.
struct Reach {
    steps: [u32; 3],
    low: [u32; 3],
    high: [u32; 3],
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
pub(super) struct Search<'a, G> {
    pub grid: Grid,
    pub offsets: In<'a, u32>,
    pub sites: In<'a, Site>,
    pub positions: In<'a, DVec3>,
    /// Whether rows are slots.
    pub by_slot: bool,
    /// What keeps vertices apart that are near.
    pub guards: Guards<'a, G>,
}

impl<G: Guard> Search<'_, G> {
    /// Vertex of a row.
    #[inline(always)]
    pub fn vertex(&self, row: u32) -> u32 {
        if self.by_slot {
            self.sites.at(row).id
        } else {
            row
        }
    }

    /// Row of a slot.
    #[inline(always)]
    pub fn row(&self, slot: u32) -> u32 {
        if self.by_slot {
            slot
        } else {
            self.sites.at(slot).id
        }
    }

    /// Asks a CPU for the position in a slot some way behind `slot`.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32) {
        let ahead = slot + PREFETCHED_AHEAD;
        if cfg!(not(target_arch = "nvptx64")) && !self.by_slot && ahead < self.sites.len() {
            self.positions.prefetch(self.sites.at(ahead).id);
        }
    }

    /// Whether two vertices are neighbours, that of `row` at `p` and that of `other`.
    #[inline(always)]
    fn are_near(&self, p: [f64; 3], v: u32, other: u32, id: u32) -> bool {
        self.grid.is_near(p, self.positions.at(other).to_array()) && G::allows(&self.guards, v, id)
    }

    /// Bit `i` says whether site `first + i` may be near what is `corner` steps away from the corner of its block, as far as
    /// `count` and 32; `is_wanted` takes a site's vertex.
    #[inline(always)]
    fn candidates(
        &self,
        first: u32,
        count: u32,
        corner: [u32; 3],
        is_wanted: impl Fn(u32) -> bool,
    ) -> u32 {
        let mut candidates = 0;
        let mut i = 0;
        while i < count {
            // Without a branch: it would go either way.
            let site = self.sites.at(first + i);
            let is_candidate = is_wanted(site.id) & site.may_be_near(corner, self.grid.place_bound);
            candidates |= u32::from(is_candidate) << i;
            i += 1;
        }
        candidates
    }

    /// Calls `visit(row, vertex)` for every neighbour of the vertex in `slot` that comes later in the grid: in a later slot of
    /// its bucket, or in another cell that is ahead of its own.
    ///
    /// So each pair of neighbours is found once. A cell is ahead of another if it is so along z, or along y in the same layer,
    /// or along x in the same row. Cells within reach of each other are in different buckets: blocks are wider.
    #[inline(always)]
    pub fn each_later_neighbour(&self, slot: u32, mut visit: impl FnMut(u32, u32)) {
        let row = self.row(slot);
        let v = self.vertex(row);
        let p = self.positions.at(row).to_array();
        let Reach { steps, low, high } = self.grid.reach_of(p);
        let [mut x, mut y, mut z] = steps.map(|steps| steps >> STEP_BITS);
        let mut start = slot + 1;
        let mut is_own = true;
        loop {
            let (first, last) = self.grid.run(x, high[0], y, z);
            if !is_own {
                start = self.offsets.at(first);
            }
            is_own = false;
            let end = self.offsets.at(last + 1);
            let corner = Grid::from_corner(steps, [x, y, z]);
            while start < end {
                let count = (end - start).min(32);
                let mut candidates = self.candidates(start, count, corner, |_| true);
                while candidates != 0 {
                    let slot = start + candidates.trailing_zeros();
                    candidates &= candidates - 1;
                    let id = self.sites.at(slot).id;
                    let other = if self.by_slot { slot } else { id };
                    if self.are_near(p, v, other, id) {
                        visit(other, id);
                    }
                }
                start += count;
            }
            // The other block of the row, the next row, the next layer.
            if x >> BLOCK_BITS != high[0] >> BLOCK_BITS {
                x = high[0];
                continue;
            }
            x = low[0];
            if y == high[1] {
                if z == high[2] {
                    return;
                }
                z = high[2];
                y = low[1];
            } else {
                y = high[1];
            }
        }
    }

    /// Calls `visit(row, vertex)` for every neighbour of the vertex of `row` with a lower id, until it returns false.
    #[inline(always)]
    pub fn each_lower_neighbour(&self, row: u32, mut visit: impl FnMut(u32, u32) -> bool) {
        let v = self.vertex(row);
        let p = self.positions.at(row).to_array();
        self.grid.each_run(p, |first, last, corner| {
            let mut start = self.offsets.at(first);
            let end = self.offsets.at(last + 1);
            while start < end {
                let count = (end - start).min(32);
                let mut candidates = self.candidates(start, count, corner, |id| id < v);
                while candidates != 0 {
                    let slot = start + candidates.trailing_zeros();
                    candidates &= candidates - 1;
                    let id = self.sites.at(slot).id;
                    let other = if self.by_slot { slot } else { id };
                    if self.are_near(p, v, other, id) && !visit(other, id) {
                        return false;
                    }
                }
                start += count;
            }
            true
        });
    }
}
