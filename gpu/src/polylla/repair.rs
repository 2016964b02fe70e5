//! Repair of barrier tips.

use trioxide_kernel::{Atomic, In, Out, kernel};

use super::link::{predecessor, successor};
use crate::half_edge::next;

/// Makes the middle edge of the `i`-th tip a frontier edge, and gives one half of it.
///
/// `tips` lists the half-edges into the tips. Of the n interior edges around a tip, clockwise from its frontier edge, the
/// middle one is number (n - 1) / 2 (the paper's Algorithm 11 counts so, and its authors' code). Nothing here reads the
/// labels that it writes: the walk ends at the frontier edge it started from.
#[kernel]
pub fn mark_middle_edges(
    i: u32,
    tips: In<u32>,
    twins: In<u32>,
    frontier: Atomic,
    middles: Out<u32>,
) {
    let h = tips.at(i);
    let first = next(h);
    let mut interior = 0;
    let mut e = first;
    while e != twins.at(h) {
        interior += 1;
        e = next(twins.at(e));
    }
    let mut steps = (interior - 1) / 2;
    let mut middle = first;
    while steps > 0 {
        middle = next(twins.at(middle));
        steps -= 1;
    }
    let twin = twins.at(middle);
    frontier.set_bit(middle);
    frontier.set_bit(twin);
    middles.set(2 * i, middle);
    middles.set(2 * i + 1, twin);
}

/// Splices the `i`-th new frontier half-edge between its neighbours.
///
/// A link that changes has a new half-edge at one of its ends, and each new half-edge writes both of its links. Where two
/// write the same element (both ends are new), they write the same value.
#[kernel]
pub fn link_middle_edges(
    i: u32,
    middles: In<u32>,
    twins: In<u32>,
    frontier: In<u32>,
    polygon_next: Out<u32>,
    polygon_prev: Out<u32>,
) {
    let h = middles.at(i);
    let before = predecessor(twins, frontier, h);
    let behind = successor(twins, frontier, h);
    polygon_next.set(before, h);
    polygon_next.set(h, behind);
    if !polygon_prev.is_empty() {
        polygon_prev.set(h, before);
        polygon_prev.set(behind, h);
    }
}
