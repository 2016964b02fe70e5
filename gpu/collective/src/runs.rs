//! Places of values in lists that are sorted run by run, and then by merges of two runs each.

/// Values of the runs that are sorted first.
pub const RUN: u32 = 32;

/// The place of a value after its run of [`RUN`] values is sorted; the list goes from `start` to `end`. The value
/// counts the values before it in its run; equal ones stay in their order.
#[inline(always)]
pub(crate) fn place_in_run<T: Copy + Ord>(
    place: u32,
    value: T,
    [start, end]: [u32; 2],
    at: impl Fn(u32) -> T,
) -> u32 {
    let first = place - (place - start) % RUN;
    let last = if first + RUN < end { first + RUN } else { end };
    let (mut other, mut before) = (first, 0);
    while other < place {
        before += u32::from(at(other) <= value);
        other += 1;
    }
    other += 1;
    while other < last {
        before += u32::from(at(other) < value);
        other += 1;
    }
    first + before
}

/// The place of a value after each two sorted runs of 2^`level` values are merged; the list goes from `start` to `end`.
/// The value counts by bisection the values of the other run before it.
#[inline(always)]
pub(crate) fn place_in_pair<T: Copy + Ord>(
    place: u32,
    value: T,
    [start, end]: [u32; 2],
    level: u32,
    at: impl Fn(u32) -> T,
) -> u32 {
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
        let met = at(middle);
        let is_before = if is_left { met < value } else { met <= value };
        if is_before {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let pair = if is_left { own } else { other };
    pair + (place - own) + (low - first)
}
