//! Step 6: how many divided and owned sides lie before each triangle.
//!
//! A prefix sum is a rank: sums are kept for every 128 half-edges, and a population count does the rest.

use trioxide_kernel::{Bits, Group, In, Out, kernel};

use crate::ids::HalfEdge;

/// Half-edges between two stored sums.
pub const STEP: u32 = 128;

/// Counts the set bits in the `i`-th [`STEP`] of `flags`, and of `owned` behind all of them.
#[kernel(
    requires(flags.len() == owned.len(), n == flags.len().div_ceil(4), sums.len() == 2 * n),
    moves(flags.bytes() + owned.bytes() + sums.bytes())
)]
pub fn count_divided_sides(
    i: u32,
    flags: In<Bits<HalfEdge>>,
    owned: In<Bits<HalfEdge>>,
    sums: Out<u32>,
) {
    let ones = |[a, b, c, d]: [Bits<HalfEdge>; 4]| {
        a.word().count_ones()
            + b.word().count_ones()
            + c.word().count_ones()
            + d.word().count_ones()
    };
    sums.set(i, ones(flags.quad(4 * i)));
    sums.set(sums.len() / 2 + i, ones(owned.quad(4 * i)));
}

/// The flags of sides with their prefix sums.
#[derive(Group)]
pub struct Counts<'a> {
    /// Divided sides; 3T bits.
    pub flags: In<'a, Bits<HalfEdge>>,
    /// Divided sides that own their edge; 3T bits.
    pub owned: In<'a, Bits<HalfEdge>>,
    /// The scanned counts of [`count_divided_sides()`]: all flags lie before the first owned one.
    pub sums: In<'a, u32>,
}

impl Counts<'_> {
    /// Number of divided sides before half-edge `h`, and of owned ones. Behind the last half-edge the second is 0.
    #[inline(always)]
    pub(super) fn before(self, h: HalfEdge) -> (u32, u32) {
        let (step, half) = (h.index() / STEP, self.sums.len() / 2);
        let flags = self.sums.at(step) + ones_before(self.flags, h);
        let owned = if half + step < self.sums.len() {
            self.sums.at(half + step) - self.sums.at(half) + ones_before(self.owned, h)
        } else {
            0
        };
        (flags, owned)
    }
}

/// Number of set bits before the bit of `h` in its [`STEP`].
#[inline(always)]
fn ones_before(bits: In<Bits<HalfEdge>>, h: HalfEdge) -> u32 {
    let i = h.index();
    let [a, b, c, d] = bits.quad(i / STEP * 4);
    let low = u64::from(b.word()) << 32 | u64::from(a.word());
    let high = u64::from(d.word()) << 32 | u64::from(c.word());
    let below = (1u64 << (i % 64)) - 1;
    if i % STEP < 64 {
        (low & below).count_ones()
    } else {
        low.count_ones() + (high & below).count_ones()
    }
}
