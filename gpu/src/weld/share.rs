//! Shares of a weld that several processes make together: representatives that others found, and the triangles of a
//! block.
//!
//! The corners of a block's triangles are vertices, and then *names* of new vertices, of 32 bits: first those of the
//! clusters that the block numbers, then those of others. Few triangles have a vertex or a cluster of another block:
//! the host names these.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, NONE, kernel, view};

use super::faces::{claim_slot, rotated};
use super::ids::Cluster;
use crate::ids::{Item, Triangle, Vertex};

/// Gives vertex `list[i]` the representative `given[i]`.
#[kernel(
    requires(list.len() == n, given.len() == n),
    moves(list.bytes() + given.bytes() + 4 * n)
)]
pub fn set_representatives(
    i: Own<Item>,
    list: In<Vertex, Item>,
    given: In<Vertex, Item>,
    representatives: Scatter<Vertex, Vertex>,
) {
    representatives.set(list.at(i), given.at(i));
}

/// Finds vertex `v` in `found[0]` if its representative is higher, or does not represent itself.
#[kernel(
    requires(representatives.len() == n, !found.is_empty()),
    moves(representatives.bytes())
)]
pub fn check_representatives(
    v: Own<Vertex>,
    representatives: In<Vertex, Vertex>,
    found: Atomic<Vertex>,
) {
    let r = representatives.at(v);
    if r > *v || representatives.at(r) != r {
        found.min(0, *v);
    }
}

/// Gives triangle `t` its names; whether one of them is not below `names`. Corners are places among `vertices`
/// vertices, `first` less each, modulo 2^64.
///
/// `map` has the clusters of these vertices from place `vertex` on, and those that are numbered here from `cluster` on.
#[kernel(
    requires(
        faces.len() == n,
        vertex as usize + vertices as usize <= map.len()
    ),
    moves(2 * faces.bytes() + 4 * vertices as usize + 4 * words(n))
)]
pub fn name_corners(
    t: Own<Triangle>,
    faces: Out<[u32; 3], Triangle>,
    map: In<Cluster>,
    first: u64,
    vertex: u32,
    vertices: u32,
    cluster: u32,
    names: u32,
) -> bool {
    let name = |corner: u32| {
        let place = first.wrapping_add(u64::from(corner));
        if place < u64::from(vertices) {
            map.at(vertex + place as u32).index().wrapping_sub(cluster)
        } else {
            NONE
        }
    };
    let [a, b, c] = faces.at(t);
    let named = [name(a), name(b), name(c)];
    faces.set(t, named);
    named[0] >= names || named[1] >= names || named[2] >= names
}

/// Gives triangle `list[i]` the corners `given[i]`.
#[kernel(
    requires(list.len() == n, given.len() == n),
    moves(list.bytes() + 2 * given.bytes())
)]
pub fn set_corners(
    i: u32,
    list: view::In<Triangle>,
    given: view::In<[u32; 3]>,
    faces: view::Out<[u32; 3]>,
) {
    faces.set(list.at(i), given.at(i));
}

/// Triangles of a block between those of others: the first `first` of `others`, the block's, and the rest of `others`.
#[inline(always)]
fn corners_among(
    t: Triangle,
    faces: In<[u32; 3]>,
    others: In<[u32; 3]>,
    first: u32,
) -> [Cluster; 3] {
    let place = t.index().wrapping_sub(first);
    let corners = if place < faces.len() {
        faces.at(place)
    } else if t.index() < first {
        others.at(t.index())
    } else {
        others.at(t.index() - faces.len())
    };
    corners.map(Cluster::new)
}

/// Lets triangle `t`, if it has three vertices below `names`, claim its slot in `table`. Of equal triangles all but the
/// first get their bit in `repeated`. The triangles are the first `first` of `others`, then `faces`, then the rest of
/// `others`.
#[kernel(
    requires(
        faces.len() + others.len() == n,
        first as usize <= others.len(),
        table.len() > n,
        repeated.len() == words(n)
    ),
    moves(faces.bytes() + others.bytes() + 8 * n)
)]
pub fn claim_named_faces(
    t: Own<Triangle>,
    faces: In<[u32; 3]>,
    others: In<[u32; 3]>,
    first: u32,
    names: u32,
    table: Atomic<Triangle>,
    repeated: Atomic<Bits<Triangle>>,
    scale: u64,
) {
    let [a, b, c] = corners_among(*t, faces, others, first);
    if a == b || b == c || c == a {
        return;
    }
    if a.index() >= names || b.index() >= names || c.index() >= names {
        return;
    }
    let corners = |t: Triangle| rotated(corners_among(t, faces, others, first));
    claim_slot(*t, rotated([a, b, c]), corners, table, repeated, scale);
}

/// Whether triangle `t` remains: it has three vertices, and no bit in `repeated`, where it has number `first` + t.
#[kernel(
    requires(faces.len() == n, repeated.len() >= words(first as usize + n)),
    moves(faces.bytes() + 8 * words(n))
)]
pub fn mark_remaining(
    t: Own<Triangle>,
    faces: In<[u32; 3], Triangle>,
    repeated: In<Bits<Triangle>>,
    first: u32,
) -> bool {
    let [a, b, c] = faces.at(t);
    a != b && b != c && c != a && !repeated.bit(Triangle::new(first + t.index()))
}

/// Corners of triangle `list[i]`, at place `i`.
#[kernel(
    requires(list.len() == n, gathered.len() == n),
    moves(list.bytes() + 2 * gathered.bytes())
)]
pub fn gather_corners(
    i: Own<Item>,
    list: In<Triangle, Item>,
    faces: In<[u32; 3], Triangle>,
    gathered: Out<[u32; 3], Item>,
) {
    gathered.set(i, faces.at(list.at(i)));
}
