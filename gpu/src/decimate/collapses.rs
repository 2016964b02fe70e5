//! The collapses of a round.

use glam::DVec3;
use trioxide_kernel::{In, Out, kernel};

use super::cheapest::Choice;
use super::quadric::{End, Quadric, merged};
use crate::ids::{HalfEdge, Item, Vertex};

/// Collapses the edge of nominee `chosen[i]` into its lower end, at `places` of the nominee.
///
/// No other collapse has triangles of the two ends, so nothing here is written twice. The list of the
/// lower end gets the corners of the higher one; triangles at the edge lose their vertices.
#[kernel(
    requires(
        chosen.len() == n,
        places.len() == lows.len(),
        nexts.len() == corners.len(),
        points.len() == heads.len(),
        quadrics.len() == heads.len(),
        marks.len() == heads.len(),
        parents.len() == heads.len()
    ),
    moves(chosen.bytes())
)]
pub fn collapse(
    i: Item,
    chosen: In<Item>,
    lows: In<Vertex>,
    places: In<DVec3>,
    choices: In<Choice>,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    corners: Out<Vertex>,
    points: Out<DVec3>,
    quadrics: Out<Quadric>,
    marks: Out<u32>,
    parents: Out<Vertex>,
) {
    let nominee = chosen.at(i);
    let low = lows.at(nominee);
    let high = choices.at(low).other;
    let mut last = HalfEdge::NONE;
    let mut h = heads.at(low);
    while h.is_some() {
        let next = nexts.at(h);
        if corners.at(h.next()) == high || corners.at(h.prev()) == high {
            corners.set(h, Vertex::NONE);
            corners.set(h.next(), Vertex::NONE);
            corners.set(h.prev(), Vertex::NONE);
        } else {
            append(heads, nexts, low, last, h);
            last = h;
        }
        h = next;
    }
    h = heads.at(high);
    while h.is_some() {
        let next = nexts.at(h);
        if corners.at(h).is_some() {
            corners.set(h, low);
            append(heads, nexts, low, last, h);
            last = h;
        }
        h = next;
    }
    append(heads, nexts, low, last, HalfEdge::NONE);
    heads.set(high, HalfEdge::NONE);
    let end = |v: Vertex| End {
        at: points.at(v),
        quadric: quadrics.at(v),
        holds: false,
    };
    let to = places.at(nominee);
    let quadric = merged(&end(low), &end(high), to);
    quadrics.set(low, quadric);
    points.set(low, to);
    marks.set(low, marks.at(low) | marks.at(high));
    parents.set(high, low);
}

/// Lets corner `h` follow the `last` one in the list of vertex `v`, or be the first.
#[inline(always)]
fn append(heads: Out<HalfEdge>, nexts: Out<HalfEdge>, v: Vertex, last: HalfEdge, h: HalfEdge) {
    if last.is_none() {
        heads.set(v, h);
    } else {
        nexts.set(last, h);
    }
}
