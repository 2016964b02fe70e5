//! Frontier edges (Algorithm 2, LabelFrontier).

use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use super::label_max::longest_edge;
use super::label_seed::is_wall;
use crate::ids::{HalfEdge, Triangle};

/// Whether half-edge `h` is a frontier edge: on the boundary, constrained, or the longest edge of neither triangle.
#[kernel(
    requires(
        neighbours.len() == n,
        max.len() == words(2 * (n / 3)),
        constrained.is_empty() || constrained.len() == words(n)
    ),
    moves(neighbours.bytes() + max.bytes() + constrained.bytes() + 4 * words(n))
)]
pub fn label_frontier(
    own: Own<HalfEdge>,
    neighbours: In<Triangle, HalfEdge>,
    max: In<u32>,
    constrained: In<Bits<HalfEdge>>,
) -> bool {
    let (h, neighbour) = (*own, neighbours.at(own));
    let t = h.triangle();
    is_wall(neighbour, constrained, h)
        || (longest_edge(max, t) != h && neighbours.at(longest_edge(max, neighbour)) != t)
}
