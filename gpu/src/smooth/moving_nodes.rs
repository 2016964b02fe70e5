//! The nodes that move, and the nodes that stay.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::Vertex;

/// Adds the members of another bit set to word `w` of one.
#[kernel(
    requires(others.len() == n, bits.len() == n),
    moves(others.bytes() + 2 * bits.bytes())
)]
pub fn join_bits(w: Own, others: In<u32>, bits: Out<u32>) {
    bits.set(w, bits.at(w) | others.at(w));
}

/// Returns whether node `v` moves, and whether it stays: it moves if it is not fixed and has neighbours.
#[kernel(
    requires(fixed.len() == words(n), rows.len() == n + 1),
    moves(3 * fixed.bytes() + rows.bytes())
)]
pub fn mark_moving(v: Own<Vertex>, fixed: In<Bits<Vertex>>, rows: In<u32, Vertex>) -> (bool, bool) {
    let moves = !fixed.bit(*v) && rows.at(Vertex::new(v.index() + 1)) > rows.at(v);
    (moves, !moves)
}
