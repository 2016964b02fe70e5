//! Links: each frontier half-edge to the next around its polygon.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Out, Own, Scatter};

use super::walk::Labelled;
use crate::ids::HalfEdge;

/// Links half-edge `h`, if it is a frontier edge, to the next and the previous frontier half-edge around its polygon;
/// returns whether it ends at a barrier tip.
///
/// `polygon_prev` may be empty. Each half-edge finds its own predecessor: writing `prev` at the successor would
/// scatter.
#[kernel(
    requires(
        edges.twins.len() == n,
        edges.frontier.len() == words(n),
        polygon_next.len() == n,
        polygon_prev.is_empty() || polygon_prev.len() == n
    ),
    moves(
        edges.twins.bytes() + edges.frontier.bytes() + polygon_next.bytes() + polygon_prev.bytes() + 4 * words(n)
    ), trusted
)]
pub fn link_frontier_edges(
    h: Own<HalfEdge>,
    edges: Labelled,
    polygon_next: Out<HalfEdge, HalfEdge>,
    polygon_prev: Scatter<HalfEdge>,
) -> bool {
    if !edges.frontier.bit(*h) {
        polygon_next.set(h, HalfEdge::NONE);
        if !polygon_prev.is_empty() {
            polygon_prev.set(h.index(), HalfEdge::NONE);
        }
        return false;
    }
    let mut e = h.next();
    let mut steps = 0;
    while !edges.frontier.bit(e) {
        e = edges.twins.at(e).next();
        steps += 1;
    }
    polygon_next.set(h, e);
    if !polygon_prev.is_empty() {
        polygon_prev.set(h.index(), edges.predecessor(*h));
    }
    // Two triangles or more lie around a tip; two alone only on a surface, where they share all three edges.
    steps >= 1 && e == edges.twins.at(h)
}
