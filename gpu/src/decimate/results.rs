//! The mesh that is left.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_of;
use trioxide_kernel::safe::{In, Out, Own};

use super::fans::mark;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// Whether vertex `v` may be an end of a collapse: it has triangles, and is not apart.
#[kernel(requires(heads.len() == n, marks.len() == n), moves(heads.bytes() + marks.bytes() + 4 * words(n)))]
pub fn mark_live(v: Own<Vertex>, heads: In<HalfEdge, Vertex>, marks: In<u32, Vertex>) -> bool {
    heads.at(v).is_some() && marks.at(v) & mark::APART == 0
}

/// Whether vertex `v` is left: it went into no other.
#[kernel(requires(parents.len() == n), moves(parents.bytes() + 4 * words(n)))]
pub fn mark_left_vertices(v: Own<Vertex>, parents: In<Vertex, Vertex>) -> bool {
    parents.at(v).is_none()
}

/// Whether triangle `t` is left.
#[kernel(requires(corners.len() == 3 * n), moves(corners.bytes() / 3 + 4 * words(n)))]
pub fn mark_left_triangles(t: Own<Triangle>, corners: In<Vertex, HalfEdge>) -> bool {
    corners.at(t.part(0)).is_some()
}

/// Writes the new number of the vertex that `v` went into, by the `ranks` of the vertices that are left.
#[kernel(
    requires(parents.len() == n, map.len() == n),
    moves(parents.bytes() + ranks.bytes() + map.bytes())
)]
pub fn map_vertices(
    v: Own<Vertex>,
    parents: In<Vertex, Vertex>,
    ranks: In<u32>,
    map: Out<Vertex, Vertex>,
) {
    let mut root = *v;
    let mut parent = parents.at(v);
    while parent.is_some() {
        root = parent;
        parent = parents.at(root);
    }
    map.set(v, Vertex::new(rank_of(ranks, root)));
}

/// Writes the corners of triangle `list[i]` by their new numbers.
#[kernel(requires(list.len() == n, left.len() == n), moves(list.bytes() + 12 * n + ranks.bytes() + left.bytes()))]
pub fn write_triangles(
    i: Own<Item>,
    list: In<Triangle, Item>,
    corners: In<Vertex, HalfEdge>,
    ranks: In<u32>,
    left: Out<[Vertex; 3], Item>,
) {
    let t = list.at(i);
    let corners = corners.at_all([HalfEdge::of(t, 0), HalfEdge::of(t, 1), HalfEdge::of(t, 2)]);
    left.set(i, corners.map(|v| Vertex::new(rank_of(ranks, v))));
}

/// Writes the position of vertex `list[i]` in the units of the input. A vertex that did not move gets its own bits,
/// since the unit is a power of two.
#[kernel(requires(list.len() == n, left.len() == n), moves(list.bytes() + 2 * left.bytes()))]
pub fn write_kept_points(
    i: Own<Item>,
    list: In<Vertex, Item>,
    points: In<DVec3, Vertex>,
    unit: f64,
    left: Out<DVec3, Item>,
) {
    left.set(i, points.at(list.at(i)) / unit);
}
