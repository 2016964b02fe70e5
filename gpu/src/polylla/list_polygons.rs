//! Polygons as lists of vertices.

use trioxide_kernel::rows::sort;
use trioxide_kernel::safe::{self, In, Own, Scatter};
use trioxide_kernel::{Out, kernel};

use super::walk::Cycles;
use crate::ids::{HalfEdge, Polygon, Vertex};

/// Counts the vertices of polygon `p`.
#[kernel(
    requires(cycles.half_edges.len() == n, counts.len() >= n),
    // At least: a polygon has three half-edges or more.
    moves(4 * cycles.half_edges.bytes() + 4 * n)
)]
pub fn count_vertices(p: Own<Polygon>, cycles: Cycles, counts: safe::Out<u32, Polygon>) {
    let start = cycles.half_edges.at(p);
    cycles.next.prefetch_item(cycles.half_edges, *p);
    let mut count = 1;
    let mut h = cycles.next.at(start);
    while h != start {
        count += 1;
        h = cycles.next.at(h);
    }
    counts.set(p, count);
}

/// Writes the half-edges of polygon `p`, from its smallest on.
#[kernel(
    requires(cycles.half_edges.len() == n, offsets.len() == n + 1),
    moves(cycles.half_edges.bytes() + offsets.bytes() + 2 * half_edges.bytes())
)]
pub fn write_cycles(
    p: Own<Polygon>,
    cycles: Cycles,
    offsets: In<u32>,
    half_edges: Scatter<HalfEdge>,
) {
    let mut h = cycles.half_edges.at(p);
    let (mut i, end) = (offsets.at(p.index()), offsets.at(p.index() + 1));
    while i < end {
        half_edges.set(i, h);
        h = cycles.next.at(h);
        i += 1;
    }
}

/// Longest list whose vertices are compared pair by pair.
const COMPARED: u32 = 64;

/// Writes the vertices of polygon `p` from the origin of its smallest half-edge; returns whether one occurs more than
/// once.
#[kernel(
    requires(
        cycles.half_edges.len() == n,
        cycles.next.len() == origins.len(),
        offsets.len() == n + 1
    ),
    // Links and origins are read along the polygons, one of each for a vertex that is written.
    moves(cycles.half_edges.bytes() + offsets.bytes() + 3 * vertices.bytes() + 4 * words(n))
)]
pub fn write_polygons(
    p: Polygon,
    cycles: Cycles,
    origins: In<Vertex, HalfEdge>,
    offsets: In<u32>,
    vertices: Out<Vertex>,
) -> bool {
    let start = offsets.at(p.index());
    let end = offsets.at(p.index() + 1);
    cycles.next.prefetch_item(cycles.half_edges, p);
    origins.prefetch_item(cycles.half_edges, p);
    let write = || {
        let mut h = cycles.half_edges.at(p);
        let mut i = start;
        while i < end {
            vertices.set(i, origins.at(h));
            h = cycles.next.at(h);
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
    // Sorted in their place, then written again.
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
