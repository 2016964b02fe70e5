//! Sorting values in rows: lists that lie one after the other, most of them short.
//!
//! A value of a short row counts the values before it. Longer rows are sorted run by run, and runs are merged; a value
//! of any row takes part in each merge, so that no thread has more work than another.

use trioxide_kernel::safe::{In, Own, Scatter};
use trioxide_kernel::view::AtomicElement;
use trioxide_kernel::{Each, kernel};

use super::runs::{place_in_pair, place_in_run};

trioxide_kernel::id! {
    /// A row.
    pub struct Row = "row";
}

/// Sorts each run of [`RUN`](super::RUN) values of each row. The value in place i belongs to row `owners[i]`, which
/// begins at `offsets[owners[i]]`.
#[kernel(
    T(u32 = u32, u64 = u64),
    requires(owners.len() == n, values.len() == n, ordered.len() == n),
    moves(owners.bytes() + values.bytes() + ordered.bytes())
)]
pub fn order_row_runs<T: AtomicElement + Ord>(
    i: Own<u32>,
    owners: In<u32>,
    offsets: In<u32, Row>,
    values: In<T>,
    ordered: Scatter<T>,
) {
    let (place, value, row) = (i.get(), values.at(i), owners.at(i));
    let list = [row, row + 1].each(|row| offsets.at(Row::new(row)));
    ordered.set(place_in_run(place, value, list, |i| values.at(i)), value);
}

/// Merges each two sorted runs of 2^`level` values of each row.
#[kernel(
    T(u32 = u32, u64 = u64),
    requires(owners.len() == n, values.len() == n, ordered.len() == n, level < 31),
    moves(owners.bytes() + values.bytes() + ordered.bytes())
)]
pub fn merge_row_runs<T: AtomicElement + Ord>(
    i: Own<u32>,
    owners: In<u32>,
    offsets: In<u32, Row>,
    values: In<T>,
    level: u32,
    ordered: Scatter<T>,
) {
    let (place, value, row) = (i.get(), values.at(i), owners.at(i));
    let list = [row, row + 1].each(|row| offsets.at(Row::new(row)));
    let new = place_in_pair(place, value, list, level, |i| values.at(i));
    ordered.set(new, value);
}
