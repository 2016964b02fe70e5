//! Edges of a surface whose triangles are at a large angle.

use glam::DVec3;
use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{HalfEdge, Triangle};
use crate::point::DoublePoint;

/// Whether half-edge `h` is in `constrained` (a bit for each half-edge, or empty), or the normals of the triangles on
/// both sides of it have an inner product below `least`.
#[kernel(
    requires(
        twins.len() == n,
        3 * normals.len() == n,
        constrained.is_empty() || constrained.len() == words(n)
    ),
    moves(twins.bytes() + normals.bytes() + constrained.bytes() + 4 * words(n))
)]
pub fn mark_sharp_edges(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    normals: In<DVec3, Triangle>,
    constrained: In<Bits<HalfEdge>>,
    least: f64,
) -> bool {
    if !constrained.is_empty() && constrained.bit(*h) {
        return true;
    }
    let twin = twins.at(h);
    if twin.index() >= twins.len() {
        return false;
    }
    let (mine, theirs) = (normals.at(h.triangle()), normals.at(twin.triangle()));
    mine.inner(theirs) < least
}
