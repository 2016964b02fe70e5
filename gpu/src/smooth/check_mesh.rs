//! The rules for meshes that all other kernels rely on.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use super::cells::Cells;
use crate::ids::{Cell, Vertex};
use crate::point3::{Point3, Spatial};

/// Slots of the check kernels' result: the smallest offending element for each rule, `NONE` where it holds.
pub mod cell_rule {
    /// Node with a coordinate that is no finite number.
    pub const FINITE: u32 = 0;
    /// Cell with an index out of range.
    pub const RANGE: u32 = 1;
    /// Cell that has a vertex twice.
    pub const TWICE: u32 = 2;
    /// Node with a coordinate beyond [`Point3::LARGEST`](crate::point3::Point3::LARGEST).
    pub const LARGE: u32 = 3;
    /// Number of rules.
    pub const COUNT: usize = 4;
}

/// Finds node `v` if one of its coordinates is not finite, or too large.
#[kernel(
    P in Spatial,
    requires(points.len() == n, found.len() == cell_rule::COUNT),
    moves(points.bytes())
)]
pub fn check_nodes<P: Point3>(v: Own<Vertex>, points: In<P, Vertex>, found: Atomic) {
    let p = points.at(v).to_f64();
    if !p.is_finite() {
        found.min(cell_rule::FINITE, v.index());
    } else if p.x.abs() > P::LARGEST || p.y.abs() > P::LARGEST || p.z.abs() > P::LARGEST {
        found.min(cell_rule::LARGE, v.index());
    }
}

/// Finds cell `c` if it has an index out of range or a vertex twice.
#[kernel(
    requires(cells.fit(), cells.count() == n, found.len() == cell_rule::COUNT),
    moves(cells.offsets.bytes() + cells.vertices.bytes())
)]
pub fn check_cells(c: Own<Cell>, cells: Cells, nodes: u32, found: Atomic) {
    let cell = cells.cell(*c);
    let mut i = 0;
    while i < cell.size {
        let v = cells.vertex(cell, i);
        if v.index() >= nodes {
            found.min(cell_rule::RANGE, c.index());
            return;
        }
        let mut j = 0;
        while j < i {
            if cells.vertex(cell, j) == v {
                found.min(cell_rule::TWICE, c.index());
            }
            j += 1;
        }
        i += 1;
    }
}
