//! Records that threads write into a file's pages.

use std::ops::Range;

/// Records whose places are known before they are written.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    /// Number of records.
    pub count: usize,
    /// Bytes of a range of records.
    pub bytes: &'a (dyn Fn(Range<usize>) -> usize + Sync),
    /// Fills bytes with a range of records.
    pub make: &'a (dyn Fn(&mut [u8], Range<usize>) + Sync),
}
