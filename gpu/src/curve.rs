//! Hilbert's curves through a square and through a cube.

use bytemuck::{Pod, Zeroable};
use glam::DVec2;

/// The square that is divided into cells. Halves, since the width of all coordinates that a f64 holds overflows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Frame {
    /// Half of the lowest coordinates.
    pub low: DVec2,
    /// Cells of a half unit of length.
    pub scale: f64,
    /// No meaning.
    pub padding: f64,
}

impl trioxide_kernel::Scalar for Frame {}

impl Frame {
    /// The frame of points between `low` and `high`.
    pub fn new(low: DVec2, high: DVec2) -> Self {
        let low = 0.5 * low;
        let extent = 0.5 * high - low;
        let extent = if extent.x > extent.y {
            extent.x
        } else {
            extent.y
        };
        // Of points at one place, and of such as lie next to each other around 0, the scale is infinite: every cell is
        // the first or the last.
        Self {
            low,
            scale: f64::from(u32::MAX) / extent,
            padding: 0.0,
        }
    }

    /// Column and row of a point.
    #[inline(always)]
    pub fn cell(&self, point: DVec2) -> [u32; 2] {
        let [x, y] = [
            (0.5 * point.x - self.low.x) * self.scale,
            (0.5 * point.y - self.low.y) * self.scale,
        ];
        [x as u32, y as u32]
    }
}

/// The number of a cell along the Hilbert curve of 2^32 columns and rows.
#[inline(always)]
pub(crate) fn along_curve([mut x, mut y]: [u32; 2]) -> u64 {
    let mut key = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        let (right, up) = (x >> bit & 1, y >> bit & 1);
        key = key << 2 | u64::from((3 * right) ^ up);
        // Lower quadrants are mirrored at a diagonal; higher bits are not read again.
        if up == 0 {
            let flip = 0u32.wrapping_sub(right);
            (x, y) = (y ^ flip, x ^ flip);
        }
    }
    key
}

/// The place of a cell along Hilbert's curve through 2^`bits` cells a side (Skilling, Programming the Hilbert curve,
/// 2004), as three numbers: the bits of the place are, from the highest on, a bit of each in turn.
///
/// A larger cell around this one has the highest bits of the coordinates, and its place the highest bits of the place.
#[inline(always)]
pub(crate) fn through_cube([mut x, mut y, mut z]: [u32; 3], bits: u32) -> [u32; 3] {
    let mut bit = bits - 1;
    while bit > 0 {
        let q = 1u32 << bit;
        let below = q - 1;
        if x & q != 0 {
            x ^= below;
        }
        let turn = |x: u32, other: u32| {
            if other & q != 0 {
                (x ^ below, other)
            } else {
                let t = (x ^ other) & below;
                (x ^ t, other ^ t)
            }
        };
        (x, y) = turn(x, y);
        (x, z) = turn(x, z);
        bit -= 1;
    }
    y ^= x;
    z ^= y;
    let mut t = 0;
    let mut bit = bits - 1;
    while bit > 0 {
        if z & (1u32 << bit) != 0 {
            t ^= (1u32 << bit) - 1;
        }
        bit -= 1;
    }
    [x ^ t, y ^ t, z ^ t]
}
