//! Step 3: the link from each edge to the triangle across it.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use super::Selected;
use crate::ids::{HalfEdge, Item, Side};

/// Writes the half-edges of the sides of a triangle. They lead to the triangle across an edge, and so to that
/// triangle's longest edge: the links of the dependency forest.
#[kernel(
    requires(
        selected.list.is_empty() || selected.list.len() == n,
        !selected.list.is_empty() || 3 * (selected.first as usize + n) == sides.len()
    ),
    moves(selected.list.bytes() + 24 * n)
)]
pub fn link_sides(
    i: Own<Item>,
    selected: Selected,
    sides: In<Side, HalfEdge>,
    halves: Scatter<HalfEdge, Side>,
) {
    let Some(t) = selected.triangle(i.index()) else {
        return;
    };
    let h = |k: u32| HalfEdge::of(t, k);
    let [ab, bc, ca] = sides.at_all([h(0), h(1), h(2)]);
    halves.set(ab, h(0));
    halves.set(bc, h(1));
    halves.set(ca, h(2));
}
