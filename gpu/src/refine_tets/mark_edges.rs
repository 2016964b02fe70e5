//! Step 2 of the paper: the edges by which marked tetrahedra are divided.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, kernel};

use super::{TETRAHEDRON, edge_index, longest_within};
use crate::ids::{Edge, EdgeUse, Tet};

/// Marks the longest edge of tetrahedron `t` if `t` is marked; each of its edges if `every`.
#[kernel(
    requires(chosen.len() == words(n), orders.len() == n, edges.len() == 6 * n),
    // Orders and edges are read for marked tetrahedra only.
    moves(chosen.bytes()), trusted
)]
pub fn mark_edges_of_tets(
    t: Own<Tet>,
    chosen: In<Bits<Tet>>,
    orders: In<u32, Tet>,
    edges: In<Edge, EdgeUse>,
    every: bool,
    marked: Atomic<Bits<Edge>>,
) {
    if !chosen.bit(*t) {
        return;
    }
    let mark = |e: Edge| {
        // Most edges are marked already: a load costs less than an atomic update.
        if !marked.bit(e) {
            marked.set_bit(e);
        }
    };
    if !every {
        let longest = longest_within(orders.at(t), TETRAHEDRON);
        mark(edges.at(EdgeUse::of(*t, edge_index(longest))));
        return;
    }
    let pair = |k: u32| edges.pair(EdgeUse::of(*t, k));
    let [[a, b], [c, d], [e, f]] = [pair(0), pair(2), pair(4)];
    mark(a);
    mark(b);
    mark(c);
    mark(d);
    mark(e);
    mark(f);
}
