//! Collectives on a device: scan, compact, bucket. The kernels are in `gpu::collective`.
//!
//! Each function takes any input: values, bits and keys need no check before.

mod local;
mod sort;
mod spread;

use std::marker::PhantomData;

use bytemuck::Pod;
use gpu::collective::{self as kernel, BIT_TILE, RowsBuffers, TILE};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{BitWord, Bits, Index, NONE, Word, words};

use crate::backend::{BitSet, Device};
use crate::{Error, Result};

pub(crate) use local::{bucket_local, start_local};
pub(crate) use sort::order_by_keys;
pub(crate) use spread::is_scattered;

/// Most elements that one block scans alone.
const SCANNED_BY_ONE_BLOCK: usize = 4 * TILE as usize;

/// Words of the largest bit set: the number of its members is a `u32`.
const MOST_WORDS: usize = (u32::MAX / 32) as usize;

/// Replaces each value by the sum of the values before it; the sum of all is the one element of the result.
///
/// Sums are taken modulo 2^32.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 values; errors of the device.
///
/// ```
/// # use trioxide::{Device, collective::exclusive_scan};
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut values = on.upload(&[3, 1, 4])?;
/// let total = exclusive_scan(&on, &mut values)?;
/// assert_eq!(on.download(&values)?, [0, 3, 4]);
/// assert_eq!(on.download(&total)?, [8]);
/// # Ok(())
/// # }
/// ```
pub fn exclusive_scan(on: &Device, values: &mut Buffer<u32>) -> Result<Buffer<u32>> {
    let n = count("values", values.len())?;
    let mut total = on.uninitialized(1)?;
    if values.len() <= SCANNED_BY_ONE_BLOCK {
        // SAFETY: the block forms no index from the values, and none behind their number.
        unsafe { kernel::scan_sums::launch(on, 1, values, &mut total, n) }?;
    } else {
        let tiles = n.div_ceil(TILE);
        let mut sums = on.uninitialized(tiles as usize)?;
        // SAFETY: each block reads its tile, as far as there are values, and writes its own sum.
        unsafe { kernel::sum_tiles::launch(on, tiles, values, &mut sums) }?;
        // SAFETY: as above.
        unsafe { kernel::scan_sums::launch(on, 1, &mut sums, &mut total, tiles) }?;
        // SAFETY: each block reads its own sum, and reads and writes its own tile, as far as there are values.
        unsafe { kernel::scan_tiles::launch(on, tiles, values, &sums) }?;
    }
    Ok(total)
}

/// Room for `n` lengths, and behind them a zero: the scan of [`exclusive_scan`] puts their sum there.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn lengths(on: &Device, n: usize) -> Result<Buffer<u32>> {
    let mut lengths = on.uninitialized(n + 1)?;
    on.fill_from(&mut lengths, n, 0)?;
    Ok(lengths)
}

/// The number of elements as an index.
fn count(what: &str, len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| {
        Error::Argument(format!(
            "{len} {what} are too many: at most {} have 32-bit indices",
            u32::MAX
        ))
    })
}

/// A bit set whose members are counted.
pub struct Counted<'b, W> {
    bits: &'b Buffer<W>,
    /// Number of members before each tile.
    tiles: Buffer<u32>,
    total: u32,
}

impl<'b, W: BitWord> Counted<'b, W> {
    /// Counts the members of `bits`.
    ///
    /// # Errors
    /// [`Error::Argument`] for more bits than 32-bit indices can name; errors of the device.
    pub fn new(on: &Device, bits: &'b Buffer<W>) -> Result<Self> {
        Tiled::new(on, bits)?.count(on)
    }

    /// Number of members.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Ascending list of the members.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn list(&self, on: &Device) -> Result<Buffer<W::Member>> {
        let mut list = on.uninitialized(self.total as usize)?;
        if self.total > 0 {
            // SAFETY: the counted bits, borrowed since; there is room for all members.
            unsafe { list_bits(on, self.bits.as_words(), &self.tiles, &mut list) }?;
        }
        Ok(list.cast())
    }
}

