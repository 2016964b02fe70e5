//! Edges of a triangulation, with an owner and a direction each (section 3.1).

use trioxide_kernel::{Atomic, In, NONE, Out, kernel};

use crate::half_edge::half_edge_between;

/// Whether half-edge `h` owns its edge: the smaller one of two.
#[kernel]
pub fn mark_owners(h: u32, twins: In<u32>) -> bool {
    // Along the boundary the twin has an id behind those of all triangles.
    h < twins.at(h)
}

/// Numbers edge `e`, the one of half-edge `owners[e]`: the sides of its half-edges, and the half-edges of its sides.
#[kernel]
pub fn number_sides(e: u32, owners: In<u32>, twins: In<u32>, sides: Out<u32>, halves: Out<u32>) {
    twins.prefetch_item(owners, e);
    let h = owners.at(e);
    let twin = twins.at(h);
    let inside = twin < twins.len();
    sides.set(h, 2 * e);
    if inside {
        sides.set(twin, 2 * e + 1);
    }
    halves.set(2 * e, h);
    halves.set(2 * e + 1, if inside { twin } else { NONE });
}

/// Gives the edge between `ends[2i]` and `ends[2i + 1]` the tag `values[i]`; `found` gets `i` where there is no such edge. No edge is
/// there twice.
///
/// `offsets` and `items` hold the half-edges that start at each vertex.
#[kernel]
pub fn tag_segments(
    i: u32,
    ends: In<u32>,
    values: In<u32>,
    corners: In<u32>,
    sides: In<u32>,
    offsets: In<u32>,
    items: In<u32>,
    tags: Out<u32>,
    found: Atomic,
) {
    let h = half_edge_between(ends.at(2 * i), ends.at(2 * i + 1), corners, offsets, items).index();
    if h == NONE {
        found.min(0, i);
    } else {
        tags.set(sides.at(h) / 2, values.at(i));
    }
}
