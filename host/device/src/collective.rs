//! Collectives on a device: scan, compact, sort, bucket. The kernels are in `trioxide_collective`.
//!
//! Every safe function accepts any input: values, bits and keys need no check. All results are the same on every device
//! and in every run, except the order within a list of [`bucket_local`].
//!
//! | function | input | result | order of the result | the host waits |
//! | --- | --- | --- | --- | --- |
//! | [`exclusive_scan`] | n `u32`, in place | sums before each, modulo 2^32; the sum of all | that of the values | no |
//! | [`count_bits`], [`Counted::new`] | w words of a bit set | number of members, `u32` | | for the number |
//! | [`compact`], [`Counted::list`] | w words of a bit set | its m members, `u32` or ids | ascending | for m |
//! | [`compact_with_room`] | the same | the same, in memory for 32 w members | ascending | for m, while they are listed |
//! | [`tally_bits`] | w words of a bit set | adds the number of members to a `u32` | | no |
//! | [`Tiled::new`], [`Tiled::ranks`] | w words of a bit set | each word with the number of members before it | that of the words | no |
//! | [`pack_flags`] | n `u8` | bit set | | no |
//! | [`mark_ids`], [`mark_more_ids`] | n `u32`, of e elements | bit set; the first place of a wrong id | | for that place |
//! | [`bucket`], [`bucket_known`] | n keys (`u32` or ids) below k | k lists of the i elements with such a key | by key, then ascending | for i; [`bucket_known`] no |
//! | [`bucket_long`] | the same, where a list may be long | the same; the longest length | the same | for that length |
//! | [`merge_lists`] | i elements in lists | the same lists | ascending in each list | no |
//! | [`start_local`] | n keys near each other, k buckets | where buckets begin, `u32` | by key | no |
//! | [`bucket_local`] | the same | the same, and the n elements | by key; in a list **not fixed** on a GPU | no |
//! | [`order_by_keys`] | n `u32` keys of b bits | the n elements | by key, then ascending: stable | no |
//! | [`longest_row`] | r rows | their longest length | | for it |
//! | [`sort_rows`] | n values of s bytes in rows, `u32` or `u64` | the same rows | ascending in each row | no |
//! | [`is_scattered`] | corners of elements | whether most have vertices far apart | | for the answer, beside other work |
//!
//! # Bytes
//!
//! The bytes that must move from and to the device's memory, by the kernels' `moves(…)` and the fills. Divided by
//! [`Device::copy_bandwidth`] they are a function's floor. `t` is the number of tiles: of 4,096 values in a scan, of
//! 1,024 words in bit sets, of 2,048 keys in a sort. `scan(x)` is the scan of x values.
//!
//! | function | launches move | and fills | for each element, if many |
//! | --- | --- | --- | --- |
//! | [`exclusive_scan`], n up to 16,384 | 8 n + 4 | | 8 |
//! | [`exclusive_scan`], more | 12 n + 16 t + 4 | | 12.004 a value |
//! | [`count_bits`], [`Counted::new`], [`Tiled::new`] | 4 w + 4 t + scan(t) | | 0.1255 a bit |
//! | [`Counted::list`] | 4 w + 4 t + 4 m | | 0.1251 a bit, 4 a member |
//! | [`compact`] | 8 w + 8 t + scan(t) + 4 m | | 0.2506 a bit, 4 a member |
//! | [`compact_with_room`] | as [`compact`]; its launch states the room, 128 w, for 4 m | | as [`compact`] |
//! | [`tally_bits`] | 4 w | | 0.125 a bit |
//! | [`Tiled::ranks`] | 12 w + 4 t | | 0.3751 a bit |
//! | [`pack_flags`] | n + 4 ⌈n / 32⌉ | | 1.125 a flag |
//! | [`mark_ids`] | 4 n | 4 ⌈e / 32⌉ + 4 | 4 an id, 0.125 an element |
//! | [`mark_more_ids`] | 4 n | 4 | 4 an id |
//! | [`bucket`], [`bucket_known`] | 8 n + 8 i + 20 (k + 1) + scan(k + 1) | 4 (k + 1) | 16 an element with a key, 36 a key |
//! | [`bucket_long`], longest up to `most_alone` | 8 n + 8 i + 24 (k + 1) + scan(k + 1) | 4 (k + 1) + 4 | 16 an element with a key, 40 a key |
//! | [`bucket_long`], longer | 8 n + 4 i + 20 (k + 1) + scan(k + 1), and [`merge_lists`] | 4 (k + 1) + 4 | 12 an element and the merges, 36 a key |
//! | [`merge_lists`] | 8 i (1 + ⌈log2(longest / 32)⌉), at least 8 i | | 8 for each pass |
//! | [`start_local`] | 4 n + 8 (k + 2) + scan(k + 2) | 4 (k + 2) | 4 an element, 24 a key |
//! | [`bucket_local`] | 12 n + 16 (k + 1) + scan(k + 1) | 4 (k + 1) | 12 an element, 32 a key |
//! | [`order_by_keys`] on a GPU, p = ⌈b / 4⌉ passes, at least 1 | (20 p - 8) n + p (128 t + scan(16 t)) | | 20.16 p - 8; 153 for 32 bits |
//! | [`longest_row`] | 4 (r + 1) | 4 | 4 a row |
//! | [`sort_rows`], longest at least 2 | (4 + 2 s) n (1 + ⌈log2(longest / 32)⌉), at least (4 + 2 s) n | | 4 + 2 s for each pass |
//! | [`is_scattered`] | 4,096 elements at most | 4 | 0 |
//!
//! These bytes count random reads and writes by their own size only: the counts and places of [`bucket`] cost a sector
//! of 32 bytes each if neighbouring elements have distant keys.
//!
//! # Errors
//!
//! [`Error::Argument`] for more elements or keys than 32-bit indices can number; [`Error::OutOfMemory`] for results and
//! temporary arrays; [`Error::Device`] and [`Error::Launch`] of the device, also for earlier work.

