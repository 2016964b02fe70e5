//! Cuts: a polygon is divided into convex pieces (the option `convex_pieces`; Hertel and Mehlhorn, Fast triangulation
//! of simple polygons, 1983).
//!
//! **Definition.** The interior edges of a polygon divide it into triangles. They are looked at one after the other and
//! left out where both corners that their ends have without them are at most 180 degrees; the edges that stay are the
//! cuts. The order is that of a walk along the polygon from its smallest half-edge, through the triangles at each of
//! its corners; an edge comes when its smaller half-edge is crossed.
//!
//! - *Every piece is convex.* The triangles are. To leave out an edge joins two pieces, and changes the corners at its
//!   ends only. A piece is a tree of triangles, so it is a disk, and with corners of at most 180 degrees it is simple.
//! - *No cut is needless.* Corners only grow: an edge that a corner needed once is needed at the end.
//! - *At most four times the fewest pieces.* A cut is needed at one of its ends, where the polygon's own corner is over
//!   180 degrees, and no corner needs more than two. With r such corners there are at most 2r + 1 pieces, and no
//!   division has fewer than r / 2 + 1.
//! - *The order of the polygons does not matter*: an interior edge and all corners at it belong to one polygon.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Own};
use trioxide_kernel::{Bits, kernel};

use super::walk::Labelled;
use crate::ids::{HalfEdge, Polygon, Vertex};
use crate::orientation::is_counter_clockwise;
use crate::point::{Planar, Point2};

/// Corners of triangles.
#[derive(Group)]
pub struct Corners<'a, P: Point2> {
    /// The vertex at which each half-edge starts.
    pub origins: In<'a, Vertex, HalfEdge>,
    /// Positions.
    pub points: In<'a, P, Vertex>,
}

impl<P: Point2> Corners<'_, P> {
    /// The position at which `h` starts.
    #[inline(always)]
    fn start(self, h: HalfEdge) -> DVec2 {
        self.points.at(self.origins.at(h)).to_f64()
    }
}

/// Marks the needless interior edges of polygon `p`, both half-edges of each.
#[kernel(
    P in Planar,
    requires(
        half_edges.len() == n,
        edges.frontier.len() == words(edges.twins.len()),
        corners.origins.len() == edges.twins.len(),
        needless.len() == words(edges.twins.len())
    ),
    // At least: the walks around the ends of interior edges depend on the mesh.
    moves(
        half_edges.bytes() + edges.twins.bytes() + edges.frontier.bytes() + corners.origins.bytes()
            + corners.points.bytes() + needless.bytes()
    )
)]
pub fn find_needless_edges<P: Point2>(
    p: Own<Polygon>,
    half_edges: In<HalfEdge, Polygon>,
    edges: Labelled,
    corners: Corners<P>,
    needless: Atomic<Bits<HalfEdge>>,
) {
    let start = half_edges.at(p);
    let mut h = start;
    let mut is_done = false;
    while !is_done {
        let mut e = h.next();
        while !edges.frontier.bit(e) {
            let twin = edges.twins.at(e);
            if e < twin
                && stays_convex(e, edges, corners, needless)
                && stays_convex(twin, edges, corners, needless)
            {
                needless.set_bit(e);
                needless.set_bit(twin);
            }
            e = twin.next();
        }
        h = e;
        is_done = h == start;
    }
}

/// Whether the corner at which interior half-edge `e` starts is at most 180 degrees without it.
#[inline(always)]
fn stays_convex<P: Point2>(
    e: HalfEdge,
    edges: Labelled,
    corners: Corners<P>,
    needless: Atomic<Bits<HalfEdge>>,
) -> bool {
    // The edges that stay beside it, clockwise and counter-clockwise around its start.
    let mut right = edges.twins.at(e).next();
    while needless.bit(right) {
        right = edges.twins.at(right).next();
    }
    let mut left = e.prev();
    while needless.bit(left) {
        left = edges.twins.at(left).prev();
    }
    let (a, v, b) = (
        corners.start(right.next()),
        corners.start(e),
        corners.start(left),
    );
    // The two corners beside the edge are at most 180 degrees each, so their sum is known by its sine's sign, but for
    // 180 and 360 degrees.
    is_counter_clockwise(v, a, b) || (!is_counter_clockwise(v, b, a) && is_between(a, v, b))
}

/// Whether `v` is between `a` and `b`; all three are on one line.
#[inline(always)]
pub(super) fn is_between(a: DVec2, v: DVec2, b: DVec2) -> bool {
    if a.x == v.x {
        (a.y < v.y) != (b.y < v.y)
    } else {
        (a.x < v.x) != (b.x < v.x)
    }
}

/// Whether half-edge `h` is of a cut: an interior edge that is not needless.
#[kernel(
    requires(frontier.len() == words(n), needless.len() == words(n)),
    moves(frontier.bytes() + needless.bytes() + 4 * words(n))
)]
pub fn find_cuts(
    h: Own<HalfEdge>,
    frontier: In<Bits<HalfEdge>>,
    needless: In<Bits<HalfEdge>>,
) -> bool {
    !(frontier.bit(*h) || needless.bit(*h))
}
