//! The mesh that is left.

use glam::DVec3;
use trioxide_kernel::rows::rank_of;
use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use super::fans::{Span, Start, mark};
use super::sites::Site;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// Whether vertex `v` may be an end of a collapse: it has triangles, and is not apart.
#[kernel(requires(spans.len() == n, sites.len() == n), moves(spans.bytes() + 4 * n + 4 * words(n)))]
pub fn mark_live(v: Own<Vertex>, spans: In<Span, Vertex>, sites: In<Site, Vertex>) -> bool {
    spans.at(v).count > 0 && sites.at(v).marks & mark::APART == 0
}

/// Whether vertex `v` has one of these `marks`.
#[kernel(requires(sites.len() == n), moves(4 * n + 4 * words(n)))]
pub fn mark_marked(v: Own<Vertex>, sites: In<Site, Vertex>, marks: u32) -> bool {
    sites.at(v).marks & marks != 0
}

/// Whether vertex `v` is left: it went into no other.
#[kernel(requires(parents.len() == n), moves(parents.bytes() + 4 * words(n)))]
pub fn mark_left_vertices(v: Own<Vertex>, parents: In<Vertex, Vertex>) -> bool {
    parents.at(v).is_none()
}

/// Whether triangle `t` is left.
#[kernel(requires(starts.len() == 3 * n), moves(starts.bytes() / 3 + 4 * words(n)))]
pub fn mark_left_triangles(t: Own<Triangle>, starts: In<Start, HalfEdge>) -> bool {
    starts.at(t.part(0)).vertex.is_some()
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
#[kernel(requires(list.len() == n, left.len() == n), moves(list.bytes() + 24 * n + ranks.bytes() + left.bytes()))]
pub fn write_triangles(
    i: Own<Item>,
    list: In<Triangle, Item>,
    starts: In<Start, HalfEdge>,
    ranks: In<u32>,
    left: Out<[Vertex; 3], Item>,
) {
    let t = list.at(i);
    let starts = starts.at_all([HalfEdge::of(t, 0), HalfEdge::of(t, 1), HalfEdge::of(t, 2)]);
    left.set(
        i,
        starts.each(|start| Vertex::new(rank_of(ranks, start.vertex))),
    );
}

/// As [`write_triangles()`], by the copies of the corners.
#[kernel(requires(list.len() == n, left.len() == n), moves(list.bytes() + 12 * n + ranks.bytes() + left.bytes()))]
pub fn write_copies(
    i: Own<Item>,
    list: In<Triangle, Item>,
    copies: In<Vertex, HalfEdge>,
    ranks: In<u32>,
    left: Out<[Vertex; 3], Item>,
) {
    let t = list.at(i);
    let copies = copies.at_all([HalfEdge::of(t, 0), HalfEdge::of(t, 1), HalfEdge::of(t, 2)]);
    left.set(i, copies.each(|v| Vertex::new(rank_of(ranks, v))));
}

/// Writes the position of vertex `list[i]` in the units of the input. A vertex that did not move gets its own bits,
/// since the unit is a power of two.
#[kernel(requires(list.len() == n, left.len() == n), moves(list.bytes() + 2 * left.bytes()))]
pub fn write_kept_points(
    i: Own<Item>,
    list: In<Vertex, Item>,
    sites: In<Site, Vertex>,
    unit: f64,
    left: Out<DVec3, Item>,
) {
    left.set(i, sites.at(list.at(i)).at / unit);
}