mod lists;
mod local;
mod rows;
mod sort;
mod spread;

use trioxide_collective::{self as kernel, BIT_TILE, TILE};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{BitWord, Bits, Index, NONE, words};

use crate::device::{BitSet, Device};
use crate::{Error, Result};

crate::kernels! {
    /// The kernels of the collectives.
    pub PTX = "trioxide-collective";
}

pub use lists::{Csr, bucket};
pub use lists::{bucket_known, bucket_long, merge_lists, most_alone};
pub use local::{bucket_local, start_local};
pub use rows::{longest_row, sort_rows};
#[doc(hidden)]
pub use sort::order_by;
pub use sort::order_by_keys;
pub use spread::is_scattered;

/// Most elements that a single block scans.
const SCANNED_BY_ONE_BLOCK: usize = 4 * TILE as usize;

/// Words of the largest bit set: the number of its members is a `u32`.
const MOST_WORDS: usize = (u32::MAX / 32) as usize;

/// Replaces each value by the sum of the values before it. The result's one element is the sum of all values.
///
/// Sums are taken modulo 2^32.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 values; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::exclusive_scan};
/// # fn main() -> trioxide_device::Result<()> {
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
        // SAFETY: the block forms no index from the values, and none past their number.
        unsafe { kernel::scan_sums::launch(on, 1, values, &mut total, n) }?;
    } else {
        let tiles = n.div_ceil(TILE);
        let mut sums = on.uninitialized(tiles as usize)?;
        // SAFETY: each block reads its tile, within the values, and writes its own sum.
        unsafe { kernel::sum_tiles::launch(on, tiles, values, &mut sums) }?;
        // SAFETY: as above.
        unsafe { kernel::scan_sums::launch(on, 1, &mut sums, &mut total, tiles) }?;
        // SAFETY: each block reads its own sum, and reads and writes its own tile, within the values.
        unsafe { kernel::scan_tiles::launch(on, tiles, values, &sums) }?;
    }
    Ok(total)
}

