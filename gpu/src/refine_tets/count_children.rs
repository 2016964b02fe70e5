//! Step 5 of the paper: the children of each divided tetrahedron are counted.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::{TETRAHEDRON, count_leaves, edge_index};
use crate::ids::{Edge, EdgeUse, Item, Tet};

/// Marked edges of the `i`-th tetrahedron in `touched`, longest first, and the number of its children less one.
#[kernel(
    requires(
        touched.len() == n,
        edges.len() == 6 * orders.len(),
        divisions.len() == n,
        added.len() == n
    ),
    moves(40 * n), trusted
)]
pub fn count_tet_children(
    i: Own<Item>,
    touched: In<Tet, Item>,
    edges: In<Edge, EdgeUse>,
    orders: In<u32, Tet>,
    marked: In<Bits<Edge>>,
    divisions: Out<u32, Item>,
    added: Out<u32, Item>,
) {
    let t = touched.at(i);
    let order = orders.at(t);
    // All are read together, so that the reads overlap.
    let pair = |k: u32| edges.pair(EdgeUse::of(t, k));
    let [[a, b], [c, d], [e, f]] = [pair(0), pair(2), pair(4)];
    let [a, b, c, d, e, f] = marked.bit_all([a, b, c, d, e, f]).each(u32::from);
    let own = a | b << 1 | c << 2 | d << 3 | e << 4 | f << 5;
    let mut division = 0;
    // From the shortest on, so that the longest is in the lowest bits at the end.
    let mut place = 24;
    while place > 0 {
        place -= 4;
        let set = order >> place & 15;
        if own >> edge_index(set) & 1 != 0 {
            division = division << 4 | set;
        }
    }
    divisions.set(i, division);
    added.set(i, count_leaves(division, TETRAHEDRON) - 1);
}
