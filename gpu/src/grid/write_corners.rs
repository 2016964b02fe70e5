//! Triangles of a grid.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Out, Own, Parts};

use super::row_of;
use crate::ids::{Item, Vertex};

/// Writes the corners of both triangles of a square, relative to the lower left corner of the first square. A row has
/// `side` points and `side` - 1 squares; `reciprocal` is the [reciprocal](super::reciprocal()) of the latter. `skipped`
/// squares of its row lie before the first square.
#[kernel(
    requires(
        corners.len() == 6 * n,
        side >= 2,
        reciprocal == crate::grid::reciprocal(side - 1),
        skipped < side,
        n <= (u32::MAX - skipped) as usize
    ),
    moves(corners.bytes())
)]
pub fn write_corners(
    square: Own<Item>,
    side: u32,
    reciprocal: u64,
    skipped: u32,
    corners: Out<Vertex, Parts<Item, 6>>,
) {
    let row = row_of(square.index() + skipped, reciprocal);
    let lower_left = square.index() + row;
    let upper_right = lower_left + side + 1;
    corners.set(square.part(0), Vertex::new(lower_left));
    corners.set(square.part(1), Vertex::new(lower_left + 1));
    corners.set(square.part(2), Vertex::new(upper_right));
    corners.set(square.part(3), Vertex::new(lower_left));
    corners.set(square.part(4), Vertex::new(upper_right));
    corners.set(square.part(5), Vertex::new(upper_right - 1));
}