/// Memory for `n` lengths, followed by a zero, which [`exclusive_scan`] replaces by their sum.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// ```
/// # use trioxide_device::{Device, collective::lengths};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let lengths = lengths(&on, 2)?;
/// assert_eq!((lengths.len(), on.read(&lengths, 2)?), (3, 0));
/// # Ok(())
/// # }
/// ```
pub fn lengths(on: &Device, n: usize) -> Result<Buffer<u32>> {
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
///
/// ```
/// # use trioxide_device::{Device, collective::Counted};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let bits = on.upload(&[0b1001, 1])?;
/// let counted = Counted::new(&on, &bits)?;
/// assert_eq!(counted.total(), 3);
/// assert_eq!(on.download(&counted.list(&on)?)?, [0, 3, 32]);
/// # Ok(())
/// # }
/// ```
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
    /// [`Error::Argument`] for more bits than 32-bit indices can number; errors of the device.
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
            // SAFETY: the bits have been borrowed since they were counted; there is room for all members.
            unsafe { list_bits(on, self.bits.as_words(), &self.tiles, &mut list) }?;
        }
        Ok(list.cast())
    }
}

/// Lists the members of a bit set, from the number of members before each of its tiles.
///
/// # Safety
/// `tiles` are the tiles of `bits`, and `list` has room for all members.
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
///
/// ```
/// # use trioxide_device::{Device, collective::count_bits};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// assert_eq!(count_bits(&on, &on.upload(&[0b1001, 1])?)?, 3);
/// # Ok(())
/// # }
/// ```
pub fn count_bits<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<u32> {
    Ok(Counted::new(on, bits)?.total)
}

/// Ascending list of the members of a bit set.
///
/// # Errors
/// Errors of [`Counted::new`].
///
/// ```
/// # use trioxide_device::{Device, collective::compact};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let bits = on.upload(&[0b1001, 1])?;
/// assert_eq!(on.download(&compact(&on, &bits)?)?, [0, 3, 32]);
/// # Ok(())
/// # }
/// ```
pub fn compact<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<Buffer<W::Member>> {
    Counted::new(on, bits)?.list(on)
}

/// As [`compact`], in memory for a member of each bit: a GPU lists the members before the host knows their number.
///
/// # Errors
/// Errors of [`Counted::new`].
///
/// ```
/// # use trioxide_device::{Device, collective::compact_with_room};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let list = compact_with_room(&on, &on.upload(&[0b1001, 1])?)?;
/// assert_eq!((on.download(&list)?, list.capacity()), (vec![0, 3, 32], 64));
/// # Ok(())
/// # }
/// ```
pub fn compact_with_room<W: BitWord>(on: &Device, bits: &Buffer<W>) -> Result<Buffer<W::Member>> {
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

/// Adds the number of members of `bits` to `tally[slot]`. The host does not wait.
///
/// # Errors
/// Errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::tally_bits};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut tally = on.filled(2, 0)?;
/// tally_bits(&on, &on.upload(&[0b1001, 1])?, &mut tally, 1)?;
/// assert_eq!(on.download(&tally)?, [0, 3]);
/// # Ok(())
/// # }
/// ```
pub fn tally_bits<W: BitWord>(
    on: &Device,
    bits: &Buffer<W>,
    tally: &mut Buffer<u32>,
    slot: u32,
) -> Result<()> {
    let n = bits.len().div_ceil(BIT_TILE as usize) as u32;
    // SAFETY: each block reads its tile, within the words; the slot is checked.
    unsafe { kernel::tally_bits::launch(on, n, bits.as_words(), tally, slot) }?;
    Ok(())
}

/// A bit set whose tiles are counted, while the host does not know the sum yet.
///
/// ```
/// # use trioxide_device::{Device, collective::Tiled};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let bits = on.upload(&[0b1001, 1])?;
/// let tiled = Tiled::new(&on, &bits)?;
/// // For each word: its bits, and the number of members before it.
/// assert_eq!(on.download(&tiled.ranks(&on)?)?, [0b1001, 0, 1, 2]);
/// # Ok(())
/// # }
/// ```
pub struct Tiled<'b, W> {
    bits: &'b Buffer<W>,
    /// Number of members before each tile.
    tiles: Buffer<u32>,
    total: Buffer<u32>,
}

