//! The collapses of a round.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::{Atomic, Bits, Each, In, Out, Scalar, kernel};

use super::cheapest::Choice;
use super::checks::checked;
use super::copies::{Copies, Single};
use super::costs::{Known, Rules, collapse_between, cost, ends_of};
use super::fans::{Corners, Lists, NO_COST, Span, Start, mark};
use super::quadric::{Quadric, merged};
use super::sites::Site;
use crate::ids::{HalfEdge, Item, Vertex};

/// Collapses ahead of which a CPU prefetches the data of the ends, and the triangles around them.
const FAR: u32 = 8;
const NEAR: u32 = 4;

/// An edge that acts, with the lists of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Edge {
    low: Vertex,
    high: Vertex,
    spans: [Span; 2],
}

impl Scalar for Edge {}

/// Writes the edge of nominee `acting[first + i]`, and the number of corners of its ends.
#[kernel(
    requires(
        acting.len() >= first as usize + n,
        edges.len() == n,
        room.len() == n,
        choices.len() == spans.len()
    ),
    moves(32 * n + edges.bytes() + room.bytes())
)]
pub fn list_edges(
    i: Item,
    acting: In<Item>,
    first: u32,
    lows: In<Vertex>,
    choices: In<Choice>,
    spans: In<Span>,
    edges: Out<Edge>,
    room: Out<u32>,
) {
    let low = lows.at(acting.at(first + i.index()));
    let high = choices.at(low).other();
    let spans = [low, high].each(|v| spans.at(v));
    edges.set(i, Edge { low, high, spans });
    room.set(i, spans[0].count + spans[1].count);
}

/// Collapses edge `edges[i]` into its lower end, and writes the costs of the edges at it, and the choices that follow
/// from them; an edge that does not keep the surface gets no cost. Writes the number of triangles that it removes.
///
/// No other edge that acts has triangles of the two ends, so nothing here is written twice but the choices of
/// neighbours, and no neighbour of an end changes. The list of the lower end, with the corners of both, goes to the
/// places from `used + places[i]`; triangles at the edge lose their vertices.
///
/// The choice of a neighbour is lowered to its edge here, which may be cheaper. If its choice was an edge here and
/// none that is as cheap follows, `touched` marks it. Other collapses may lower the same choice, in any order: one
/// that is not marked is the least of all its edges, since an edge that did not change is not below the choice before.
#[kernel(
    requires(
        edges.len() == n,
        removed.len() == n,
        places.len() == n,
        sites.len() == spans.len(),
        choices.len() == spans.len(),
        parents.len() == spans.len(),
        touched.len() == words(spans.len())
    ),
    moves(edges.bytes() + places.bytes() + removed.bytes()),
    registers = 128,
)]
pub fn collapse(
    i: Item,
    edges: In<Edge>,
    places: In<u32>,
    used: u32,
    removed: Out<u32>,
    rules: Rules,
    choices: Atomic<Choice>,
    spans: Out<Span>,
    corners: Out<HalfEdge>,
    starts: Out<Start>,
    sites: Out<Site>,
    parents: Out<Vertex>,
    touched: Atomic<Bits<Vertex>>,
) {
    let all_sites = sites.unwritten();
    let place = |low: &Known, high: &Known, ()| collapse_between(low, high, rules).to;
    let merge = |kept: &Known, gone: &Known, at: DVec3, ()| {
        let [a, b] = ends_of(kept, gone);
        merged(&a, &b, at)
    };
    let cost = |v: &Known, other: Vertex| cost(v, other, true, all_sites, rules);
    let copies = Single { parents };
    let lists = Lists {
        spans,
        corners,
        starts,
    };
    let check = |low: &Known, high: &Known| checked(&lists, low, high, all_sites, Some(()), place);
    collapse_by(
        i, edges, places, used, removed, choices, lists, sites, &copies, touched, check, merge,
        cost,
    );
}

