//! Lists of elements, one for each key, and ranks in bit sets, for reading in kernels.

use crate::{Index, Out, safe};

/// Lists of elements, one for each key: compressed sparse rows.
#[derive(safe::Group)]
pub struct Rows<'a, T: bytemuck::Pod + Send + Sync> {
    /// Start of each key's elements in `items`, and the end of the last.
    pub offsets: safe::In<'a, u32>,
    /// Elements, ascending for each key.
    pub items: safe::In<'a, T>,
}

impl<T: bytemuck::Pod + Send + Sync> Rows<'_, T> {
    /// Start of a key's elements in `items`.
    #[inline(always)]
    pub fn start(self, key: impl Index) -> u32 {
        self.offsets.at(key.index())
    }

    /// End of a key's elements in `items`.
    #[inline(always)]
    pub fn end(self, key: impl Index) -> u32 {
        self.offsets.at(key.index() + 1)
    }
}

/// Number of members of a bit set below `member`. `ranks` has two words for each word of the set: the word, and the
/// number of members before it.
#[inline(always)]
pub fn rank_of<I: Index>(ranks: safe::In<u32>, member: I) -> u32 {
    rank_in(ranks.pair(member.index() / 32 * 2), member)
}

/// As [`rank_of()`], from the two words of `member`.
#[inline(always)]
pub fn rank_in<I: Index>([word, before]: [u32; 2], member: I) -> u32 {
    before + (word & ((1 << (member.index() % 32)) - 1)).count_ones()
}

/// Longest list that is sorted by insertion.
const SHORT: u32 = 32;

/// Sorts `values[start..end]`: by insertion if it is short, otherwise by a heap.
#[inline(always)]
pub fn sort<T: Index>(values: Out<T>, start: u32, end: u32) {
    if end - start > SHORT {
        return heap_sort(values, start, end);
    }
    let mut i = start + 1;
    while i < end {
        let value = values.at(i);
        let mut hole = i;
        while hole > start && values.at(hole - 1) > value {
            values.set(hole, values.at(hole - 1));
            hole -= 1;
        }
        values.set(hole, value);
        i += 1;
    }
}

#[inline(always)]
fn heap_sort<T: Index>(values: Out<T>, start: u32, end: u32) {
    let at = |i| values.at(start + i);
    let sift = |mut parent: u32, count: u32| {
        let value = at(parent);
        loop {
            let mut child = 2 * parent + 1;
            if child >= count {
                break;
            }
            if child + 1 < count && at(child + 1) > at(child) {
                child += 1;
            }
            if at(child) <= value {
                break;
            }
            values.set(start + parent, at(child));
            parent = child;
        }
        values.set(start + parent, value);
    };
    let count = end - start;
    let mut parent = count / 2;
    while parent > 0 {
        parent -= 1;
        sift(parent, count);
    }
    let mut last = count;
    while last > 1 {
        last -= 1;
        let (first, value) = (at(0), at(last));
        values.set(start, value);
        values.set(start + last, first);
        sift(0, last);
    }
}