impl<'b, W: BitWord> Tiled<'b, W> {
    /// Counts the members of the tiles of `bits`. The host does not wait.
    ///
    /// # Errors
    /// Errors of [`Counted::new`].
    pub fn new(on: &Device, bits: &'b Buffer<W>) -> Result<Self> {
        if bits.len() > MOST_WORDS {
            return Err(Error::Argument(format!(
                "a bit set of {} words is too large: at most {MOST_WORDS} have members with 32-bit indices",
                bits.len()
            )));
        }
        let mut tiles = on.uninitialized(bits.len().div_ceil(BIT_TILE as usize))?;
        let n = tiles.len() as u32;
        // SAFETY: each block reads its tile, within the words, and writes its own count.
        unsafe { kernel::count_bits::launch(on, n, bits.as_words(), &mut tiles) }?;
        let total = exclusive_scan(on, &mut tiles)?;
        Ok(Self { bits, tiles, total })
    }

    /// The number of members, on the device.
    pub fn total(&self) -> &Buffer<u32> {
        &self.total
    }

    /// The set with its count.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn count(self, on: &Device) -> Result<Counted<'b, W>> {
        Ok(self.count_beside(on, || Ok(()))?.0)
    }

    /// The set with its count, and the result of `work`, which a GPU runs meanwhile.
    ///
    /// # Errors
    /// Errors of the device and of `work`.
    pub fn count_beside<R>(
        self,
        on: &Device,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Counted<'b, W>, R)> {
        let (total, result) = on.read_beside(&self.total, work)?;
        // SAFETY: the total of the tiles.
        Ok((unsafe { self.counted(total[0]) }, result))
    }

    /// The set with a known count.
    ///
    /// # Safety
    /// The set has `total` members.
    pub unsafe fn counted(self, total: u32) -> Counted<'b, W> {
        Counted {
            bits: self.bits,
            tiles: self.tiles,
            total,
        }
    }

    /// Each word with the number of members before it, for [`rank_of`](trioxide_kernel::rows::rank_of).
    ///
    /// # Errors
    /// Errors of the device.
    pub fn ranks(&self, on: &Device) -> Result<Buffer<u32>> {
        let mut ranks = on.uninitialized(2 * self.bits.len())?;
        let (n, bits) = (self.tiles.len() as u32, self.bits.as_words());
        // SAFETY: each block reads its tile, within the words, and writes two words for each.
        unsafe { kernel::rank_bits::launch(on, n, bits, &self.tiles, &mut ranks) }?;
        Ok(ranks)
    }
}

/// The bit set of the elements whose flag is not 0.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 flags; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::pack_flags};
/// # fn main() -> trioxide_device::Result<()> {
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

/// The bit set of the elements in a list, out of `elements`, and the place of the first id in the list that is out of
/// range.
///
/// # Errors
/// [`Error::Argument`] for more than 2^32 - 1 ids or elements; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::mark_ids};
/// # fn main() -> trioxide_device::Result<()> {
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
    let mut bits = on.filled(words(elements), Bits::EMPTY)?;
    let wrong = mark_more_ids(on, ids, elements, &mut bits)?;
    Ok((bits, wrong))
}

/// As [`mark_ids`], in addition to the members of `bits`.
///
/// # Errors
/// As [`mark_ids`].
///
/// ```
/// # use trioxide_device::{Device, collective::mark_more_ids};
/// # use trioxide_kernel::Bits;
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut bits = on.filled(1, Bits::<u32>::new(0b10))?;
/// let wrong = mark_more_ids(&on, &on.upload(&[3])?, 4, &mut bits)?;
/// assert_eq!((on.download(bits.as_words())?, wrong), (vec![0b1010], None));
/// # Ok(())
/// # }
/// ```
pub fn mark_more_ids<E: Index>(
    on: &Device,
    ids: &Buffer<u32>,
    elements: usize,
    bits: &mut BitSet<E>,
) -> Result<Option<u32>> {
    let (n, elements) = (count("ids", ids.len())?, count("elements", elements)?);
    let mut found = on.filled(1, NONE)?;
    let mut members = std::mem::replace(bits, on.uninitialized(0)?).cast();
    // SAFETY: the kernel compares an id with the number of elements before it uses it.
    let done = unsafe { kernel::mark_ids::launch(on, n, ids, &mut members, &mut found, elements) };
    *bits = members.cast();
    done?;
    Ok(Some(on.read(&found, 0)?).filter(|&place| place != NONE))
}
