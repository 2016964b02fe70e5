//! Steps 1 and 2: the longest edge of each triangle.

use trioxide_kernel::safe::In;
use trioxide_kernel::{Out, kernel};

use super::{Corners, Selected};
use crate::ids::{HalfEdge, Side};
use crate::point::{Anywhere, MeshPoint};

/// The longest side of a triangle: 0, 1 or 2. Of equally long sides the one with the smaller edge id.
#[kernel(
    P in Anywhere,
    // Reading from a list of triangles would take 40 in double precision, and fewer blocks would run at once.
    registers = 32,
    requires(
        selected.list.is_empty() || selected.list.len() == n,
        !selected.list.is_empty() || selected.first as usize + n == longest.len(),
        mesh.corners.len() == 3 * longest.len(),
        sides.len() == 3 * longest.len()
    ),
    // If only a part of the triangles is read, the points read depend on the mesh.
    moves(selected.list.bytes() + 13 * n + if n == longest.len() { mesh.points.bytes() } else { 0 })
)]
pub fn find_longest_edges<P: MeshPoint>(
    i: u32,
    selected: Selected,
    mesh: Corners<P>,
    sides: In<Side, HalfEdge>,
    longest: Out<u8>,
) {
    let Some(t) = selected.triangle(i) else {
        return;
    };
    if selected.list.is_empty() {
        mesh.prefetch(t);
    }
    let h = |k: u32| HalfEdge::of(t, k);
    let [a, b, c] = mesh.points_at([h(0), h(1), h(2)]);
    let ab = a.distance_squared(b);
    let bc = b.distance_squared(c);
    let ca = c.distance_squared(a);
    // Ids are read on a tie only.
    let edge = |k: u32| sides.at(h(k)).edge();
    let mut best = 0;
    let mut length = ab;
    if bc > length || bc == length && edge(1) < edge(0) {
        best = 1;
        length = bc;
    }
    if ca > length || ca == length && edge(2) < edge(best) {
        best = 2;
    }
    longest.set(t, best as u8);
}
