//! Steps 3 and 4 of the paper: marks follow the dependencies.

use trioxide_kernel::{Atomic, In, NONE, Out, kernel};

use super::{TETRAHEDRON, edge_index, edge_set, longest_within};

/// Marks what the edges in word `w` of the bit set `fresh` ask for: in each tetrahedron around, the longest edge of it and
/// of its two faces at the edge.
///
/// An edge that was not marked in `marked` comes into `found`, the `fresh` of the next round, and `progress[round]` becomes
/// 1. `fresh` is 0 afterwards. `touched` gets the tetrahedra around: in the end those with a marked edge.
///
/// A word of 32 edges is a thread's: most are 0, and what is left of a round's cost is an eighth of a byte for each edge.
/// Lists of edges would cost a compaction a round, or one counter that every thread waits for.
#[kernel]
pub fn close_tet_marks(
    w: u32,
    last_uses: In<u32>,
    links: In<u32>,
    edges: In<u32>,
    orders: In<u32>,
    fresh: Out<u32>,
    found: Atomic,
    marked: Atomic,
    touched: Atomic,
    progress: Out<u32>,
    round: u32,
) {
    let mut word = fresh.at(w);
    if word == 0 {
        return;
    }
    fresh.set(w, 0);
    while word != 0 {
        let mut usage = last_uses.at(32 * w + word.trailing_zeros());
        word &= word - 1;
        while usage != NONE {
            let t = usage / 6;
            let own = edge_set(usage % 6);
            let order = orders.at(t);
            if !touched.bit(t) {
                touched.set_bit(t);
            }
            let mark = |set: u32| {
                if set == own {
                    return;
                }
                let e = edges.at(6 * t + edge_index(set));
                // Marked in this very round, it gets into `found` by another thread: twice does no harm.
                if !marked.bit(e) {
                    marked.set_bit(e);
                    found.set_bit(e);
                    progress.set(round, 1);
                }
            };
            let others = TETRAHEDRON ^ own;
            let low = others & others.wrapping_neg();
            mark(longest_within(order, TETRAHEDRON));
            mark(longest_within(order, TETRAHEDRON ^ low));
            mark(longest_within(order, own | low));
            usage = links.at(usage);
        }
    }
}
