//! A stable sort by keys with few bits.

use trioxide_collective::{self as kernel, DIGIT_BITS, DIGITS, SORT_TILE};
use trioxide_kernel::launch::Buffer;

use super::{count, exclusive_scan};
use crate::Result;
use crate::device::Device;

/// The elements in ascending order of their keys, elements with equal keys in ascending order. All keys are below
/// 2^`bits`.
///
/// The host does not wait.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for more than 2^32 - 1 keys; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::order_by_keys};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let order = order_by_keys(&on, on.upload(&[3, 1, 3, 0])?, 2)?;
/// assert_eq!(on.download(&order)?, [3, 1, 0, 2]);
/// # Ok(())
/// # }
/// ```
pub fn order_by_keys(on: &Device, mut keys: Buffer<u32>, bits: u32) -> Result<Buffer<u32>> {
    let n = count("keys", keys.len())?;
    let tiles = n.div_ceil(SORT_TILE);
    let mut items = on.uninitialized(0)?;
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    for pass in 0..passes {
        let shift = pass * DIGIT_BITS;
        let mut starts = on.uninitialized((DIGITS * tiles) as usize)?;
        // SAFETY: each block reads its tile, within the keys, and writes its own counts.
        unsafe { kernel::count_digits::launch(on, tiles, &keys, &mut starts, shift, tiles) }?;
        exclusive_scan(on, &mut starts)?;
        let is_last = pass + 1 == passes;
        let mut moved_keys = on.uninitialized(if is_last { 0 } else { keys.len() })?;
        let mut moved = on.uninitialized(keys.len())?;
        // SAFETY: as above; by the scanned counts of the same keys each item has a place of its own.
        unsafe {
            kernel::move_by_digit::launch(
                on,
                tiles,
                &keys,
                &items,
                &starts,
                &mut moved_keys,
                &mut moved,
                shift,
                tiles,
            )
        }?;
        items = moved;
        if !is_last {
            keys = moved_keys;
        }
    }
    Ok(items)
}
