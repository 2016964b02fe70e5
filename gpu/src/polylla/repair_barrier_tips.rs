//! Repair of barrier tips.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts};
use trioxide_kernel::{Bits, kernel};

use super::walk::Labelled;
use crate::ids::{HalfEdge, Item};

/// Makes the middle edge of the `i`-th tip a frontier edge, and returns both halves of it.
///
/// `tips` lists the half-edges into the tips. Of the n interior edges around a tip, clockwise from its frontier edge,
/// the middle one is number (n - 1) / 2, as in the paper's Algorithm 11 and its authors' code. The kernel does not read
/// the labels that it writes: the walk ends at the frontier edge that it started from.
#[kernel(requires(
    tips.len() == n,
    frontier.len() == words(twins.len()),
    middles.len() == 2 * n
))]
pub fn mark_middle_edges(
    i: Own<Item>,
    tips: In<HalfEdge, Item>,
    twins: In<HalfEdge, HalfEdge>,
    frontier: Atomic<Bits<HalfEdge>>,
    middles: Out<HalfEdge, Parts<Item, 2>>,
) {
    let h = tips.at(i);
    let first = h.next();
    let mut interior = 0;
    let mut e = first;
    while e != twins.at(h) {
        interior += 1;
        e = twins.at(e).next();
    }
    let mut steps = (interior - 1) / 2;
    let mut middle = first;
    while steps > 0 {
        middle = twins.at(middle).next();
        steps -= 1;
    }
    let twin = twins.at(middle);
    frontier.set_bit(middle);
    frontier.set_bit(twin);
    middles.set(i.part(0), middle);
    middles.set(i.part(1), twin);
}

/// Splices the `i`-th new frontier half-edge between its neighbours.
///
/// A link that changes has a new half-edge at one of its ends, and each new half-edge writes both of its links. Where
/// two write the same element (both ends are new), they write the same value.
#[kernel(requires(
    middles.len() == n,
    edges.frontier.len() == words(edges.twins.len()),
    polygon_next.len() == edges.twins.len(),
    polygon_prev.is_empty() || polygon_prev.len() == edges.twins.len()
))]
pub fn link_middle_edges(
    i: Own<Item>,
    middles: In<HalfEdge, Item>,
    edges: Labelled,
    polygon_next: Atomic<HalfEdge, HalfEdge>,
    polygon_prev: Atomic<HalfEdge, HalfEdge>,
) {
    let h = middles.at(i);
    let before = edges.predecessor(h);
    let behind = edges.successor(h);
    polygon_next.store(before, h);
    polygon_next.store(h, behind);
    if !polygon_prev.is_empty() {
        polygon_prev.store(h, before);
        polygon_prev.store(behind, h);
    }
}
