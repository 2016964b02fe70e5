//! Lists of ids.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use crate::ids::{Place, Vertex};

/// Lists the ids in their order.
#[kernel(requires(list.len() == n), moves(list.bytes()))]
pub fn count_up(v: Own<Vertex>, list: Out<Vertex, Vertex>) {
    list.set(v, *v);
}

/// Writes the place of vertex `order[i]` to `ranks`, which may have more vertices.
#[kernel(requires(order.len() == n, ranks.len() >= n), moves(8 * n))]
pub fn rank_vertices(i: Own<Place>, order: In<Vertex, Place>, ranks: Scatter<Place, Vertex>) {
    ranks.set(order.at(i), *i);
}