/// As [`collapse()`], with the copies of the vertices, the check of a collapse, the quadric of a merged vertex, and the
/// cost of an edge.
#[inline(always)]
pub(super) fn collapse_by<C: Copies>(
    i: Item,
    edges: In<Edge>,
    places: In<u32>,
    used: u32,
    removed: Out<u32>,
    choices: Atomic<Choice>,
    lists: Lists,
    sites: Out<Site>,
    copies: &C,
    touched: Atomic<Bits<Vertex>>,
    check: impl Fn(&Known, &Known) -> Option<(u32, DVec3, C::Sides)>,
    merge: impl Fn(&Known, &Known, DVec3, C::Sides) -> Quadric,
    cost: impl Fn(&Known, Vertex) -> f32,
) {
    let Lists {
        spans,
        corners,
        starts,
    } = lists;
    let all_sites = sites.unwritten();
    if cfg!(not(target_arch = "nvptx64")) && i.index() + FAR < edges.len() {
        let Edge {
            low,
            high,
            spans: of_ends,
        } = edges.at(i.index() + FAR);
        for (v, span) in [low, high].into_iter().zip(of_ends) {
            spans.unwritten().prefetch(v);
            all_sites.prefetch(v);
            corners.unwritten().prefetch(span.start);
        }
        // Their places are not written in this round.
        let old = corners.unwritten();
        for Span { start, count } in edges.at(i.index() + NEAR).spans {
            for place in start..start + count {
                starts.unwritten().prefetch(old.at(place));
            }
        }
    }
    let Edge { low, high, .. } = edges.at(i);
    let known = || {
        [low, high].each(|id| Known {
            id,
            site: sites.at(id),
        })
    };
    let [kept, gone] = known();
    let Some((count, at, sides)) = check(&kept, &gone) else {
        removed.set(i, 0);
        give_up(low, high, lists);
        touched.set_bit(low);
        touched.set_bit(high);
        return;
    };
    removed.set(i, count);
    let joined = join(low, high, lists, used + places.at(i), choices);
    // Read once more: quadrics would fill registers during the checks.
    let [kept, gone] = known();
    let site = Site {
        at,
        quadric: merge(&kept, &gone, at, sides),
        marks: kept.site.marks | gone.site.marks,
        padding: [0; 3],
    };
    sites.set(low, site);
    copies.join(sides, low, high, joined, at);
    choices.store(high, Choice::NONE);
    let v = Known { id: low, site };
    let is_border = site.marks & mark::BORDER != 0;
    let mut choice = Choice::NONE;
    for place in joined.start..joined.start + joined.count {
        let h = corners.at(place);
        let j = h.prev();
        let (after, before) = (starts.at(h.next()).vertex, starts.at(j).vertex);
        // One place for both prices: a closure that is called twice would not be inlined.
        let mut is_before = false;
        loop {
            let other = if is_before { before } else { after };
            // Around a vertex inside each neighbour is the next one in a triangle.
            let cost = if is_before && !is_border {
                NO_COST
            } else {
                let cost = cost(&v, other);
                choice = choice.min(Choice::new(cost, other));
                let now = choices.load(other);
                let new = Choice::new(cost, low);
                if new < now {
                    choices.fetch_min(other, new);
                } else if new != now && (now.other() == low || now.other() == high) {
                    touched.set_bit(other);
                }
                cost
            };
            if is_before {
                let start = Start {
                    vertex: before,
                    cost,
                };
                starts.set(j, start);
                break;
            }
            starts.set(h, Start { vertex: low, cost });
            is_before = true;
        }
    }
    choices.store(low, choice);
}

/// Takes the cost of an edge.
#[inline(always)]
fn give_up(low: Vertex, high: Vertex, lists: Lists) {
    lists.all(low, |h, after, before| {
        if after == high {
            lists.starts.set(h, Start::without_cost(low));
        }
        if before == high {
            lists.starts.set(h.prev(), Start::without_cost(high));
        }
        true
    });
}

/// Writes the list of two vertices to the places from `start`; the triangles at both are gone. A CPU prefetches the
/// choices of their neighbours.
#[inline(always)]
fn join(low: Vertex, high: Vertex, lists: Lists, start: u32, choices: Atomic<Choice>) -> Span {
    let mut count = 0;
    let mut take = |h: HalfEdge, after: Vertex| {
        choices.prefetch(after);
        lists.corners.set(start + count, h);
        count += 1;
    };
    lists.all(low, |h, after, before| {
        if after == high || before == high {
            for h in [h, h.next(), h.prev()] {
                lists.starts.set(h, Start::GONE);
            }
        } else {
            take(h, after);
        }
        true
    });
    lists.all(high, |h, after, _| {
        lists.starts.set(h, Start::without_cost(low));
        take(h, after);
        true
    });
    let joined = Span { start, count };
    lists.spans.set(low, joined);
    lists.spans.set(high, Span::default());
    joined
}
