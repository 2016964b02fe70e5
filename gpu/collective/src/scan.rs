//! Exclusive scan of `u32`, in place: sum each tile, scan the sums, scan each tile from its sum.
//!
//! Two reads and one write of the array: 12 bytes an element; a copy moves 8.

use trioxide_kernel::{Block, In, Out, kernel};

/// Lanes of a block.
const LANES: usize = 256;
/// Elements that a lane takes at a time: one vector load.
const ITEMS: u32 = 4;
const ROUND: u32 = LANES as u32 * ITEMS;
const ROUNDS: u32 = 4;
/// Elements of a tile.
pub const TILE: u32 = ROUND * ROUNDS;

/// Sum of each tile of `values`.
#[kernel(
    requires(values.len().div_ceil(TILE as usize) == n, sums.len() == n),
    moves(values.bytes() + sums.bytes())
)]
pub fn sum_tiles(block: &Block<LANES>, values: In<u32>, sums: Out<u32>) {
    let first = block.index() * TILE;
    let partial = block.lanes(|lane| {
        let mut sum = 0u32;
        let mut round = 0;
        while round < ROUNDS {
            let [a, b, c, d] = values.quad(first + round * ROUND + lane.index() * ITEMS);
            sum = (sum.wrapping_add(a).wrapping_add(b)).wrapping_add(c.wrapping_add(d));
            round += 1;
        }
        sum
    });
    let (_, total) = block.exclusive_sum(&partial);
    block.lanes(|lane| {
        if lane.index() == 0 {
            sums.set(block.index(), total);
        }
    });
}

/// Scans the `count` elements of `values` by one block; `total` gets their sum.
#[kernel(
    requires(n == 1, values.len() == count as usize, total.len() == 1),
    moves(2 * values.bytes() + total.bytes())
)]
pub fn scan_sums(block: &Block<LANES>, values: Out<u32>, total: Out<u32>, count: u32) {
    let mut carry = 0;
    let mut first = 0;
    while first < count {
        carry = scan_round(block, values, first, carry);
        first += ROUND;
    }
    block.lanes(|lane| {
        if lane.index() == 0 {
            total.set(0, carry);
        }
    });
}

/// Scans each tile of `values`, from the scanned sums.
#[kernel(
    requires(values.len().div_ceil(TILE as usize) == n, sums.len() == n),
    moves(2 * values.bytes() + sums.bytes())
)]
pub fn scan_tiles(block: &Block<LANES>, values: Out<u32>, sums: In<u32>) {
    let mut carry = sums.at(block.index());
    let mut round = 0;
    while round < ROUNDS {
        carry = scan_round(block, values, block.index() * TILE + round * ROUND, carry);
        round += 1;
    }
}

/// Scans a round from `first` on; returns the sum of all elements so far. Sums are modulo 2^32: the last element of an
/// array of offsets may hold any number.
#[inline(always)]
fn scan_round(block: &Block<LANES>, values: Out<u32>, first: u32, carry: u32) -> u32 {
    let items = block.lanes(|lane| values.quad(first + lane.index() * ITEMS));
    let sums = block.lanes(|lane| {
        let [a, b, c, d] = items.at(lane);
        a.wrapping_add(b).wrapping_add(c).wrapping_add(d)
    });
    let (before, total) = block.exclusive_sum(&sums);
    block.lanes(|lane| {
        let [a, b, c, _] = items.at(lane);
        let s = carry.wrapping_add(before.at(lane));
        let (sa, ab) = (s.wrapping_add(a), a.wrapping_add(b));
        let sab = s.wrapping_add(ab);
        values.set_quad(
            first + lane.index() * ITEMS,
            [s, sa, sab, sab.wrapping_add(c)],
        );
    });
    carry.wrapping_add(total)
}
