//! Tags of the edges that are segments of the input.

use trioxide_kernel::kernel;
use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, In, Own, Scatter};

use crate::half_edges::half_edge_between;
use crate::ids::{Edge, HalfEdge, Item, Side, Vertex};

/// Gives the edge between vertices `ends[2i]` and `ends[2i + 1]` the tag `values[i]`; `found` gets the smallest `i`
/// without such an edge. No two segments have the same ends.
///
/// `leaving` lists the half-edges that start at each vertex.
#[kernel(requires(
    ends.len() == 2 * n,
    values.len() == n,
    corners.len() == sides.len(),
    leaving.items.len() == corners.len(),
    found.len() == 1
))]
pub fn tag_segments(
    i: Own<Item>,
    ends: In<Vertex>,
    values: In<u32, Item>,
    corners: In<Vertex, HalfEdge>,
    sides: In<Side, HalfEdge>,
    leaving: Rows<HalfEdge>,
    tags: Scatter<u32, Edge>,
    found: Atomic,
) {
    let h = half_edge_between(
        ends.at(2 * i.index()),
        ends.at(2 * i.index() + 1),
        corners,
        leaving,
    );
    if h.is_none() {
        found.min(0, i.index());
    } else {
        tags.set(sides.at(h).edge(), values.at(i));
    }
}
