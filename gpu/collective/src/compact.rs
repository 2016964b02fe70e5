//! Compaction: a bit set becomes the ascending list of its set bits.
//!
//! The paper's last step (gpolylla-2023, 6.7) scans and compacts one integer for each flag, with the scan on tensor
//! cores. The bytes bound such a step. The 150M flags of the 25M grid take 1.9 GB: 600 MB of flags read, 600 MB of sums
//! written and read again, and 100 MB of seeds written. That is 0.44 ms at an H200's copy bandwidth of 4.3 TB/s,
//! whatever computes the sums; the authors' code takes 1.75 ms. As bits the flags are 19 MB, read twice from the L2
//! cache, and only the 100 MB of the list must move: 0.02 ms. A population count adds 32 flags in one instruction, so a
//! matrix unit could add nothing faster. Measured: 0.07 to 0.10 ms, in which the host reads the count.

use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};

/// Lanes of a block: a word each.
const LANES: usize = 256;
/// Words of a round.
pub const ROUND: u32 = LANES as u32;
/// Rounds of a tile.
pub const ROUNDS: u32 = 4;
/// Words of a tile.
pub const BIT_TILE: u32 = ROUND * ROUNDS;

/// Number of set bits in each tile of a bit set.
#[kernel(
    requires(bits.len().div_ceil(BIT_TILE as usize) == n, counts.len() == n),
    moves(bits.bytes() + counts.bytes())
)]
pub fn count_bits(block: &Block<LANES>, bits: In<u32>, counts: Out<u32>) {
    let partial = block.lanes(|lane| {
        let [a, b, c, d] = bits.quad(block.index() * BIT_TILE + lane.index() * 4);
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    });
    let (_, total) = block.exclusive_sum(&partial);
    block.lanes(|lane| {
        if lane.index() == 0 {
            counts.set(block.index(), total);
        }
    });
}

/// Shared memory of a block: the members in the words of a round, numbered from its first bit.
#[derive(SharedMemory)]
pub struct Unpacked {
    local: Shared<u16, { 32 * LANES }>,
}

/// Up to this number of tiles each round has a block of its own in [`list_bits()`]: fewer blocks would not fill a GPU.
pub const FEW_TILES: u32 = 512;

/// Lists the set bits of `rounds` rounds of a tile, from the scanned counts of the tiles.
///
/// A round takes 256 words: each lane unpacks one into shared memory, then the block writes the round's list,
/// neighbouring lanes to neighbouring places.
#[kernel(
    requires(
        rounds == 1 || rounds == ROUNDS,
        bits.len().div_ceil((ROUND * rounds) as usize) == n,
        bits.len().div_ceil(BIT_TILE as usize) == counts.len()
    ),
    moves(bits.bytes() + counts.bytes() + list.bytes())
)]
pub fn list_bits(
    block: &Block<LANES, Unpacked>,
    bits: In<u32>,
    counts: In<u32>,
    rounds: u32,
    list: Out<u32>,
) {
    let local = &block.shared().local;
    let first_round = block.index() * rounds;
    let tile = first_round / ROUNDS;
    // The words of the tile that other blocks list.
    let earlier = block.lanes(|lane| {
        let mut count = 0;
        let mut word = tile * BIT_TILE + lane.index();
        while word < first_round * ROUND {
            count += bits.at(word).count_ones();
            word += ROUND;
        }
        count
    });
    let (_, skipped) = block.exclusive_sum(&earlier);
    let mut start = counts.at(tile) + skipped;
    let mut round = first_round;
    while round < first_round + rounds {
        let first = round * ROUND;
        let words = block.lanes(|lane| {
            let word = first + lane.index();
            if word < bits.len() { bits.at(word) } else { 0 }
        });
        let ones = block.lanes(|lane| words.at(lane).count_ones());
        let (before, total) = block.exclusive_sum(&ones);
        if total > 0 {
            block.phase(|lane| {
                let mut word = words.at(lane);
                let mut slot = before.at(lane);
                while word != 0 {
                    local.set(
                        lane,
                        slot,
                        (lane.index() * 32 + word.trailing_zeros()) as u16,
                    );
                    word &= word - 1;
                    slot += 1;
                }
            });
            block.phase(|lane| {
                let mut i = lane.index();
                while i < total {
                    list.set(start + i, first * 32 + u32::from(local.at(i)));
                    i += ROUND;
                }
            });
        }
        start += total;
        round += 1;
    }
}
