//! Steps 3 and 4 of the paper for few marked edges: the kernel follows lists of the tetrahedra around each edge.

use trioxide_kernel::safe::{Atomic, Group, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use super::{TETRAHEDRON, edge_index, edge_set, longest_within};
use crate::ids::{Edge, EdgeUse, Item, Tet};

/// The dependencies of edges: the tetrahedra around each, and the order of these tetrahedra's edges.
#[derive(Group)]
pub struct Dependencies<'a> {
    /// A use of each edge; E.
    pub last_uses: In<'a, EdgeUse, Edge>,
    /// Another use of the same edge, or `NONE`; 6T.
    pub links: In<'a, EdgeUse, EdgeUse>,
    /// Edge of each use; 6T.
    pub edges: In<'a, Edge, EdgeUse>,
    /// Edges of each tetrahedron, longest first; T.
    pub orders: In<'a, u32, Tet>,
}

/// Marks the edges that the edges in word `w` of the bit set `fresh` require: in each tetrahedron around, the longest
/// edge of the tetrahedron and of its two faces at the edge.
///
/// A newly marked edge gets its bit in `found`, the `fresh` of the next round, and `progress[round]` becomes 1. `fresh`
/// is 0 afterwards. `touched` gets the tetrahedra around these edges: in the end all tetrahedra with a marked edge.
///
/// The rounds mark the same edges as those of [`close_tet_marks`](super::close_marks::close_tet_marks()).
///
/// A thread takes a word of 32 edges: most words are 0, and a round costs an eighth of a byte for each edge. Lists of
/// edges would cost a compaction a round, or one counter that every thread waits for.
#[kernel(requires(
    fresh.len() == n,
    found.len() == n,
    marked.len() == n,
    n == words(dependencies.last_uses.len()),
    dependencies.links.len() == 6 * dependencies.orders.len(),
    dependencies.edges.len() == dependencies.links.len(),
    touched.len() == words(dependencies.orders.len()),
    progress.len() > round as usize
))]
pub fn close_few_tet_marks(
    w: Own<Item>,
    dependencies: Dependencies,
    fresh: Out<Bits<Edge>, Item>,
    found: Atomic<Bits<Edge>>,
    marked: Atomic<Bits<Edge>>,
    touched: Atomic<Bits<Tet>>,
    progress: Atomic,
    round: u32,
) {
    let mut word = fresh.at(w).word();
    if word == 0 {
        return;
    }
    fresh.set(w, Bits::EMPTY);
    while word != 0 {
        let e = Edge::new(32 * w.index() + word.trailing_zeros());
        let mut usage = dependencies.last_uses.at(e);
        word &= word - 1;
        while usage.is_some() {
            let t = usage.tet();
            let own = edge_set(usage.place());
            let order = dependencies.orders.at(t);
            if !touched.bit(t) {
                touched.set_bit(t);
            }
            let mark = |set: u32| {
                if set == own {
                    return;
                }
                let e = dependencies.edges.at(EdgeUse::of(t, edge_index(set)));
                // Another thread may mark it at the same time and set its bit in `found` too; the result is the same.
                if !marked.bit(e) {
                    marked.set_bit(e);
                    found.set_bit(e);
                    progress.store(round, 1);
                }
            };
            let others = TETRAHEDRON ^ own;
            let low = others & others.wrapping_neg();
            mark(longest_within(order, TETRAHEDRON));
            mark(longest_within(order, TETRAHEDRON ^ low));
            mark(longest_within(order, own | low));
            usage = dependencies.links.at(usage);
        }
    }
}
