//! Steps 5 and 6: which sides of each triangle are divided, and which of these it owns; and how many before each.
//!
//! Of a triangle's bits in `flags`, f + r are set, and f in `owned`: the paper's counters, 2 bits a side instead of 8 bytes a
//! triangle. A prefix sum is a rank: sums are kept for every 128 half-edges, and a population count does the rest.

use trioxide_kernel::{Atomic, In, NONE, Out, kernel};

/// Whether half-edge `h` is divided, and whether it owns a divided edge. For many divided edges.
#[kernel]
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
pub const STEP: u32 = 128;

/// Counts the set bits in the `i`-th [`STEP`] of `flags`, and of `owned` behind all of them: `sums` is as long as both.
#[kernel]
pub fn count_divided_sides(i: u32, flags: In<u32>, owned: In<u32>, sums: Out<u32>) {
    let ones =
        |[a, b, c, d]: [u32; 4]| a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones();
    sums.set(i, ones(flags.quad(4 * i)));
    sums.set(sums.len() / 2 + i, ones(owned.quad(4 * i)));
}

/// The flags with their prefix sums.
#[derive(Clone, Copy)]
pub(super) struct Counts<'a> {
    pub flags: In<'a, u32>,
    pub owned: In<'a, u32>,
    /// The scanned counts of [`count_divided_sides()`]: all flags lie before the first owned one.
    pub sums: In<'a, u32>,
}

impl Counts<'_> {
    /// Divided sides before half-edge `h`, and owned ones. Of the end of all only the first is told.
    #[inline(always)]
    pub fn before(self, h: u32) -> (u32, u32) {
        let (step, half) = (h / STEP, self.sums.len() / 2);
        let flags = self.sums.at(step) + ones_before(self.flags, h);
        let owned = if half + step < self.sums.len() {
            self.sums.at(half + step) - self.sums.at(half) + ones_before(self.owned, h)
        } else {
            0
        };
        (flags, owned)
    }
}

/// Set bits before bit `i` in its [`STEP`].
#[inline(always)]
fn ones_before(bits: In<u32>, i: u32) -> u32 {
    let [a, b, c, d] = bits.quad(i / STEP * 4);
    let low = u64::from(b) << 32 | u64::from(a);
    let high = u64::from(d) << 32 | u64::from(c);
    let below = (1u64 << (i % 64)) - 1;
    if i % STEP < 64 {
        (low & below).count_ones()
    } else {
        low.count_ones() + (high & below).count_ones()
    }
}
