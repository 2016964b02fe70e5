//! Step 5: the divided sides of each triangle, and the divided sides whose edges it owns.
//!
//! For each triangle, f + r bits of `flags` are set, and f bits of `owned`: the paper's counters, 2 bits a side instead
//! of 8 bytes a triangle.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Edge, HalfEdge, Item, Side, Triangle};

/// Whether half-edge `h` is divided, and whether it owns a divided edge. For many divided edges.
#[kernel(
    requires(sides.len() == n),
    moves(sides.bytes() + divided.bytes() + 8 * words(n)), trusted
)]
pub fn flag_divided_sides(
    h: Own<HalfEdge>,
    sides: In<Side, HalfEdge>,
    divided: In<Bits<Edge>>,
) -> (bool, bool) {
    let side = sides.at(h);
    // Without a branch, so that a thread's reads for several half-edges overlap.
    let [flag] = divided.bit_all([side.edge()]);
    (flag, flag & side.is_along())
}

/// Sets the flags of both half-edges of the `i`-th divided edge, and lists them, `NONE` beyond the boundary. For few.
#[kernel(requires(divided.len() == n, list.len() == 2 * n, flags.len() == owned.len()))]
pub fn set_divided_sides(
    i: Own<Item>,
    divided: In<Edge, Item>,
    halves: In<HalfEdge, Side>,
    list: Out<HalfEdge, Parts<Item, 2>>,
    flags: Atomic<Bits<HalfEdge>>,
    owned: Atomic<Bits<HalfEdge>>,
) {
    let e = divided.at(i);
    let (owner, other) = (halves.at(Side::along(e)), halves.at(Side::against(e)));
    list.set(i.part(0), owner);
    list.set(i.part(1), other);
    flags.set_bit(owner);
    owned.set_bit(owner);
    if other.is_some() {
        flags.set_bit(other);
    }
}

/// The triangle of half-edge `list[i]`, if index `i` works on it: of a triangle's half-edges in the list, the first one
/// does.
#[inline(always)]
pub(super) fn acting(i: u32, list: In<HalfEdge>, flags: In<Bits<HalfEdge>>) -> Option<Triangle> {
    let h = list.at(i);
    let t = h.triangle();
    let is_first = |k: u32| h == HalfEdge::of(t, k) || !flags.bit(HalfEdge::of(t, k));
    let acts = match h.corner() {
        0 => true,
        1 => is_first(0),
        _ => is_first(0) && is_first(1),
    };
    (h.is_some() && acts).then_some(t)
}
