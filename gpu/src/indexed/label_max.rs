//! The longest edge of each triangle: the Max array (Algorithm 2, LabelMax).

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own};

use super::Adjacent;
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::{Planar, Point2};

/// The longest edge of triangle `t`, in two bits: 0, 1 or 2.
///
/// Of equal edges the one with the smaller id counts as longer if `TIES_BY_EDGE`, otherwise the first in the triangle.
/// The id of an edge is the smaller of its two half-edges.
#[kernel(
    P in Planar,
    TIES_BY_EDGE in [false, true],
    members = u32,
    requires(triangles.len() == 3 * n, neighbours.len() == 3 * n),
    moves(triangles.bytes() + points.bytes() + 4 * words(2 * n)), trusted
)]
pub fn label_max<P: Point2, const TIES_BY_EDGE: bool>(
    t: Own<Triangle>,
    triangles: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    neighbours: In<Triangle, HalfEdge>,
) -> [bool; 2] {
    let side = |k: u32| HalfEdge::of(*t, k);
    let corners = triangles.at_all([t.part(0), t.part(1), t.part(2)]);
    let [a, b, c] = points.at_all(corners);
    let id = |k: u32| side(k).min(Adjacent(neighbours).opposite(side(k)));
    let mut best = 0;
    let mut most = a.distance_squared(b);
    let mut k = 1;
    while k < 3 {
        let length = if k == 1 {
            b.distance_squared(c)
        } else {
            c.distance_squared(a)
        };
        // Ids decide ties only, and ties are rare.
        if length > most || (length == most && TIES_BY_EDGE && id(k) < id(best)) {
            (best, most) = (k, length);
        }
        k += 1;
    }
    [best == 1, best == 2]
}

/// The longest edge of triangle `t`, from the Max array, as its half-edge there.
#[inline(always)]
pub(super) fn longest_edge(max: In<u32>, t: Triangle) -> HalfEdge {
    let i = t.index();
    HalfEdge::of(t, max.at(i / 16) >> (2 * (i % 16)) & 3)
}
