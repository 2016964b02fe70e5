//! Polygons from seeds: the smallest half-edge of each.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, kernel};

use super::walk::Labelled;
use crate::ids::{HalfEdge, Item};

/// Sets the bit of the smallest half-edge of the `i`-th seed's polygon.
///
/// A seed inside a polygon first finds one of its frontier edges. Several seeds of one polygon set the same bit.
#[kernel(
    requires(
        seeds.len() == n,
        edges.frontier.len() == words(edges.twins.len()),
        polygon_next.len() == edges.twins.len(),
        polygons.len() == words(edges.twins.len())
    ),
    // At least: the number of half-edges of polygons depends on the mesh.
    moves(seeds.bytes()), trusted
)]
pub fn mark_polygons(
    i: Own<Item>,
    seeds: In<HalfEdge, Item>,
    edges: Labelled,
    polygon_next: In<HalfEdge, HalfEdge>,
    polygons: Atomic<Bits<HalfEdge>>,
) {
    let seed = seeds.at(i);
    polygon_next.prefetch_item(seeds, *i);
    let start = if edges.frontier.bit(seed) {
        seed
    } else {
        edges.successor(seed)
    };
    let mut smallest = start;
    let mut h = polygon_next.at(start);
    while h != start {
        smallest = smallest.min(h);
        h = polygon_next.at(h);
    }
    polygons.set_bit(smallest);
}
