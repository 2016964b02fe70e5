//! Runs a PTX entry's body on a device; `crate::launch` is its counterpart on the CPU.

use cuda_std::{thread, warp};

use crate::Index;
use crate::block::{Block, SharedMemory};
use crate::index::BitWord;
use crate::view::Out;

/// Runs `body` for every index below `n`: a grid-stride loop.
#[inline(always)]
pub fn each<I: Index>(n: u32, body: impl Fn(I)) {
    let step = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    while i < n {
        body(I::from_index(i));
        // Also ends at the top of the index range, where i + step would wrap.
        match i.checked_add(step) {
            Some(next) => i = next,
            None => break,
        }
    }
}

/// Words of a bit set that a warp makes at a time.
const WORDS: usize = 4;

/// Packs the flags of every index below `n` into bit sets, one for each flag.
///
/// A thread evaluates several indices before the first ballot, so that their reads overlap.
#[inline(always)]
pub fn each_bits<const N: usize, I: Index, W: BitWord>(
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: [Out<W>; N],
) {
    let warps = thread::grid_dim_x() * (thread::block_dim_x() / 32);
    let words = n.div_ceil(32);
    let lane = warp::lane_id();
    let mut first = thread::index_1d() / 32 * WORDS as u32;
    // The whole warp stays in the loop: a ballot needs every lane.
    while first < words {
        // Flag j of each set is bit j of its element here: an array that a rolled loop indexes would lie in memory.
        let mut flags = [0; N];
        let mut j = 0;
        while j < WORDS as u32 {
            let i = (first + j) * 32 + lane;
            if i < n {
                let found = body(I::from_index(i));
                let mut k = 0;
                while k < N {
                    flags[k] |= (found[k] as u32) << j;
                    k += 1;
                }
            }
            j += 1;
        }
        let mut k = 0;
        while k < N {
            let mut packed = [W::from_word(0); WORDS];
            let mut j = 0;
            while j < WORDS {
                packed[j] = W::from_word(warp::ballot(flags[k] >> j & 1 != 0));
                j += 1;
            }
            if lane == 0 {
                bits[k].set_quad(first, packed);
            }
            k += 1;
        }
        first += warps * WORDS as u32;
    }
}

/// Packs the `N` flags of every index below `n` into one bit set: flag k of index i is bit N i + k.
///
/// A warp's flags are N words. For each word, a lane fetches the flag of its bit from the lane that has it.
#[inline(always)]
pub fn each_group<const N: usize, I: Index, W: BitWord>(
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: Out<W>,
) {
    let step = thread::grid_dim_x() * (thread::block_dim_x() / 32);
    let groups = n.div_ceil(32);
    let lane = warp::lane_id();
    let mut group = thread::index_1d() / 32;
    while group < groups {
        let i = group * 32 + lane;
        let mut mine = 0;
        if i < n {
            let flags = body(I::from_index(i));
            let mut k = 0;
            while k < N {
                mine |= (flags[k] as u32) << k;
                k += 1;
            }
        }
        let mut word = 0;
        while word < N as u32 {
            let bit = word * 32 + lane;
            let flags = warp::shuffle(mine, bit / N as u32);
            let packed = warp::ballot(flags >> (bit % N as u32) & 1 != 0);
            // The last group's words may extend past the end.
            if lane == 0 && group * N as u32 + word < bits.len() {
                bits.set(group * N as u32 + word, W::from_word(packed));
            }
            word += 1;
        }
        group += step;
    }
}

/// Runs `body` for every block below `n`.
///
/// # Safety
/// The promise of the launch, which reserved the shared memory.
#[inline(always)]
pub unsafe fn each_block<const LANES: usize, S: SharedMemory>(
    n: u32,
    body: impl Fn(&Block<LANES, S>),
) {
    let block = thread::block_idx_x();
    if block < n {
        // SAFETY: the caller's promise.
        body(&unsafe { Block::new(block) });
    }
}
