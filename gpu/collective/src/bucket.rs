//! Bucketing into CSR: elements with a key become, for each key, the ascending list of its elements.
//!
//! Count, scan, fill, order. The order in which elements fill a bucket is a race; sorting each bucket afterwards makes
//! the result the same in every run.

use trioxide_kernel::rows::sort;
use trioxide_kernel::{Atomic, In, Out, kernel};

use super::runs::{place_in_pair, place_in_run};

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

/// Sorts each run of [`RUN`](super::RUN) elements of each bucket: for buckets that are too long for one thread.
#[kernel(
    requires(items.len() == n, ordered.len() == n),
    moves(items.bytes() + ordered.bytes())
)]
pub fn order_runs(place: u32, keys: In<u32>, offsets: In<u32>, items: In<u32>, ordered: Out<u32>) {
    let item = items.at(place);
    let key = keys.at(item);
    let list = [offsets.at(key), offsets.at(key + 1)];
    ordered.set(place_in_run(place, item, list, |i| items.at(i)), item);
}

/// Merges each two sorted runs of 2^`level` elements of each bucket.
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
    let list = [offsets.at(key), offsets.at(key + 1)];
    let new = place_in_pair(place, item, list, level, |i| items.at(i));
    ordered.set(new, item);
}

/// Finds the length of the longest bucket: the complement of `found[0]`, which is all ones before.
#[kernel(
    requires(offsets.len() > n, !found.is_empty()),
    moves(offsets.bytes())
)]
pub fn find_longest(key: u32, offsets: In<u32>, found: Atomic) {
    found.min(0, !(offsets.at(key + 1) - offsets.at(key)));
}
