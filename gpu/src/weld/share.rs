//! Shares of a weld that several ranks make together: representatives found by other ranks, and the triangles of a
//! block.
//!
//! The corners of a block's triangles are vertices at first, and then 32-bit *names* of new vertices: first the names
//! of the clusters that the block numbers, then those of other blocks' clusters. Few triangles have a vertex or a
//! cluster of another block: the host names these.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, Each, NONE, kernel, view};

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

/// Replaces the corners of triangle `t` by their names. Returns whether one of the names is not below `names`. A corner
/// plus `first`, modulo 2^64, is a place among the `vertices` vertices, or it is beyond them.
///
/// `map` has the clusters of these vertices from place `vertex` on; the clusters that are numbered here start at
/// `cluster`.
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

/// Sets the corners of triangle `list[i]` to `given[i]`.
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

/// A triangle's corners in the list of the first `first` of `others`, the block's `faces`, and the rest of `others`.
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
    corners.each(Cluster::new)
}

/// Lets triangle `t` claim its slot in `table` if it has three different vertices below `names`. Of equal triangles all
/// but the first get their bit in `repeated`. The triangles are the first `first` of `others`, then `faces`, then the
/// rest of `others`.
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

/// Whether triangle `t` remains: it has three different vertices, and no bit in `repeated`, in which its number is
/// `first + t`.
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

/// Copies the corners of triangle `list[i]` to place `i`.
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
