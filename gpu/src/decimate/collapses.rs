//! The collapses of a round.

use glam::DVec3;
use trioxide_kernel::{Atomic, Bits, In, Out, kernel};

use super::cheapest::{Choice, link};
use super::costs::{Known, Rules, cost, ends_of};
use super::fans::{Start, mark};
use super::quadric::{Quadric, merged};
use super::sites::Site;
use crate::ids::{HalfEdge, Item, Vertex};

/// Collapses ahead of which a CPU prefetches a vertex.
const AHEAD: u32 = 8;

/// Collapses the edge of nominee `acting[first + i]` into its lower end, at `places` of the nominee, and writes the
/// costs of the edges at it; an edge that does not keep the surface gets no cost. Marks the vertices whose edges got
/// other costs in `touched`.
///
/// No other nominee that acts has triangles of the two ends, so nothing here is written twice, and no neighbour of
/// an end changes. The list of the lower end gets the corners of the higher one; triangles at the edge lose their
/// vertices.
#[kernel(
    requires(
        acting.len() >= first as usize + n,
        places.len() == lows.len(),
        removed.len() == lows.len(),
        nexts.len() == starts.len(),
        sites.len() == heads.len(),
        choices.len() == heads.len(),
        parents.len() == heads.len(),
        touched.len() == words(heads.len())
    ),
    moves(4 * n)
)]
pub fn collapse(
    i: Item,
    acting: In<Item>,
    first: u32,
    lows: In<Vertex>,
    removed: In<u32>,
    places: In<DVec3>,
    rules: Rules,
    choices: Out<Choice>,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    starts: Out<Start>,
    sites: Out<Site>,
    parents: Out<Vertex>,
    touched: Atomic<Bits<Vertex>>,
) {
    let all_sites = sites.unwritten();
    let merge = |kept: &Known, gone: &Known, at: DVec3| {
        let [a, b] = ends_of(kept, gone);
        merged(&a, &b, at)
    };
    let cost = |v: &Known, other: Vertex, ascends: bool| cost(v, other, ascends, all_sites, rules);
    collapse_by(
        i, acting, first, lows, removed, places, choices, heads, nexts, starts, sites, parents,
        touched, merge, cost,
    );
}

/// As [`collapse()`], with the quadric of a merged vertex and the cost at a half-edge.
#[inline(always)]
pub(super) fn collapse_by(
    i: Item,
    acting: In<Item>,
    first: u32,
    lows: In<Vertex>,
    removed: In<u32>,
    places: In<DVec3>,
    choices: Out<Choice>,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    starts: Out<Start>,
    sites: Out<Site>,
    parents: Out<Vertex>,
    touched: Atomic<Bits<Vertex>>,
    merge: impl Fn(&Known, &Known, DVec3) -> Quadric,
    cost: impl Fn(&Known, Vertex, bool) -> f32,
) {
    let nominee = acting.at(first + i.index());
    let low = lows.at(nominee);
    let high = choices.at(low).other;
    if cfg!(not(target_arch = "nvptx64")) {
        let ahead = first + i.index() + AHEAD;
        if ahead < acting.len() {
            let v = lows.at(acting.at(ahead));
            heads.unwritten().prefetch(v);
            sites.unwritten().prefetch(v);
        }
    }
    if removed.at(nominee) == 0 {
        give_up(low, high, heads, nexts, starts);
        touched.set_bit(low);
        touched.set_bit(high);
        return;
    }
    let all_sites = sites.unwritten();
    join(low, high, heads, nexts, starts, all_sites);
    let [kept, gone] = [low, high].map(|id| Known {
        id,
        site: sites.at(id),
    });
    let at = places.at(nominee);
    let site = Site {
        at,
        quadric: merge(&kept, &gone, at),
        marks: kept.site.marks | gone.site.marks,
        padding: [0; 3],
    };
    sites.set(low, site);
    parents.set(high, low);
    choices.set(high, Choice::NONE);
    let v = Known { id: low, site };
    let is_border = site.marks & mark::BORDER != 0;
    touched.set_bit(low);
    let mut h = heads.at(low);
    while h.is_some() {
        let (after, before) = (starts.at(h.next()).vertex, starts.at(h.prev()).vertex);
        let price = |other: Vertex, ascends: bool| cost(&v, other, ascends);
        let own = price(after, low < after);
        starts.set(
            h,
            Start {
                vertex: low,
                cost: own,
            },
        );
        let other = price(before, before < low);
        starts.set(
            h.prev(),
            Start {
                vertex: before,
                cost: other,
            },
        );
        touched.set_bit(after);
        if is_border {
            touched.set_bit(before);
        }
        h = nexts.at(h);
    }
}

/// Takes the cost of an edge.
#[inline(always)]
fn give_up(
    low: Vertex,
    high: Vertex,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    starts: Out<Start>,
) {
    let mut h = heads.at(low);
    while h.is_some() {
        if starts.at(h.next()).vertex == high {
            starts.set(h, Start::without_cost(low));
        }
        if starts.at(h.prev()).vertex == high {
            starts.set(h.prev(), Start::without_cost(high));
        }
        h = nexts.at(h);
    }
}

/// Joins the lists of two vertices, and prefetches their neighbours; the triangles at both are gone.
#[inline(always)]
fn join(
    low: Vertex,
    high: Vertex,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    starts: Out<Start>,
    sites: In<Site>,
) {
    let mut last = HalfEdge::NONE;
    let mut h = heads.at(low);
    while h.is_some() {
        let next = nexts.at(h);
        let after = starts.at(h.next()).vertex;
        sites.prefetch(after);
        if after == high || starts.at(h.prev()).vertex == high {
            starts.set(h, Start::GONE);
            starts.set(h.next(), Start::GONE);
            starts.set(h.prev(), Start::GONE);
        } else {
            link(heads, nexts, low, last, h);
            last = h;
        }
        h = next;
    }
    h = heads.at(high);
    while h.is_some() {
        let next = nexts.at(h);
        if starts.at(h).vertex.is_some() {
            sites.prefetch(starts.at(h.next()).vertex);
            starts.set(h, Start::without_cost(low));
            link(heads, nexts, low, last, h);
            last = h;
        }
        h = next;
    }
    link(heads, nexts, low, last, HalfEdge::NONE);
    heads.set(high, HalfEdge::NONE);
}
