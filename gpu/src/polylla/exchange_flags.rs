//! Flags of half-edges that ranks exchange for their parts of a mesh.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{HalfEdge, Item, Triangle};

/// Reads the flags of triangle `triangles[i]` into `taken`, a bit for each of its half-edges.
#[kernel(
    requires(triangles.len() == n, taken.len() == n),
    moves(triangles.bytes() + taken.bytes())
)]
pub fn take_flags(
    i: Own<Item>,
    triangles: In<Triangle, Item>,
    flags: In<Bits<HalfEdge>>,
    taken: Out<u8, Item>,
) {
    let t = triangles.at(i);
    let bit = |k: u32| u8::from(flags.bit(HalfEdge::of(t, k))) << k;
    taken.set(i, bit(0) | bit(1) | bit(2));
}

/// Writes the flags in `given` to triangle `triangles[i]`. If `keeps` is not 0, flags that are set stay set.
#[kernel(
    requires(triangles.len() == n, given.len() == n),
    moves(triangles.bytes() + given.bytes())
)]
pub fn give_flags(
    i: Own<Item>,
    triangles: In<Triangle, Item>,
    given: In<u8, Item>,
    keeps: u32,
    flags: Atomic<Bits<HalfEdge>>,
) {
    let (t, given) = (triangles.at(i), given.at(i));
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(t, k);
        if given >> k & 1 != 0 {
            flags.set_bit(h);
        } else if keeps == 0 {
            flags.clear_bit(h);
        }
        k += 1;
    }
}

/// Word `w` of the members of `set` that are in `mask`; if `flip` is all ones and not 0, of the members that are not in
/// it.
#[kernel(
    requires(set.len() == n, mask.len() == n, both.len() == n, flip == 0 || flip == u32::MAX),
    moves(set.bytes() + mask.bytes() + both.bytes())
)]
pub fn mask_bits(w: Own, set: In<u32>, mask: In<u32>, flip: u32, both: Out<u32>) {
    both.set(w, set.at(w) & (mask.at(w) ^ flip));
}
