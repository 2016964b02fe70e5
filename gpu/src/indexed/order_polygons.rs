//! The canonical order: polygons by their smallest half-edges. The rounds leave them in another order.
//!
//! The traversal and each round of the repair leave a Mesh array. A polygon in it counts unless a later round has split
//! it: `broken` has a bit for each polygon, or is empty.

use trioxide_kernel::safe::{self, Atomic, In, Own, Scatter};
use trioxide_kernel::{Bits, Out, kernel};

use super::{Order, Polygons};
use crate::ids::{HalfEdge, Polygon, Vertex};

/// Sets the bit of polygon `i`'s smallest half-edge.
#[kernel(requires(starts.len() == n, broken.is_empty() || broken.len() == words(n)))]
pub fn mark_starts(
    i: Own<Polygon>,
    starts: In<HalfEdge, Polygon>,
    broken: In<Bits<Polygon>>,
    start_bits: Atomic<Bits<HalfEdge>>,
) {
    if !is_broken(broken, *i) {
        start_bits.set_bit(starts.at(i));
    }
}

#[inline(always)]
fn is_broken(broken: In<Bits<Polygon>>, i: Polygon) -> bool {
    !broken.is_empty() && broken.bit(i)
}

/// Number of polygons that start in word `w` of the bit set.
#[kernel(
    requires(start_bits.len() == n, ranks.len() == n),
    moves(start_bits.bytes() + ranks.bytes())
)]
pub fn count_starts(w: Own, start_bits: In<Bits<HalfEdge>>, ranks: safe::Out<u32>) {
    ranks.set(w, start_bits.at(w).word().count_ones());
}

/// Writes polygon `i`'s smallest half-edge and its number of vertices to its place.
#[kernel(requires(
    polygons.starts.len() == n,
    polygons.positions.len() >= n,
    broken.is_empty() || broken.len() == words(n),
    order.ranks.len() == order.start_bits.len(),
    lengths.len() >= half_edges.len()
))]
pub fn place_polygons(
    i: Own<Polygon>,
    polygons: Polygons,
    broken: In<Bits<Polygon>>,
    order: Order,
    half_edges: Scatter<HalfEdge>,
    lengths: Scatter<u32>,
) {
    if !is_broken(broken, *i) {
        let start = polygons.starts.at(i);
        let place = order.rank(start);
        half_edges.set(place, start);
        lengths.set(place, polygons.mesh.at(polygons.positions.at(i)));
    }
}

/// Longest list whose vertices are compared pair by pair.
const COMPARED: u32 = 32;

/// Copies the vertices of polygon `i` to their place; returns whether one occurs more than once.
///
/// A long list is sorted in the Mesh array, which is not needed any more.
#[kernel(
    requires(
        starts.len() == n,
        positions.len() >= n,
        broken.is_empty() || broken.len() == words(n),
        order.ranks.len() == order.start_bits.len()
    ),
    // At least: some polygons in the Mesh array may be broken.
    moves(starts.bytes() + positions.bytes() + 4 * words(n))
)]
pub fn gather_polygons(
    i: Polygon,
    starts: In<HalfEdge, Polygon>,
    broken: In<Bits<Polygon>>,
    positions: In<u32, Polygon>,
    order: Order,
    offsets: In<u32>,
    mesh: Out<u32>,
    vertices: Out<Vertex>,
) -> bool {
    if is_broken(broken, i) {
        return false;
    }
    let place = offsets.at(order.rank(starts.at(i)));
    let first = positions.at(i) + 1;
    let length = mesh.at(first - 1);
    let mut repeats = false;
    let mut k = 0;
    while k < length {
        let v = mesh.at(first + k);
        vertices.set(place + k, Vertex::new(v));
        let mut j = if length <= COMPARED { 0 } else { k };
        while j < k {
            repeats |= mesh.at(first + j) == v;
            j += 1;
        }
        k += 1;
    }
    if length > COMPARED {
        sort(mesh, first, first + length);
        k = 1;
        while k < length {
            repeats |= mesh.at(first + k - 1) == mesh.at(first + k);
            k += 1;
        }
    }
    repeats
}

/// Shell sort of `values[start..end]` with Pratt's gaps, 2^p 3^q: n log^2 n.
///
/// Values that are sorted with gaps 2 g and 3 g are out of order with gap g in disjoint pairs only, so one pass
/// suffices.
#[inline(always)]
fn sort(values: Out<u32>, start: u32, end: u32) {
    let mut power_of_three = 1;
    while 3 * power_of_three < end - start {
        power_of_three *= 3;
    }
    while power_of_three > 0 {
        let mut gap = power_of_three;
        while 2 * gap < end - start {
            gap *= 2;
        }
        while gap >= power_of_three {
            let mut i = start + gap;
            while i < end {
                let (a, b) = (values.at(i - gap), values.at(i));
                if a > b {
                    values.set(i - gap, b);
                    values.set(i, a);
                }
                i += 1;
            }
            gap /= 2;
        }
        power_of_three /= 3;
    }
}
