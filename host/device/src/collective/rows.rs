//! Values sorted within rows.

use trioxide_collective::{self as kernel, RUN};
use trioxide_kernel::Word;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::view::AtomicElement;

use super::count;
use crate::Result;
use crate::device::Device;

/// Length of the longest row: row r goes from `offsets[r]` to `offsets[r + 1]`. 0 without rows.
///
/// # Errors
/// Errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::longest_row};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// assert_eq!(longest_row(&on, &on.upload(&[0, 2, 2, 5])?)?, 3);
/// # Ok(())
/// # }
/// ```
pub fn longest_row(on: &Device, offsets: &Buffer<u32>) -> Result<u32> {
    let mut found = on.filled(1, u32::MAX)?;
    let rows = offsets.len().saturating_sub(1) as u32;
    // SAFETY: one index a row; the lengths are checked.
    unsafe { kernel::find_longest::launch(on, rows, offsets, &mut found) }?;
    Ok(!on.read(&found, 0)?)
}

/// The values of each row in ascending order. Row r goes from `offsets[r]` to `offsets[r + 1]`, and the value in
/// place i is in row `owners[i]`. No row is longer than `longest`.
///
/// For rows of a few values: a value of a row of n takes time for n, up to 32, and for log² n beyond.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for more than 2^32 - 1 values; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::sort_rows};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (offsets, owners) = (on.upload(&[0, 3, 4])?, on.upload(&[0, 0, 0, 1])?);
/// let values = on.upload(&[9u64, 7, 8, 1])?;
/// let sorted = sort_rows(&on, &offsets, &owners, 3, &values)?;
/// assert_eq!(on.download(&sorted)?, [7, 8, 9, 1]);
/// # Ok(())
/// # }
/// ```
pub fn sort_rows<T: AtomicElement + Ord, K: Word>(
    on: &Device,
    offsets: &Buffer<u32>,
    owners: &Buffer<K>,
    longest: u32,
    values: &Buffer<T>,
) -> Result<Buffer<T>> {
    let (n, owners) = (count("values", values.len())?, owners.as_words());
    if longest < 2 {
        return on.duplicate(values);
    }
    let mut ordered = on.uninitialized(values.len())?;
    kernel::order_row_runs::launch(on, n, owners, offsets, values, &mut ordered)?;
    let mut level = RUN.ilog2();
    while u64::from(longest) > 1 << level {
        let mut merged = on.uninitialized(values.len())?;
        kernel::merge_row_runs::launch(on, n, owners, offsets, &ordered, level, &mut merged)?;
        ordered = merged;
        level += 1;
    }
    Ok(ordered)
}
