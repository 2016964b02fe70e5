//! Border half-edges: the outer sides of the boundary's edges.

use gpu_macros::kernel;

use super::twins::files;
use super::{prev, rule, target};
use crate::view::{Atomic, In, Out};

/// The end that the `j`-th edge of the boundary is filed under.
#[kernel]
pub fn key_border(j: u32, border: In<u32>, origins: In<u32>, degrees: In<u32>, keys: Out<u32>) {
    let h = border.at(j);
    let (a, b) = (origins.at(h), target(origins, h));
    keys.set(j, if files(degrees, a, b) { a } else { b });
}

/// Finds the `j`-th edge of the boundary if another one runs the same way: two triangles lie on the same side of an edge
/// that has none on the other, which no twin tells.
#[kernel]
pub fn check_border(
    j: u32,
    border: In<u32>,
    origins: In<u32>,
    keys: In<u32>,
    offsets: In<u32>,
    items: In<u32>,
    found: Atomic,
) {
    let h = border.at(j);
    let mut i = offsets.at(keys.at(j));
    let end = offsets.at(keys.at(j) + 1);
    while i < end {
        let other = border.at(items.at(i));
        if other != h
            && origins.at(other) == origins.at(h)
            && target(origins, other) == target(origins, h)
        {
            found.min(rule::MANIFOLD, h);
        }
        i += 1;
    }
}

/// Gives the `j`-th edge of the boundary its border half-edge, `first + j`.
#[kernel]
pub fn number_border(j: u32, border: In<u32>, twins: Out<u32>, first: u32) {
    twins.set(border.at(j), first + j);
}

/// Finds the border half-edge behind the `j`-th, by turning around the vertex between them within its fan of triangles:
/// where boundary loops touch at a vertex, each keeps to its own side.
#[kernel]
pub fn link_border(
    j: u32,
    border: In<u32>,
    twins: In<u32>,
    border_next: Out<u32>,
    border_prev: Out<u32>,
    first: u32,
) {
    let mut incoming = prev(border.at(j));
    while twins.at(incoming) < first {
        incoming = prev(twins.at(incoming));
    }
    let next = twins.at(incoming) - first;
    border_next.set(j, first + next);
    border_prev.set(next, first + j);
}
