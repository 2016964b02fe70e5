//! Whether the vertices of triangles are there.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use crate::ids::{HalfEdge, Vertex};

/// `found[0]` becomes the first half-edge that starts at a vertex which is not among the first `vertices`.
#[kernel(requires(corners.len() == n, found.len() == 1), moves(corners.bytes()))]
pub fn check_corners(
    h: Own<HalfEdge>,
    corners: In<Vertex, HalfEdge>,
    vertices: u32,
    found: Atomic,
) {
    if corners.at(h).index() >= vertices {
        found.min(0u32, h.get().index());
    }
}
