//! Nodes into the layout of smoothing (section 2.3), in their order, and back.

use trioxide_kernel::{In, Out, kernel};

use super::nodes::{Layouts, Nodes};
use crate::ids::{Place, Vertex};

/// Puts the point of node `order[i]` into place `i`.
#[kernel(
    L in Layouts,
    requires(order.len() == n, points.len() == n, nodes.len() == L::ELEMENTS * n),
    moves(order.bytes() + points.bytes() + nodes.bytes())
)]
pub fn arrange<L: Nodes>(
    i: Place,
    order: In<Vertex>,
    points: In<<L as Nodes>::Point>,
    nodes: Out<L>,
) {
    L::store(nodes, i, points.at(order.at(i)));
}

/// Puts the node at place `ranks[v]` back to the point of node `v`: reads out of order, which take less time than such
/// writes.
#[kernel(
    L in Layouts,
    requires(ranks.len() == n, nodes.len() == L::ELEMENTS * n, points.len() == n),
    moves(ranks.bytes() + nodes.bytes() + points.bytes())
)]
pub fn restore<L: Nodes>(
    v: Vertex,
    ranks: In<Place>,
    nodes: In<L>,
    points: Out<<L as Nodes>::Point>,
) {
    points.set(v, L::load(nodes, ranks.at(v)));
}

/// Copies the node `i` places behind `first`: of the nodes that stay, which no sweep writes.
#[kernel(
    L in Layouts,
    requires(from.len() >= L::ELEMENTS * (first as usize + n), to.len() == from.len()),
    moves(2 * (from.bytes() / from.len().max(1)) * n)
)]
pub fn copy_staying<L: Nodes>(i: Place, first: u32, from: In<L>, to: Out<L>) {
    let place = Place::new(first + i.index());
    L::store(to, place, L::load(from, place));
}