/// Lists the members of a bit set, with the number of them before each of its tiles.
///
/// # Safety
/// `tiles` are those of `bits`, and `list` has room for all members.
unsafe fn list_bits(
    on: &Device,
    bits: &Buffer<u32>,
    tiles: &Buffer<u32>,
    list: &mut Buffer<u32>,
) -> Result<()> {
    let is_short = tiles.len() <= kernel::FEW_TILES as usize;
    let rounds = if is_short { 1 } else { kernel::ROUNDS };
    let blocks = bits.len().div_ceil((kernel::ROUND * rounds) as usize);
    // SAFETY: each block writes as many members as it counts, from the number of members before it on.
    unsafe { kernel::list_bits::launch(on, blocks as u32, bits, tiles, rounds, list) }?;
    Ok(())
}

/// Number of members of a bit set.
///
/// # Errors
/// Errors of [`Counted::new`].
pub fn count_bits<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<u32> {
    Ok(Counted::new(on, bits)?.total)
}

/// Ascending list of the members of a bit set.
///
/// # Errors
/// Errors of [`Counted::new`].
///
/// ```
/// # use trioxide::{Device, collective::compact};
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let bits = on.upload(&[0b1001, 1])?;
/// assert_eq!(on.download(&compact(&on, &bits)?)?, [0, 3, 32]);
/// # Ok(())
/// # }
/// ```
pub fn compact<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<Buffer<W::Member>> {
    Counted::new(on, bits)?.list(on)
}

/// As [`compact`], in memory for a member of each bit: a GPU lists them before the host knows how many there are.
///
/// # Errors
/// Errors of [`Counted::new`].
pub(crate) fn compact_with_room<W: BitWord>(
    on: &Device,
    bits: &Buffer<W>,
) -> Result<Buffer<W::Member>> {
    let tiled = Tiled::new(on, bits)?;
    let mut list = on.uninitialized(32 * bits.len())?;
    let (total, ()) = on.read_beside(&tiled.total, || {
        // SAFETY: the counted bits; there is room for a member of each.
        unsafe { list_bits(on, bits.as_words(), &tiled.tiles, &mut list) }?;
        Ok(())
    })?;
    list.set_len(total[0] as usize);
    Ok(list.cast())
}

/// Adds the number of members of `bits` to `tally[slot]`, without a wait.
///
/// # Errors
/// Errors of the device.
pub(crate) fn tally_bits<W: BitWord>(
    on: &Device,
    bits: &Buffer<W>,
    tally: &mut Buffer<u32>,
    slot: u32,
) -> Result<()> {
    let n = bits.len().div_ceil(BIT_TILE as usize) as u32;
    // SAFETY: each block reads its tile, as far as there are words; the slot is checked.
    unsafe { kernel::tally_bits::launch(on, n, bits.as_words(), tally, slot) }?;
    Ok(())
}

/// A bit set whose tiles are counted, while the host does not know the sum.
pub(crate) struct Tiled<'b, W> {
    bits: &'b Buffer<W>,
    /// Number of members before each tile.
    tiles: Buffer<u32>,
    total: Buffer<u32>,
}

impl<'b, W: BitWord> Tiled<'b, W> {
    /// Counts the members of the tiles of `bits`, without a wait.
    ///
    /// # Errors
    /// Errors of [`Counted::new`].
    pub(crate) fn new(on: &Device, bits: &'b Buffer<W>) -> Result<Self> {
        if bits.len() > MOST_WORDS {
            return Err(Error::Argument(format!(
                "a bit set of {} words is too large: at most {MOST_WORDS} have members with 32-bit indices",
                bits.len()
            )));
        }
        let mut tiles = on.uninitialized(bits.len().div_ceil(BIT_TILE as usize))?;
        let n = tiles.len() as u32;
        // SAFETY: each block reads its tile, as far as there are words, and writes its own count.
        unsafe { kernel::count_bits::launch(on, n, bits.as_words(), &mut tiles) }?;
        let total = exclusive_scan(on, &mut tiles)?;
        Ok(Self { bits, tiles, total })
    }

