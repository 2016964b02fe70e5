//! Which short edges may collapse?

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::super::cut_convex::is_between;
use super::Sides;
use crate::ids::{Corner, Item, Polygon, Vertex};
use crate::orientation::turn;
use crate::point::{Planar, Point2};

/// The move of the vertex at which an edge's lower side starts; 0 is no move.
pub(super) const ALONG: u32 = 1;
/// The move of the vertex at which it ends.
const AGAINST: u32 = 2;

/// Polygons in the plane, and the edges that keep their place.
#[derive(Group)]
pub struct Outlines<'a, P: Point2> {
    /// The sides.
    pub sides: Sides<'a>,
    /// Positions of the vertices.
    pub points: In<'a, P, Vertex>,
    /// The sides of constrained edges, those on the border among them.
    pub fixed: In<'a, Bits<Corner>>,
    /// The number of constrained edges at each vertex, and 3 more where it is pinned.
    pub degrees: In<'a, u32, Vertex>,
    /// The squared diameter of each polygon.
    pub diameters: In<'a, f64, Polygon>,
    /// An edge is short below this part of a squared diameter.
    pub ratio_squared: f64,
}

impl<P: Point2> Outlines<'_, P> {
    #[inline(always)]
    fn point(self, v: Vertex) -> DVec2 {
        self.points.at(v).to_f64()
    }

    /// The squared length of the edge of `side`, and whether it is short.
    #[inline(always)]
    fn measure(self, side: Corner) -> (f64, bool) {
        let sides = self.sides;
        let d = self.point(sides.end(side)) - self.point(sides.origins.at(side));
        let length = d.x * d.x + d.y * d.y;
        let mut diameter = self.diameters.at(sides.owners.at(side));
        let twin = sides.twins.at(side);
        if twin.is_some() {
            let other = self.diameters.at(sides.owners.at(twin));
            diameter = if other > diameter { other } else { diameter };
        }
        (length, length < self.ratio_squared * diameter)
    }

    /// Whether the vertex where `leaving` starts may leave along the edge to `stays`.
    #[inline(always)]
    fn may_leave(self, leaving: Corner, stays: Vertex) -> bool {
        let sides = self.sides;
        let v = sides.origins.at(leaving);
        let degree = self.degrees.at(v);
        if degree != 2 {
            return degree == 0;
        }
        let first = sides.first_around(leaving);
        let (mut is_along, mut other) = (false, Vertex::NONE);
        let mut side = first;
        while side.is_some() {
            if self.fixed.bit(side) {
                let end = sides.end(side);
                is_along |= end == stays;
                other = if end == stays { other } else { end };
            }
            let before = sides.prevs.at(side);
            if sides.twins.at(before).is_none() {
                let end = sides.origins.at(before);
                is_along |= end == stays;
                other = if end == stays { other } else { end };
            }
            side = sides.after(side, first);
        }
        if !is_along || other.is_none() {
            return false;
        }
        let [a, b, c] = [stays, v, other].each(|v| self.point(v));
        turn(a, b, c) == 0 && is_between(a, b, c)
    }

    /// Whether all polygons around the vertex where `leaving` starts stay simple, or convex, with `stays` in its place.
    #[inline(always)]
    fn stay_simple(self, leaving: Corner, stays: Vertex, are_convex: bool) -> bool {
        let first = self.sides.first_around(leaving);
        let mut holds = true;
        let mut side = first;
        while side.is_some() && holds {
            holds = self.stays_simple(side, stays, are_convex);
            side = self.sides.after(side, first);
        }
        holds
    }

    /// Whether the polygon with the corner `corner` is simple with `u` in its place.
    ///
    /// Then it runs from the corner after it by the others to the one before it, and by u back, unless u is one of
    /// these two. Only edges at u are new; they are compared with all others.
    #[inline(always)]
    fn stays_simple(self, corner: Corner, u: Vertex, is_convex: bool) -> bool {
        let sides = self.sides;
        let (from, to) = (sides.nexts.at(corner), sides.prevs.at(corner));
        let (x, w) = (sides.origins.at(from), sides.origins.at(to));
        let (is_before, is_after) = (w != u, x != u);
        let [at_u, at_x, at_w] = [u, x, w].each(|v| self.point(v));
        let mut holds = true;
        let mut before = if is_after { at_u } else { at_w };
        let mut a = at_x;
        let mut least = Least::new(a);
        let mut side = from;
        while side != to && holds {
            let next = sides.nexts.at(side);
            let b = self.point(sides.origins.at(next));
            least.compare(before, a, b);
            holds &= !is_convex || turn(before, a, b) >= 0;
            let (is_first, is_last) = (side == from, next == to);
            if is_before {
                holds &= if is_last {
                    !overlap(at_w, a, at_u)
                } else if is_first && !is_after {
                    !overlap(at_u, b, at_w)
                } else {
                    !touch(at_w, at_u, a, b)
                };
            }
            if is_after {
                holds &= if is_first {
                    !overlap(at_x, b, at_u)
                } else if is_last && !is_before {
                    !overlap(at_u, a, at_x)
                } else {
                    !touch(at_u, at_x, a, b)
                };
            }
            before = a;
            a = b;
            side = next;
        }
        let after = if is_before { at_u } else { at_x };
        least.compare(before, a, after);
        holds &= !is_convex || turn(before, a, after) >= 0;
        if is_before && is_after {
            least.compare(at_w, at_u, at_x);
            holds &= !overlap(at_u, at_w, at_x);
            holds &= !is_convex || turn(at_w, at_u, at_x) >= 0;
        }
        // A simple polygon turns at its least vertex as it runs.
        holds && turn(least.before, least.at, least.after) > 0
    }
}

