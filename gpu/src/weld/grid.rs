//! The grid: points bucketed by the hash of their cell, gathered in that order.
//!
//! A bucket is a place in a table, and several cells may share it: the distance alone decides whether points are near.
//! So there are no keys to compare, no empty slots, and no limit on the number of cells along an axis.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts};
use trioxide_kernel::{Each, Index, PREFETCHED_AHEAD, Scalar, kernel, view};

use super::ids::{Bucket, Slot};
use crate::ids::{Item, Vertex};

/// Largest absolute value of a coordinate, 2^990: differences of two coordinates and sums of 2^32 are finite.
pub const LARGEST_COORDINATE: f64 = f64::from_bits((1023 + 990) << 52);

/// Steps across a cell: the resolution of a site's place.
pub const CELL_STEPS: u32 = 1 << STEP_BITS;
const STEP_BITS: u32 = 8;
/// Cells of a block along each axis, and blocks of a region along each axis. The buckets of a block are consecutive,
/// and so are the blocks of a region, so that a neighbourhood lies in few places.
const BLOCK_BITS: u32 = 2;
const BLOCK_MASK: u32 = (1 << BLOCK_BITS) - 1;
/// Cells of a block, and blocks of a region.
const BLOCK_CELLS: u32 = 1 << (3 * BLOCK_BITS);
/// Buckets of a region.
pub const REGION_BUCKETS: u32 = BLOCK_CELLS * BLOCK_CELLS;
/// Bits of a place along an axis: the steps across a block.
const PLACE_BITS: u32 = STEP_BITS + BLOCK_BITS;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;

/// Below this, steps are floors; above, they follow the floating-point numbers.
#[doc(hidden)]
pub const FLOORED: f64 = (1u64 << 50) as f64;

/// The most by which places differ from the distance of two vertices along an axis, in steps: one because of the
/// floors, and less than one because of rounding.
pub const STEP_ERROR: u32 = 2;

/// The distance of neighbours, and the layout of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Grid {
    /// Corner of a cell.
    pub origin: [f64; 3],
    /// Steps in a unit of length; a cell is [`CELL_STEPS`] of them.
    pub inverse_step: f64,
    /// Power of two that differences are multiplied by before they are squared, so that squares neither overflow nor
    /// vanish.
    pub scale: f64,
    /// Square of epsilon times `scale`.
    pub bound: f64,
    /// Most steps that neighbours may be apart along an axis: less than half a cell.
    pub reach: u32,
    /// Most steps that the places of neighbours may be apart, squared.
    pub place_bound: u32,
    /// Regions of the table.
    pub regions: u32,
    /// Whether cells are hashes of the coordinates' bits, so that only equal points share one. This is for epsilon 0:
    /// then no cell's side separates points that are very close.
    pub is_exact: u32,
}

impl Scalar for Grid {}

/// A vertex as the neighbour search reads it. The places of two vertices show for most pairs that they are not near.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Site {
    /// Steps from the corner of the block along each axis, ten bits each.
    pub place: u32,
    /// Vertex.
    pub id: Vertex,
}

impl Grid {
    /// Whether two points are at most epsilon apart.
    ///
    /// Compares squares of scaled differences. With epsilon 0, two numbers that differ do so by 2^-1074 at least, which
    /// the scale makes 2^-74.
    #[inline(always)]
    pub fn is_near(&self, a: [f64; 3], b: [f64; 3]) -> bool {
        let x = (a[0] - b[0]) * self.scale;
        let y = (a[1] - b[1]) * self.scale;
        let z = (a[2] - b[2]) * self.scale;
        x * x + y * y + z * z <= self.bound
    }

    /// Steps from the origin to a point, modulo 2^32. Before the modulus they never decrease as a coordinate grows,
    /// unless cells are exact.
    #[inline(always)]
    fn steps_to(&self, p: [f64; 3]) -> [u32; 3] {
        if self.is_exact != 0 {
            return p.each(hash_of);
        }
        let [x, y, z] = self.origin;
        let t = [p[0] - x, p[1] - y, p[2] - z].each(|way| way * self.inverse_step);
        if t[0].abs() < FLOORED && t[1].abs() < FLOORED && t[2].abs() < FLOORED {
            t.each(floor)
        } else {
            t.each(far_steps)
        }
    }

