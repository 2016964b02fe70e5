//! The edges of a triangulation that are not locally Delaunay.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, Scalar, kernel};

use super::predicates::{circle, filtered_circle, is_in_circle_exactly};
use crate::ids::{HalfEdge, Vertex};
use crate::point::{Planar, Point2};

/// Which diagonals of four points on one circle are locally Delaunay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Scalar)]
#[repr(u32)]
pub enum Diagonals {
    /// One, by the rule of [the family](super).
    ByRule,
    /// Both.
    Both,
}

/// Whether `d` is within the circle of a, b, c, which run counter-clockwise, and not on it.
#[inline(never)]
fn is_surely_in_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    circle(a, b, c, d) > 0
}

/// Whether the edge of half-edge `h` is not locally Delaunay: it has two triangles, and is not marked in `segments` (a
/// bit for each half-edge, or empty). The lower half-edge of an edge stands for both. `first[0]` becomes the lowest.
///
/// Triangles run counter-clockwise.
#[kernel(
    P in Planar,
    requires(
        origins.len() == n,
        twins.len() == n,
        segments.is_empty() || segments.len() == words(n),
        first.len() == 1
    ),
    moves(points.bytes() + origins.bytes() + twins.bytes() + segments.bytes() + 4 * words(n))
)]
pub fn find_illegal_edges<P: Point2>(
    h: Own<HalfEdge>,
    points: In<P, Vertex>,
    origins: In<Vertex, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    segments: In<Bits<HalfEdge>>,
    diagonals: Diagonals,
    first: Atomic,
) -> bool {
    let (h, twin) = (*h, twins.at(h));
    // Half-edges along the border have the highest numbers.
    let is_inner = h < twin && twin.index() < twins.len();
    if !is_inner || !segments.is_empty() && segments.bit(h) {
        return false;
    }
    let corners = origins.at_all([h, h.next(), h.prev(), twin.prev()]);
    let [a, b, c, d] = points.at_all(corners).each(P::to_f64);
    let is_illegal = match (filtered_circle(a, b, c, d), diagonals) {
        (0, Diagonals::ByRule) => is_in_circle_exactly(a, b, c, d),
        (0, Diagonals::Both) => is_surely_in_circle(a, b, c, d),
        (sign, _) => sign > 0,
    };
    if is_illegal && h.index() < first.load(0u32) {
        first.min(0u32, h.index());
    }
    is_illegal
}
