//! Memory of the devices: which addresses a kernel may use.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// As the driver aligns it.
const ALIGNMENT: usize = 256;
/// Bytes of new memory: no small number, no address, and NaN as a float.
const PATTERN: u8 = 0xfb;

/// Ranges of addresses, by their beginnings, with their bytes.
#[derive(Default)]
pub struct Ranges(Mutex<BTreeMap<u64, u64>>);

impl Ranges {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that somebody else owns.
    pub fn add(&self, address: u64, bytes: usize) {
        self.lock().insert(address, bytes as u64);
    }

    /// The bytes of the range that began there.
    pub fn remove(&self, address: u64) -> Option<usize> {
        self.lock().remove(&address).map(|bytes| bytes as usize)
    }

    /// New memory.
    pub fn allocate(&self, bytes: usize) -> Option<u64> {
        // SAFETY: the layout has at least one byte.
        let at = unsafe { alloc(layout(bytes)?) };
        if at.is_null() {
            return None;
        }
        // SAFETY: just allocated.
        unsafe { at.write_bytes(PATTERN, bytes) };
        self.add(at as u64, bytes);
        Some(at as u64)
    }

    /// Gives back what [`Ranges::allocate`] gave; its bytes.
    pub fn free(&self, address: u64) -> Option<usize> {
        let bytes = self.remove(address)?;
        // SAFETY: allocated with this layout, and no longer in the list.
        unsafe { dealloc(address as *mut u8, layout(bytes)?) };
        Some(bytes)
    }

    /// Whether all of these bytes are in one range.
    pub fn has(&self, address: u64, bytes: usize) -> bool {
        let ranges = self.lock();
        let before = ranges.range(..=address).next_back();
        before.is_some_and(|(start, length)| holds((*start, start + length), address, bytes))
    }

    pub fn snapshot(&self) -> Vec<(u64, u64)> {
        let ranges = self.lock();
        ranges
            .iter()
            .map(|(start, bytes)| (*start, start + bytes))
            .collect()
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()
}

/// Whether a range, up to its end, has all of these bytes.
pub fn holds((start, end): (u64, u64), address: u64, bytes: usize) -> bool {
    let last = address.checked_add(bytes as u64);
    start <= address && last.is_some_and(|last| last <= end)
}

/// The ranges that a launch may use, and the last one that was used.
pub struct View<'a> {
    ranges: &'a [(u64, u64)],
    last: (u64, u64),
}

impl<'a> View<'a> {
    /// `ranges` ascend.
    pub fn new(ranges: &'a [(u64, u64)]) -> Self {
        Self {
            ranges,
            last: (0, 0),
        }
    }

    /// Whether a kernel may use these bytes.
    pub fn allows(&mut self, address: u64, bytes: usize) -> bool {
        if holds(self.last, address, bytes) {
            return true;
        }
        let behind = self.ranges.partition_point(|range| range.0 <= address);
        let Some(&range) = behind.checked_sub(1).map(|i| &self.ranges[i]) else {
            return false;
        };
        if holds(range, address, bytes) {
            self.last = range;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_in_one_range() {
        let ranges = [(100, 116), (116, 120), (200, 300)];
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
            assert_eq!(view.allows(address, bytes), is_inside, "{address}");
        }
        let all = Ranges::default();
        let at = all.allocate(24).unwrap();
        assert!(all.has(at, 24) && all.has(at + 23, 1) && !all.has(at + 8, 24));
        // SAFETY: allocated above, and filled.
        assert_eq!(unsafe { *(at as *const u8) }, PATTERN);
        assert_eq!(all.free(at), Some(24));
        assert!(!all.has(at, 1) && all.free(at).is_none());
    }
}