    /// The set with its count.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn count(self, on: &Device) -> Result<Counted<'b, W>> {
        Ok(self.count_beside(on, || Ok(()))?.0)
    }

    /// The set with its count, and the result of `work`, which a GPU does meanwhile.
    ///
    /// # Errors
    /// Errors of the device and of `work`.
    pub(crate) fn count_beside<R>(
        self,
        on: &Device,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Counted<'b, W>, R)> {
        let (total, result) = on.read_beside(&self.total, work)?;
        // SAFETY: the total of the tiles.
        Ok((unsafe { self.counted(total[0]) }, result))
    }

    /// The set with its count, which is known from elsewhere.
    ///
    /// # Safety
    /// The set has `total` members.
    pub(crate) unsafe fn counted(self, total: u32) -> Counted<'b, W> {
        Counted {
            bits: self.bits,
            tiles: self.tiles,
            total,
        }
    }

    /// The words, each with the number of members before it, for [`rank_of`](kernel::rank_of).
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn ranks(&self, on: &Device) -> Result<Buffer<u32>> {
        let mut ranks = on.uninitialized(2 * self.bits.len())?;
        let (n, bits) = (self.tiles.len() as u32, self.bits.as_words());
        // SAFETY: each block reads its tile, as far as there are words, and writes two words for each.
        unsafe { kernel::rank_bits::launch(on, n, bits, &self.tiles, &mut ranks) }?;
        Ok(ranks)
    }
}

/// The bit set of the elements whose flag is set: any byte but 0.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 flags; errors of the device.
///
/// ```
/// # use trioxide::{Device, collective::pack_flags};
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let bits = pack_flags::<u32>(&on, &on.upload(&[1u8, 0, 0, 255])?)?;
/// assert_eq!(on.download(bits.as_words())?, [0b1001]);
/// # Ok(())
/// # }
/// ```
pub fn pack_flags<E: Index>(on: &Device, flags: &Buffer<u8>) -> Result<BitSet<E>> {
    let n = count("flags", flags.len())?;
    let mut bits = on.uninitialized(words(flags.len()))?;
    // SAFETY: no index comes from data.
    unsafe { kernel::pack_flags::launch(on, n, flags, &mut bits) }?;
    Ok(bits.cast())
}

/// The bit set of the elements in a list, of `elements` in all, and the place of the first id in the list that is none of an
/// element.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 ids or elements; errors of the device.
///
/// ```
/// # use trioxide::{Device, collective::mark_ids};
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let (bits, wrong) = mark_ids::<u32>(&on, &on.upload(&[3, 0, 4])?, 4)?;
/// assert_eq!((on.download(bits.as_words())?, wrong), (vec![0b1001], Some(2)));
/// # Ok(())
/// # }
/// ```
pub fn mark_ids<E: Index>(
    on: &Device,
    ids: &Buffer<u32>,
    elements: usize,
) -> Result<(BitSet<E>, Option<u32>)> {
    let (n, elements) = (count("ids", ids.len())?, count("elements", elements)?);
    let mut bits = on.filled(words(elements as usize), Bits::EMPTY)?;
    let mut found = on.filled(1, NONE)?;
    // SAFETY: the kernel compares an id with the number of elements before it uses it.
    unsafe { kernel::mark_ids::launch(on, n, ids, &mut bits, &mut found, elements) }?;
    let wrong = Some(on.read(&found, 0)?).filter(|&place| place != NONE);
    Ok((bits.cast(), wrong))
}

