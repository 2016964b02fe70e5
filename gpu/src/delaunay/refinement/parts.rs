//! The parts of the pieces of segments.

use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};

use super::judge::ends_of;
use super::{FREE, STUCK, TO_SPLIT};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::ids::{HalfEdge, Item, Place, Vertex};

/// Counts added vertex number `i` on its whole. The added vertices come after `first`.
#[kernel(moves(8 * n))]
pub fn count_on_wholes(
    i: Own<Item>,
    first: u32,
    kinds: In<u32, Place>,
    counts: Atomic<u32, HalfEdge>,
) {
    let kind = kinds.at(Place::new(first + i.get().index()));
    if kind < FREE {
        counts.add(HalfEdge::new(kind), 1);
    }
}

/// Links the part of a whole on which half-edge `h` lies: `after` gets the vertex after each on a whole, `firsts` that
/// after the whole's start.
#[kernel(requires(lines.len() == n, corners.len() == n), moves(8 * n))]
pub fn link_parts(
    h: Own<HalfEdge>,
    corners: In<Place, HalfEdge>,
    lines: In<u32, HalfEdge>,
    sorted: In<DVec2, Place>,
    wholes: In<Place>,
    firsts: Atomic<Place>,
    after: Atomic<Place, Place>,
) {
    let [u, v] = corners.at_all([*h, h.next()]);
    if u.is_none() {
        return;
    }
    let line = lines.at(h);
    if line == NO_SEGMENT {
        return;
    }
    let whole = line & !(STUCK | TO_SPLIT);
    let ends = ends_of(wholes, whole);
    let [from, to] = sorted.at_all(ends);
    let [p, q] = sorted.at_all([u, v]);
    let [u, v] = if (q - p).dot(to - from) > 0.0 {
        [u, v]
    } else {
        [v, u]
    };
    if u == ends[0] {
        firsts.store(whole, v);
    } else {
        after.store(u, v);
    }
}

/// The whole of piece `i`, which lay on old half-edge `edges[i]`, and the number of its parts.
#[kernel(requires(edges.len() == n, wholes.len() == n, sizes.len() > n), moves(20 * n))]
pub fn count_parts(
    i: Own<Item>,
    edges: In<HalfEdge, Item>,
    old_twins: In<HalfEdge, HalfEdge>,
    new: In<HalfEdge, HalfEdge>,
    counts: In<u32, HalfEdge>,
    wholes: Out<HalfEdge, Item>,
    sizes: Out<u32, Item>,
) {
    let h = edges.at(i);
    let twin = old_twins.at(h);
    let [a, b] = [
        new.at(h),
        if twin.is_some() {
            new.at(twin)
        } else {
            HalfEdge::NONE
        },
    ];
    let whole = if a < b { a } else { b };
    wholes.set(i, whole);
    sizes.set(i, counts.at(whole) + 1);
}

/// Writes the vertices of the parts of piece `i`, two each, in the direction of the piece.
#[kernel(requires(pieces.len() == 2 * n, of_pieces.len() == n), moves(8 * n + 3 * parts.bytes()))]
pub fn write_parts(
    i: Own<Item>,
    pieces: In<Vertex>,
    of_pieces: In<HalfEdge, Item>,
    starts: In<u32>,
    wholes: In<Place>,
    firsts: In<Place>,
    after: In<Place, Place>,
    names: In<Vertex, Place>,
    parts: Scatter<Vertex>,
) {
    let number = i.get().index();
    let [start, end] = starts.at_all([number, number + 1]);
    let whole = of_pieces.at(i).index();
    let from = wholes.at(whole);
    let is_reversed = names.at(from) != pieces.at(2 * number);
    let mut u = from;
    let mut v = firsts.at(whole);
    let mut k = start;
    while k < end {
        let [a, b] = names.at_all([u, v]);
        let (at, a, b) = if is_reversed {
            (start + end - 1 - k, b, a)
        } else {
            (k, a, b)
        };
        parts.set(2 * at, a);
        parts.set(2 * at + 1, b);
        k += 1;
        u = v;
        if k < end {
            v = after.at(u);
        }
    }
}
