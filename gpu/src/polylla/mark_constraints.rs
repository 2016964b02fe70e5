//! Edges that no polygon may cross.

use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::half_edges::half_edge_between;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// Whether the triangles on both sides of half-edge `h` are in different regions: then no polygon may cross it.
#[kernel(requires(twins.len() == n, 3 * regions.len() == n))]
pub fn mark_region_borders(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    regions: In<i32, Triangle>,
) -> bool {
    let twin = twins.at(h);
    twin.index() < twins.len() && regions.at(h.triangle()) != regions.at(twin.triangle())
}

/// Marks the edge between `ends[2i]` and `ends[2i + 1]` as constrained; `found` gets `i` if there is no such edge.
///
/// `leaving` holds the half-edges that start at each vertex.
#[kernel(requires(
    ends.len() == 2 * n,
    origins.len() == twins.len(),
    constrained.len() == words(twins.len()),
    found.len() == 1
))]
pub fn mark_segments(
    i: Own<Item>,
    ends: In<Vertex>,
    origins: In<Vertex, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    leaving: Rows<HalfEdge>,
    constrained: Atomic<Bits<HalfEdge>>,
    found: Atomic,
) {
    let (a, b) = (ends.at(2 * i.index()), ends.at(2 * i.index() + 1));
    let edge = half_edge_between(a, b, origins, leaving);
    if edge.is_none() {
        found.min(0, i.index());
        return;
    }
    constrained.set_bit(edge);
    let twin = twins.at(edge);
    if twin.index() < twins.len() {
        constrained.set_bit(twin);
    }
}
