//! Copies nodes into the layout of smoothing (section 2.3), in its order, and back.

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

/// Copies the node at place `i` back to the point of node `order[i]`.
#[kernel(
    L in Layouts,
    requires(order.len() == n, nodes.len() == L::ELEMENTS * n, points.len() == n),
    moves(order.bytes() + nodes.bytes() + points.bytes())
)]
pub fn restore<L: Nodes>(
    i: Place,
    order: In<Vertex>,
    nodes: In<L>,
    points: Out<<L as Nodes>::Point>,
) {
    points.set(order.at(i), L::load(nodes, i));
}
