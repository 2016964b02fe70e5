//! Border half-edges: the outer sides of the boundary's edges.

use trioxide_kernel::{In, Out, kernel};

use super::prev;

/// Gives the `j`-th edge of the boundary its border half-edge, `first + j`.
#[kernel]
pub fn number_border(j: u32, border: In<u32>, twins: Out<u32>, first: u32) {
    twins.set(border.at(j), first + j);
}

/// Finds the border half-edge behind the `j`-th, by turning around the vertex between them within its fan of triangles:
/// where boundary loops touch at a vertex, each keeps to its own side.
#[kernel]
pub fn link_border(
    j: u32,
    border: In<u32>,
    twins: In<u32>,
    border_next: Out<u32>,
    border_prev: Out<u32>,
    first: u32,
) {
    let mut incoming = prev(border.at(j));
    while twins.at(incoming) < first {
        incoming = prev(twins.at(incoming));
    }
    let next = twins.at(incoming) - first;
    border_next.set(j, first + next);
    border_prev.set(next, first + j);
}
