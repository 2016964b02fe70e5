//! The rules that a mesh must keep before other kernels index by it.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Each, kernel};

use super::prefetch_corners;
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::{Anywhere, DoublePoint, MeshPoint, Planar};

/// Slots of the check kernels' result: the number of the smallest offending element for each rule, `NONE` where the
/// rule holds.
pub mod rule {
    /// A vertex with a coordinate that is not finite.
    pub const FINITE: u32 = 0;
    /// A triangle with an index out of range.
    pub const RANGE: u32 = 1;
    /// A triangle that is clockwise or degenerate; in space one with an edge of length zero.
    pub const ORIENTATION: u32 = 2;
    /// A half-edge of an edge that is shared by more than two half-edges, or by two of the same direction.
    pub const MANIFOLD: u32 = 3;
    /// A half-edge for which the table of twins has no room.
    pub const CROWDED: u32 = 4;
    /// A vertex with a coordinate beyond [`MeshPoint::LARGEST`](crate::point::MeshPoint::LARGEST).
    pub const LARGE: u32 = 5;
    /// A triangle smaller than [`MeshPoint::SMALLEST`](crate::point::MeshPoint::SMALLEST).
    pub const SMALL: u32 = 6;
    /// No rule: a triangle whose orientation needs exact arithmetic.
    pub const UNSURE: u32 = 7;
    /// Number of rules.
    pub const COUNT: usize = 8;
}

/// Finds vertex `v` if one of its coordinates is not finite, or too large.
#[kernel(P in Anywhere, requires(points.len() == n, found.len() == rule::COUNT), moves(points.bytes()))]
pub fn check_points<P: MeshPoint>(v: Own<Vertex>, points: In<P, Vertex>, found: Atomic) {
    let p = points.at(v).to_f64();
    if !p.has_finite_coordinates() {
        found.min(rule::FINITE, v.index());
    } else if p.largest_coordinate() > P::LARGEST {
        found.min(rule::LARGE, v.index());
    }
}

/// Whether a triangle has an extent that is so small that its squares lose digits. A triangle without extent is
/// degenerate.
#[inline(always)]
pub fn is_too_small<P: MeshPoint>(a: P::Double, b: P::Double, c: P::Double) -> bool {
    let (a, b) = ((a - c).largest_coordinate(), (b - c).largest_coordinate());
    let extent = if a > b { a } else { b };
    extent > 0.0 && extent < P::SMALLEST
}

/// Finds triangle `t` if it is not counter-clockwise. Exact arithmetic decides where the filter does not, so no
/// triangle is unsure. In space none is before.
#[kernel(
    P in Planar,
    requires(origins.len() == 3 * n, found.len() == rule::COUNT),
    moves(origins.bytes() + points.bytes())
)]
pub fn check_triangles_exactly<P: MeshPoint>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    found: Atomic,
) {
    prefetch_corners(points, origins, *t);
    let corners = origins.at_all([t.part(0), t.part(1), t.part(2)]);
    check(*t, corners, points, found, |a, b, c| {
        Some(P::Double::is_proper(a, b, c))
    });
}

/// Finds triangle `t` as [`match_twins()`](super::match_twins()) does: half-edges are known already, and points are
/// new.
#[kernel(
    P in Anywhere,
    requires(origins.len() == 3 * n, found.len() == rule::COUNT),
    moves(origins.bytes() + points.bytes())
)]
pub fn check_triangles<P: MeshPoint>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    found: Atomic,
) {
    prefetch_corners(points, origins, *t);
    let corners = origins.at_all([t.part(0), t.part(1), t.part(2)]);
    check(*t, corners, points, found, P::Double::is_surely_proper);
}

/// Finds half-edge `h` if it starts at another vertex in another list of triangles.
#[kernel(
    requires(origins.len() == n, others.len() == n, found.len() == 1),
    moves(origins.bytes() + others.bytes())
)]
pub fn find_difference(
    h: Own<HalfEdge>,
    origins: In<Vertex, HalfEdge>,
    others: In<Vertex, HalfEdge>,
    found: Atomic,
) {
    if origins.at(h) != others.at(h) {
        found.min(0, h.index());
    }
}

/// Checks triangle `t` with vertices `corners`. Returns whether other kernels may index by them.
///
/// Finds the triangle if it has an index out of range, if it is too small for its squares, or if it is not
/// counter-clockwise (a triangle with a vertex twice is not); in space, if two of its corners are at one place. Size
/// and orientation follow from the points in the device's precision. Where the predicate `is_proper` does not decide,
/// the kernel reports `t` as unsure, and [`check_triangles_exactly()`] must follow: with the registers of exact
/// arithmetic half as many blocks run at once.
#[inline(always)]
pub(super) fn check<P: MeshPoint>(
    t: Triangle,
    [a, b, c]: [Vertex; 3],
    points: In<P, Vertex>,
    found: Atomic,
    is_proper: impl Fn(P::Double, P::Double, P::Double) -> Option<bool>,
) -> bool {
    let vertices = points.len();
    if a.index() >= vertices || b.index() >= vertices || c.index() >= vertices {
        found.min(rule::RANGE, t.index());
        return false;
    }
    let [a, b, c] = points.at_all([a, b, c]).each(P::to_f64);
    if is_too_small::<P>(a, b, c) {
        found.min(rule::SMALL, t.index());
        return true;
    }
    match is_proper(a, b, c) {
        Some(true) => {}
        Some(false) => found.min(rule::ORIENTATION, t.index()),
        None => found.min(rule::UNSURE, t.index()),
    }
    true
}
