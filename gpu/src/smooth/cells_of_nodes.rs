//! The cells of each node: buckets of the corners by their vertices, made by `collective`.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use crate::ids::{Cell, Corner, Vertex};

/// Most cells of a node whose neighbours and faces are compared one by one.
pub const LIGHT: u32 = 96;

/// Puts cell `c` into `cells`, at each of its corners.
#[kernel(
    requires(offsets.len() == n + 1),
    moves(offsets.bytes() + cells.bytes())
)]
pub fn name_cells(c: Own<Cell>, offsets: In<u32, Cell>, cells: Scatter<Cell, Corner>) {
    let mut corner = offsets.at(c);
    let end = offsets.at(Cell::new(c.index() + 1));
    while corner < end {
        cells.set(Corner::new(corner), *c);
        corner += 1;
    }
}

/// Whether node `v` has more than `LIGHT` cells.
#[kernel(
    requires(starts.len() == n + 1),
    moves(starts.bytes() + 4 * words(n))
)]
pub fn mark_heavy(v: Own<Vertex>, starts: In<u32, Vertex>) -> bool {
    starts.at(Vertex::new(v.index() + 1)) - starts.at(v) > LIGHT
}
