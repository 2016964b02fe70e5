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
///
/// From the highest bits on, a pair of bits is a quadrant: in a square that may be mirrored, first the diagonals (its x
/// and y are exchanged, `swap`), then each coordinate (`flip`). In a lower quadrant the square is mirrored at a
/// diagonal: `swap` changes, and `flip` too in the right one. The bits of x and y differ in that one and in the left
/// upper one.
///
/// So there `flip` becomes flip + turn + y + 1 modulo 2, where `turn` is flip + swap; elsewhere turn becomes turn +
/// flip + x + 1. These maps of (flip, turn) are composed for all bits at once, those of 2, 4, … bits in a step.
#[inline(always)]
pub fn along_curve([x, y]: [u32; 2]) -> u64 {
    let differ = x ^ y;
    // flip becomes flip_flip flip + flip_turn turn + flip, and turn likewise: both are 0 before the highest bit.
    let (mut flip_flip, mut flip_turn, mut flip) = (u32::MAX, differ, differ & !y);
    let (mut turn_flip, mut turn_turn, mut turn) = (!differ, u32::MAX, !differ & !x);
    let mut step = 1;
    while step < 32 {
        // Above the highest bit nothing changes.
        let (above, none) = (|map: u32| map >> step, !(u32::MAX >> step));
        let same = |map: u32| map >> step | none;
        let of_flip = (same(flip_flip), above(flip_turn), above(flip));
        let of_turn = (above(turn_flip), same(turn_turn), above(turn));
        let compose = |by_flip: u32, by_turn: u32, add: u32| {
            (
                by_flip & of_flip.0 ^ by_turn & of_turn.0,
                by_flip & of_flip.1 ^ by_turn & of_turn.1,
                by_flip & of_flip.2 ^ by_turn & of_turn.2 ^ add,
            )
        };
        let composed = compose(flip_flip, flip_turn, flip);
        (turn_flip, turn_turn, turn) = compose(turn_flip, turn_turn, turn);
        (flip_flip, flip_turn, flip) = composed;
        step *= 2;
    }
    // Of the bits above.
    let (flip, turn) = (flip >> 1, turn >> 1);
    let right = x ^ (flip ^ turn) & differ ^ flip;
    spread(right) << 1 | spread(differ)
}

/// Spreads bits: bit i goes to bit 2i.
#[inline(always)]
fn spread(x: u32) -> u64 {
    let x = u64::from(x);
    let x = (x | x << 16) & 0x0000_FFFF_0000_FFFF;
    let x = (x | x << 8) & 0x00FF_00FF_00FF_00FF;
    let x = (x | x << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    let x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
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
