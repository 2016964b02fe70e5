//! The longest edge of each triangle.

use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{NONE, kernel};

use crate::half_edges::prefetch_corners;
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::{Anywhere, MeshPoint};

/// Whether each edge of triangle `t` is its longest: bit set `longest`, a bit for each half-edge.
///
/// Of equal edges the one with the smaller id counts as longer if `TIES_BY_EDGE`, otherwise the first in the triangle
/// (see the family's documentation).
#[kernel(
    P in Anywhere,
    TIES_BY_EDGE in [false, true],
    members = HalfEdge,
    requires(origins.len() == 3 * n, twins.len() == 3 * n),
    moves(origins.bytes() + points.bytes() + 4 * words(3 * n)), trusted
)]
pub fn label_longest_edges<P: MeshPoint, const TIES_BY_EDGE: bool>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    twins: In<HalfEdge, HalfEdge>,
) -> [bool; 3] {
    prefetch_corners(points, origins, *t);
    let corners = origins.at_all([t.part(0), t.part(1), t.part(2)]);
    let [a, b, c] = points.at_all(corners);
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
    // Ids decide ties only, and ties are rare.
    let mut first = NONE;
    let mut best = 0;
    let mut k = 0;
    while k < 3 {
        let id = if TIES_BY_EDGE {
            let h = HalfEdge::of(*t, k);
            h.min(twins.at(h)).index()
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