/// The least vertex of a polygon by x, then y, and its neighbours.
struct Least {
    before: DVec2,
    at: DVec2,
    after: DVec2,
}

impl Least {
    #[inline(always)]
    fn new(at: DVec2) -> Self {
        Self {
            before: at,
            at,
            after: at,
        }
    }

    #[inline(always)]
    fn compare(&mut self, before: DVec2, at: DVec2, after: DVec2) {
        let is_lower = at.x < self.at.x || at.x == self.at.x && at.y <= self.at.y;
        if is_lower {
            *self = Self { before, at, after };
        }
    }
}

/// Whether the edges from `c` to `p` and to `q` have more in common than `c`.
#[inline(always)]
fn overlap(c: DVec2, p: DVec2, q: DVec2) -> bool {
    turn(p, c, q) == 0 && !is_between(p, c, q)
}

/// Whether the edges from `p` to `q` and from `a` to `b` have a point in common.
#[inline(always)]
fn touch(p: DVec2, q: DVec2, a: DVec2, b: DVec2) -> bool {
    let are_apart = |p: f64, q: f64, a: f64, b: f64| {
        (p < a && p < b && q < a && q < b) || (p > a && p > b && q > a && q > b)
    };
    if are_apart(p.x, q.x, a.x, b.x) || are_apart(p.y, q.y, a.y, b.y) {
        return false;
    }
    // On one line boxes that meet are edges that meet.
    turn(p, q, a) * turn(p, q, b) <= 0 && turn(a, b, p) * turn(a, b, q) <= 0
}

/// Judges edge `edges[i]`: writes its move if it is ready, and lowers the keys of the polygons that this changes to its
/// own.
#[kernel(
    P in Planar,
    requires(edges.len() == n, moves.len() == n, least.len() == outlines.diameters.len())
)]
pub fn judge_short_edges<P: Point2>(
    i: Own<Item>,
    edges: In<Corner, Item>,
    outlines: Outlines<P>,
    are_convex: bool,
    moves: Out<u32, Item>,
    least: Atomic<u64, Polygon>,
) {
    let (edge, sides) = (edges.at(i), outlines.sides);
    let mut found = 0;
    let start = sides.origins.at(edge);
    if start.is_some() {
        let (length, is_short) = outlines.measure(edge);
        let end = sides.end(edge);
        let mut tried = if is_short { 0 } else { 2 };
        while tried < 2 {
            let is_along = (start > end) == (tried == 0);
            let leaving = if is_along {
                edge
            } else {
                sides.leaving_end(edge)
            };
            let stays = if is_along { end } else { start };
            tried += 1;
            if outlines.may_leave(leaving, stays)
                && outlines.stay_simple(leaving, stays, are_convex)
            {
                found = if is_along { ALONG } else { AGAINST };
                tried = 2;
                let key = u64::from((length as f32).to_bits()) << 32 | u64::from(edge.index());
                let first = sides.first_around(leaving);
                let mut side = first;
                while side.is_some() {
                    least.min(sides.owners.at(side), key);
                    side = sides.after(side, first);
                }
            }
        }
    }
    moves.set(i, found);
}

/// Whether side `c` is the lower one of a short edge, and whether besides neither of its ends may leave along it.
#[kernel(P in Planar, requires(outlines.sides.origins.len() == n))]
pub fn find_short_edges<P: Point2>(c: Own<Corner>, outlines: Outlines<P>) -> (bool, bool) {
    let sides = outlines.sides;
    let start = sides.origins.at(c);
    if start.is_none() || sides.edge(*c) != *c {
        return (false, false);
    }
    let (_, is_short) = outlines.measure(*c);
    let is_held = is_short
        && !outlines.may_leave(*c, sides.end(*c))
        && !outlines.may_leave(sides.leaving_end(*c), start);
    (is_short, is_held)
}
