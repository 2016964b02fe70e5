//! Points of a surface, evenly by area.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::view::{In, Out};

use super::distance::{cross, dot};
use super::shape::Shape;
use crate::ids::{Item, Triangle};
use crate::smooth::root;

trioxide_kernel::id! {
    /// [`CHUNK`] triangles.
    pub struct Chunk = "chunk";
}

/// Triangles whose areas are added one after the other.
pub const CHUNK: u32 = 64;

/// Adds the areas of the triangles of `chunk`: `within` gets the sum up to each, `sums` that of all.
#[kernel(
    requires(sums.len() == n, within.len().div_ceil(CHUNK as usize) == n),
    moves(shape.corners.bytes() + shape.points.bytes() + within.bytes() + sums.bytes())
)]
pub fn add_areas(chunk: Chunk, shape: Shape, within: Out<f64>, sums: Out<f64>) {
    let mut t = CHUNK * chunk.index();
    let last = t + (CHUNK - 1);
    let mut sum = 0.0;
    while t <= last && t < within.len() {
        let [a, b, c] = shape.triangle(Triangle::new(t));
        let normal = cross(b - a, c - a);
        sum += 0.5 * root(dot(normal, normal));
        within.set(t, sum);
        t += 1;
    }
    sums.set(chunk, sum);
}

/// The samples to draw.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Draw {
    /// Of the random numbers.
    pub seed: u64,
    /// Area of a sample's part of the surface.
    pub step: f64,
    /// The last chunk with an area.
    pub last: u32,
    /// No meaning.
    pub padding: u32,
}

impl trioxide_kernel::Scalar for Draw {}

/// Sample `i`: its place and its triangle. `starts` has the area before each chunk, `within` that of [`add_areas()`].
#[kernel(
    requires(points.len() == n, triangles.len() == n, starts.len() == within.len().div_ceil(CHUNK as usize)),
    moves(points.bytes() + triangles.bytes())
)]
pub fn draw_samples(
    i: Item,
    shape: Shape,
    starts: In<f64>,
    within: In<f64>,
    draw: Draw,
    points: Out<DVec3>,
    triangles: Out<Triangle>,
) {
    let number = i.index();
    let random = |k: u64| {
        let mixed = mix(mix(draw.seed) ^ mix(u64::from(number) << 2 | k));
        // 53 bits: the numbers of f64 below 1.
        (mixed >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    };
    let area = (f64::from(number) + random(0)) * draw.step;
    // The last chunk that starts there or before.
    let (mut low, mut high) = (0, draw.last);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if starts.at(middle) <= area {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    let (end, last) = (CHUNK * low + (CHUNK - 1), within.len() - 1);
    let end = if end < last { end } else { last };
    // Rounding may lead past the last triangle with an area.
    let rest = area - starts.at(low);
    let all = within.at(end);
    let is_past = rest >= all;
    // The first triangle whose sum is above the rest, or is all.
    let (mut t, mut high) = (CHUNK * low, end);
    while t < high {
        let middle = t + (high - t) / 2;
        let sum = within.at(middle);
        if sum > rest || is_past && sum == all {
            high = middle;
        } else {
            t = middle + 1;
        }
    }
    let t = Triangle::new(t);
    let [a, b, c] = shape.triangle(t);
    let (far, side) = (root(random(1)), random(2));
    points.set(
        i,
        a + (b - a) * (far * (1.0 - side)) + (c - a) * (far * side),
    );
    triangles.set(i, t);
}

/// Mixes the bits of a number (the end of SplitMix64: Steele, Lea and Flood, 2014).
#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}