/// Lists of elements `V`, one for each key `K`, on a device: compressed sparse rows.
pub struct Csr<K, V> {
    offsets: Buffer<u32>,
    items: Buffer<V>,
    key: PhantomData<K>,
}

impl<K: Index, V: Pod + Send + Sync> Csr<K, V> {
    /// Lists from their parts.
    ///
    /// # Safety
    /// `offsets` ascend from 0 to the number of `items`.
    pub(crate) unsafe fn from_parts(offsets: Buffer<u32>, items: Buffer<V>) -> Self {
        Self {
            offsets,
            items,
            key: PhantomData,
        }
    }

    /// Number of keys.
    pub fn keys(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Start of each key's elements among [`Csr::items`], and the end of the last.
    pub fn offsets(&self) -> &Buffer<u32> {
        &self.offsets
    }

    /// The elements, ascending for each key.
    pub fn items(&self) -> &Buffer<V> {
        &self.items
    }

    /// Offsets, and the items, which stay elements.
    pub(crate) fn parts_mut(&mut self) -> (&Buffer<u32>, &mut Buffer<V>) {
        (&self.offsets, &mut self.items)
    }

    /// Offsets and items.
    pub fn into_parts(self) -> (Buffer<u32>, Buffer<V>) {
        (self.offsets, self.items)
    }

    /// The parameter of kernels.
    pub fn rows(&self) -> RowsBuffers<'_, V> {
        RowsBuffers {
            offsets: &self.offsets,
            items: &self.items,
        }
    }
}

/// Sorts elements into lists by `keys` below `count`: element i has key `keys[i]`. Elements with other keys, such as `NONE`, are
/// left out.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 elements or keys; errors of the device.
///
/// ```
/// # use trioxide::{Device, collective::{Csr, bucket}};
/// # fn main() -> trioxide::Result<()> {
/// let on = Device::cpu(None)?;
/// let keys = on.upload(&[2, 0, 2, 7])?;
/// let lists: Csr<u32, u32> = bucket(&on, &keys, 3)?;
/// assert_eq!(on.download(lists.offsets())?, [0, 1, 1, 3]);
/// assert_eq!(on.download(lists.items())?, [1, 0, 2]);
/// # Ok(())
/// # }
/// ```
pub fn bucket<K: Index + Word, V: Index + Word>(
    on: &Device,
    keys: &Buffer<K>,
    count: usize,
) -> Result<Csr<K, V>> {
    let (offsets, total) = count_keys(on, keys.as_words(), count)?;
    let items = on.read(&total, 0)? as usize;
    // SAFETY: `items` elements were counted.
    unsafe { fill_buckets(on, keys, offsets, items) }
}

/// As [`bucket`], where the number of elements with a key is known: it does not wait for the count.
///
/// # Errors
/// Errors of [`bucket`].
///
/// # Safety
/// `items` elements have a key below `count`.
pub(crate) unsafe fn bucket_known<K: Index + Word, V: Index + Word>(
    on: &Device,
    keys: &Buffer<K>,
    count: usize,
    items: usize,
) -> Result<Csr<K, V>> {
    let (offsets, _) = count_keys(on, keys.as_words(), count)?;
    // SAFETY: the caller's promise.
    unsafe { fill_buckets(on, keys, offsets, items) }
}

