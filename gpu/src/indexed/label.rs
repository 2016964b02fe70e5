//! Labels: longest edges, seed triangles, frontier edges (Algorithm 2).

use crate::point::Planar;
use trioxide_kernel::{In, NONE, kernel};

use super::opposite;
use crate::point::Point2;

/// Which edge of triangle `t` is the longest, in two bits: 0, 1 or 2.
///
/// Of equal edges the one with the smaller id counts as longer if `ties_by_edge` is not 0, else the first in the
/// triangle. The id of an edge is the smaller of its two half-edges.
#[kernel(P in Planar)]
pub fn label_max<P: Point2>(
    t: u32,
    triangles: In<u32>,
    points: In<P>,
    neighbours: In<u32>,
    ties_by_edge: u32,
) -> [bool; 2] {
    let h = 3 * t;
    let a = points.at(triangles.at(h));
    let b = points.at(triangles.at(h + 1));
    let c = points.at(triangles.at(h + 2));
    let id = |k: u32| (h + k).min(opposite(neighbours, h + k));
    let mut best = 0;
    let mut most = a.distance_squared(b);
    let mut k = 1;
    while k < 3 {
        let length = if k == 1 {
            b.distance_squared(c)
        } else {
            c.distance_squared(a)
        };
        // Ties are rare: only here ids count.
        if length > most || (length == most && ties_by_edge != 0 && id(k) < id(best)) {
            (best, most) = (k, length);
        }
        k += 1;
    }
    [best == 1, best == 2]
}

/// The longest edge of triangle `t`, from the Max array, as its half-edge there.
#[inline(always)]
pub(super) fn longest_edge(max: In<u32>, t: u32) -> u32 {
    3 * t + (max.at(t / 16) >> (2 * (t % 16)) & 3)
}

/// Whether no polygon may cross half-edge `h`, whose neighbour is `neighbour`, whatever its length.
#[inline(always)]
fn is_wall(neighbour: u32, constrained: In<u32>, h: u32) -> bool {
    neighbour == NONE || (!constrained.is_empty() && constrained.bit(h))
}

/// Whether triangle `t` is a seed: its longest edge is a terminal edge, and the triangle beyond is none with a smaller
/// index.
///
/// Constrained edges (`constrained`: a bit for each half-edge, or empty) count as boundary: both sides are seeds.
#[kernel]
pub fn label_seed(t: u32, neighbours: In<u32>, max: In<u32>, constrained: In<u32>) -> bool {
    let h = longest_edge(max, t);
    let neighbour = neighbours.at(h);
    is_wall(neighbour, constrained, h)
        || (t < neighbour && neighbours.at(longest_edge(max, neighbour)) == t)
}

/// Whether half-edge `h` is a frontier edge: on the boundary, constrained, or the longest edge of neither triangle.
#[kernel]
pub fn label_frontier(h: u32, neighbours: In<u32>, max: In<u32>, constrained: In<u32>) -> bool {
    let t = h / 3;
    let neighbour = neighbours.at(h);
    is_wall(neighbour, constrained, h)
        || (longest_edge(max, t) != h && neighbours.at(longest_edge(max, neighbour)) != t)
}
