//! Sorting values in rows: lists that lie one after the other, most of them short.
//!
//! A value of a short row counts the values before it. Longer rows are sorted run by run, and runs are merged; a value
//! of any row takes part in each merge, so that no thread has more work than another.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};
use trioxide_kernel::view::AtomicElement;

use super::RUN;

trioxide_kernel::id! {
    /// A row.
    pub struct Row = "row";
}

/// Sorts each run of [`RUN`] values of each row. The value in place i belongs to row `owners[i]`, which
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
    let (start, end) = (offsets.at(Row::new(row)), offsets.at(Row::new(row + 1)));
    let first = place - (place - start) % RUN;
    let last = if first + RUN < end { first + RUN } else { end };
    let (mut other, mut before) = (first, 0);
    while other < place {
        before += u32::from(values.at(other) <= value);
        other += 1;
    }
    other += 1;
    while other < last {
        before += u32::from(values.at(other) < value);
        other += 1;
    }
    ordered.set(first + before, value);
}

/// Merges each two sorted runs of 2^`level` values of each row: a value counts by bisection the values of the
/// other run before it.
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
    let (start, end) = (offsets.at(Row::new(row)), offsets.at(Row::new(row + 1)));
    // Shifts, since a division by a variable is slow; masked, since a shift by 32 or more is a panic.
    let level = level & 31;
    let width = 1 << level;
    let run = (place - start) >> level;
    let own = start + (run << level);
    let is_left = run & 1 == 0;
    let other = if is_left { own + width } else { own - width };
    // The last run may have no partner.
    let first = if other < end { other } else { end };
    let (mut low, mut high) = (
        first,
        if other + width < end {
            other + width
        } else {
            end
        },
    );
    while low < high {
        let middle = low + (high - low) / 2;
        let met = values.at(middle);
        let is_before = if is_left { met < value } else { met <= value };
        if is_before {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let pair = if is_left { own } else { other };
    ordered.set(pair + (place - own) + (low - first), value);
}