    /// Bucket of a cell.
    #[inline(always)]
    fn bucket_of(&self, x: u32, y: u32, z: u32) -> Bucket {
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
        // Blocks are mixed, so that a plane along the axes fills the table as evenly as any other.
        let block = place(x >> BLOCK_BITS, y >> BLOCK_BITS, z >> BLOCK_BITS) ^ (h % BLOCK_CELLS);
        Bucket::new((region * BLOCK_CELLS + block) * BLOCK_CELLS + place(x, y, z))
    }

    /// Bucket of a point.
    #[inline(always)]
    pub fn bucket(&self, p: [f64; 3]) -> Bucket {
        let [x, y, z] = self.steps_to(p).each(|steps| steps >> STEP_BITS);
        self.bucket_of(x, y, z)
    }

    /// Place of a point in its block.
    #[inline(always)]
    pub fn place(&self, p: [f64; 3]) -> u32 {
        let [x, y, z] = self.steps_to(p);
        (x & PLACE_MASK) | (y & PLACE_MASK) << PLACE_BITS | (z & PLACE_MASK) << (2 * PLACE_BITS)
    }

    /// Calls `look(first, last, corner)` for runs of buckets that hold all points near `p`, until it returns false; a
    /// bucket may come twice. `corner` is the vector from the corner of the buckets' block to `p`, in steps.
    #[inline(always)]
    pub fn each_run(&self, p: [f64; 3], mut look: impl FnMut(Bucket, Bucket, [u32; 3]) -> bool) {
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
                    if is_same_block(x, high[0]) {
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

    /// The steps to `p`, and the cells within its reach: two along each axis, or one.
    #[inline(always)]
    pub(super) fn reach_of(&self, p: [f64; 3]) -> Reach {
        let steps = self.steps_to(p);
        Reach {
            steps,
            low: steps.each(|steps| steps.wrapping_sub(self.reach) >> STEP_BITS),
            high: steps.each(|steps| steps.wrapping_add(self.reach) >> STEP_BITS),
        }
    }

    /// First and last bucket of the cells along x from `x` to `high`, as far as they are in one block: such buckets are
    /// consecutive in the table.
    #[inline(always)]
    pub(super) fn run(&self, x: u32, high: u32, y: u32, z: u32) -> (Bucket, Bucket) {
        let first = self.bucket_of(x, y, z);
        if is_same_block(x, high) {
            (first, Bucket::new(first.index() + (high - x)))
        } else {
            (first, first)
        }
    }

    /// Steps from the corner of a cell's block to a point.
    #[inline(always)]
    pub(super) fn from_corner(steps: [u32; 3], cell: [u32; 3]) -> [u32; 3] {
        let from = |steps: u32, cell: u32| steps.wrapping_sub(cell >> BLOCK_BITS << PLACE_BITS);
        [
            from(steps[0], cell[0]),
            from(steps[1], cell[1]),
            from(steps[2], cell[2]),
        ]
    }
}

/// Steps from the origin to a point, and the lowest and highest cell within its reach along each axis.
pub(super) struct Reach {
    pub steps: [u32; 3],
    pub low: [u32; 3],
    pub high: [u32; 3],
}

impl Reach {
    /// Cell of the point.
    #[inline(always)]
    pub fn cell(&self) -> [u32; 3] {
        self.steps.each(|steps| steps >> STEP_BITS)
    }
}

/// A hash of the bits of a coordinate, the same for equal coordinates.
#[inline(always)]
fn hash_of(x: f64) -> u32 {
    // Zeros of both signs are equal.
    let bits = (x + 0.0).to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((bits ^ bits >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) as u32
}

/// The floor of a number between -2^51 and 2^51, modulo 2^32.
#[doc(hidden)]
#[inline(always)]
pub fn floor(t: f64) -> u32 {
    // A sum with this is rounded to an integer, which is in its low bits: cheaper than a conversion.
    const WHOLE: f64 = (3u64 << 51) as f64;
    let sum = t + WHOLE;
    (sum.to_bits() as u32).wrapping_sub(u32::from(sum - WHOLE > t))
}

/// Steps of any number: up to [`FLOORED`] the floor, as far as a floor has a fraction to drop. Beyond it, a step is
/// four neighbouring numbers: as wide as before at first, and wider farther out.
#[doc(hidden)]
#[inline(always)]
pub fn far_steps(t: f64) -> u32 {
    let magnitude = t.abs();
    if magnitude < FLOORED {
        return floor(t);
    }
    let steps = ((magnitude.to_bits() - FLOORED.to_bits()) >> 2) + FLOORED as u64;
    (if t < 0.0 { !steps } else { steps }) as u32
}

/// Whether two cells are in the same block along an axis.
#[inline(always)]
pub(super) fn is_same_block(a: u32, b: u32) -> bool {
    a >> BLOCK_BITS == b >> BLOCK_BITS
}

impl Site {
    /// Whether this site may be near a point that is `corner` steps away from the corner of the block; steps modulo
    /// 2^32.
    #[inline(always)]
    #[doc(hidden)]
    pub fn may_be_near(self, corner: [u32; 3], bound: u32) -> bool {
        let x = (self.place & PLACE_MASK).wrapping_sub(corner[0]);
        let y = (self.place >> PLACE_BITS & PLACE_MASK).wrapping_sub(corner[1]);
        let z = (self.place >> (2 * PLACE_BITS)).wrapping_sub(corner[2]);
        let square = |d: u32| d.wrapping_mul(d);
        square(x) + square(y) + square(z) <= bound
    }

    /// [`Self::may_be_near`] for four sites, a bit each, with a third of the instructions. A point is less than half a
    /// cell from the block of the sites that it is compared with: differences are below 2^11, and fit 16 bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[doc(hidden)]
    pub fn which_may_be_near(four: [Self; 4], corner: [u32; 3], bound: u32) -> u32 {
        use core::arch::x86_64::*;
        let [a, b]: [__m128i; 2] = bytemuck::cast(four);
        let [x, y, z] = corner.each(|steps| steps & 0xFFFF);
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            let places = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(
                _mm_castsi128_ps(a),
                _mm_castsi128_ps(b),
            ));
            let low = _mm_set1_epi32(PLACE_MASK as i32);
            let high = _mm_set1_epi32((PLACE_MASK << 16) as i32);
            let place_xy = _mm_or_si128(
                _mm_and_si128(places, low),
                _mm_and_si128(_mm_slli_epi32::<{ 16 - PLACE_BITS as i32 }>(places), high),
            );
            let place_z = _mm_srli_epi32::<{ 2 * PLACE_BITS as i32 }>(places);
            let way_xy = _mm_sub_epi16(place_xy, _mm_set1_epi32((y << 16 | x) as i32));
            let way_z = _mm_sub_epi16(place_z, _mm_set1_epi32(z as i32));
            let square =
                _mm_add_epi32(_mm_madd_epi16(way_xy, way_xy), _mm_madd_epi16(way_z, way_z));
            let is_far = _mm_cmpgt_epi32(square, _mm_set1_epi32(bound.min(1 << 30) as i32));
            !_mm_movemask_ps(_mm_castsi128_ps(is_far)) as u32 & 15
        }
    }
}

/// Item `i` of a list. An empty list stands for all elements: item `i` is then element `i`.
#[inline(always)]
pub(super) fn item<I: Index>(list: In<I>, i: u32) -> I {
    if list.is_empty() {
        I::from_index(i)
    } else {
        list.at(i)
    }
}

/// Two consecutive points of the mesh, by a fixed draw; the choice of the cells' side reads them.
#[kernel(requires(!points.is_empty(), samples.len() == 2 * n))]
pub fn sample_points(i: Own<Item>, points: In<DVec3>, samples: Out<DVec3, Parts<Item, 2>>) {
    let number = i.index();
    let mixed = number.wrapping_mul(0x9E37_79B9) ^ number << 7;
    let v = (u64::from(mixed.wrapping_mul(0x85EB_CA6B)) * u64::from(points.len())) >> 32;
    let v = v as u32;
    samples.set(i.part(0), points.at(v));
    samples.set(
        i.part(1),
        points.at(if v + 1 < points.len() { v + 1 } else { v }),
    );
}

/// Finds the bucket of vertex `v`; finds a vertex in `found[0]` if a coordinate is not finite or too large.
#[kernel(
    requires(points.len() == n, keys.len() == n, !found.is_empty()),
    moves(points.bytes() + keys.bytes())
)]
pub fn place_points(
    v: Own<Vertex>,
    points: In<DVec3, Vertex>,
    grid: Grid,
    keys: Out<Bucket, Vertex>,
    found: Atomic,
) {
    let p = points.at(v).to_array();
    let is_in_range = |x: f64| (-LARGEST_COORDINATE..=LARGEST_COORDINATE).contains(&x);
    if is_in_range(p[0]) && is_in_range(p[1]) && is_in_range(p[2]) {
        keys.set(v, grid.bucket(p));
    } else {
        keys.set(v, Bucket::new(0));
        found.min(0, v.index());
    }
}

