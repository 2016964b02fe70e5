//! Collectives on a device: scan, compact, bucket, rank. The kernels are in `gpu::collective`.

use gpu::collective::{self as kernel, BIT_TILE, RANK_STEP, TILE};
use gpu::launch::Buffer;

use crate::Result;
use crate::backend::Device;

/// Most elements that one block scans alone.
const SCANNED_BY_ONE_BLOCK: usize = 4 * TILE as usize;

/// Replaces each value by the sum of those before it; the sum of all is the one element of the result.
///
/// Sums are taken modulo 2^32.
///
/// # Errors
/// Those of the device.
pub fn exclusive_scan(on: &Device, values: &mut Buffer<u32>) -> Result<Buffer<u32>> {
    let n = values.len();
    let mut total = on.uninitialized(1)?;
    if n <= SCANNED_BY_ONE_BLOCK {
        kernel::scan_sums::launch(on, 1, values, &mut total, n as u32)?;
    } else {
        let tiles = n.div_ceil(TILE as usize);
        let mut sums = on.uninitialized(tiles)?;
        kernel::sum_tiles::launch(on, tiles as u32, values, &mut sums)?;
        kernel::scan_sums::launch(on, 1, &mut sums, &mut total, tiles as u32)?;
        kernel::scan_tiles::launch(on, tiles as u32, values, &sums)?;
    }
    Ok(total)
}

/// Number of set bits in each tile, scanned, and in all.
fn scan_bit_counts(on: &Device, bits: &Buffer<u32>) -> Result<(Buffer<u32>, u32)> {
    let tiles = bits.len().div_ceil(BIT_TILE as usize);
    let mut counts = on.uninitialized(tiles)?;
    kernel::count_bits::launch(on, tiles as u32, bits, &mut counts)?;
    let total = exclusive_scan(on, &mut counts)?;
    Ok((counts, on.read(&total, 0)?))
}

/// Number of set bits of a bit set.
///
/// # Errors
/// Those of the device.
pub fn count_bits(on: &Device, bits: &Buffer<u32>) -> Result<u32> {
    Ok(scan_bit_counts(on, bits)?.1)
}

/// Ascending list of the set bits of a bit set.
///
/// # Errors
/// Those of the device.
pub fn compact(on: &Device, bits: &Buffer<u32>) -> Result<Buffer<u32>> {
    let (counts, total) = scan_bit_counts(on, bits)?;
    let mut list = on.uninitialized(total as usize)?;
    if total > 0 {
        kernel::list_bits::launch(on, counts.len() as u32, bits, &counts, &mut list)?;
    }
    Ok(list)
}

/// Ranks in a bit set.
pub struct Ranks {
    /// Set bits before each [`RANK_STEP`] bits.
    pub sums: Buffer<u32>,
    /// Set bits of all.
    pub total: u32,
}

/// How many bits are set before each bit, as `gpu::collective::Ranks` reads it.
///
/// # Errors
/// Those of the device.
pub fn rank(on: &Device, bits: &Buffer<u32>) -> Result<Ranks> {
    let steps = (32 * bits.len()).div_ceil(RANK_STEP as usize);
    let mut sums = on.uninitialized(steps)?;
    kernel::count_steps::launch(on, steps as u32, bits, &mut sums)?;
    let total = exclusive_scan(on, &mut sums)?;
    Ok(Ranks {
        sums,
        total: on.read(&total, 0)?,
    })
}

/// Elements by key, in compressed sparse rows.
pub struct Buckets {
    /// Start of each key's elements in `items`, and the end of the last.
    pub offsets: Buffer<u32>,
    /// Elements, ascending for each key.
    pub items: Buffer<u32>,
}

/// Sorts elements into buckets by `keys` below `buckets`; an element whose key is `NONE` is left out.
///
/// # Errors
/// Those of the device.
pub fn bucket(on: &Device, keys: &Buffer<u32>, buckets: usize) -> Result<Buckets> {
    let n = keys.len() as u32;
    let mut offsets = on.filled(buckets + 1, 0)?;
    kernel::count_keys::launch(on, n, keys, &mut offsets)?;
    let total = exclusive_scan(on, &mut offsets)?;
    let mut items = on.uninitialized(on.read(&total, 0)? as usize)?;
    kernel::fill_buckets::launch(on, n, keys, &mut offsets, &mut items)?;
    kernel::order_buckets::launch(on, buckets as u32, &offsets, &mut items)?;
    Ok(Buckets { offsets, items })
}
