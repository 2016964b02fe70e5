//! The nominated edges that come first among the edges that they meet, and the checks of their collapses.

use glam::DVec3;
use trioxide_kernel::{In, Out, kernel};

use super::cheapest::Choice;
use super::costs::{Known, Rules, collapse_between};
use super::fans::{Corners, Fans, MOST_IN_FAN, mark};
use super::nominees::is_nominated;
use super::sites::Site;
use crate::ids::{Item, Vertex};
use crate::point3::{FLAT, ROUNDING, normal};

/// The cosine of the largest angle by which a collapse turns a triangle, squared: 78 degrees.
const TURN: f64 = 0.04;

/// Nominees ahead of which a CPU prefetches choices, ends, their lists, the triangles in these, and the neighbours.
const FIRST: u32 = 16;
const FAR: u32 = 12;
const MIDDLE: u32 = 8;
const NEAR: u32 = 4;
const NEXT: u32 = 2;

/// Whether the edge from `lows[i]` to its choice is first: no nominated edge with a lower key has an end in a triangle
/// of its ends.
#[kernel(requires(lows.len() == n), moves(lows.bytes() + 4 * words(n)))]
pub fn comes_first(
    i: Item,
    lows: In<Vertex>,
    choices: In<Choice>,
    limit: f32,
    fans: Fans,
    sites: In<Site>,
) -> bool {
    let low = lows.at(i);
    let choice = choices.at(low);
    let gives_way = |x: Vertex| {
        let other = choices.at(x);
        other.is_before(x, choice, low) && is_nominated(x, other, choices, limit)
    };
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(i, lows, choices, &fans, sites);
    }
    [low, choice.other()].into_iter().all(|end| {
        let is_border = sites.at(end).marks & mark::BORDER != 0;
        // Around a vertex inside each neighbour is the next one in a triangle.
        fans.all(end, |_, b, c| !(gives_way(b) || is_border && gives_way(c)))
    })
}

/// Writes the number of triangles that the collapse of edge `acting[i]` removes, or 0 if it does not keep the surface.
#[kernel(requires(acting.len() == n, removed.len() == n), moves(acting.bytes() + removed.bytes()))]
pub fn count_removed(
    i: Item,
    acting: In<Item>,
    lows: In<Vertex>,
    choices: In<Choice>,
    fans: Fans,
    sites: In<Site>,
    rules: Rules,
    removed: Out<u32>,
) {
    let place = |low: &Known, high: &Known, ()| collapse_between(low, high, rules).to;
    count_removed_by(i, acting, lows, choices, fans, sites, removed, place);
}

/// As [`count_removed()`], with the place of a collapse.
#[inline(always)]
pub(super) fn count_removed_by(
    i: Item,
    acting: In<Item>,
    lows: In<Vertex>,
    choices: In<Choice>,
    fans: Fans,
    sites: In<Site>,
    removed: Out<u32>,
    place: impl Fn(&Known, &Known, ()) -> DVec3,
) {
    let low = lows.at(acting.at(i));
    let high = Known::of(sites, choices.at(low).other());
    let low = Known::of(sites, low);
    let kept = checked(&fans, &low, &high, sites, Some(()), place);
    removed.set(
        i,
        match kept {
            Some((count, ..)) => count,
            None => 0,
        },
    );
}

/// Prefetches the ends of later nominees, then their lists, then the triangles in these.
#[inline(always)]
fn ask_ahead(i: Item, lows: In<Vertex>, choices: In<Choice>, fans: &Fans, sites: In<Site>) {
    let first = i.index() + FIRST;
    if first >= lows.len() {
        return;
    }
    choices.prefetch(lows.at(first));
    let ends = |ahead: u32| {
        let low = lows.at(i.index() + ahead);
        [low, choices.at(low).other()]
    };
    for v in ends(FAR) {
        fans.spans.prefetch(v);
        sites.prefetch(v);
    }
    for v in ends(MIDDLE) {
        fans.corners.prefetch(fans.span(v).start);
    }
    for v in ends(NEAR) {
        fans.prefetch_triangles(fans.span(v));
    }
    for v in ends(NEXT) {
        fans.all(v, |_, b, _| {
            choices.prefetch(b);
            true
        });
    }
}

/// The number of triangles that the collapse of the edge between two vertices removes, where its vertex goes (its
/// `place`), and its `sides`. None if the collapse does not keep the surface, or the seams: then `sides` are none.
#[inline(always)]
pub(super) fn checked<S: Copy>(
    fans: &impl Corners,
    low: &Known,
    high: &Known,
    sites: In<Site>,
    sides: Option<S>,
    place: impl Fn(&Known, &Known, S) -> DVec3,
) -> Option<(u32, DVec3, S)> {
    let count = removes(fans, low, high, sites);
    if count == 0 {
        return None;
    }
    let sides = sides?;
    let to = place(low, high, sides);
    let up = || neighbourhood(fans, low, high, sites);
    let keeps = |v: &Known, other: &Known| keeps_sides(fans, v, other.id, to, sites, up);
    let is_kept = keeps(low, high) && keeps(high, low);
    if is_kept {
        Some((count, to, sides))
    } else {
        None
    }
}

