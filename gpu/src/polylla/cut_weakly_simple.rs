//! Cuts: a weakly simple polygon is split until it visits no vertex twice (the option `strict`).

use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts};
use trioxide_kernel::{Bits, kernel};

use super::walk::{Cycles, Labelled};
use crate::ids::{HalfEdge, Item, Polygon, Vertex};

/// Cuts the `i`-th weakly simple polygon between two corners at one vertex, and gives both halves of the cut.
///
/// Let v be the first vertex along the polygon (from its smallest half-edge) that occurs a second time, `corner` the
/// half-edge that leaves it the first time and `other` the one that leaves it the second time. A chord from v would
/// leave v in both pieces, and one piece would keep both corners. But the region's triangles form a tree: the path from
/// the triangles at one corner to the triangles at the other crosses exactly one edge opposite to v, and the other
/// corner lies beyond it. That edge is no frontier edge; if it is cut, no piece has both corners. No vertex occurs more
/// often in a piece than in the polygon, so the rounds of cuts end.
#[kernel(requires(
    weak.len() == n,
    lists.offsets.len() == cycles.half_edges.len() + 1,
    cycles.next.len() == edges.twins.len(),
    edges.frontier.len() == words(edges.twins.len()),
    cuts.len() == 2 * n
))]
pub fn cut_weakly_simple(
    i: Own<Item>,
    weak: In<Polygon, Item>,
    cycles: Cycles,
    lists: Rows<Vertex>,
    edges: Labelled,
    cuts: Out<HalfEdge, Parts<Item, 2>>,
) {
    let p = weak.at(i);
    let vertices = lists.items;
    let (start, end) = (lists.start(p), lists.end(p));
    // The first corner at a vertex that occurred before, and the corner at which it occurred.
    let mut second = start + 1;
    let mut first = start;
    while vertices.at(first) != vertices.at(second) {
        first += 1;
        if first == second {
            first = start;
            second += 1;
        }
    }
    debug_assert!(second < end);
    let leave = |slot: u32| {
        let mut h = cycles.half_edges.at(p);
        let mut k = start;
        while k < slot {
            h = cycles.next.at(h);
            k += 1;
        }
        h
    };
    let (corner, other) = (leave(first), leave(second));
    // Counter-clockwise through the triangles at the corner.
    let mut spoke = corner;
    loop {
        let opposite = spoke.next();
        if !edges.frontier.bit(opposite)
            && bounds(edges, cycles.next, edges.twins.at(opposite), other)
        {
            cuts.set(i.part(0), opposite);
            cuts.set(i.part(1), edges.twins.at(opposite));
            return;
        }
        spoke = edges.twins.at(spoke.prev());
    }
}

/// Whether the part of a polygon beyond its interior half-edge `chord` has the frontier half-edge `wanted`.
#[inline(always)]
fn bounds(
    edges: Labelled,
    next: In<HalfEdge, HalfEdge>,
    chord: HalfEdge,
    wanted: HalfEdge,
) -> bool {
    let back = edges.twins.at(chord);
    // The walk stops at the half-edge that follows the frontier half-edge into the chord's origin.
    let stop = edges.successor(back);
    let mut h = edges.successor(chord);
    while h != stop {
        if h == wanted {
            return true;
        }
        h = next.at(h);
    }
    false
}

/// Takes the `i`-th weakly simple polygon from the marked ones: its smallest half-edge would otherwise stay marked if a
/// half of its cut is smaller.
#[kernel(requires(weak.len() == n))]
pub fn unmark_weakly_simple(
    i: Own<Item>,
    weak: In<Polygon, Item>,
    half_edges: In<HalfEdge, Polygon>,
    polygons: Atomic<Bits<HalfEdge>>,
) {
    polygons.clear_bit(half_edges.at(weak.at(i)));
}

/// Makes the `i`-th half-edge of a cut a frontier edge.
#[kernel(requires(cuts.len() == n))]
pub fn mark_cuts(i: Own<Item>, cuts: In<HalfEdge, Item>, frontier: Atomic<Bits<HalfEdge>>) {
    frontier.set_bit(cuts.at(i));
}
