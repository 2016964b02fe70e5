//! Labels: longest edges, frontier edges, seeds.

use crate::half_edge::prefetch_corners;
use crate::point::Planar;
use trioxide_kernel::{Atomic, In, NONE, kernel};

use crate::half_edge::half_edge_between;
use crate::point::Point2;

/// Whether each edge of triangle `t` is its longest: bit set `longest`, a bit for each half-edge.
///
/// Of equal edges the one with the smaller id counts as longer if `ties_by_edge` is not 0, else the first in the triangle
/// (module docs).
#[kernel(P in Planar)]
pub fn label_longest_edges<P: Point2>(
    t: u32,
    origins: In<u32>,
    points: In<P>,
    twins: In<u32>,
    ties_by_edge: u32,
) -> [bool; 3] {
    let h = 3 * t;
    prefetch_corners(points, origins, t);
    let a = points.at(origins.at(h));
    let b = points.at(origins.at(h + 1));
    let c = points.at(origins.at(h + 2));
    let lengths = [
        a.distance_squared(b),
        b.distance_squared(c),
        c.distance_squared(a),
    ];
    let longest =
        |k: usize| lengths[k] >= lengths[(k + 1) % 3] && lengths[k] >= lengths[(k + 2) % 3];
    let flags = [longest(0), longest(1), longest(2)];
    if flags[0] as u32 + flags[1] as u32 + flags[2] as u32 == 1 {
        return flags;
    }
    // Ties are rare: only here ids count.
    let mut first = NONE;
    let mut best = 0;
    let mut k = 0;
    while k < 3 {
        let id = if ties_by_edge != 0 {
            (h + k).min(twins.at(h + k))
        } else {
            k
        };
        if (flags[0] && k == 0 || flags[1] && k == 1 || flags[2] && k == 2) && id < first {
            (first, best) = (id, k);
        }
        k += 1;
    }
    [best == 0, best == 1, best == 2]
}

/// Whether half-edge `h` is a frontier edge, and whether it is a seed: of an interior terminal edge the smaller half-edge,
/// of one on the boundary the inner.
///
/// Constrained edges (`constrained`: a bit for each half-edge, or empty) count as boundary on both sides.
#[kernel]
pub fn label_frontier_edges(
    h: u32,
    twins: In<u32>,
    longest: In<u32>,
    constrained: In<u32>,
) -> (bool, bool) {
    let twin = twins.at(h);
    // Border half-edges are numbered behind those of the triangles.
    let on_border = twin >= twins.len();
    let barrier = on_border || (!constrained.is_empty() && constrained.bit(h));
    let mine = longest.bit(h);
    // Read in any case: without a branch, a thread's reads for several half-edges overlap.
    let theirs = longest.bit(if on_border { h } else { twin });
    let frontier = barrier | !(mine | theirs);
    let seed = mine & (barrier | (theirs & (h < twin)));
    (frontier, seed)
}

/// Whether the triangles on both sides of half-edge `h` are of different regions: then no polygon may cross it.
#[kernel]
pub fn mark_region_borders(h: u32, twins: In<u32>, regions: In<u32>) -> bool {
    let twin = twins.at(h);
    twin < twins.len() && regions.at(h / 3) != regions.at(twin / 3)
}

/// Marks the edge between `ends[2i]` and `ends[2i + 1]` as constrained; `found` gets `i` where there is no such edge.
///
/// `offsets` and `items` hold the half-edges that start at each vertex.
#[kernel]
pub fn mark_segments(
    i: u32,
    ends: In<u32>,
    origins: In<u32>,
    twins: In<u32>,
    offsets: In<u32>,
    items: In<u32>,
    constrained: Atomic,
    found: Atomic,
) {
    let edge = half_edge_between(ends.at(2 * i), ends.at(2 * i + 1), origins, offsets, items);
    if edge == NONE {
        found.min(0, i);
        return;
    }
    constrained.set_bit(edge);
    if twins.at(edge) < twins.len() {
        constrained.set_bit(twins.at(edge));
    }
}
