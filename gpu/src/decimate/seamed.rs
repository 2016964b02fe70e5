//! The stages of a round on a surface with seams: the same bodies over places, with the copies of their vertices.

use glam::DVec3;
use trioxide_kernel::{Atomic, Bits, Each, In, Out, kernel};

use super::cheapest::Choice;
use super::checks::checked;
use super::collapses::{Edge, collapse_by};
use super::copies::{Doubled, Sides};
use super::costs::{Known, Rules, cost_by};
use super::fans::{Fans, Lists, Span, Start};
use super::sites::Site;
use super::trends::{Channel, Pair, Trend, Weighing};
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// As [`price_weighed()`](super::price_weighed()), with the copies of the corners. The half-edges with their costs go
/// to `priced`.
#[kernel(
    requires(
        fans.starts.len() == 3 * n,
        copies.len() == 3 * n,
        areas.len() == sites.len(),
        priced.len() == 3 * n,
        trends.len() == sites.len() * channels.len()
    ),
    moves(fans.bytes() + sites.bytes() + trends.bytes() + priced.bytes())
)]
pub fn price_seamed(
    t: Triangle,
    fans: Fans,
    copies: In<Vertex>,
    areas: In<f64>,
    sites: In<Site>,
    channels: In<Channel>,
    trends: In<Trend>,
    rules: Rules,
    priced: Out<Start>,
) {
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let sides = [0, 1, 2].each(|k| HalfEdge::of(t, k));
    let [a, b, c] = sides.each(|h| fans.starts.at(h).vertex);
    let mut k = 0;
    while k < 3 {
        let (h, from, to) = match k {
            0 => (sides[0], a, b),
            1 => (sides[1], b, c),
            _ => (sides[2], c, a),
        };
        k += 1;
        if a.is_none() {
            priced.set(h, Start::GONE);
            continue;
        }
        let v = Known::of(sites, from);
        let cost = cost_by(&v, to, from < to, sites, rules, |v, other| {
            weighing.collapse_pair(v, other, rules, || {
                let sides = Sides::between(&fans, |h| copies.at(h), v, other);
                Pair::at_seam(v, other, sides, |v| areas.at(v))
            })
        });
        priced.set(h, Start { vertex: from, cost });
    }
}

/// As [`count_removed()`](super::count_removed()), from nominee `acting[first]` on, with the sides of the edges, and
/// the numbers of the vertices if there are channels. Writes where the vertex of each collapse goes, too.
#[kernel(
    requires(
        acting.len() >= first as usize + n,
        removed.len() == n,
        targets.len() == n,
        sides.len() == n,
        areas.len() == sites.len() || channels.is_empty(),
        trends.len() == sites.len() * channels.len()
    ),
    moves(4 * n + sides.bytes() + removed.bytes() + targets.bytes())
)]
pub fn check_seamed(
    i: Item,
    acting: In<Item>,
    first: u32,
    lows: In<Vertex>,
    choices: In<Choice>,
    fans: Fans,
    sides: In<Sides>,
    areas: In<f64>,
    sites: In<Site>,
    channels: In<Channel>,
    trends: In<Trend>,
    rules: Rules,
    removed: Out<u32>,
    targets: Out<DVec3>,
) {
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let place = |low: &Known, high: &Known, sides: Sides| {
        let pair = || Pair::at_seam(low, high, sides, |v| areas.at(v));
        weighing.collapse_pair(low, high, rules, pair).to
    };
    let low = lows.at(acting.at(first + i.index()));
    let high = Known::of(sites, choices.at(low).other());
    let low = Known::of(sites, low);
    let (count, to) = match checked(&fans, &low, &high, sites, sides.at(i).kept(), place) {
        Some((count, to, _)) => (count, to),
        None => (0, DVec3::ZERO),
    };
    removed.set(i, count);
    targets.set(i, to);
}

/// As [`collapse()`](super::collapse()), with the copies of the corners, the sides of the edges, the results of
/// [`check_seamed()`], and the numbers of the vertices if there are channels. Only the copies at the two places, and at
/// the third corner of a triangle between them, go into others.
#[kernel(
    requires(
        edges.len() == n,
        removed.len() == n,
        places.len() == n,
        sides.len() == n,
        counts.len() == n,
        targets.len() == n,
        sites.len() == spans.len(),
        choices.len() == spans.len(),
        parents.len() == spans.len(),
        touched.len() == words(spans.len()),
        copies.len() == starts.len(),
        areas.len() == sites.len() || channels.is_empty(),
        trends.len() == sites.len() * channels.len()
    ),
    moves(edges.bytes() + places.bytes() + removed.bytes() + sides.bytes() + targets.bytes())
)]
pub fn collapse_seamed(
    i: Item,
    edges: In<Edge>,
    places: In<u32>,
    used: u32,
    removed: Out<u32>,
    rules: Rules,
    channels: In<Channel>,
    sides: In<Sides>,
    counts: In<u32>,
    targets: In<DVec3>,
    choices: Atomic<Choice>,
    spans: Out<Span>,
    corners: Out<HalfEdge>,
    starts: Out<Start>,
    copies: Out<Vertex>,
    areas: Out<f64>,
    sites: Out<Site>,
    trends: Out<Trend>,
    parents: Out<Vertex>,
    touched: Atomic<Bits<Vertex>>,
) {
    let all_sites = sites.unwritten();
    let weighing = Weighing {
        channels,
        read: |i: u32| trends.at(i),
    };
    let lists = Lists {
        spans,
        corners,
        starts,
    };
    let copy = |h: HalfEdge| copies.at(h);
    let area = |v: Vertex| if areas.is_empty() { 0.0 } else { areas.at(v) };
    let check = |_: &Known, _: &Known| {
        let count = counts.at(i);
        if count > 0 {
            Some((count, targets.at(i), sides.at(i)))
        } else {
            None
        }
    };
    let merge = |kept: &Known, gone: &Known, at: DVec3, sides: Sides| {
        let pair = Pair::at_seam(kept, gone, sides, area);
        weighing.merge(&pair, at, rules, |i, trend| trends.set(i, trend))
    };
    let cost = |v: &Known, other: Vertex| {
        cost_by(v, other, true, all_sites, rules, |v, other| {
            weighing.collapse_pair(v, other, rules, || {
                let sides = Sides::between(&lists, copy, v, other);
                Pair::at_seam(v, other, sides, area)
            })
        })
    };
    let doubled = Doubled {
        lists,
        copies,
        areas,
        sites,
        parents,
    };
    collapse_by(
        i, edges, places, used, removed, choices, lists, sites, &doubled, touched, check, merge,
        cost,
    );
}
