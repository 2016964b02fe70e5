//! Bucketing into CSR: elements with a key become, for each key, the ascending list of its elements.
//!
//! Count, scan, fill, order. The order in which elements fill a bucket is a race; sorting each bucket afterwards makes
//! the result the same in every run.

use trioxide_kernel::rows::sort;
use trioxide_kernel::{Atomic, In, Out, kernel};

/// Counts the elements of each key, into `counts[key + 1]`. Elements whose key has no count, such as `NONE`, are
/// skipped.
#[kernel(
    requires(keys.len() == n, !counts.is_empty()),
    moves(keys.bytes() + 2 * counts.bytes())
)]
pub fn count_keys(i: u32, keys: In<u32>, counts: Atomic) {
    let key = keys.at(i);
    if key < counts.len() - 1 {
        counts.add(key + 1, 1);
    }
}

/// Puts each element into its key's bucket.
///
/// Before the launch `offsets[key + 1]` is the scanned count: the start of the bucket. Each element takes the slot
/// there and advances it, so that after the launch `offsets[key]..offsets[key + 1]` is the bucket of each key.
#[kernel(
    requires(keys.len() == n, !offsets.is_empty()),
    moves(keys.bytes() + 2 * offsets.bytes() + items.bytes())
)]
pub fn fill_buckets(i: u32, keys: In<u32>, offsets: Atomic, items: Out<u32>) {
    let key = keys.at(i);
    if key < offsets.len() - 1 {
        items.set(offsets.add(key + 1, 1), i);
    }
}

/// Sorts the elements of each bucket; a sorted bucket is only read.
#[kernel(requires(offsets.len() > n), moves(offsets.bytes() + items.bytes()))]
pub fn order_buckets(key: u32, offsets: In<u32>, items: Out<u32>) {
    sort(items, offsets.at(key), offsets.at(key + 1));
}

/// Elements of a run that [`order_runs()`] and [`order_row_runs()`](super::order_row_runs()) sort.
pub const RUN: u32 = 32;

/// Sorts each run of [`RUN`] elements of each bucket: for buckets that are too long for one thread. An element counts
/// the lower ones of its run.
#[kernel(
    requires(items.len() == n, ordered.len() == n),
    moves(items.bytes() + ordered.bytes())
)]
pub fn order_runs(place: u32, keys: In<u32>, offsets: In<u32>, items: In<u32>, ordered: Out<u32>) {
    let item = items.at(place);
    let key = keys.at(item);
    let (start, end) = (offsets.at(key), offsets.at(key + 1));
    let first = place - (place - start) % RUN;
    let mut other = first;
    let mut lower = 0;
    while other < (first + RUN).min(end) {
        lower += u32::from(items.at(other) < item);
        other += 1;
    }
    ordered.set(first + lower, item);
}

/// Merges each two sorted runs of 2^`level` elements of each bucket: an element counts the lower ones of the other run
/// by bisection.
#[kernel(
    requires(items.len() == n, ordered.len() == n, level < 31),
    moves(items.bytes() + ordered.bytes())
)]
pub fn merge_runs(
    place: u32,
    keys: In<u32>,
    offsets: In<u32>,
    items: In<u32>,
    level: u32,
    ordered: Out<u32>,
) {
    let item = items.at(place);
    let key = keys.at(item);
    let (start, end) = (offsets.at(key), offsets.at(key + 1));
    // Shifts, since a division by a variable is slow; masked, since a shift by 32 or more is a panic.
    let level = level & 31;
    let width = 1 << level;
    let run = (place - start) >> level;
    let own = start + (run << level);
    let other = if run.is_multiple_of(2) {
        own + width
    } else {
        own - width
    };
    // The last run may have no partner.
    let first = other.min(end);
    let (mut low, mut high) = (first, (other + width).min(end).max(first));
    while low < high {
        let middle = low + (high - low) / 2;
        if items.at(middle) < item {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    ordered.set(own.min(other) + (place - own) + (low - first), item);
}

/// Finds the length of the longest bucket: the complement of `found[0]`, which is all ones before.
#[kernel(
    requires(offsets.len() > n, !found.is_empty()),
    moves(offsets.bytes())
)]
pub fn find_longest(key: u32, offsets: In<u32>, found: Atomic) {
    found.min(0, !(offsets.at(key + 1) - offsets.at(key)));
}