/// Counts the points of each bucket; a point's rank is the count before it.
#[kernel(
    requires(keys.len() == n, ranks.len() == n),
    moves(keys.bytes() + 2 * counts.bytes().min(4 * n) + ranks.bytes())
)]
pub fn count_points(
    v: Own<Vertex>,
    keys: In<Bucket, Vertex>,
    counts: Atomic<u32, Bucket>,
    ranks: Out<u32, Vertex>,
) {
    if cfg!(not(target_arch = "nvptx64"))
        && let Some(ahead) = keys.get(Vertex::new(v.index() + PREFETCHED_AHEAD))
    {
        counts.prefetch(ahead);
    }
    ranks.set(v, counts.add(keys.at(v), 1));
}

/// Points that make a bucket crowded.
const CROWDED: u32 = 64;

/// Measures four buckets: the number of points in crowded ones (`found[1]`), and the largest bucket (the complement of
/// `found[2]`).
#[kernel(requires(counts.len() >= 4 * n, found.len() >= 3), moves(counts.bytes()))]
pub fn measure_buckets(four: Own<Item>, counts: In<u32>, found: Atomic) {
    let [a, b, c, d] = counts.quad(4 * four.index());
    if a.max(b).max(c.max(d)) > CROWDED {
        for count in [a, b, c, d] {
            if count > CROWDED {
                found.add(1, count);
                found.min(2, !count);
            }
        }
    }
}

/// Copies vertex `v` to its slot, and its position into `sorted` unless `sorted` is empty.
#[kernel(
    requires(
        points.len() == n,
        keys.len() == n,
        ranks.len() == n,
        sites.len() == n,
        sorted.is_empty() || sorted.len() == n
    ),
    moves(
        points.bytes()
            + keys.bytes()
            + ranks.bytes()
            + offsets.bytes().min(4 * n)
            + sites.bytes()
            + sorted.bytes()
    )
)]
pub fn gather_points(
    v: Vertex,
    points: view::In<DVec3>,
    keys: view::In<Bucket>,
    ranks: view::In<u32>,
    offsets: view::In<u32>,
    grid: Grid,
    sites: view::Out<Site>,
    sorted: view::Out<DVec3>,
) {
    offsets.prefetch_item(keys, v);
    let point = points.at(v);
    let slot = Slot::new(offsets.at(keys.at(v)) + ranks.at(v));
    let place = grid.place(point.to_array());
    sites.set(slot, Site { place, id: v });
    if !sorted.is_empty() {
        sorted.set(slot, point);
    }
}
