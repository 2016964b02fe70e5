//! The loops of the CPU's counterparts of PTX entries. Plain loops: they have an instance for each kernel.

use core::ops::Range;

use crate::block::{Block, SCRATCH_BYTES, SharedMemory};
use crate::index::{BitWord, Index};
use crate::place;
use crate::view::Out;

/// Makes the calls of a range of words, and sets the flags.
#[inline(always)]
pub fn bits<const N: usize, I: Index, W: BitWord>(
    words: Range<u32>,
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: [Out<W>; N],
) {
    let end = n.div_ceil(32);
    let is_last = words.contains(&(end - 1));
    let mut word = words.start;
    while word < words.end {
        let packed = pack(word, n, &body);
        let mut k = 0;
        while k < N {
            bits[k].set(word, W::from_word(packed[k]));
            k += 1;
        }
        word += 1;
    }
    if is_last {
        clear_after(end, &bits);
    }
}

/// A device writes four words at a time: it clears the words after the last, as far as the arrays have them.
#[inline(never)]
fn clear_after<W: BitWord>(end: u32, bits: &[Out<W>]) {
    for set in bits {
        for word in end..end.next_multiple_of(4).min(set.len()) {
            set.set(word, W::from_word(0));
        }
    }
}

/// As [`bits`], for several flags of an index in one bit set; a group has 32 indices.
#[inline(always)]
pub fn groups<const N: usize, I: Index, W: BitWord>(
    groups: Range<u32>,
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: Out<W>,
) {
    for group in groups {
        let mut words = [0u32; N];
        let first = group * 32;
        for i in 0..(n - first).min(32) as usize {
            place::enter_index(first + i as u32);
            let flags = body(I::from_index(first + i as u32));
            for (k, flag) in flags.into_iter().enumerate() {
                let bit = N * i + k;
                words[bit / 32] |= u32::from(flag) << (bit % 32);
            }
        }
        for (k, word) in words.into_iter().enumerate() {
            let index = group * N as u32 + k as u32;
            // The last group's words may extend past the end.
            if index < bits.len() {
                bits.set(index, W::from_word(word));
            }
        }
    }
}

#[inline(always)]
fn pack<const N: usize, I: Index>(word: u32, n: u32, body: &impl Fn(I) -> [bool; N]) -> [u32; N] {
    let mut packed = [0; N];
    let first = word * 32;
    let count = (n - first).min(32);
    let mut bit = 0;
    while bit < count {
        place::enter_index(first + bit);
        let flags = body(I::from_index(first + bit));
        let mut k = 0;
        while k < N {
            packed[k] |= u32::from(flags[k]) << bit;
            k += 1;
        }
        bit += 1;
    }
    packed
}

/// Makes the calls of a range of blocks.
///
/// # Safety
/// The promise of the launch, which includes that every index of shared memory that `body` forms is in range.
#[inline(always)]
pub unsafe fn blocks<const LANES: usize, S: SharedMemory>(
    blocks: Range<u32>,
    kernel: &'static str,
    body: impl Fn(&Block<LANES, S>),
) {
    place::enter_kernel(kernel);
    let mut memory = vec![0u128; (SCRATCH_BYTES + size_of::<S>()).div_ceil(16)];
    for index in blocks {
        place::enter_index(index);
        // SAFETY: aligned to 16 bytes, as long as declared, and only this thread uses it.
        body(&unsafe { Block::new(index, memory.as_mut_ptr().cast()) });
    }
}
