//! Connected parts, by their lowest elements.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::edges::ends;
use crate::ids::{HalfEdge, Triangle, Vertex};

/// The root above `x`. Halves the path: an element's parent becomes its parent's, which is in the same part.
#[inline(always)]
fn root(parents: Atomic<u32>, mut x: u32) -> u32 {
    loop {
        let parent = parents.load(x);
        if parent == x {
            return x;
        }
        let above = parents.load(parent);
        if above != parent {
            parents.min(x, above);
        }
        x = parent;
    }
}

/// Makes one part of those of `a` and `b`.
#[inline(always)]
pub fn join(parents: Atomic<u32>, mut a: u32, mut b: u32) {
    loop {
        a = root(parents, a);
        b = root(parents, b);
        if a == b {
            return;
        }
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        // Another index may have hooked the root meanwhile.
        if parents.compare_exchange(high, high, low) == high {
            return;
        }
    }
}

/// The lowest element of the part of element `i`.
#[kernel(
    requires(parents.len() == n, labels.len() == n),
    moves(parents.bytes() + labels.bytes())
)]
pub fn find_component_roots(i: Own, parents: Atomic<u32>, labels: Out<u32>) {
    labels.set(i, root(parents, *i));
}

/// Joins the faces of side `h` and its link.
#[kernel(requires(links.len() == n), moves(links.bytes() + parents.bytes()))]
pub fn join_faces(h: Own<HalfEdge>, links: In<HalfEdge, HalfEdge>, parents: Atomic<u32>) {
    let other = links.at(h);
    if other.is_some() {
        join(parents, h.triangle().index(), other.triangle().index());
    }
}

/// Joins the corners of side `h` and its link at both ends of their edge.
#[kernel(
    requires(links.len() == n, 3 * faces.len() == n, parents.len() == n),
    moves(links.bytes() + faces.bytes() + parents.bytes())
)]
pub fn join_corners(
    h: Own<HalfEdge>,
    links: In<HalfEdge, HalfEdge>,
    faces: In<[Vertex; 3], Triangle>,
    parents: Atomic<u32>,
) {
    let other = links.at(h);
    if other.is_none() {
        return;
    }
    let is_same_way = ends(faces, *h)[0] == ends(faces, other)[0];
    let (at_origin, at_target) = match is_same_way {
        true => (other, other.next()),
        false => (other.next(), other),
    };
    join(parents, h.index(), at_origin.index());
    join(parents, h.next().index(), at_target.index());
}

/// Joins the orientations of the faces of side `h` and its link that fit. Element 2t is face t as it is, 2t + 1 the
/// turned face.
#[kernel(
    requires(links.len() == n, 3 * faces.len() == n, parents.len() == 2 * faces.len()),
    moves(links.bytes() + faces.bytes() + parents.bytes())
)]
pub fn join_turned(
    h: Own<HalfEdge>,
    links: In<HalfEdge, HalfEdge>,
    faces: In<[Vertex; 3], Triangle>,
    parents: Atomic<u32>,
) {
    let other = links.at(h);
    if other.is_none() {
        return;
    }
    let is_same_way = ends(faces, *h)[0] == ends(faces, other)[0];
    let (a, b) = (2 * h.triangle().index(), 2 * other.triangle().index());
    let turn = u32::from(is_same_way);
    join(parents, a, b + turn);
    join(parents, a + 1, b + (1 - turn));
}
