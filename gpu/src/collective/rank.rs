//! Ranks in a bit set: how many bits are set before a bit. A prefix sum of flags without an integer for each flag: the sums are
//! kept for every 128 bits, and a population count does the rest.

use gpu_macros::kernel;

use crate::view::{In, Out};

/// Bits between two stored sums.
pub const RANK_STEP: u32 = 128;

/// Number of set bits in each [`RANK_STEP`] of a bit set.
#[kernel]
pub fn count_steps(i: u32, bits: In<u32>, counts: Out<u32>) {
    let [a, b, c, d] = bits.quad(4 * i);
    counts.set(
        i,
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones(),
    );
}

/// A bit set with its ranks.
#[derive(Clone, Copy)]
pub struct Ranks<'a> {
    bits: In<'a, u32>,
    sums: In<'a, u32>,
}

impl<'a> Ranks<'a> {
    /// `sums` are the scanned counts of [`count_steps()`].
    #[inline(always)]
    pub fn new(bits: In<'a, u32>, sums: In<'a, u32>) -> Self {
        Self { bits, sums }
    }

    /// Bit `i`.
    #[inline(always)]
    pub fn bit(self, i: u32) -> bool {
        self.bits.bit(i)
    }

    /// Number of set bits before bit `i`.
    #[inline(always)]
    pub fn rank(self, i: u32) -> u32 {
        let step = i / RANK_STEP;
        let [a, b, c, d] = self.bits.quad(4 * step);
        let low = u64::from(b) << 32 | u64::from(a);
        let high = u64::from(d) << 32 | u64::from(c);
        let bit = i % 64;
        let below = (1u64 << bit) - 1;
        let (whole, part) = if i % RANK_STEP < 64 {
            (0, low)
        } else {
            (low.count_ones(), high)
        };
        self.sums.at(step) + whole + (part & below).count_ones()
    }
}
