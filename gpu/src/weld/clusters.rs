//! Clusters: numbers, members, positions.
//!
//! Clusters are numbered by their representatives, ascending: the order in which S-Weld makes them.

use glam::DVec3;
use trioxide_kernel::{In, NONE, Out, kernel};

/// Whether vertex `v` is a representative.
#[kernel]
pub fn mark_representatives(v: u32, representatives: In<u32>) -> bool {
    representatives.at(v) == v
}

/// Number of set bits of word `w`.
#[kernel]
pub fn count_in_words(w: u32, bits: In<u32>, counts: Out<u32>) {
    counts.set(w, bits.at(w).count_ones());
}

/// Finds the cluster of vertex `v` (`map`), and whose member it is besides the representative (`keys`: `NONE` for one).
///
/// `counts` are those of the words of `bits`, scanned.
#[kernel]
pub fn number_clusters(
    v: u32,
    representatives: In<u32>,
    bits: In<u32>,
    counts: In<u32>,
    map: Out<u32>,
    keys: Out<u32>,
) {
    let r = representatives.at(v);
    let before = bits.at(r / 32) & ((1 << (r % 32)) - 1);
    let cluster = counts.at(r / 32) + before.count_ones();
    map.set(v, cluster);
    keys.set(v, if r == v { NONE } else { cluster });
}

/// Position of cluster `c`: the mean of its vertices, added in ascending order.
///
/// The representative is the lowest, and `members[offsets[c]..offsets[c + 1]]` are the others.
#[kernel]
pub fn average_points(
    c: u32,
    representatives: In<u32>,
    offsets: In<u32>,
    members: In<u32>,
    points: In<DVec3>,
    positions: Out<DVec3>,
) {
    points.prefetch_item(representatives, c);
    let mut sum = points.at(representatives.at(c));
    let (first, end) = (offsets.at(c), offsets.at(c + 1));
    let mut i = first;
    while i < end {
        sum += points.at(members.at(i));
        i += 1;
    }
    let count = f64::from(1 + end - first);
    positions.set(c, if end == first { sum } else { sum / count });
}

/// Position of cluster `c`: that of its representative.
#[kernel]
pub fn take_first_points(
    c: u32,
    representatives: In<u32>,
    points: In<DVec3>,
    positions: Out<DVec3>,
) {
    points.prefetch_item(representatives, c);
    positions.set(c, points.at(representatives.at(c)));
}
