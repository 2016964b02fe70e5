//! Bit sets from the forms in which other packages pass a selection: a byte for each element, or a list of ids.

use trioxide_kernel::{Atomic, Bits, In, kernel};

/// Whether flag `i` is set: any byte but 0.
#[kernel(requires(flags.len() == n), moves(flags.bytes() + 4 * words(n)))]
pub fn pack_flags(i: u32, flags: In<u8>) -> bool {
    flags.at(i) != 0
}

/// Adds element `ids[i]`, of `count`, to the set; `found` gets the smallest `i` whose id is out of range.
#[kernel(
    requires(ids.len() == n, marked.len() == words(count as usize), found.len() == 1),
    moves(ids.bytes())
)]
pub fn mark_ids(i: u32, ids: In<u32>, marked: Atomic<Bits<u32>>, found: Atomic, count: u32) {
    let id = ids.at(i);
    if id < count {
        marked.set_bit(id);
    } else {
        found.min(0, i);
    }
}
