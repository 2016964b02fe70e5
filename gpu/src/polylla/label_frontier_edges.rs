//! Frontier edges and seeds.

use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::HalfEdge;

/// Whether half-edge `h` is a frontier edge, and whether it is a seed: the smaller half-edge of an interior terminal
/// edge, the inner half-edge of a terminal edge on the boundary.
///
/// Constrained edges (`constrained`: a bit for each half-edge, or empty) count as boundary on both sides.
#[kernel(
    requires(
        twins.len() == n,
        longest.len() == words(n),
        constrained.is_empty() || constrained.len() == words(n)
    ),
    moves(twins.bytes() + longest.bytes() + constrained.bytes() + 8 * words(n)), trusted
)]
pub fn label_frontier_edges(
    own: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    longest: In<Bits<HalfEdge>>,
    constrained: In<Bits<HalfEdge>>,
) -> (bool, bool) {
    let (h, twin) = (*own, twins.at(own));
    // Border half-edges have ids above the half-edges of triangles.
    let on_border = twin.index() >= twins.len();
    let barrier = on_border || (!constrained.is_empty() && constrained.bit(h));
    // The other half-edge's bit is read unconditionally: without a branch, a thread's reads for several half-edges
    // overlap.
    let [mine, theirs] = longest.bit_all([h, if on_border { h } else { twin }]);
    let frontier = barrier | !(mine | theirs);
    let seed = mine & (barrier | (theirs & (h < twin)));
    (frontier, seed)
}
