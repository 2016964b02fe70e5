//! What users take from a refined mesh.

use trioxide_kernel::{In, Out, kernel};

use super::{ancestor, pair, unpair};
use crate::ids::HalfEdge;

/// Start and end of the edge of half-edge `h`, if that owns it.
#[kernel]
pub fn find_edge_ends(h: u32, corners: In<u32>, sides: In<u32>, ends: Out<u64>) {
    let side = sides.at(h);
    if side.is_multiple_of(2) {
        ends.set(
            side / 2,
            pair(corners.at(h), corners.at(HalfEdge::new(h).next())),
        );
    }
}

/// The triangle of the input that triangle `t` is a part of.
#[kernel]
pub fn find_ancestors(t: u32, parents: In<u32>, ancestors: Out<u32>, triangles: u32) {
    ancestors.set(t, ancestor(t, parents, triangles));
}

/// Value of a vertex field at the `i`-th new vertex, halfway between those at the ends of its edge.
///
/// One launch for each round: ends may be new vertices of earlier rounds.
#[kernel]
pub fn interpolate(i: u32, origins: In<u64>, field: Out<f64>, first: u32, before: u32) {
    let (a, b) = unpair(origins.at(before + i));
    field.set(first + i, field.at(a) * 0.5 + field.at(b) * 0.5);
}
