//! Back to an earlier level: a round saves the triangles that it overwrites, and coarsening puts them back.

use trioxide_kernel::{Bits, Group, In, Out, kernel};

use crate::ids::{HalfEdge, Side, Triangle, Vertex};

/// Set in a saved side that had no other side.
const ON_BOUNDARY: u32 = 1 << 31;

/// Triangles for reading: of a mesh, or saved ones.
#[derive(Group)]
pub struct Rows<'a> {
    /// Vertices; three for each triangle.
    pub corners: In<'a, Vertex>,
    /// Sides; three for each triangle.
    pub sides: In<'a, Side>,
    /// Tags, for each edge of a mesh, or three for each saved triangle; or empty.
    pub tags: In<'a, u32>,
}

/// [`Rows`] to be written.
#[derive(Group)]
pub struct WrittenRows<'a> {
    /// Vertices; three for each triangle.
    pub corners: Out<'a, Vertex>,
    /// Sides; three for each triangle.
    pub sides: Out<'a, Side>,
    /// Tags, for each edge of a mesh, or three for each saved triangle; or empty.
    pub tags: Out<'a, u32>,
}

/// Whether a side of triangle `t` is divided: then the round overwrites the triangle.
#[kernel(requires(flags.len() == words(3 * n)), moves(flags.bytes() + 4 * words(n)))]
pub fn mark_divided_triangles(t: Triangle, flags: In<Bits<HalfEdge>>) -> bool {
    flags.bit(HalfEdge::of(t, 0)) || flags.bit(HalfEdge::of(t, 1)) || flags.bit(HalfEdge::of(t, 2))
}

/// Saves the `i`-th divided triangle: three corners, sides and tags each.
#[kernel(requires(
    list.len() == n,
    mesh.corners.len() == mesh.sides.len(),
    saved.corners.len() == 3 * n,
    saved.sides.len() == 3 * n,
    mesh.tags.is_empty() || saved.tags.len() == 3 * n
))]
pub fn save_triangles(
    i: u32,
    list: In<Triangle>,
    mesh: Rows,
    halves: In<HalfEdge>,
    saved: WrittenRows,
) {
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(list.at(i), k);
        let side = mesh.sides.at(h);
        let is_on_boundary = halves.at(side.reverse()).is_none();
        saved.corners.set(3 * i + k, mesh.corners.at(h));
        saved.sides.set(
            3 * i + k,
            if is_on_boundary {
                Side::new(side.index() | ON_BOUNDARY)
            } else {
                side
            },
        );
        if !mesh.tags.is_empty() {
            saved.tags.set(3 * i + k, mesh.tags.at(side.edge()));
        }
        k += 1;
    }
}

/// Puts the `i`-th saved triangle back, with the half-edges of its sides.
#[kernel(requires(
    list.len() == n,
    saved.corners.len() == 3 * n,
    saved.sides.len() == 3 * n,
    mesh.tags.is_empty() || saved.tags.len() == 3 * n,
    mesh.corners.len() == mesh.sides.len()
))]
pub fn restore_triangles(
    i: u32,
    list: In<Triangle>,
    saved: Rows,
    mesh: WrittenRows,
    halves: Out<HalfEdge>,
) {
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(list.at(i), k);
        let row = saved.sides.at(3 * i + k).index();
        let side = Side::new(row & !ON_BOUNDARY);
        mesh.corners.set(h, saved.corners.at(3 * i + k));
        mesh.sides.set(h, side);
        halves.set(side, h);
        if row & ON_BOUNDARY != 0 {
            halves.set(side.reverse(), HalfEdge::NONE);
        }
        if !mesh.tags.is_empty() {
            // Both triangles at an edge put its tag back; the values are equal.
            mesh.tags.set_same(side.edge(), saved.tags.at(3 * i + k));
        }
        k += 1;
    }
}
