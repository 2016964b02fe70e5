//! Copies of vertices for the parts of their faces.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::edges::ends;
use super::faces::is_proper;
use crate::ids::{HalfEdge, Item, Triangle, Vertex};

/// Marks the ends of the listed sides.
#[kernel(requires(sides.len() == n), moves(sides.bytes()))]
pub fn mark_ends(
    i: Own<Item>,
    sides: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
    ends_found: Atomic<Bits<Vertex>>,
) {
    let [origin, target] = ends(faces, sides.at(i));
    ends_found.set_bit(origin);
    ends_found.set_bit(target);
}

/// The lowest corner of each vertex, among those of proper faces.
#[kernel(
    requires(3 * faces.len() == n),
    moves(faces.bytes() + first.bytes())
)]
pub fn find_first_corners(
    h: Own<HalfEdge>,
    faces: In<[Vertex; 3], Triangle>,
    first: Atomic<HalfEdge, Vertex>,
) {
    if is_proper(faces.at(h.triangle())) {
        first.min(ends(faces, *h)[0], *h);
    }
}

/// Whether the part of corner `h` begins with it and gets a copy of its vertex. Only vertices in `chosen` are copied;
/// an empty set stands for all.
#[kernel(
    requires(labels.len() == n, 3 * faces.len() == n),
    moves(labels.bytes() + faces.bytes() + first.bytes() + chosen.bytes())
)]
pub fn find_copies(
    h: Own<HalfEdge>,
    labels: In<HalfEdge, HalfEdge>,
    faces: In<[Vertex; 3], Triangle>,
    first: In<HalfEdge, Vertex>,
    chosen: In<Bits<Vertex>>,
) -> bool {
    if labels.at(h) != *h || !is_proper(faces.at(h.triangle())) {
        return false;
    }
    let vertex = ends(faces, *h)[0];
    first.at(vertex) != *h && (chosen.is_empty() || chosen.bit(vertex))
}

/// Writes the place of each copy to its part's first corner.
#[kernel(requires(copies.len() == n), moves(copies.bytes()))]
pub fn rank_copies(i: Own<Item>, copies: In<HalfEdge, Item>, ranks: Scatter<Item, HalfEdge>) {
    ranks.set(copies.at(i), *i);
}

/// The vertex that copy `i` is one of.
#[kernel(
    requires(copies.len() == n, parents.len() == n),
    moves(2 * copies.bytes() + parents.bytes())
)]
pub fn write_parents(
    i: Own<Item>,
    copies: In<HalfEdge, Item>,
    faces: In<[Vertex; 3], Triangle>,
    parents: Out<Vertex, Item>,
) {
    parents.set(i, ends(faces, copies.at(i))[0]);
}

/// Replaces the vertices of face `t` by their copies, which follow `vertices` others.
#[kernel(
    requires(labels.len() == 3 * n, ranks.len() == 3 * n, faces.len() == n),
    moves(labels.bytes() + ranks.bytes() + 2 * faces.bytes())
)]
pub fn split_vertices(
    t: Own<Triangle>,
    labels: In<HalfEdge, HalfEdge>,
    ranks: In<Item, HalfEdge>,
    vertices: u32,
    faces: Out<[Vertex; 3], Triangle>,
) {
    let [a, b, c] = faces.at(t);
    let copy = |k: u32, vertex: Vertex| {
        let rank = ranks.at(labels.at(HalfEdge::of(*t, k)));
        match rank.is_some() {
            true => Vertex::new(vertices + rank.index()),
            false => vertex,
        }
    };
    faces.set(t, [copy(0, a), copy(1, b), copy(2, c)]);
}
