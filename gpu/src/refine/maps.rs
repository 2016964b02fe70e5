//! Results for users of a refined mesh: ends of edges, ancestors, fields.

use trioxide_kernel::safe::{self, Own, Scatter};
use trioxide_kernel::{In, Out, kernel};

use super::Ends;
use super::mark_triangles::ancestor;
use crate::ids::{Edge, HalfEdge, Side, Triangle, Vertex};

/// Start and end of the edge of half-edge `h`, if `h` owns it.
#[kernel(
    requires(corners.len() == n, sides.len() == n),
    moves(corners.bytes() + sides.bytes() + ends.bytes())
)]
pub fn find_edge_ends(
    h: Own<HalfEdge>,
    corners: safe::In<Vertex, HalfEdge>,
    sides: safe::In<Side, HalfEdge>,
    ends: Scatter<Ends, Edge>,
) {
    let side = sides.at(h);
    if side.is_along() {
        ends.set(side.edge(), Ends::new(corners.at(h), corners.at(h.next())));
    }
}

/// The triangle of the input that triangle `t` is a part of.
#[kernel(
    requires(parents.len() + triangles as usize == n, ancestors.len() == n),
    moves(parents.bytes() + ancestors.bytes())
)]
pub fn find_ancestors(
    t: Own<Triangle>,
    parents: safe::In<Triangle>,
    ancestors: safe::Out<Triangle, Triangle>,
    triangles: u32,
) {
    ancestors.set(t, ancestor(*t, triangles, |new| parents.at(new)));
}

/// Value of a vertex field at the `i`-th new vertex, halfway between the values at the ends of its edge.
///
/// One launch for each round: ends may be new vertices of earlier rounds.
#[kernel(
    requires(origins.len() >= before as usize + n, field.len() >= first as usize + n),
    moves(32 * n)
)]
pub fn interpolate(i: u32, origins: In<Ends>, field: Out<f64>, first: u32, before: u32) {
    let ends = origins.at(before + i);
    let value = field.at(ends.start()) * 0.5 + field.at(ends.end()) * 0.5;
    field.set(first + i, value);
}
