//! What users take from a refined mesh.

use gpu_macros::kernel;

use super::ancestor;
use crate::half_edge::next;
use crate::view::{In, Out};

/// Start and end of edge `e`, along its owner.
#[kernel]
pub fn find_edge_ends(e: u32, halves: In<u32>, corners: In<u32>, ends: Out<u32>) {
    let h = halves.at(2 * e);
    ends.set(2 * e, corners.at(h));
    ends.set(2 * e + 1, corners.at(next(h)));
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
pub fn interpolate(i: u32, ends: In<u32>, field: Out<f64>, first: u32, before: u32) {
    let new = before + i;
    let (a, b) = (ends.at(2 * new), ends.at(2 * new + 1));
    field.set(first + i, field.at(a) * 0.5 + field.at(b) * 0.5);
}
