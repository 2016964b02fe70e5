//! Back to an earlier level: a round saves the triangles that it overwrites, and coarsening puts them back.

use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Parts, Scatter};
use trioxide_kernel::{Bits, Each, kernel};

use crate::ids::{Edge, HalfEdge, Item, Side, Triangle, Vertex};

/// Set in a saved side without a side on the other triangle.
const ON_BOUNDARY: u32 = 1 << 31;

/// Triangles for reading: those of a mesh, or saved ones.
#[derive(Group)]
pub struct ReadTriangles<'a> {
    /// Vertices; three for each triangle.
    pub corners: In<'a, Vertex>,
    /// Sides; three for each triangle.
    pub sides: In<'a, Side>,
    /// Tags: one for each edge of a mesh, or three for each saved triangle; or empty.
    pub tags: In<'a, u32>,
}

/// The triangles that are saved.
#[derive(Group)]
pub struct SavedTriangles<'a> {
    /// Vertices; three for each triangle.
    pub corners: Out<'a, Vertex, Parts<Item, 3>>,
    /// Sides; three for each triangle.
    pub sides: Out<'a, Side, Parts<Item, 3>>,
    /// Tags, three for each triangle; or empty, so it is no view over parts of the list, whose length is fixed.
    pub tags: Scatter<'a, u32>,
}

/// The mesh that gets its triangles back.
#[derive(Group)]
pub struct RestoredTriangles<'a> {
    /// Vertices; three for each triangle.
    pub corners: Scatter<'a, Vertex, HalfEdge>,
    /// Sides; three for each triangle.
    pub sides: Scatter<'a, Side, HalfEdge>,
    /// Tags of the edges, or empty. Both triangles at an edge put its tag back; the values are equal.
    pub tags: Atomic<'a, u32, Edge>,
}

/// Whether a side of triangle `t` is divided: then the round overwrites the triangle.
#[kernel(requires(flags.len() == words(3 * n)), moves(flags.bytes() + 4 * words(n)))]
pub fn mark_divided_triangles(t: Own<Triangle>, flags: In<Bits<HalfEdge>>) -> bool {
    let half_edges = [0, 1, 2].each(|k| HalfEdge::of(*t, k));
    let [a, b, c] = flags.bit_all(half_edges);
    a | b | c
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
    i: Own<Item>,
    list: In<Triangle, Item>,
    mesh: ReadTriangles,
    halves: In<HalfEdge, Side>,
    saved: SavedTriangles,
) {
    let t = list.at(i);
    let half_edges = [0, 1, 2].each(|k| HalfEdge::of(t, k).index());
    let corners = mesh.corners.at_all(half_edges);
    let sides = mesh.sides.at_all(half_edges);
    let others = halves.at_all(sides.each(Side::reverse));
    let mut k = 0;
    while k < 3 {
        saved.corners.set(i.part(k as u32), corners[k]);
        let flag = if others[k].is_none() { ON_BOUNDARY } else { 0 };
        saved
            .sides
            .set(i.part(k as u32), Side::new(sides[k].index() | flag));
        k += 1;
    }
    if !mesh.tags.is_empty() {
        let tags = mesh.tags.at_all(sides.each(|side| side.edge().index()));
        saved.tags.set(3 * i.index(), tags[0]);
        saved.tags.set(3 * i.index() + 1, tags[1]);
        saved.tags.set(3 * i.index() + 2, tags[2]);
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
    i: Own<Item>,
    list: In<Triangle, Item>,
    saved: ReadTriangles,
    mesh: RestoredTriangles,
    halves: Scatter<HalfEdge, Side>,
) {
    let t = list.at(i);
    let places = [0, 1, 2].each(|k| 3 * i.index() + k);
    let corners = saved.corners.at_all(places);
    let rows = saved.sides.at_all(places).each(Side::index);
    let sides = rows.each(|row| Side::new(row & !ON_BOUNDARY));
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(t, k as u32);
        mesh.corners.set(h, corners[k]);
        mesh.sides.set(h, sides[k]);
        halves.set(sides[k], h);
        if rows[k] & ON_BOUNDARY != 0 {
            halves.set(sides[k].reverse(), HalfEdge::NONE);
        }
        k += 1;
    }
    if !mesh.tags.is_empty() {
        let tags = saved.tags.at_all(places);
        mesh.tags.store(sides[0].edge(), tags[0]);
        mesh.tags.store(sides[1].edge(), tags[1]);
        mesh.tags.store(sides[2].edge(), tags[2]);
    }
}
