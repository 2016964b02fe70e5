//! Cuts: a weakly simple polygon is split until it visits no vertex twice (`--strict`).

use trioxide_kernel::{Atomic, In, Out, kernel};

use super::link::successor;
use crate::half_edge::{next, prev};

/// Cuts the `i`-th weakly simple polygon between two corners at one vertex, and gives both halves of the cut.
///
/// Let v be the first vertex along the polygon (from its smallest half-edge) that was there before, `corner` the half-edge
/// that left it then and `other` the one that leaves it now. A chord from v would leave v in both pieces, one of which
/// keeps both corners. But the region's triangles form a tree: the way from the triangles at one corner to those at the
/// other crosses exactly one edge opposite to v, beyond which lies the other corner. That edge is no frontier edge;
/// cut there, no piece has both corners. Other vertices come no more often in a piece than before, so some rounds of cuts
/// end.
#[kernel]
pub fn cut_weakly_simple(
    i: u32,
    weak: In<u32>,
    half_edges: In<u32>,
    offsets: In<u32>,
    vertices: In<u32>,
    polygon_next: In<u32>,
    twins: In<u32>,
    frontier: In<u32>,
    cuts: Out<u32>,
) {
    let p = weak.at(i);
    let (start, end) = (offsets.at(p), offsets.at(p + 1));
    // The first corner at a vertex seen before, and the corner that saw it.
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
        let mut h = half_edges.at(p);
        let mut k = start;
        while k < slot {
            h = polygon_next.at(h);
            k += 1;
        }
        h
    };
    let (corner, other) = (leave(first), leave(second));
    // Counter-clockwise through the triangles at the corner.
    let mut spoke = corner;
    loop {
        let opposite = next(spoke);
        if !frontier.bit(opposite)
            && bounds(twins, frontier, polygon_next, twins.at(opposite), other)
        {
            cuts.set(2 * i, opposite);
            cuts.set(2 * i + 1, twins.at(opposite));
            return;
        }
        spoke = twins.at(prev(spoke));
    }
}

/// Whether the part of a polygon beyond its interior half-edge `chord` has the frontier half-edge `wanted`.
#[inline(always)]
fn bounds(
    twins: In<u32>,
    frontier: In<u32>,
    polygon_next: In<u32>,
    chord: u32,
    wanted: u32,
) -> bool {
    let back = twins.at(chord);
    // The walk stops where the chord would leave: at the half-edge that follows the frontier half-edge into its origin.
    let stop = successor(twins, frontier, back);
    let mut h = successor(twins, frontier, chord);
    while h != stop {
        if h == wanted {
            return true;
        }
        h = polygon_next.at(h);
    }
    false
}

/// Makes the `i`-th half-edge of a cut a frontier edge.
#[kernel]
pub fn mark_cuts(i: u32, cuts: In<u32>, frontier: Atomic) {
    frontier.set_bit(cuts.at(i));
}
