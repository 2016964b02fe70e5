//! The vertices that remain.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Triangle, Vertex};

/// Marks the vertices of face `t`.
#[kernel(requires(faces.len() == n), moves(faces.bytes() + used.bytes()))]
pub fn mark_vertices(
    t: Own<Triangle>,
    faces: In<[Vertex; 3], Triangle>,
    used: Atomic<Bits<Vertex>>,
) {
    let mark = |vertex| {
        // Most are there already.
        if !used.bit(vertex) {
            used.set_bit(vertex);
        }
    };
    let [a, b, c] = faces.at(t);
    mark(a);
    mark(b);
    mark(c);
}

/// Whether vertex `v` has a face now, or is one of the `vertices` of the input and had none there either.
#[kernel(moves(before.bytes() + now.bytes()))]
pub fn keep_vertices(
    v: Own<Vertex>,
    before: In<Bits<Vertex>>,
    now: In<Bits<Vertex>>,
    vertices: u32,
) -> bool {
    now.bit(*v) || v.index() < vertices && !before.bit(*v)
}

/// Gives face `t` the new ids of its vertices.
#[kernel(requires(faces.len() == n), moves(2 * faces.bytes() + new.bytes()))]
pub fn rename_faces(t: Own<Triangle>, new: In<Vertex, Vertex>, faces: Out<[Vertex; 3], Triangle>) {
    faces.set(t, new.at_all(faces.at(t)));
}
