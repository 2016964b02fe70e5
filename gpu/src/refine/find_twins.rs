//! The twins of a refined mesh's half-edges, which its sides know.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use crate::ids::{HalfEdge, Side, Triangle};

/// Finds the twins of triangle `t`, `NONE` beyond the boundary, by the half-edges of all sides. Returns whether each
/// half-edge lies on the boundary.
#[kernel(
    members = HalfEdge,
    requires(sides.len() == 3 * n, twins.len() == 3 * n),
    moves(sides.bytes() + halves.bytes() + twins.bytes() + 4 * words(3 * n))
)]
pub fn find_twins(
    t: Own<Triangle>,
    sides: In<Side, HalfEdge>,
    halves: In<HalfEdge, Side>,
    twins: Out<HalfEdge, HalfEdge>,
) -> [bool; 3] {
    let own = sides.at_all([t.part(0), t.part(1), t.part(2)]);
    let found = halves.at_all(own.each(Side::reverse));
    twins.set(t.part(0), found[0]);
    twins.set(t.part(1), found[1]);
    twins.set(t.part(2), found[2]);
    found.each(HalfEdge::is_none)
}
