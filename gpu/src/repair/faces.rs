//! Faces: those with the same vertices, and lists of the remaining ones.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Item, Triangle, Vertex};

/// Whether the three vertices differ.
#[inline(always)]
pub fn is_proper([a, b, c]: [Vertex; 3]) -> bool {
    a != b && b != c && c != a
}

/// The vertices in ascending order.
#[inline(always)]
pub fn ascending([a, b, c]: [Vertex; 3]) -> [Vertex; 3] {
    let (a, b) = if b < a { (b, a) } else { (a, b) };
    let (b, c) = if c < b { (c, b) } else { (b, c) };
    if b < a { [b, a, c] } else { [a, b, c] }
}

/// Number `which` of the ascending vertices of face `order[i]`. An empty order is that of the ids.
#[kernel(
    requires(order.is_empty() && faces.len() == n || order.len() == n, keys.len() == n),
    moves(order.bytes() + faces.bytes() + keys.bytes())
)]
pub fn read_face_vertex(
    i: Own<Item>,
    order: In<Triangle>,
    faces: In<[Vertex; 3], Triangle>,
    which: u32,
    keys: Out<u32, Item>,
) {
    let face = order.get(i.index()).unwrap_or(Triangle::new(i.index()));
    let [a, b, c] = ascending(faces.at(face));
    let vertex = match which {
        0 => a,
        1 => b,
        _ => c,
    };
    keys.set(i, vertex.index());
}

/// Marks face `order[i]` if the face before it in the order has the same three vertices. The order is by these, then
/// by id.
#[kernel(
    requires(order.len() == n, faces.len() == n),
    moves(order.bytes() + faces.bytes())
)]
pub fn mark_repeated(
    i: Own<Item>,
    order: In<Triangle, Item>,
    faces: In<[Vertex; 3], Triangle>,
    repeated: Atomic<Bits<Triangle>>,
) {
    let Some(before) = order.get(Item::new(i.index().wrapping_sub(1))) else {
        return;
    };
    let face = order.at(i);
    let vertices = faces.at(face);
    let ([a, b, c], [d, e, f]) = (ascending(vertices), ascending(faces.at(before)));
    // Arrays are compared in memory.
    if is_proper(vertices) && a == d && b == e && c == f {
        repeated.set_bit(face);
    }
}

/// Whether face `t` is not in `dropped`.
#[kernel(moves(2 * dropped.bytes()))]
pub fn keep_faces(t: Own<Triangle>, dropped: In<Bits<Triangle>>) -> bool {
    !dropped.bit(*t)
}

/// The face at place `i` of a list.
#[kernel(
    requires(list.len() == n, gathered.len() == n),
    moves(list.bytes() + 2 * gathered.bytes())
)]
pub fn gather_faces(
    i: Own<Item>,
    list: In<Triangle, Item>,
    faces: In<[Vertex; 3], Triangle>,
    gathered: Out<[Vertex; 3], Item>,
) {
    gathered.set(i, faces.at(list.at(i)));
}
