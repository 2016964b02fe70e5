//! The check that each midpoint lies between the ends of its edge: bisection fails if no number lies between them.

use trioxide_kernel::safe::{Atomic, Own};
use trioxide_kernel::{Each, kernel};

use super::{Corners, Selected};
use crate::ids::{HalfEdge, Item, Triangle};
use crate::point::{Anywhere, DoublePoint, MeshPoint};

/// Finds a triangle that is degenerate or inverted, in space one with an edge of length zero: the edges of its parent
/// were too short for this precision, or its parent had a corner at the midpoint of its longest edge. `clockwise` is
/// not 0 if all triangles of the mesh run clockwise.
#[kernel(
    P in Anywhere,
    requires(
        selected.list.is_empty() || selected.list.len() == n,
        !selected.list.is_empty() || 3 * (selected.first as usize + n) == mesh.corners.len(),
        found.len() == 1
    ),
    moves(selected.list.bytes() + 12 * n + if 3 * n == mesh.corners.len() { mesh.points.bytes() } else { 0 })
)]
pub fn check_parts<P: MeshPoint>(
    i: Own<Item>,
    selected: Selected,
    mesh: Corners<P>,
    clockwise: u32,
    found: Atomic<Triangle>,
) {
    let Some(t) = selected.triangle(i.index()) else {
        return;
    };
    mesh.prefetch(t);
    let half_edges = [0, 1, 2].each(|k| HalfEdge::of(t, k));
    let [a, b, c] = mesh.points_at(half_edges).each(P::to_f64);
    let (b, c) = if clockwise != 0 { (c, b) } else { (b, c) };
    if !P::Double::is_proper(a, b, c) {
        found.min(0, t);
    }
}
