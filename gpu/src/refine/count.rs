//! Step 5: which sides of each triangle are divided, and which of these it owns.
//!
//! Of a triangle's bits in `flags`, f + r are set, and f in `owned`: the paper's counters, 2 bits instead of 8 bytes.

use gpu_macros::kernel;

use crate::view::{Atomic, In, NONE};

/// Whether half-edge `h` is divided, and whether it owns a divided edge. For many divided edges.
#[kernel(bits)]
pub fn flag_divided_sides(h: u32, sides: In<u32>, divided: In<u32>) -> (bool, bool) {
    let side = sides.at(h);
    let flag = divided.bit(side / 2);
    (flag, flag & side.is_multiple_of(2))
}

/// Sets the flags of both half-edges of the `i`-th divided edge. For few.
#[kernel]
pub fn set_divided_sides(i: u32, list: In<u32>, halves: In<u32>, flags: Atomic, owned: Atomic) {
    let e = list.at(i);
    let (owner, other) = (halves.at(2 * e), halves.at(2 * e + 1));
    flags.set_bit(owner);
    owned.set_bit(owner);
    if other != NONE {
        flags.set_bit(other);
    }
}
