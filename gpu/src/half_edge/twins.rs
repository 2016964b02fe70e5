//! Twins: each edge is filed under one of its ends by one of its half-edges, and found there by the other.

use gpu_macros::kernel;

use super::{check::rule, target};
use crate::view::{Atomic, In, NONE, Out};

/// Counts the half-edges that start at each vertex, and finds the smallest.
#[kernel]
pub fn count_degrees(h: u32, origins: In<u32>, degrees: Atomic, half_edge_of_vertex: Atomic) {
    let v = origins.at(h);
    degrees.add(v, 1);
    half_edge_of_vertex.min(v, h);
}

/// The end that half-edge `h` is filed under if it starts there; `NONE` if it starts at the other.
#[kernel]
pub fn key_edges(h: u32, origins: In<u32>, degrees: In<u32>, keys: Out<u32>) {
    let (a, b) = (origins.at(h), target(origins, h));
    keys.set(h, if files(degrees, a, b) { a } else { NONE });
}

/// Whether an edge is filed under its end `a` rather than `b`: that of lower degree, then of lower index.
#[inline(always)]
pub(super) fn files(degrees: In<u32>, a: u32, b: u32) -> bool {
    (degrees.at(a), a) < (degrees.at(b), b)
}

/// Finds the twin of each half-edge that is not filed, and tells it to the filed one.
///
/// `twins` is `NONE` before, and stays so along the boundary. Where two half-edges claim the same twin, one of them wins:
/// `check_twins` finds the other.
#[kernel]
pub fn match_twins(
    h: u32,
    origins: In<u32>,
    degrees: In<u32>,
    offsets: In<u32>,
    items: In<u32>,
    twins: Atomic,
    found: Atomic,
) {
    let (a, b) = (origins.at(h), target(origins, h));
    if files(degrees, a, b) {
        // Another half-edge from a to b would stand in the same bucket.
        let mut i = offsets.at(a);
        while items.at(i) != h {
            if target(origins, items.at(i)) == b {
                found.min(rule::MANIFOLD, h);
            }
            i += 1;
        }
    } else {
        let mut i = offsets.at(b);
        let end = offsets.at(b + 1);
        while i < end {
            let candidate = items.at(i);
            if target(origins, candidate) == a {
                twins.store(h, candidate);
                twins.store(candidate, h);
                break;
            }
            i += 1;
        }
    }
}

/// Whether half-edge `h` lies on the boundary; finds it if its twin has another twin.
#[kernel(bits)]
pub fn check_twins(h: u32, twins: In<u32>, found: Atomic) -> bool {
    let twin = twins.at(h);
    if twin == NONE {
        return true;
    }
    if twins.at(twin) != h {
        found.min(rule::MANIFOLD, h);
    }
    false
}
