//! Collectives on a device: scan, compact, bucket. The kernels are in `gpu::collective`.

use gpu::collective::{self as kernel, BIT_TILE, TILE};
use trioxide_kernel::BitWord;
use trioxide_kernel::launch::Buffer;

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
        unsafe { kernel::scan_sums::launch(on, 1, values, &mut total, n as u32) }?;
    } else {
        let tiles = n.div_ceil(TILE as usize);
        let mut sums = on.uninitialized(tiles)?;
        unsafe { kernel::sum_tiles::launch(on, tiles as u32, values, &mut sums) }?;
        unsafe { kernel::scan_sums::launch(on, 1, &mut sums, &mut total, tiles as u32) }?;
        unsafe { kernel::scan_tiles::launch(on, tiles as u32, values, &sums) }?;
    }
    Ok(total)
}

/// A bit set whose set bits are counted.
pub struct Counted {
    /// Number of set bits before each tile.
    tiles: Buffer<u32>,
    /// Number of set bits.
    pub total: u32,
}

impl Counted {
    /// Counts the set bits of `bits`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<Self> {
        let bits = bits.as_words();
        let mut tiles = on.uninitialized(bits.len().div_ceil(BIT_TILE as usize))?;
        unsafe { kernel::count_bits::launch(on, tiles.len() as u32, bits, &mut tiles) }?;
        let total = exclusive_scan(on, &mut tiles)?;
        Ok(Self {
            tiles,
            total: on.read(&total, 0)?,
        })
    }

    /// Ascending list of the set bits of `bits`, which are those that were counted.
    ///
    /// # Errors
    /// Those of the device.
    pub fn list<W: BitWord>(&self, on: &Device, bits: &Buffer<W>) -> Result<Buffer<W::Member>> {
        let bits = bits.as_words();
        let mut list = on.uninitialized(self.total as usize)?;
        if self.total > 0 {
            unsafe {
                kernel::list_bits::launch(on, self.tiles.len() as u32, bits, &self.tiles, &mut list)
            }?;
        }
        Ok(list.cast())
    }
}

/// Number of set bits of a bit set.
///
/// # Errors
/// Those of the device.
pub fn count_bits<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<u32> {
    Ok(Counted::new(on, bits)?.total)
}

/// Ascending list of the set bits of a bit set.
///
/// # Errors
/// Those of the device.
pub fn compact<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<Buffer<W::Member>> {
    Counted::new(on, bits)?.list(on, bits)
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
    let (offsets, total) = count_keys(on, keys, buckets)?;
    let items = on.read(&total, 0)? as usize;
    fill_buckets(on, keys, buckets, offsets, items)
}

/// As [`bucket`], where the number of elements with a key is known: without a wait for it.
///
/// # Errors
/// Those of the device.
pub fn bucket_known(
    on: &Device,
    keys: &Buffer<u32>,
    buckets: usize,
    items: usize,
) -> Result<Buckets> {
    let (offsets, _) = count_keys(on, keys, buckets)?;
    fill_buckets(on, keys, buckets, offsets, items)
}

/// Scanned counts of the keys, and the number of all.
fn count_keys(
    on: &Device,
    keys: &Buffer<u32>,
    buckets: usize,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let mut offsets = on.filled(buckets + 1, 0)?;
    unsafe { kernel::count_keys::launch(on, keys.len() as u32, keys, &mut offsets) }?;
    let total = exclusive_scan(on, &mut offsets)?;
    Ok((offsets, total))
}

fn fill_buckets(
    on: &Device,
    keys: &Buffer<u32>,
    buckets: usize,
    mut offsets: Buffer<u32>,
    items: usize,
) -> Result<Buckets> {
    let mut items = on.uninitialized(items)?;
    unsafe { kernel::fill_buckets::launch(on, keys.len() as u32, keys, &mut offsets, &mut items) }?;
    unsafe { kernel::order_buckets::launch(on, buckets as u32, &offsets, &mut items) }?;
    Ok(Buckets { offsets, items })
}
