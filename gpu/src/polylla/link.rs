//! Links: each frontier half-edge to the next around its polygon.

use trioxide_kernel::{In, NONE, Out, kernel};

use crate::half_edge::{next, prev};

/// The frontier half-edge behind `h` around its polygon: the first, clockwise around the vertex that `h` ends at.
#[inline(always)]
pub(super) fn successor(twins: In<u32>, frontier: In<u32>, h: u32) -> u32 {
    let mut e = next(h);
    while !frontier.bit(e) {
        e = next(twins.at(e));
    }
    e
}

/// The frontier half-edge before `h` around its polygon: the first, counter-clockwise around the vertex it starts at.
#[inline(always)]
pub(super) fn predecessor(twins: In<u32>, frontier: In<u32>, h: u32) -> u32 {
    let mut e = prev(h);
    while !frontier.bit(e) {
        e = prev(twins.at(e));
    }
    e
}

/// Links half-edge `h` to the frontier half-edges behind and before it if it is one itself; whether it ends at a barrier tip.
///
/// `polygon_prev` may be empty. Each half-edge finds its own predecessor: writing `prev` at the successor would scatter.
#[kernel]
pub fn link_frontier_edges(
    h: u32,
    twins: In<u32>,
    frontier: In<u32>,
    polygon_next: Out<u32>,
    polygon_prev: Out<u32>,
) -> bool {
    if !frontier.bit(h) {
        polygon_next.set(h, NONE);
        if !polygon_prev.is_empty() {
            polygon_prev.set(h, NONE);
        }
        return false;
    }
    let mut e = next(h);
    let mut steps = 0;
    while !frontier.bit(e) {
        e = next(twins.at(e));
        steps += 1;
    }
    polygon_next.set(h, e);
    if !polygon_prev.is_empty() {
        polygon_prev.set(h, predecessor(twins, frontier, h));
    }
    // Around a tip lie three triangles or more.
    steps >= 2 && e == twins.at(h)
}
