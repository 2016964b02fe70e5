//! The stages of a round with numbers of the vertices in the quadrics: the same bodies with another cost.

use glam::DVec3;
use trioxide_kernel::{Atomic, Bits, Each, In, Out, kernel};

use super::cheapest::Choice;
use super::checks::{checked, count_removed_by};
use super::collapses::{Edge, collapse_by};
use super::copies::Single;
use super::costs::{Known, Rules, cost_by};
use super::fans::{Fans, Lists, Span, Start};
use super::sites::Site;
use super::trends::{Channel, Pair, Trend, Weighing};
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// As [`price_triangles()`](super::price_triangles()), with the numbers of the vertices.
#[kernel(
    requires(starts.len() == 3 * n, trends.len() == sites.len() * channels.len()),
    moves(sites.bytes() + trends.bytes() + 2 * starts.bytes())
)]
pub fn price_weighed(
    t: Triangle,
    sites: In<Site>,
    channels: In<Channel>,
    trends: In<Trend>,
    rules: Rules,
    starts: Out<Start>,
) {
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let sides = [0, 1, 2].each(|k| HalfEdge::of(t, k));
    let [a, b, c] = sides.each(|h| starts.at(h).vertex);
    if a.is_none() {
        return;
    }
    // A loop: three copies of the body would not be inlined.
    let mut k = 0;
    while k < 3 {
        let (h, from, to) = match k {
            0 => (sides[0], a, b),
            1 => (sides[1], b, c),
            _ => (sides[2], c, a),
        };
        let v = Known::of(sites, from);
        let cost = cost_by(&v, to, from < to, sites, rules, |v, other| {
            weighing.collapse(v, other, rules)
        });
        starts.set(h, Start { vertex: from, cost });
        k += 1;
    }
}

/// As [`count_removed()`](super::count_removed()), with the numbers of the vertices.
#[kernel(
    requires(
        acting.len() == n,
        removed.len() == n,
        trends.len() == sites.len() * channels.len()
    ),
    moves(acting.bytes() + removed.bytes())
)]
pub fn count_removed_weighed(
    i: Item,
    acting: In<Item>,
    lows: In<Vertex>,
    choices: In<Choice>,
    fans: Fans,
    sites: In<Site>,
    channels: In<Channel>,
    trends: In<Trend>,
    rules: Rules,
    removed: Out<u32>,
) {
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let place = |low: &Known, high: &Known, ()| weighing.collapse(low, high, rules).to;
    count_removed_by(i, acting, lows, choices, fans, sites, removed, place);
}

/// As [`collapse()`](super::collapse()), with the numbers of the vertices.
#[kernel(
    requires(
        edges.len() == n,
        removed.len() == n,
        places.len() == n,
        sites.len() == spans.len(),
        choices.len() == spans.len(),
        parents.len() == spans.len(),
        touched.len() == words(spans.len()),
        trends.len() == sites.len() * channels.len()
    ),
    moves(edges.bytes() + places.bytes() + removed.bytes())
)]
pub fn collapse_weighed(
    i: Item,
    edges: In<Edge>,
    places: In<u32>,
    used: u32,
    removed: Out<u32>,
    rules: Rules,
    channels: In<Channel>,
    choices: Atomic<Choice>,
    spans: Out<Span>,
    corners: Out<HalfEdge>,
    starts: Out<Start>,
    sites: Out<Site>,
    trends: Out<Trend>,
    parents: Out<Vertex>,
    touched: Atomic<Bits<Vertex>>,
) {
    let all_sites = sites.unwritten();
    // This index writes the trends of the low end before it reads them; no other reads them or those of the high end.
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let place = |low: &Known, high: &Known, ()| weighing.collapse(low, high, rules).to;
    let merge = |kept: &Known, gone: &Known, at: DVec3, ()| {
        let pair = Pair::of(kept, gone);
        weighing.merge(&pair, at, rules, |i, trend| trends.set(i, trend))
    };
    let cost = |v: &Known, other: Vertex| {
        cost_by(v, other, true, all_sites, rules, |v, other| {
            weighing.collapse(v, other, rules)
        })
    };
    let lists = Lists {
        spans,
        corners,
        starts,
    };
    let copies = Single { parents };
    let check = |low: &Known, high: &Known| checked(&lists, low, high, all_sites, Some(()), place);
    collapse_by(
        i, edges, places, used, removed, choices, lists, sites, &copies, touched, check, merge,
        cost,
    );
}
