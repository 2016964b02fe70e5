//! Nodes between cells of two regions, which stay.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own};

use super::cells::Stars;
use crate::ids::{Cell, Vertex};

/// Whether cells of two regions meet at node `v`.
#[kernel(requires(stars.fit(n), regions.len() == stars.cells.count()))]
pub fn mark_interfaces(v: Own<Vertex>, stars: Stars, regions: In<i32, Cell>) -> bool {
    let region = |s| regions.at(stars.cells.cell_of(stars.corner(s)).id);
    let first = stars.start(v);
    let mut s = first + 1;
    while s < stars.end(*v) {
        if region(s) != region(first) {
            return true;
        }
        s += 1;
    }
    false
}
