//! Steps 5 and 6: which sides of each triangle are divided, and which of these it owns; and how many before each.
//!
//! Of a triangle's bits in `flags`, f + r are set, and f in `owned`: the paper's counters, 2 bits a side instead of 8 bytes a
//! triangle. A prefix sum is a rank: sums are kept for every 64 half-edges, and a population count does the rest.

use gpu_macros::kernel;

use crate::view::{Atomic, In, NONE, Out};

/// Whether half-edge `h` is divided, and whether it owns a divided edge. For many divided edges.
#[kernel(bits)]
pub fn flag_divided_sides(h: u32, sides: In<u32>, divided: In<u32>) -> (bool, bool) {
    let side = sides.at(h);
    let flag = divided.bit(side / 2);
    (flag, flag & side.is_multiple_of(2))
}

/// Sets the flags of both half-edges of the `i`-th divided edge, and lists them, `NONE` beyond the boundary. For few.
#[kernel]
pub fn set_divided_sides(
    i: u32,
    divided: In<u32>,
    halves: In<u32>,
    list: Out<u32>,
    flags: Atomic,
    owned: Atomic,
) {
    let e = divided.at(i);
    let (owner, other) = (halves.at(2 * e), halves.at(2 * e + 1));
    list.set(2 * i, owner);
    list.set(2 * i + 1, other);
    flags.set_bit(owner);
    owned.set_bit(owner);
    if other != NONE {
        flags.set_bit(other);
    }
}

/// The triangle that index `i` works on: `i`, or that of half-edge `list[i]` if there is a list. `None` where another index works
/// on it: of its half-edges in the list, the first in the triangle acts.
#[inline(always)]
pub(super) fn acting(i: u32, list: In<u32>, flags: In<u32>) -> Option<u32> {
    if list.is_empty() {
        return Some(i);
    }
    let h = list.at(i);
    let t = h / 3;
    let is_first = |k: u32| h == 3 * t + k || !flags.bit(3 * t + k);
    let acts = match h % 3 {
        0 => true,
        1 => is_first(0),
        _ => is_first(0) && is_first(1),
    };
    (h != NONE && acts).then_some(t)
}

/// Half-edges between two stored sums.
pub const STEP: u32 = 64;

/// Counts the set bits in the `i`-th [`STEP`] of `flags`, and of `owned` behind all of them: `sums` is as long as both.
#[kernel]
pub fn count_divided_sides(i: u32, flags: In<u32>, owned: In<u32>, sums: Out<u32>) {
    sums.set(i, word(flags, i).count_ones());
    sums.set(sums.len() / 2 + i, word(owned, i).count_ones());
}

/// The `i`-th 64 bits of a bit set.
#[inline(always)]
fn word(bits: In<u32>, i: u32) -> u64 {
    let high = if 2 * i + 1 < bits.len() {
        bits.at(2 * i + 1)
    } else {
        0
    };
    u64::from(high) << 32 | u64::from(bits.at(2 * i))
}

/// The flags of [`STEP`] half-edges with their prefix sums: what a rank takes, in one sector of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Step {
    flags: u64,
    owned: u64,
    flags_before: u32,
    owned_before: u32,
    _align: u64,
}

// SAFETY: plain numbers without padding.
unsafe impl bytemuck::Zeroable for Step {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Step {}

/// Puts the flags of the `i`-th step and the scanned counts of [`count_divided_sides()`] together; one step more has the totals.
#[kernel]
pub fn pack_steps(i: u32, flags: In<u32>, owned: In<u32>, sums: In<u32>, steps: Out<Step>) {
    let n = sums.len() / 2;
    let bits = |set: In<u32>| if i < n { word(set, i) } else { 0 };
    let owned_before = if i < n { sums.at(n + i) - sums.at(n) } else { 0 };
    steps.set(
        i,
        Step {
            flags: bits(flags),
            owned: bits(owned),
            // Behind the sums of the flags come those of the owned ones, the first of which is all flags.
            flags_before: sums.at(i),
            owned_before,
            _align: 0,
        },
    );
}

impl In<'_, Step> {
    /// Divided sides before half-edge `h`, and owned ones. Of the end of all only the first is told.
    #[inline(always)]
    pub(super) fn before(self, h: u32) -> (u32, u32) {
        let step = self.at(h / STEP);
        let below = (1u64 << (h % STEP)) - 1;
        (
            step.flags_before + (step.flags & below).count_ones(),
            step.owned_before + (step.owned & below).count_ones(),
        )
    }
}
