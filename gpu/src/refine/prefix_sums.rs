//! Step 6: the numbers of divided and owned sides before each triangle.
//!
//! A prefix sum is a rank, and a population count computes a part of it. Where few sides are divided, a sum is kept for
//! every 128 half-edges: these sums take little time to make. Where many are, a rank stands beside each word of flags:
//! a lookup takes two reads in place of four, and a third of the instructions.

use trioxide_kernel::safe::{self, Own, Scatter};
use trioxide_kernel::{Bits, Group, In, kernel};

use trioxide_kernel::rows::rank_in;

use crate::ids::{HalfEdge, Item};

/// Divided sides, and the number of divided sides before a half-edge.
pub(super) trait Ranking: Copy {
    /// Whether side `h` is divided.
    fn is_divided(self, h: HalfEdge) -> bool;

    /// Number of divided sides before half-edge `h`, and of owned ones.
    fn before(self, h: HalfEdge) -> (u32, u32);
}

/// Many divided sides with their ranks, by [`rank_of()`](trioxide_kernel::rows::rank_of()).
#[derive(Group)]
pub struct Ranks<'a> {
    /// Divided sides; 3T bits.
    pub flags: In<'a, Bits<HalfEdge>>,
    /// Their ranks.
    pub ranks: In<'a, u32>,
    /// Ranks of the divided sides that own their edge.
    pub owned: In<'a, u32>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl RanksBuffers<'_> {
    /// Whether the arrays have the lengths of `triangles` triangles.
    pub fn fit(&self, triangles: u32) -> bool {
        let words = trioxide_kernel::words(3 * triangles as usize);
        self.flags.len() == words && self.ranks.len() == 2 * words && self.owned.len() == 2 * words
    }
}

impl Ranks<'_> {
    /// Prefetches, on a CPU, the ranks of half-edge `h`.
    #[inline(always)]
    pub(super) fn prefetch(self, h: HalfEdge) {
        self.ranks.prefetch(h.index() / 32 * 2);
        self.owned.prefetch(h.index() / 32 * 2);
    }
}

impl Ranking for Ranks<'_> {
    #[inline(always)]
    fn is_divided(self, h: HalfEdge) -> bool {
        self.flags.bit(h)
    }

    #[inline(always)]
    fn before(self, h: HalfEdge) -> (u32, u32) {
        let word = h.index() / 32 * 2;
        (
            rank_in(self.ranks.pair(word), h),
            rank_in(self.owned.pair(word), h),
        )
    }
}

/// Half-edges between two stored sums.
pub const STEP: u32 = 128;

/// Counts the set bits of the `i`-th [`STEP`] half-edges; the counts of `owned` follow all counts of `flags`.
#[kernel(
    requires(flags.len() == owned.len(), n == flags.len().div_ceil(4), sums.len() == 2 * n),
    moves(flags.bytes() + owned.bytes() + sums.bytes())
)]
pub fn count_divided_sides(
    i: Own<Item>,
    flags: safe::In<Bits<HalfEdge>>,
    owned: safe::In<Bits<HalfEdge>>,
    sums: Scatter<u32>,
) {
    let ones = |[a, b, c, d]: [Bits<HalfEdge>; 4]| {
        a.word().count_ones()
            + b.word().count_ones()
            + c.word().count_ones()
            + d.word().count_ones()
    };
    let i = i.index();
    sums.set(i, ones(flags.quad(4 * i)));
    sums.set(sums.len() / 2 + i, ones(owned.quad(4 * i)));
}

/// Few divided sides with their prefix sums.
#[derive(safe::Group)]
pub struct SideCounts<'a> {
    /// Divided sides; 3T bits.
    pub flags: safe::In<'a, Bits<HalfEdge>>,
    /// Divided sides that own their edge; 3T bits.
    pub owned: safe::In<'a, Bits<HalfEdge>>,
    /// The scanned counts of [`count_divided_sides()`]: all flags come before the first owned one.
    pub sums: safe::In<'a, u32>,
}

impl Ranking for SideCounts<'_> {
    #[inline(always)]
    fn is_divided(self, h: HalfEdge) -> bool {
        self.flags.bit(h)
    }

    #[inline(always)]
    fn before(self, h: HalfEdge) -> (u32, u32) {
        let (step, half) = (h.index() / STEP, self.sums.len() / 2);
        let flags = self.sums.at(step) + ones_before(self.flags, h);
        let owned = self.sums.at(half + step) - self.sums.at(half) + ones_before(self.owned, h);
        (flags, owned)
    }
}

/// Number of set bits before the bit of `h` in its [`STEP`].
#[inline(always)]
fn ones_before(bits: safe::In<Bits<HalfEdge>>, h: HalfEdge) -> u32 {
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
