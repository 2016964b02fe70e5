//! The round that reaches the wanted number: the first collapses in the order of keys.
//!
//! Nominees are in ascending order of their lower ends, and each vertex is an end of one at most. So a stable sort by
//! costs is one by keys.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use super::cheapest::Choice;
use crate::ids::{Item, Vertex};

/// Writes the bits of the cost of nominee `acting[i]`; costs are not negative, so their bits have their order.
#[kernel(
    requires(acting.len() == n, keys.len() == n),
    moves(acting.bytes() + 12 * n + keys.bytes())
)]
pub fn gather_costs(
    i: Own,
    acting: In<Item>,
    lows: In<Vertex, Item>,
    choices: In<Choice, Vertex>,
    keys: Out<u32>,
) {
    keys.set(i, choices.at(lows.at(acting.at(i))).cost().to_bits());
}

/// Writes the number of triangles that the `i`-th collapse in the order of keys removes, and the collapse.
#[kernel(
    requires(order.len() == n, counts.len() == n, sorted.len() == n),
    moves(order.bytes() + 8 * n + counts.bytes() + sorted.bytes())
)]
pub fn gather_removed(
    i: Own,
    order: In<u32>,
    acting: In<Item>,
    removed: In<u32>,
    counts: Out<u32>,
    sorted: Out<Item>,
) {
    let at = order.at(i);
    counts.set(i, removed.at(at));
    sorted.set(i, acting.at(at));
}

/// Whether the `i`-th collapse and those before it remove `most` triangles at most.
#[kernel(
    requires(removed.len() == n, before.len() == n),
    moves(removed.bytes() + before.bytes())
)]
pub fn is_within(i: Own, removed: In<u32>, before: In<u32>, most: u32) -> bool {
    before.at(i) + removed.at(i) <= most
}