/// The sum of the normals of the triangles at two vertices, but for needles and caps.
#[inline(always)]
fn neighbourhood(fans: &impl Corners, low: &Known, high: &Known, sites: In<Site>) -> DVec3 {
    let mut sum = DVec3::ZERO;
    let mut k = 0;
    while k < 2 {
        let (v, here) = if k == 0 {
            (low.id, low.site.at)
        } else {
            (high.id, high.site.at)
        };
        fans.all(v, |_, b, c| {
            let (up, squares) = normal(here, sites.at(b).at, sites.at(c).at);
            if up.dot(up) > FLAT * squares {
                sum += up;
            }
            true
        });
        k += 1;
    }
    sum
}

/// A bit of 64 for a vertex.
#[inline(always)]
fn bit(v: Vertex) -> u64 {
    1 << (v.index().wrapping_mul(0x9E37_79B9) >> 26)
}

/// The number of triangles at the edge if its collapse keeps the topology, else 0: the link condition. A CPU prefetches
/// the neighbours.
#[inline(always)]
fn removes(fans: &impl Corners, low: &Known, high: &Known, sites: In<Site>) -> u32 {
    let mut apexes = [Vertex::NONE; 2];
    let (mut at_edge, mut around_low, mut seen) = (0, 0, 0_u64);
    fans.all(low.id, |_, b, c| {
        sites.prefetch(b);
        seen |= bit(b) | bit(c);
        around_low += 1;
        if b == high.id || c == high.id {
            let apex = if b == high.id { c } else { b };
            apexes = if at_edge == 0 {
                [apex; 2]
            } else {
                [apexes[0], apex]
            };
            at_edge += 1;
        }
        true
    });
    let [first, second] = apexes;
    let (mut around_high, mut has_other) = (0, false);
    fans.all(high.id, |_, b, c| {
        sites.prefetch(b);
        around_high += 1;
        // No vertex but the apexes is a neighbour of both.
        let is_of_both = |x: Vertex| {
            x != first
                && x != second
                && seen & bit(x) != 0
                && !fans.all(low.id, |_, p, q| p != x && q != x)
        };
        if b != low.id && c != low.id {
            has_other |= is_of_both(b) || is_of_both(c);
        }
        true
    });
    let (is_low_border, is_high_border) = (low.is(mark::BORDER), high.is(mark::BORDER));
    let wanted = if is_low_border && is_high_border {
        1
    } else {
        2
    };
    // Two triangles back to back.
    let is_pillow = at_edge == 2 && first == second;
    // In a single fan of three that is closed, the third triangle lies across from the edge: a tetrahedron has one at
    // both ends.
    let is_closed =
        at_edge == 2 && !is_low_border && !is_high_border && around_low == 3 && around_high == 3;
    // A lone triangle is alone at both ends.
    let is_lone = at_edge == 1 && around_low == 1 && around_high == 1;
    let is_kept = at_edge == wanted
        && !has_other
        && !is_pillow
        && !is_closed
        && !is_lone
        && around_low + around_high - 2 * at_edge <= MOST_IN_FAN;
    if is_kept { at_edge } else { 0 }
}

/// Whether the triangles of vertex `v` without `other` keep their side up, and none becomes degenerate, when `v` goes
/// to `to`. The side of a needle or a cap is that of its neighbourhood: `around`.
#[inline(always)]
fn keeps_sides(
    fans: &impl Corners,
    v: &Known,
    other: Vertex,
    to: DVec3,
    sites: In<Site>,
    around: impl Fn() -> DVec3,
) -> bool {
    let here = v.site.at;
    if to == here {
        return true;
    }
    fans.all(v.id, |_, b, c| {
        if b == other || c == other {
            return true;
        }
        let (b, c) = (sites.at(b).at, sites.at(c).at);
        let (own, sides) = normal(here, b, c);
        let (after, squares) = normal(to, b, c);
        // A triangle that is neither a needle nor a cap becomes none.
        let (up, least) = if own.dot(own) > FLAT * sides {
            (own, FLAT)
        } else {
            (around(), ROUNDING)
        };
        let (old, new) = (up.dot(up), after.dot(after));
        let along = up.dot(after);
        new > least * squares && along > 0.0 && along * along >= TURN * old * new
    })
}
