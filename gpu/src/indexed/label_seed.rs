//! Seed triangles (Algorithm 2, LabelSeed).

use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use super::label_max::longest_edge;
use crate::ids::{HalfEdge, Triangle};

/// Whether no polygon may cross half-edge `h`, whose neighbour is `neighbour`, whatever its length.
#[inline(always)]
pub(super) fn is_wall(neighbour: Triangle, constrained: In<Bits<HalfEdge>>, h: HalfEdge) -> bool {
    neighbour.is_none() || (!constrained.is_empty() && constrained.bit(h))
}

/// Whether triangle `t` is a seed: its longest edge is a terminal edge, and the triangle across it is not a seed with a
/// smaller index.
///
/// Constrained edges (`constrained`: a bit for each half-edge, or empty) count as boundary: both sides are seeds.
#[kernel(
    requires(
        neighbours.len() == 3 * n,
        max.len() == words(2 * n),
        constrained.is_empty() || constrained.len() == words(3 * n)
    ),
    // The kernel reads one neighbour of each triangle.
    moves(4 * n + max.bytes() + constrained.bytes() + 4 * words(n))
)]
pub fn label_seed(
    t: Own<Triangle>,
    neighbours: In<Triangle, HalfEdge>,
    max: In<u32>,
    constrained: In<Bits<HalfEdge>>,
) -> bool {
    let t = *t;
    let h = longest_edge(max, t);
    let neighbour = neighbours.at(h);
    is_wall(neighbour, constrained, h)
        || (t < neighbour && neighbours.at(longest_edge(max, neighbour)) == t)
}