/// As [`bucket_known`], for lists any of which may hold most of the elements: one that is longer than `most_alone` is not ordered
/// by one thread, but merged by all. Returns the length of the longest too.
///
/// # Errors
/// Errors of [`bucket`].
///
/// # Safety
/// `items` elements have a key below `count`.
pub(crate) unsafe fn bucket_long<K: Index + Word, V: Index + Word>(
    on: &Device,
    keys: &Buffer<K>,
    count: usize,
    items: usize,
    most_alone: u32,
) -> Result<(Csr<K, V>, u32)> {
    let keys = keys.as_words();
    let (mut offsets, _) = count_keys(on, keys, count)?;
    let mut list = on.uninitialized(items)?;
    let n = keys.len() as u32;
    // SAFETY: each element takes another place, below the number of all (the caller's promise).
    unsafe { kernel::fill_buckets::launch(on, n, keys, &mut offsets, &mut list) }?;
    let mut found = on.filled(1, u32::MAX)?;
    // SAFETY: one index a bucket; the lengths are checked.
    unsafe { kernel::find_longest::launch(on, count as u32, &offsets, &mut found) }?;
    let longest = !on.read(&found, 0)?;
    if longest <= most_alone {
        // SAFETY: the lists are disjoint.
        unsafe { kernel::order_buckets::launch(on, count as u32, &offsets, &mut list) }?;
    } else {
        // SAFETY: items are elements that have a key with a bucket, each once.
        list = unsafe { merge_lists(on, keys, &offsets, list, longest) }?;
    }
    let lists = Csr {
        offsets,
        items: list.cast(),
        key: PhantomData,
    };
    Ok((lists, longest))
}

/// Orders each list by all threads: runs first, then merges of two. Elements in `list` have `keys`, whose lists begin at `offsets`; the
/// longest has `longest` elements.
///
/// # Errors
/// Errors of the device.
///
/// # Safety
/// `list` has elements with a key whose list has them, each once.
pub(crate) unsafe fn merge_lists(
    on: &Device,
    keys: &Buffer<u32>,
    offsets: &Buffer<u32>,
    mut list: Buffer<u32>,
    longest: u32,
) -> Result<Buffer<u32>> {
    let items = list.len() as u32;
    let mut ordered = on.uninitialized(list.len())?;
    // SAFETY: the caller's promise.
    unsafe { kernel::order_runs::launch(on, items, keys, offsets, &list, &mut ordered) }?;
    let mut level = kernel::RUN.ilog2();
    while u64::from(longest) > 1 << level {
        std::mem::swap(&mut list, &mut ordered);
        // SAFETY: as above; elements differ, so that each takes another place.
        unsafe {
            kernel::merge_runs::launch(on, items, keys, offsets, &list, level, &mut ordered)
        }?;
        level += 1;
    }
    Ok(ordered)
}

/// Elements of a list that one thread orders in [`bucket_long`].
pub(crate) fn most_alone(on: &Device) -> u32 {
    // A thread of a GPU waits for each access; one of a CPU orders a million in less time than all take to merge them.
    if on.is_gpu() { 1 << 11 } else { 1 << 22 }
}

/// Scanned counts of the keys, and their sum.
fn count_keys(
    on: &Device,
    keys: &Buffer<u32>,
    buckets: usize,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let n = count("elements", keys.len())?;
    count("keys", buckets.saturating_add(1))?;
    let mut offsets = on.filled(buckets + 1, 0)?;
    // SAFETY: keys that have no count are left out.
    unsafe { kernel::count_keys::launch(on, n, keys, &mut offsets) }?;
    let total = exclusive_scan(on, &mut offsets)?;
    Ok((offsets, total))
}

/// # Safety
/// `offsets` are the scanned counts of `keys`, and `items` is their sum.
unsafe fn fill_buckets<K: Index + Word, V: Index + Word>(
    on: &Device,
    keys: &Buffer<K>,
    mut offsets: Buffer<u32>,
    items: usize,
) -> Result<Csr<K, V>> {
    let (n, buckets) = (keys.len() as u32, offsets.len() as u32 - 1);
    let mut items = on.uninitialized(items)?;
    // SAFETY: each element takes another place, below the sum of the counts (the caller's promise).
    unsafe { kernel::fill_buckets::launch(on, n, keys.as_words(), &mut offsets, &mut items) }?;
    // SAFETY: the fill has moved each start to the next; the lists are disjoint.
    unsafe { kernel::order_buckets::launch(on, buckets, &offsets, &mut items) }?;
    Ok(Csr {
        offsets,
        items: items.cast(),
        key: PhantomData,
    })
}
