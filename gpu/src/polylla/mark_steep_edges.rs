//! Edges that stay so that polygons of a surface are flat.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In};
use trioxide_kernel::{Bits, Out, kernel};

use crate::ids::{HalfEdge, Triangle};
use crate::point::DoublePoint;

/// Marks in `stays` the edges below terminal triangle `t` that stay by the flatness of `least`, the terminal edge among
/// them (the family's documentation has the rule); other triangles do nothing.
///
/// Goes around the tree of the triangles that lead to `t` by its side of the terminal edge, without a stack: from a
/// triangle's longest edge, through which it was reached, over its other two edges, and back to its parent. `bases`
/// keeps a triangle of each base for the way back. A tree is one thread's, since a triangle has one longest edge.
#[kernel(
    requires(
        twins.len() == 3 * n,
        longest.len() == words(3 * n),
        constrained.is_empty() || constrained.len() == words(3 * n),
        normals.len() == n,
        bases.len() == n,
        stays.len() == words(3 * n)
    ),
    moves(twins.bytes() + longest.bytes() + constrained.bytes() + normals.bytes() + bases.bytes())
)]
pub fn mark_steep_edges(
    t: Triangle,
    twins: In<HalfEdge, HalfEdge>,
    longest: In<Bits<HalfEdge>>,
    constrained: In<Bits<HalfEdge>>,
    normals: In<DVec3, Triangle>,
    least: f64,
    bases: Out<Triangle>,
    stays: Atomic<Bits<HalfEdge>>,
) {
    let is_joined = |h: HalfEdge, twin: HalfEdge| {
        twin.index() < twins.len() && (constrained.is_empty() || !constrained.bit(h))
    };
    let stay = |h: HalfEdge| {
        stays.set_bit(h);
        stays.set_bit(twins.at(h));
    };
    let mut root = HalfEdge::of(t, 0);
    while !longest.bit(root) {
        root = root.next();
    }
    let across = twins.at(root);
    let mut partner = t;
    if is_joined(root, across) {
        if !longest.bit(across) {
            return;
        }
        partner = across.triangle();
        if normals.at(t).inner(normals.at(partner)) < least {
            // Both sides see it; one marks it.
            if root < across {
                stay(root);
            }
            partner = t;
        }
    }
    let second = normals.at(partner);
    let mut base = t;
    let mut normal = normals.at(t);
    bases.set(t, t);
    let mut h = root.next();
    while h != root {
        if longest.bit(h) {
            // All below this triangle is done.
            h = twins.at(h);
            base = bases.at(h.triangle());
            normal = normals.at(base);
            h = h.next();
            continue;
        }
        let twin = twins.at(h);
        if !(is_joined(h, twin) && longest.bit(twin)) {
            h = h.next();
            continue;
        }
        let child = twin.triangle();
        let theirs = normals.at(child);
        let is_flat = normal.inner(theirs) >= least && (base != t || second.inner(theirs) >= least);
        if !is_flat {
            stay(h);
            base = child;
            normal = theirs;
        }
        bases.set(child, base);
        h = twin.next();
    }
}
