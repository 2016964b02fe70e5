//! Polygons: from seeds to each polygon's smallest half-edge, and to lists of vertices.

use trioxide_kernel::{Atomic, In, Out, kernel};

use super::link::successor;
use crate::collective::sort;

/// Sets the bit of the smallest half-edge of the `i`-th seed's polygon.
///
/// A seed inside of a polygon first finds a frontier edge of it. Several seeds of one polygon set the same bit.
#[kernel]
pub fn mark_polygons(
    i: u32,
    seeds: In<u32>,
    twins: In<u32>,
    frontier: In<u32>,
    polygon_next: In<u32>,
    polygons: Atomic,
) {
    let seed = seeds.at(i);
    polygon_next.prefetch_item(seeds, i);
    let start = if frontier.bit(seed) {
        seed
    } else {
        successor(twins, frontier, seed)
    };
    let mut smallest = start;
    let mut h = polygon_next.at(start);
    while h != start {
        smallest = smallest.min(h);
        h = polygon_next.at(h);
    }
    polygons.set_bit(smallest);
}

/// Counts the vertices of polygon `p`.
#[kernel]
pub fn count_vertices(p: u32, half_edges: In<u32>, polygon_next: In<u32>, counts: Out<u32>) {
    let start = half_edges.at(p);
    polygon_next.prefetch_item(half_edges, p);
    let mut count = 1;
    let mut h = polygon_next.at(start);
    while h != start {
        count += 1;
        h = polygon_next.at(h);
    }
    counts.set(p, count);
}

/// Longest list whose vertices are compared pair by pair.
const COMPARED: u32 = 64;

/// Writes the vertices of polygon `p` from the origin of its smallest half-edge; whether one comes more than once.
#[kernel]
pub fn write_polygons(
    p: u32,
    half_edges: In<u32>,
    polygon_next: In<u32>,
    origins: In<u32>,
    offsets: In<u32>,
    vertices: Out<u32>,
) -> bool {
    let start = offsets.at(p);
    let end = offsets.at(p + 1);
    polygon_next.prefetch_item(half_edges, p);
    origins.prefetch_item(half_edges, p);
    let write = || {
        let mut h = half_edges.at(p);
        let mut i = start;
        while i < end {
            vertices.set(i, origins.at(h));
            h = polygon_next.at(h);
            i += 1;
        }
    };
    write();
    if end - start <= COMPARED {
        let mut i = start + 1;
        while i < end {
            let v = vertices.at(i);
            let mut j = start;
            while j < i {
                if vertices.at(j) == v {
                    return true;
                }
                j += 1;
            }
            i += 1;
        }
        return false;
    }
    // Sorted in the place where they will stand, then written again.
    sort(vertices, start, end);
    let mut repeats = false;
    let mut i = start + 1;
    while i < end {
        repeats |= vertices.at(i - 1) == vertices.at(i);
        i += 1;
    }
    write();
    repeats
}
