//! The cells of each node: buckets of the corners by their vertices, made by `collective`.

use trioxide_kernel::{In, Out, kernel};

use crate::ids::{Cell, Vertex};

/// Most cells of a node whose neighbours and faces are compared one by one.
pub const LIGHT: u32 = 96;

/// Puts cell `c` into `cells`, at each of its corners.
#[kernel(
    requires(offsets.len() == n + 1),
    moves(offsets.bytes() + cells.bytes())
)]
pub fn name_cells(c: Cell, offsets: In<u32>, cells: Out<Cell>) {
    let mut corner = offsets.at(c);
    let end = offsets.at(c.index() + 1);
    while corner < end {
        cells.set(corner, c);
        corner += 1;
    }
}

/// Whether node `v` has more than `LIGHT` cells.
#[kernel(
    requires(starts.len() == n + 1),
    moves(starts.bytes() + 4 * words(n))
)]
pub fn mark_heavy(v: Vertex, starts: In<u32>) -> bool {
    starts.at(v.index() + 1) - starts.at(v) > LIGHT
}
