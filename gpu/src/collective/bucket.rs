//! Bucketing into CSR: elements with a key become, for each key, the ascending list of its elements.
//!
//! Count, scan, fill, order. The fill's order is a race; ordering each bucket afterwards makes the result the same on
//! every run.

use gpu_macros::kernel;

use crate::view::{Atomic, In, NONE, Out};

/// Counts the elements of each key, into `counts[key + 1]`. Elements with key `NONE` are left out.
#[kernel]
pub fn count_keys(i: u32, keys: In<u32>, counts: Atomic) {
    let key = keys.at(i);
    if key != NONE {
        counts.add(key + 1, 1);
    }
}

/// Puts each element into its key's bucket.
///
/// Before, `offsets[key + 1]` is the scanned count: the start of the bucket. Each element takes a slot there and moves it
/// on, so that after the launch `offsets[key]..offsets[key + 1]` is the bucket of each key.
#[kernel]
pub fn fill_buckets(i: u32, keys: In<u32>, offsets: Atomic, items: Out<u32>) {
    let key = keys.at(i);
    if key != NONE {
        items.set(offsets.add(key + 1, 1), i);
    }
}

/// Orders the elements of each bucket by insertion: buckets are short (the half-edge stages' longest is at most the root
/// of twice the number of edges).
#[kernel]
pub fn order_buckets(key: u32, offsets: In<u32>, items: Out<u32>) {
    let start = offsets.at(key);
    let end = offsets.at(key + 1);
    let mut i = start + 1;
    while i < end {
        let item = items.at(i);
        let mut hole = i;
        while hole > start && items.at(hole - 1) > item {
            items.set(hole, items.at(hole - 1));
            hole -= 1;
        }
        items.set(hole, item);
        i += 1;
    }
}
