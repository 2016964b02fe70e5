//! Ranks in bit sets: the number of members below each, and counts without a list.

use trioxide_kernel::{Atomic, Block, In, Out, kernel};

use super::compact::BIT_TILE;

/// Lanes of a block: four words each.
const LANES: usize = BIT_TILE as usize / 4;

/// Adds the number of members of a bit set to `tally[slot]`.
#[kernel(
    requires(bits.len().div_ceil(BIT_TILE as usize) == n, tally.len() > slot as usize),
    moves(bits.bytes())
)]
pub fn tally_bits(block: &Block<LANES>, bits: In<u32>, tally: Atomic, slot: u32) {
    let partial = block.lanes(|lane| {
        let [a, b, c, d] = bits.quad(block.index() * BIT_TILE + lane.index() * 4);
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    });
    let (_, total) = block.exclusive_sum(&partial);
    block.lanes(|lane| {
        if lane.index() == 0 {
            tally.add(slot, total);
        }
    });
}

/// Writes beside each word of a bit set the number of members before it, from the scanned `counts` of its tiles:
/// [`rank_of()`](trioxide_kernel::rows::rank_of()) reads both at once.
#[kernel(
    requires(
        bits.len().div_ceil(BIT_TILE as usize) == n,
        counts.len() == n,
        ranks.len() == 2 * bits.len()
    ),
    moves(bits.bytes() + counts.bytes() + ranks.bytes())
)]
pub fn rank_bits(block: &Block<LANES>, bits: In<u32>, counts: In<u32>, ranks: Out<u32>) {
    let first = block.index() * BIT_TILE;
    let words = block.lanes(|lane| bits.quad(first + lane.index() * 4));
    let ones = block.lanes(|lane| {
        let [a, b, c, d] = words.at(lane);
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    });
    let (before, _) = block.exclusive_sum(&ones);
    block.lanes(|lane| {
        let [a, b, c, d] = words.at(lane);
        let at_a = counts.at(block.index()) + before.at(lane);
        let at_b = at_a + a.count_ones();
        let at_c = at_b + b.count_ones();
        let at_d = at_c + c.count_ones();
        let place = 2 * (first + lane.index() * 4);
        ranks.set_quad(place, [a, at_a, b, at_b]);
        ranks.set_quad(place + 4, [c, at_c, d, at_d]);
    });
}
