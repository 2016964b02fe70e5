//! The nominated edges that act: each comes first among the edges that it meets. One that keeps the surface collapses.

use glam::DVec3;
use trioxide_kernel::{In, Out, kernel};

use super::cheapest::Choice;
use super::costs::{Known, Rules, collapse_between};
use super::fans::{Fans, MOST_IN_FAN, mark};
use super::nominees::is_nominated;
use super::sites::Site;
use crate::ids::{Item, Vertex};

/// The cosine of the largest angle by which a collapse turns a triangle, squared: 78 degrees.
const TURN: f64 = 0.04;

/// Nominees ahead of which a CPU prefetches ends, their first corners, and their neighbours.
const FAR: u32 = 16;
const MIDDLE: u32 = 8;
const NEAR: u32 = 3;

/// Whether the edge from `lows[i]` to its choice is first: no nominated edge with a lower key has an end in a triangle
/// of its ends. Writes the number of triangles that its collapse removes, or 0 if it does not keep the surface, and
/// where its vertex goes.
#[kernel(
    requires(lows.len() == n, places.len() == n, removed.len() == n),
    moves(lows.bytes() + removed.bytes())
)]
pub fn judge(
    i: Item,
    lows: In<Vertex>,
    choices: In<Choice>,
    limit: f32,
    fans: Fans,
    sites: In<Site>,
    rules: Rules,
    removed: Out<u32>,
    places: Out<DVec3>,
) -> bool {
    let place = |low: &Known, high: &Known| collapse_between(low, high, rules).to;
    judge_by(i, lows, choices, limit, fans, sites, removed, places, place)
}

/// As [`judge()`], with the place of a collapse.
#[inline(always)]
pub(super) fn judge_by(
    i: Item,
    lows: In<Vertex>,
    choices: In<Choice>,
    limit: f32,
    fans: Fans,
    sites: In<Site>,
    removed: Out<u32>,
    places: Out<DVec3>,
    place: impl Fn(&Known, &Known) -> DVec3,
) -> bool {
    let low = lows.at(i);
    let choice = choices.at(low);
    let high = choice.other;
    removed.set(i, 0);
    let gives_way = |x: Vertex| {
        let other = choices.at(x);
        other.is_before(x, choice, low) && is_nominated(x, other, choices, limit)
    };
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(i, lows, choices, &fans, sites);
    }
    let ends = [low, high].map(|id| Joined {
        id,
        is_border: sites.at(id).marks & mark::BORDER != 0,
    });
    let Some(count) = removes(&fans, &ends[0], &ends[1], gives_way) else {
        return false;
    };
    if count > 0 {
        if cfg!(not(target_arch = "nvptx64")) {
            for end in &ends {
                fans.all(end.id, |_, b, _| {
                    sites.prefetch(b);
                    true
                });
            }
        }
        let (low, high) = (Known::of(sites, low), Known::of(sites, high));
        let to = place(&low, &high);
        places.set(i, to);
        if keeps_sides(&fans, &low, high.id, to, sites)
            && keeps_sides(&fans, &high, low.id, to, sites)
        {
            removed.set(i, count);
        }
    }
    true
}

/// Prefetches the ends of later nominees, then their first corners.
#[inline(always)]
fn ask_ahead(i: Item, lows: In<Vertex>, choices: In<Choice>, fans: &Fans, sites: In<Site>) {
    let far = i.index() + FAR;
    if far >= lows.len() {
        return;
    }
    let low = lows.at(far);
    choices.prefetch(low);
    fans.heads.prefetch(low);
    sites.prefetch(low);
    let low = lows.at(i.index() + MIDDLE);
    let high = choices.at(low).other;
    fans.heads.prefetch(high);
    sites.prefetch(high);
    let first = fans.heads.at(low);
    fans.nexts.prefetch(first);
    fans.starts.prefetch(first);
    let low = lows.at(i.index() + NEAR);
    let first = fans.heads.at(choices.at(low).other);
    fans.nexts.prefetch(first);
    fans.starts.prefetch(first);
    fans.all(low, |_, b, _| {
        choices.prefetch(b);
        true
    });
}

/// An end of an edge.
struct Joined {
    id: Vertex,
    is_border: bool,
}

/// A bit of 64 for a vertex.
#[inline(always)]
fn bit(v: Vertex) -> u64 {
    1 << (v.index().wrapping_mul(0x9E37_79B9) >> 26)
}

/// The number of triangles at the edge if its collapse keeps the topology, else 0: the link condition. None if a
/// neighbour of an end gives way to no collapse here.
#[inline(always)]
fn removes(
    fans: &Fans,
    low: &Joined,
    high: &Joined,
    gives_way: impl Fn(Vertex) -> bool,
) -> Option<u32> {
    // Around a vertex inside each neighbour is the next one in a triangle.
    let is_met = |end: &Joined, b: Vertex, c: Vertex| gives_way(b) || end.is_border && gives_way(c);
    let mut apexes = [Vertex::NONE; 2];
    let (mut at_edge, mut around_low, mut seen) = (0, 0, 0_u64);
    let is_first = fans.all(low.id, |_, b, c| {
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
        !is_met(low, b, c)
    });
    if !is_first {
        return None;
    }
    let [first, second] = apexes;
    let (mut around_high, mut has_other) = (0, false);
    let is_first = fans.all(high.id, |_, b, c| {
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
        !is_met(high, b, c)
    });
    if !is_first {
        return None;
    }
    let wanted = if low.is_border && high.is_border {
        1
    } else {
        2
    };
    // Two triangles back to back.
    let is_pillow = at_edge == 2 && first == second;
    // In a single fan of three that is closed, the third triangle lies across from the edge: a tetrahedron has one at
    // both ends.
    let is_closed =
        at_edge == 2 && !low.is_border && !high.is_border && around_low == 3 && around_high == 3;
    // A lone triangle is alone at both ends.
    let is_lone = at_edge == 1 && around_low == 1 && around_high == 1;
    let is_kept = at_edge == wanted
        && !has_other
        && !is_pillow
        && !is_closed
        && !is_lone
        && around_low + around_high - 2 * at_edge <= MOST_IN_FAN;
    Some(if is_kept { at_edge } else { 0 })
}

/// Whether the triangles of vertex `v` without `other` keep their side up, and none becomes degenerate, when `v` goes
/// to `to`. A triangle that is degenerate already may become any.
#[inline(always)]
fn keeps_sides(fans: &Fans, v: &Known, other: Vertex, to: DVec3, sites: In<Site>) -> bool {
    let here = v.site.at;
    fans.all(v.id, |_, b, c| {
        if b == other || c == other {
            return true;
        }
        let (b, c) = (sites.at(b).at, sites.at(c).at);
        let before = (b - here).cross(c - here);
        let after = (b - to).cross(c - to);
        let (old, new) = (before.dot(before), after.dot(after));
        let along = before.dot(after);
        old == 0.0 || new > 0.0 && along > 0.0 && along * along >= TURN * old * new
    })
}
