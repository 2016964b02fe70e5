//! The collapses of a round.

use trioxide_kernel::safe::{Atomic, Group, In, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Sides;
use super::judge::ALONG;
use crate::ids::{Corner, Item, Polygon, Vertex};

/// Whether edge `edges[i]` collapses: it has the least key of the ready edges that change a polygon that it changes. A
/// ready edge that does not is put into `again`.
#[kernel(requires(edges.len() == n, moves.len() == n))]
pub fn choose_short_edges(
    i: Own<Item>,
    edges: In<Corner, Item>,
    moves: In<u32, Item>,
    sides: Sides,
    least: In<u64, Polygon>,
    again: Atomic<Bits<Corner>>,
) -> bool {
    let (edge, direction) = (edges.at(i), moves.at(i));
    if direction == 0 {
        return false;
    }
    let leaving = if direction == ALONG {
        edge
    } else {
        sides.leaving_end(edge)
    };
    let first = sides.first_around(leaving);
    let mut is_least = true;
    let mut side = first;
    while side.is_some() {
        // The lower half of a key is the edge.
        is_least &= least.at(sides.owners.at(side)) as u32 == edge.index();
        side = sides.after(side, first);
    }
    if !is_least {
        again.set_bit(edge);
    }
    is_least
}

/// Links of sides while edges collapse. A polygon is changed by one collapse of a round, and only that one reads its
/// sides.
#[derive(Group)]
pub struct MovingSides<'a> {
    /// The vertex at which each side starts.
    pub origins: Atomic<'a, Vertex, Corner>,
    /// The next side around the polygon.
    pub nexts: Atomic<'a, Corner, Corner>,
    /// The side before it.
    pub prevs: Atomic<'a, Corner, Corner>,
}

impl MovingSides<'_> {
    /// Takes `side` out of its polygon.
    #[inline(always)]
    fn remove(self, side: Corner) {
        let (before, after) = (self.prevs.load(side), self.nexts.load(side));
        self.nexts.store(before, after);
        self.prevs.store(after, before);
        self.origins.store(side, Vertex::NONE);
    }
}

/// Collapses edge `edges[i]` if it is chosen: the end that goes is replaced in all polygons around it, which are put
/// into `changed`. `parents` gets the end that stays.
#[kernel(requires(edges.len() == n, moves.len() == n, chosen.len() == words(n)))]
pub fn collapse_short_edges(
    i: Own<Item>,
    edges: In<Corner, Item>,
    moves: In<u32, Item>,
    chosen: In<Bits<Item>>,
    sides: MovingSides,
    twins: In<Corner, Corner>,
    owners: In<Polygon, Corner>,
    parents: Scatter<Vertex, Vertex>,
    changed: Atomic<Bits<Polygon>>,
) {
    if !chosen.bit(*i) {
        return;
    }
    let edge = edges.at(i);
    let twin = twins.at(edge);
    let (start, end) = (
        sides.origins.load(edge),
        sides.origins.load(sides.nexts.load(edge)),
    );
    let is_along = moves.at(i) == ALONG;
    let (gone, stays) = if is_along { (start, end) } else { (end, start) };
    let leaving = if is_along {
        edge
    } else if twin.is_some() {
        twin
    } else {
        sides.nexts.load(edge)
    };
    // Clockwise to the border, or around.
    let mut first = leaving;
    let mut is_done = false;
    while !is_done {
        let beyond = twins.at(first);
        is_done = beyond.is_none();
        if !is_done {
            first = sides.nexts.load(beyond);
            is_done = first == leaving;
        }
    }
    let mut side = first;
    while side.is_some() {
        sides.origins.store(side, stays);
        changed.set_bit(owners.at(side));
        let next = twins.at(sides.prevs.load(side));
        side = if next == first { Corner::NONE } else { next };
    }
    parents.set(gone, stays);
    sides.remove(edge);
    if twin.is_some() {
        sides.remove(twin);
    }
}
