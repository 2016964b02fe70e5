//! Tags of the edges that are segments of the input.

use trioxide_kernel::{Atomic, In, Out, kernel};

use crate::half_edge::half_edge_between;
use crate::ids::{HalfEdge, Side, Vertex};

/// Gives the edge between vertices `ends[2i]` and `ends[2i + 1]` the tag `values[i]`; `found` gets the smallest `i`
/// without such an edge. No two segments have the same ends.
///
/// `offsets` and `items` list the half-edges that start at each vertex.
#[kernel(requires(
    ends.len() == 2 * n,
    values.len() == n,
    corners.len() == sides.len(),
    items.len() == corners.len(),
    found.len() == 1
))]
pub fn tag_segments(
    i: u32,
    ends: In<Vertex>,
    values: In<u32>,
    corners: In<Vertex>,
    sides: In<Side>,
    offsets: In<u32>,
    items: In<HalfEdge>,
    tags: Out<u32>,
    found: Atomic,
) {
    let h = half_edge_between(ends.at(2 * i), ends.at(2 * i + 1), corners, offsets, items);
    if h.is_none() {
        found.min(0, i);
    } else {
        tags.set(sides.at(h).edge(), values.at(i));
    }
}
