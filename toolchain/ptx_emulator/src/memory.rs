//! Memory of the devices: the addresses that a kernel may use.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::slice;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::program::UNWRITTEN;

/// The driver's alignment.
const ALIGNMENT: usize = 256;
/// Bytes of new memory.
const PATTERN: u8 = UNWRITTEN as u8;

/// Addresses from `start` up to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub start: u64,
    pub end: u64,
    /// The address of a byte for each byte, 1 once it is written; 0 if writes are not recorded.
    marks: u64,
}

impl Range {
    /// Whether all of these bytes are in the range.
    pub fn holds(self, address: u64, bytes: usize) -> bool {
        let last = address.checked_add(bytes as u64);
        self.start <= address && last.is_some_and(|last| last <= self.end)
    }

    /// Memory of another owner.
    pub fn unmarked(start: u64, bytes: usize) -> Self {
        Self {
            start,
            end: start + bytes as u64,
            marks: 0,
        }
    }

    /// Some of its bytes.
    pub fn part(self, address: u64, bytes: usize) -> Range {
        let marks = match self.marks {
            0 => 0,
            marks => marks + (address - self.start),
        };
        Range {
            start: address,
            end: address + bytes as u64,
            marks,
        }
    }

    fn bytes(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The marks of bytes in the range.
    fn marks(&self, address: u64, bytes: usize) -> &[AtomicU8] {
        if self.marks == 0 {
            return &[];
        }
        let first = self.marks + (address - self.start);
        // SAFETY: a mark for each byte, which lives as long as the memory; only atomic operations use it.
        unsafe { slice::from_raw_parts(first as *const AtomicU8, bytes) }
    }

    /// Records that these bytes are written.
    pub fn mark(&self, address: u64, bytes: usize) {
        for mark in self.marks(address, bytes) {
            mark.store(1, Relaxed);
        }
    }

    /// Copies another range's records for bytes that were copied here.
    pub fn mark_as(&self, address: u64, other: &Self, from: u64, bytes: usize) {
        let marks = self.marks(address, bytes).iter();
        for (i, mark) in marks.enumerate() {
            let is_written = other.is_written(from + i as u64, 1);
            mark.store(is_written.into(), Relaxed);
        }
    }

    /// Whether these bytes are written, as far as this is recorded.
    pub fn is_written(&self, address: u64, bytes: usize) -> bool {
        let mut marks = self.marks(address, bytes).iter();
        marks.all(|mark| mark.load(Relaxed) != 0)
    }
}

/// An array that a launch takes.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Its name, for messages.
    pub name: &'static str,
    /// Where it begins.
    pub address: u64,
    /// Number of elements.
    pub len: u64,
    /// Size of all of them.
    pub bytes: u64,
}

/// Memory, by its start.
#[derive(Default)]
pub struct Ranges(Mutex<BTreeMap<u64, Range>>);

impl Ranges {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Range>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds memory of another owner.
    pub fn add(&self, address: u64, bytes: usize) {
        self.lock().insert(address, Range::unmarked(address, bytes));
    }

    /// Removes the memory that starts there.
    pub fn remove(&self, address: u64) -> Option<Range> {
        self.lock().remove(&address)
    }

    /// New memory, whose writes are recorded if `is_marked`.
    pub fn allocate(&self, bytes: usize, is_marked: bool) -> Option<u64> {
        let layout = layout(bytes, is_marked)?;
        // SAFETY: the layout has at least one byte.
        let at = unsafe { alloc(layout) };
        if at.is_null() {
            return None;
        }
        let first_mark = bytes.next_multiple_of(ALIGNMENT);
        // SAFETY: just allocated.
        unsafe {
            at.write_bytes(PATTERN, bytes);
            if is_marked {
                at.add(first_mark).write_bytes(0, bytes);
            }
        }
        let start = at as u64;
        let range = Range {
            start,
            end: start + bytes as u64,
            marks: if is_marked {
                start + first_mark as u64
            } else {
                0
            },
        };
        self.lock().insert(start, range);
        Some(start)
    }

    /// Frees memory from [`Ranges::allocate`]. Returns its bytes.
    pub fn free(&self, address: u64) -> Option<usize> {
        let range = self.remove(address)?;
        let layout = layout(range.bytes(), range.marks != 0)?;
        // SAFETY: allocated with this layout, and no longer in the list.
        unsafe { dealloc(address as *mut u8, layout) };
        Some(range.bytes())
    }

    /// The memory that has all of these bytes.
    pub fn find(&self, address: u64, bytes: usize) -> Option<Range> {
        let ranges = self.lock();
        let (_, range) = ranges.range(..=address).next_back()?;
        range.holds(address, bytes).then_some(*range)
    }

    pub fn snapshot(&self) -> Vec<Range> {
        self.lock().values().copied().collect()
    }
}

/// The bytes, followed by one mark for each.
fn layout(bytes: usize, is_marked: bool) -> Option<Layout> {
    let all = match is_marked {
        true => bytes.next_multiple_of(ALIGNMENT).checked_add(bytes)?,
        false => bytes,
    };
    Layout::from_size_align(all.max(1), ALIGNMENT).ok()
}

/// The memory that a launch may use, with the range that was used last.
pub struct View<'a> {
    ranges: &'a [Range],
    last: Range,
}

impl<'a> View<'a> {
    /// `ranges` ascend.
    pub fn new(ranges: &'a [Range]) -> Self {
        Self {
            ranges,
            last: Range::default(),
        }
    }

    /// The memory with these bytes, if a kernel may use it.
    pub fn find(&mut self, address: u64, bytes: usize) -> Option<Range> {
        if self.last.holds(address, bytes) {
            return Some(self.last);
        }
        let behind = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges[behind.checked_sub(1)?];
        self.last = range.holds(address, bytes).then_some(range)?;
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_in_one_range() {
        let ranges = [(100, 116), (116, 120), (200, 300)].map(|(start, end)| Range {
            start,
            end,
            marks: 0,
        });
        let mut view = View::new(&ranges);
        for (address, bytes, is_inside) in [
            (100, 16, true),
            (99, 1, false),
            (112, 8, false),
            (116, 4, true),
            (120, 1, false),
            (299, 1, true),
            (299, 2, false),
            (u64::MAX, 8, false),
        ] {
            assert_eq!(view.find(address, bytes).is_some(), is_inside, "{address}");
        }
        let all = Ranges::default();
        let at = all.allocate(24, true).unwrap();
        assert!(all.find(at, 24).is_some() && all.find(at + 8, 24).is_none());
        // SAFETY: allocated above, and filled.
        assert_eq!(unsafe { *(at as *const u8) }, PATTERN);
        let range = all.find(at + 23, 1).unwrap();
        range.mark(at + 4, 4);
        assert!(range.is_written(at + 4, 4) && !range.is_written(at + 4, 5));
        assert_eq!(all.free(at), Some(24));
        assert!(all.find(at, 1).is_none() && all.free(at).is_none());
    }
}
