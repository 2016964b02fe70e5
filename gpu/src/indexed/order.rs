//! The canonical order: polygons by their smallest half-edges, wherever the rounds have left them.
//!
//! The traversal and each round of the repair leave a Mesh array. A polygon in it counts unless a later round has split
//! it: `broken` has a bit for each polygon, or is empty.

use trioxide_kernel::{Atomic, In, Out, kernel};

/// Sets the bit of polygon `i`'s smallest half-edge.
#[kernel]
pub fn mark_starts(i: u32, starts: In<u32>, broken: In<u32>, start_bits: Atomic) {
    if !is_broken(broken, i) {
        start_bits.set_bit(starts.at(i));
    }
}

#[inline(always)]
fn is_broken(broken: In<u32>, i: u32) -> bool {
    !broken.is_empty() && broken.bit(i)
}

/// Number of polygons that start in word `w` of the bit set.
#[kernel]
pub fn count_starts(w: u32, start_bits: In<u32>, ranks: Out<u32>) {
    ranks.set(w, start_bits.at(w).count_ones());
}

/// Place of the polygon whose smallest half-edge is `h`: the number of those before.
#[inline(always)]
fn rank(start_bits: In<u32>, ranks: In<u32>, h: u32) -> u32 {
    let before = start_bits.at(h / 32) & ((1 << (h % 32)) - 1);
    ranks.at(h / 32) + before.count_ones()
}

/// Writes polygon `i`'s smallest half-edge and its number of vertices to its place.
#[kernel]
pub fn place_polygons(
    i: u32,
    starts: In<u32>,
    broken: In<u32>,
    positions: In<u32>,
    mesh: In<u32>,
    start_bits: In<u32>,
    ranks: In<u32>,
    half_edges: Out<u32>,
    lengths: Out<u32>,
) {
    if !is_broken(broken, i) {
        let start = starts.at(i);
        let place = rank(start_bits, ranks, start);
        half_edges.set(place, start);
        lengths.set(place, mesh.at(positions.at(i)));
    }
}

/// Longest list whose vertices are compared pair by pair.
const COMPARED: u32 = 32;

/// Copies the vertices of polygon `i` to their place; whether one comes more than once.
///
/// A long list is sorted where it came from: what the Mesh array holds is not needed any more.
#[kernel]
pub fn gather_polygons(
    i: u32,
    starts: In<u32>,
    broken: In<u32>,
    positions: In<u32>,
    start_bits: In<u32>,
    ranks: In<u32>,
    offsets: In<u32>,
    mesh: Out<u32>,
    vertices: Out<u32>,
) -> bool {
    if is_broken(broken, i) {
        return false;
    }
    let place = offsets.at(rank(start_bits, ranks, starts.at(i)));
    let first = positions.at(i) + 1;
    let length = mesh.at(first - 1);
    let mut repeats = false;
    let mut k = 0;
    while k < length {
        let v = mesh.at(first + k);
        vertices.set(place + k, v);
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
/// Sorted with gaps 2 g and 3 g, values are out of order with gap g in disjoint pairs only, so that one pass suffices.
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
