//! Steps 2 and 4 for many marked triangles: one pass over all edges.

use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Edge, HalfEdge, Side, Triangle};

/// Whether edge `e` is the longest of a marked triangle, and whether the walk then goes on into a triangle that is not
/// marked. If `marked` is empty, every triangle is marked.
#[kernel(
    requires(halves.len() == 2 * n, marked.is_empty() || marked.len() == words(longest.len())),
    moves(halves.bytes() + longest.bytes() + marked.bytes() + 8 * words(n))
)]
pub fn mark_divided_edges(
    e: Own<Edge>,
    halves: In<HalfEdge, Side>,
    longest: In<u8, Triangle>,
    marked: In<Bits<Triangle>>,
) -> (bool, bool) {
    let [left, right] = halves.pair(Side::along(*e));
    let (t, u) = (left.triangle(), right.triangle());
    let is_on_boundary = right.is_none();
    // Read unconditionally: without a branch, a thread's reads for several edges overlap.
    let u = if is_on_boundary { t } else { u };
    // Before the marks are tested, so that these reads overlap.
    let [longest_t, longest_u] = longest.at_all([t, u]);
    let [marked_t, marked_u] = if marked.is_empty() {
        [true, true]
    } else {
        marked.bit_all([t, u])
    };
    let divides_t = marked_t & (u32::from(longest_t) == left.index() - 3 * t.index());
    let divides_u = marked_u & (u32::from(longest_u) == right.index().wrapping_sub(3 * u.index()));
    let divided = divides_t | divides_u;
    (divided, divided & !(marked_t & marked_u))
}
