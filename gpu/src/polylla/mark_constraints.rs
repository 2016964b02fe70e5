//! Edges that no polygon may cross.

use trioxide_kernel::{Atomic, Bits, In, kernel};

use crate::half_edge::half_edge_between;
use crate::ids::{HalfEdge, Vertex};
use trioxide_kernel::rows::Rows;

/// Whether the triangles on both sides of half-edge `h` are of different regions: then no polygon may cross it.
#[kernel(requires(twins.len() == n, 3 * regions.len() == n))]
pub fn mark_region_borders(h: HalfEdge, twins: In<HalfEdge>, regions: In<i32>) -> bool {
    let twin = twins.at(h);
    twin.index() < twins.len() && regions.at(h.triangle()) != regions.at(twin.triangle())
}

/// Marks the edge between `ends[2i]` and `ends[2i + 1]` as constrained; `found` gets `i` where there is no such edge.
///
/// `leaving` holds the half-edges that start at each vertex.
#[kernel(requires(
    ends.len() == 2 * n,
    origins.len() == twins.len(),
    constrained.len() == words(twins.len()),
    found.len() == 1
))]
pub fn mark_segments(
    i: u32,
    ends: In<Vertex>,
    origins: In<Vertex>,
    twins: In<HalfEdge>,
    leaving: Rows<HalfEdge>,
    constrained: Atomic<Bits<HalfEdge>>,
    found: Atomic,
) {
    let (a, b) = (ends.at(2 * i), ends.at(2 * i + 1));
    let edge = half_edge_between(a, b, origins, leaving.offsets, leaving.items);
    if edge.is_none() {
        found.min(0, i);
        return;
    }
    constrained.set_bit(edge);
    let twin = twins.at(edge);
    if twin.index() < twins.len() {
        constrained.set_bit(twin);
    }
}
