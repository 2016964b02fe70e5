//! Classes of nodes that may move at the same time: colours, or levels of dependency.
//!
//! A node gets its class once all moving neighbours before it have theirs. For levels, a neighbour is before a node if
//! its id is smaller; for colours, if the hash of its id is smaller, so that few nodes wait for each other. The class
//! of a node depends only on the classes before it, not on when they were found: a round may read classes that other
//! nodes write in the same round.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, NONE, kernel};

use super::neighbours::Adjacency;
use crate::ids::{Place, Vertex};

/// The class is the smallest colour that no neighbour before the node has.
pub const COLOURS: u32 = 0;
/// The class is one more than the largest class of the neighbours before the node, for which Gauss-Seidel in the order
/// of ids waits.
pub const LEVELS: u32 = 1;

/// A hash of `v`; different `v` have different hashes.
#[inline(always)]
pub fn shuffled(v: u32) -> u32 {
    // MurmurHash3's finalizer, which is a permutation.
    let x = (v ^ v >> 16).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ x >> 13).wrapping_mul(0xC2B2_AE35);
    x ^ x >> 16
}

/// Raises slot `slot` to `value`. Most calls find a higher value there, and only read.
#[inline(always)]
pub(super) fn raise(found: Atomic, slot: u32, value: u32) {
    if found.load(slot) < value {
        found.fetch_max(slot, value);
    }
}

/// Slots of the classification's results.
pub mod found {
    /// The highest class.
    pub const MOST: u32 = 0;
    /// The largest difference between the levels of two neighbours.
    pub const REACH: u32 = 1;
    /// Number of slots.
    pub const COUNT: usize = 2;
}

/// Classifies node `list[i]` if all neighbours before it have their classes; otherwise sets `left[round]` to 1: another
/// round is needed.
#[kernel(requires(
    adjacency.rows.len() == classes.len() + 1,
    moving.len() == words(classes.len()),
    found.len() == found::COUNT
))]
pub fn classify(
    i: Own<Place>,
    list: In<Vertex, Place>,
    adjacency: Adjacency,
    moving: In<Bits<Vertex>>,
    classes: Atomic<u32, Vertex>,
    left: Atomic,
    round: u32,
    found: Atomic,
    kind: u32,
) {
    let v = list.at(i);
    if classes.load(v) != NONE {
        return;
    }
    let is_before = |u: Vertex| {
        moving.bit(u)
            && if kind == LEVELS {
                u < v
            } else {
                shuffled(u.index()) < shuffled(v.index())
            }
    };
    // Colours from `base` on, 64 at a time.
    let mut base = 0;
    loop {
        let mut taken = 0u64;
        let mut level = 0;
        let mut lowest = NONE;
        let mut s = adjacency.start(v);
        while s < adjacency.end(v) {
            let u = adjacency.neighbours.at(s);
            if is_before(u) {
                let class = classes.load(u);
                if class == NONE {
                    if left.load(round) == 0 {
                        left.store(round, 1);
                    }
                    return;
                }
                level = level.max(class + 1);
                lowest = lowest.min(class);
                if class >= base && class - base < 64 {
                    taken |= 1 << (class - base);
                }
            }
            s += 1;
        }
        if kind == LEVELS {
            classes.store(v, level);
            if lowest != NONE {
                raise(found, found::REACH, level - lowest);
            }
            return;
        }
        if taken != u64::MAX {
            classes.store(v, base + taken.trailing_ones());
            return;
        }
        base += 64;
    }
}
