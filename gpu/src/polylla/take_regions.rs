//! Regions of polygons.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use crate::ids::{HalfEdge, Polygon, Triangle};

/// Region of polygon `i`: that of the triangle of its half-edge. No polygon crosses a border between regions.
#[kernel(
    requires(half_edges.len() == n, of_polygons.len() == n),
    moves(half_edges.bytes() + 2 * of_polygons.bytes())
)]
pub fn take_regions(
    i: Own<Polygon>,
    half_edges: In<HalfEdge, Polygon>,
    regions: In<i32, Triangle>,
    of_polygons: Out<i32, Polygon>,
) {
    of_polygons.set(i, regions.at(half_edges.at(i).triangle()));
}
