//! Step 5 of the paper: the children of each divided tetrahedron are counted.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use super::{TETRAHEDRON, count_leaves, edge_index};
use crate::ids::{Edge, Item, Tet};

/// Marked edges of the `i`-th tetrahedron in `touched`, longest first, and the number of its children but one.
#[kernel(
    requires(
        touched.len() == n,
        edges.len() == 6 * orders.len(),
        divisions.len() == n,
        added.len() == n
    ),
    moves(40 * n)
)]
pub fn count_tet_children(
    i: Own<Item>,
    touched: In<Tet, Item>,
    edges: In<Edge>,
    orders: In<u32, Tet>,
    marked: In<Bits<Edge>>,
    divisions: Out<u32, Item>,
    added: Out<u32, Item>,
) {
    let t = touched.at(i);
    let order = orders.at(t);
    // All read at once.
    let pair = |k: u32| {
        let [a, b] = edges.pair(6 * t.index() + k);
        (u32::from(marked.bit(a)) | u32::from(marked.bit(b)) << 1) << k
    };
    let own = pair(0) | pair(2) | pair(4);
    let mut division = 0;
    // From the shortest on, so that the longest comes to the lowest bits.
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
