//! Classes of nodes that may move at the same time: colours, or levels of dependency.
//!
//! A node gets its class once all moving neighbours before it have theirs. Before means a smaller id for levels, and a
//! smaller hash of the id for colours, so that few wait for each other. What a node gets is decided by what those before it
//! got, not by when: rounds may read what others of the same round write.

use trioxide_kernel::{Atomic, In, NONE, kernel};

/// The class is the smallest colour that no neighbour before has.
pub const COLOURS: u32 = 0;
/// The class is one more than the largest of the neighbours before: what Gauss-Seidel in the order of ids waits for.
pub const LEVELS: u32 = 1;

/// A number that says nothing about `v`; different for different `v`.
#[inline(always)]
pub fn shuffled(v: u32) -> u32 {
    // MurmurHash3's finalizer, which is a permutation.
    let x = (v ^ v >> 16).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ x >> 13).wrapping_mul(0xC2B2_AE35);
    x ^ x >> 16
}

/// Classifies node `list[i]` if it can be; else the round is not the last: `left` gets 1.
#[kernel]
pub fn classify(
    i: u32,
    list: In<u32>,
    rows: In<u32>,
    neighbours: In<u32>,
    moving: In<u32>,
    classes: Atomic,
    left: Atomic,
    kind: u32,
) {
    let v = list.at(i);
    if classes.load(v) != NONE {
        return;
    }
    let is_before = |u| {
        moving.bit(u)
            && if kind == LEVELS {
                u < v
            } else {
                shuffled(u) < shuffled(v)
            }
    };
    // Colours from `base` on, 64 at a time.
    let mut base = 0;
    loop {
        let mut taken = 0u64;
        let mut level = 0;
        let mut s = rows.at(v);
        while s < rows.at(v + 1) {
            let u = neighbours.at(s);
            if is_before(u) {
                let class = classes.load(u);
                if class == NONE {
                    if left.load(0) == 0 {
                        left.store(0, 1);
                    }
                    return;
                }
                level = level.max(class + 1);
                if class >= base && class - base < 64 {
                    taken |= 1 << (class - base);
                }
            }
            s += 1;
        }
        if kind == LEVELS {
            classes.store(v, level);
            return;
        }
        if taken != u64::MAX {
            classes.store(v, base + taken.trailing_ones());
            return;
        }
        base += 64;
    }
}
