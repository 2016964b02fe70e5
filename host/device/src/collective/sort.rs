//! A stable sort by keys with few bits.

use trioxide_collective::{self as kernel, BYTES, DIGIT_BITS, DIGITS, SORT_TILE};
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
pub fn order_by_keys(on: &Device, keys: Buffer<u32>, bits: u32) -> Result<Buffer<u32>> {
    order_by(on, keys, bits, !on.is_gpu())
}

/// As [`order_by_keys`], by bytes or by four bits at a time on any machine, for tests: the result is the same.
#[doc(hidden)]
pub fn order_by(
    on: &Device,
    mut keys: Buffer<u32>,
    bits: u32,
    by_bytes: bool,
) -> Result<Buffer<u32>> {
    let n = count("keys", keys.len())?;
    let (digit_bits, chunk) = match by_bytes {
        false => (DIGIT_BITS, SORT_TILE),
        true => (BYTES.ilog2(), n.div_ceil(MOST_CHUNKS).max(LEAST_CHUNK)),
    };
    let chunks = n.div_ceil(chunk);
    let mut items = on.uninitialized(0)?;
    let passes = bits.div_ceil(digit_bits).max(1);
    for pass in 0..passes {
        let shift = pass * digit_bits;
        let is_last = pass + 1 == passes;
        let mut moved_keys = on.uninitialized(if is_last { 0 } else { keys.len() })?;
        let mut moved = on.uninitialized(keys.len())?;
        let to = (&mut moved_keys, &mut moved);
        match by_bytes {
            false => move_by_digits(on, chunks, (&keys, &items), to, shift)?,
            true => move_by_bytes(on, chunks, chunk, (&keys, &items), to, shift)?,
        }
        items = moved;
        if !is_last {
            keys = moved_keys;
        }
    }
    Ok(items)
}

/// Most chunks on a CPU, several for each thread.
const MOST_CHUNKS: u32 = 256;
/// Least keys of a chunk: many times as many as it has counters.
const LEAST_CHUNK: u32 = 1 << 14;

/// Moves items, and their keys unless it is the last pass, by the digits from bit `shift` on.
fn move_by_digits(
    on: &Device,
    tiles: u32,
    (keys, items): (&Buffer<u32>, &Buffer<u32>),
    (moved_keys, moved): (&mut Buffer<u32>, &mut Buffer<u32>),
    shift: u32,
) -> Result<()> {
    let mut starts = on.uninitialized((DIGITS * tiles) as usize)?;
    // SAFETY: each block reads its tile, within the keys, and writes its own counts.
    unsafe { kernel::count_digits::launch(on, tiles, keys, &mut starts, shift, tiles) }?;
    exclusive_scan(on, &mut starts)?;
    // SAFETY: as above; by the scanned counts of the same keys each item has a place of its own.
    unsafe {
        kernel::move_by_digit::launch(
            on, tiles, keys, items, &starts, moved_keys, moved, shift, tiles,
        )
    }?;
    Ok(())
}

/// As [`move_by_digits`], by bytes.
fn move_by_bytes(
    on: &Device,
    chunks: u32,
    chunk: u32,
    (keys, items): (&Buffer<u32>, &Buffer<u32>),
    (moved_keys, moved): (&mut Buffer<u32>, &mut Buffer<u32>),
    shift: u32,
) -> Result<()> {
    let mut starts = on.uninitialized((BYTES * chunks) as usize)?;
    // SAFETY: each block reads its chunk, within the keys, and writes its own counts.
    unsafe { kernel::count_bytes::launch(on, chunks, keys, &mut starts, shift, chunk, chunks) }?;
    exclusive_scan(on, &mut starts)?;
    // SAFETY: as above; by the scanned counts of the same keys each item has a place of its own.
    unsafe {
        kernel::move_by_byte::launch(
            on, chunks, keys, items, &starts, moved_keys, moved, shift, chunk, chunks,
        )
    }?;
    Ok(())
}
