//! The nominated edges that collapse: each comes first among the edges that it meets, and keeps the surface.

use glam::DVec3;
use trioxide_kernel::{In, Out, kernel};

use super::cheapest::Choice;
use super::costs::{NO_COST, Rules, Vertices};
use super::fans::{Fans, MOST_IN_FAN, mark};
use super::nominees::is_nominated;
use crate::ids::{HalfEdge, Item, Vertex};

/// The cosine of the largest angle by which a collapse turns a triangle, squared: 78 degrees.
const TURN: f64 = 0.04;

/// Whether the edge from `lows[i]` to its choice collapses in this round. Writes the number of triangles that it
/// removes, or 0, and where its vertex goes.
///
/// An edge collapses if no nominated edge with a lower key has an end in a triangle of its ends, and if it keeps the
/// surface. An edge that does not keep it has no cost from here on.
#[kernel(
    requires(
        lows.len() == n,
        places.len() == n,
        removed.len() == n,
        costs.len() == fans.corners.len()
    ),
    moves(lows.bytes() + removed.bytes())
)]
pub fn judge(
    i: Item,
    lows: In<Vertex>,
    choices: In<Choice>,
    limit: f32,
    fans: Fans,
    vertices: Vertices,
    rules: Rules,
    costs: Out<f32>,
    removed: Out<u32>,
    places: Out<DVec3>,
) -> bool {
    let low = lows.at(i);
    let choice = choices.at(low);
    let high = choice.other;
    removed.set(i, 0);
    let is_first = |v: Vertex| {
        fans.all(v, |_, b, c| {
            let gives_way = |x: Vertex| {
                let other = choices.at(x);
                other.is_before(x, choice, low) && is_nominated(x, other, choices, limit)
            };
            !gives_way(b) && !gives_way(c)
        })
    };
    if !is_first(low) || !is_first(high) {
        return false;
    }
    let count = keeps_topology(&fans, low, high, vertices.marks);
    let keeps = count > 0 && {
        let to = vertices.collapse(low, high, rules).0.to;
        let points = vertices.points;
        places.set(i, to);
        keeps_sides(&fans, low, high, to, points) && keeps_sides(&fans, high, low, to, points)
    };
    if keeps {
        removed.set(i, count);
        return true;
    }
    fans.all(low, |h: HalfEdge, b, c| {
        if b == high {
            costs.set(h, NO_COST);
        }
        if c == high {
            costs.set(h.prev(), NO_COST);
        }
        true
    });
    false
}

/// A bit of 64 for a vertex.
#[inline(always)]
fn bit(v: Vertex) -> u64 {
    1 << (v.index().wrapping_mul(0x9E37_79B9) >> 26)
}

/// The number of triangles at the edge if its collapse keeps the topology, else 0: the link condition.
#[inline(always)]
fn keeps_topology(fans: &Fans, low: Vertex, high: Vertex, marks: In<u32>) -> u32 {
    let mut apexes = [Vertex::NONE; 2];
    let (mut at_edge, mut around, mut seen) = (0, 0, 0_u64);
    // Of the triangles of one end without the other: those with the first apex, and those with both.
    let (mut low_at_apex, mut low_across) = (0, 0);
    fans.all(low, |_, b, c| {
        seen |= bit(b) | bit(c);
        around += 1;
        if b == high || c == high {
            let apex = if b == high { c } else { b };
            apexes = if at_edge == 0 {
                [apex; 2]
            } else {
                [apexes[0], apex]
            };
            at_edge += 1;
        }
        true
    });
    let both_border = marks.at(low) & marks.at(high) & mark::BORDER != 0;
    if at_edge != if both_border { 1 } else { 2 } {
        return 0;
    }
    let [first, second] = apexes;
    // Two triangles back to back.
    if at_edge == 2 && first == second {
        return 0;
    }
    fans.all(low, |_, b, c| {
        let is_apart = b != high && c != high;
        low_at_apex += u32::from(is_apart && (b == first || c == first));
        low_across += u32::from(is_apart && is_pair(b, c, first, second));
        true
    });
    let (mut high_at_apex, mut high_across) = (0, 0);
    // No vertex but the apexes is a neighbour of both.
    let has_no_other = fans.all(high, |_, b, c| {
        around += 1;
        if b == low || c == low {
            return true;
        }
        high_at_apex += u32::from(b == first || c == first);
        high_across += u32::from(is_pair(b, c, first, second));
        let is_of_both = |x: Vertex| {
            x != first
                && x != second
                && seen & bit(x) != 0
                && !fans.all(low, |_, p, q| p != x && q != x)
        };
        !is_of_both(b) && !is_of_both(c)
    });
    // A tetrahedron has the triangle across at both ends; a lone triangle has no other triangle at its apex.
    let is_closed = at_edge == 2 && low_across > 0 && high_across > 0;
    let is_lone = at_edge == 1 && low_at_apex + high_at_apex == 0;
    if !has_no_other || is_closed || is_lone || around - 2 * at_edge > MOST_IN_FAN {
        return 0;
    }
    at_edge
}

#[inline(always)]
fn is_pair(b: Vertex, c: Vertex, p: Vertex, q: Vertex) -> bool {
    b == p && c == q || b == q && c == p
}

/// Whether the triangles of vertex `v` without `other` keep their side up, and none becomes degenerate, when `v` goes
/// to `to`. A triangle that is degenerate already may become any.
#[inline(always)]
fn keeps_sides(fans: &Fans, v: Vertex, other: Vertex, to: DVec3, points: In<DVec3>) -> bool {
    let here = points.at(v);
    fans.all(v, |_, b, c| {
        if b == other || c == other {
            return true;
        }
        let (b, c) = (points.at(b), points.at(c));
        let before = (b - here).cross(c - here);
        let after = (b - to).cross(c - to);
        let (old, new) = (before.dot(before), after.dot(after));
        let along = before.dot(after);
        old == 0.0 || new > 0.0 && along > 0.0 && along * along >= TURN * old * new
    })
}
