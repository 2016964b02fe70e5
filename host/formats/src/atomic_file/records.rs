//! Records that threads make in a file's pages.

use std::ops::Range;

/// Records whose places are known before they are made.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    /// Number of records.
    pub count: usize,
    /// Bytes of a range of them.
    pub bytes: &'a (dyn Fn(Range<usize>) -> usize + Sync),
    /// Fills as many bytes with a range of them.
    pub make: &'a (dyn Fn(&mut [u8], Range<usize>) + Sync),
}
