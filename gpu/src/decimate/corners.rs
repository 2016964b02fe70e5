//! Rules that the triangles must keep before other kernels index by them.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::fans::Start;
use crate::ids::{HalfEdge, Triangle, Vertex};

/// Finds triangle `t` in `found[0]` if it has an index out of range, and in `found[1]` if it has a vertex twice. Writes
/// its half-edges, without costs.
#[kernel(
    requires(corners.len() == 3 * n, starts.len() == 3 * n, found.len() == 2),
    moves(corners.bytes() + starts.bytes())
)]
pub fn check_distinct_corners(
    t: Own<Triangle>,
    corners: In<Vertex, HalfEdge>,
    vertices: u32,
    found: Atomic<Triangle>,
    starts: Out<Start, HalfEdge>,
) {
    let [a, b, c] = corners.at_all([t.part(0), t.part(1), t.part(2)]);
    if a.index() >= vertices || b.index() >= vertices || c.index() >= vertices {
        found.min(0, *t);
    } else if a == b || b == c || c == a {
        found.min(1, *t);
    }
    starts.set(t.part(0), Start::without_cost(a));
    starts.set(t.part(1), Start::without_cost(b));
    starts.set(t.part(2), Start::without_cost(c));
}
