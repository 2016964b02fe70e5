//! How a PTX entry runs its body: what [`crate::launch`] is on the CPU.

use cuda_std::{thread, warp};

use crate::block::Block;
use crate::view::Out;

/// Runs `body` for every index below `n`: a grid-stride loop.
#[inline(always)]
pub fn each(n: u32, body: impl Fn(u32)) {
    let step = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    while i < n {
        body(i);
        // Ends at the top of the index range too, where i + step would wrap.
        match i.checked_add(step) {
            Some(next) => i = next,
            None => break,
        }
    }
}

/// Calls `write(word, flags of a warp's 32 indices)` from every lane.
#[inline(always)]
fn each_word<const N: usize>(
    n: u32,
    body: impl Fn(u32) -> [bool; N],
    write: impl Fn(u32, [u32; N]),
) {
    let step = thread::grid_dim_x() * (thread::block_dim_x() / 32);
    let words = n.div_ceil(32);
    let mut word = thread::index_1d() / 32;
    // The whole warp stays in the loop: a ballot needs every lane.
    while word < words {
        let i = word * 32 + warp::lane_id();
        let flags = if i < n { body(i) } else { [false; N] };
        let mut packed = [0; N];
        let mut k = 0;
        while k < N {
            packed[k] = warp::ballot(flags[k]);
            k += 1;
        }
        write(word, packed);
        word += step;
    }
}

/// Packs the flags of every index below `n` into bit sets, one for each flag.
#[inline(always)]
pub fn each_bits<const N: usize>(n: u32, body: impl Fn(u32) -> [bool; N], bits: [Out<u32>; N]) {
    each_word(n, body, |word, packed| {
        if warp::lane_id() == 0 {
            let mut k = 0;
            while k < N {
                bits[k].set(word, packed[k]);
                k += 1;
            }
        }
    });
}

/// Packs the `N` flags of every index below `n` into one bit set of `N` interleaved words.
#[inline(always)]
pub fn each_interleaved<const N: usize>(n: u32, body: impl Fn(u32) -> [bool; N], bits: Out<u32>) {
    each_word(n, body, |word, packed| {
        if warp::lane_id() == 0 {
            let mut k = 0;
            while k < N {
                bits.set(word * N as u32 + k as u32, packed[k]);
                k += 1;
            }
        }
    });
}

/// Runs `body` for every block below `n`.
#[inline(always)]
pub fn each_block<const LANES: usize>(n: u32, body: impl Fn(&Block<LANES>)) {
    let block = thread::block_idx_x();
    if block < n {
        body(&Block::new(block));
    }
}
