//! Border half-edges: the outer sides of the boundary's edges.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use crate::ids::{HalfEdge, Item};

/// Gives the `j`-th edge of the boundary its border half-edge, `first + j`.
#[kernel(requires(border.len() == n, twins.len() == first as usize))]
pub fn number_border(
    j: Own<Item>,
    border: In<HalfEdge, Item>,
    twins: Scatter<HalfEdge, HalfEdge>,
    first: u32,
) {
    twins.set(border.at(j), HalfEdge::new(first + j.index()));
}

/// Links the `j`-th border half-edge to the next one: turns around the vertex between them within its fan of triangles,
/// so that each boundary loop keeps to its own side where loops touch at a vertex.
#[kernel(requires(
    border.len() == n,
    border_next.len() == n,
    border_prev.len() == n,
    twins.len() == first as usize
))]
pub fn link_border(
    j: Own<Item>,
    border: In<HalfEdge, Item>,
    twins: In<HalfEdge, HalfEdge>,
    border_next: Out<HalfEdge, Item>,
    border_prev: Scatter<HalfEdge>,
    first: u32,
) {
    let mut incoming = border.at(j).prev();
    while twins.at(incoming).index() < first {
        incoming = twins.at(incoming).prev();
    }
    let next = twins.at(incoming);
    border_next.set(j, next);
    border_prev.set(next.index() - first, HalfEdge::new(first + j.index()));
}
