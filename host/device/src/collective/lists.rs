//! Lists of elements by key, as compressed sparse rows.

use std::marker::PhantomData;

use bytemuck::Pod;
use trioxide_collective as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::{Index, Word};

use super::{count, exclusive_scan, longest_row};
use crate::Result;
use crate::device::Device;

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
    pub unsafe fn from_parts(offsets: Buffer<u32>, items: Buffer<V>) -> Self {
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

    /// The elements, in ascending order within each key.
    pub fn items(&self) -> &Buffer<V> {
        &self.items
    }

    /// Offsets, and mutable items. The items must stay elements.
    pub fn parts_mut(&mut self) -> (&Buffer<u32>, &mut Buffer<V>) {
        (&self.offsets, &mut self.items)
    }

    /// Offsets and items.
    pub fn into_parts(self) -> (Buffer<u32>, Buffer<V>) {
        (self.offsets, self.items)
    }

    /// The argument for kernels.
    pub fn rows(&self) -> RowsBuffers<'_, V> {
        RowsBuffers {
            offsets: &self.offsets,
            items: &self.items,
        }
    }
}

/// Sorts elements into lists by their keys below `count`: element i has key `keys[i]`. Elements with larger keys, such
/// as `NONE`, are left out.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for more than 2^32 - 1 elements or keys; errors of the device.
///
/// ```
/// # use trioxide_device::{Device, collective::{Csr, bucket}};
/// # fn main() -> trioxide_device::Result<()> {
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

/// As [`bucket`], for a known number of elements with a key: the host does not wait for the count.
///
/// # Errors
/// Errors of [`bucket`].
///
/// # Safety
/// `items` elements have a key below `count`.
///
/// ```
/// # use trioxide_device::{Device, collective::{Csr, bucket_known}};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let keys = on.upload(&[2, 0, 2])?;
/// // SAFETY: three elements have a key below 3.
/// let lists: Csr<u32, u32> = unsafe { bucket_known(&on, &keys, 3, 3) }?;
/// assert_eq!(on.download(lists.items())?, [1, 0, 2]);
/// # Ok(())
/// # }
/// ```
pub unsafe fn bucket_known<K: Index + Word, V: Index + Word>(
    on: &Device,
    keys: &Buffer<K>,
    count: usize,
    items: usize,
) -> Result<Csr<K, V>> {
    let (offsets, _) = count_keys(on, keys.as_words(), count)?;
    // SAFETY: the caller's promise.
    unsafe { fill_buckets(on, keys, offsets, items) }
}

/// As [`bucket_known`], for lists that may each hold most of the elements. If a list is longer than `most_alone`, all
/// threads merge the lists, else one thread orders each. Also returns the length of the longest list.
///
/// # Errors
/// Errors of [`bucket`].
///
/// # Safety
/// `items` elements have a key below `count`.
///
/// ```
/// # use trioxide_device::{Device, collective::{bucket_long, most_alone}};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let keys = on.upload(&[2, 0, 2])?;
/// // SAFETY: three elements have a key below 3.
/// let (lists, longest) = unsafe { bucket_long::<u32, u32>(&on, &keys, 3, 3, most_alone(&on)) }?;
/// assert_eq!((on.download(lists.items())?, longest), (vec![1, 0, 2], 2));
/// # Ok(())
/// # }
/// ```
pub unsafe fn bucket_long<K: Index + Word, V: Index + Word>(
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
    // SAFETY: each element takes a place of its own, below the number of all elements (the caller's promise).
    unsafe { kernel::fill_buckets::launch(on, n, keys, &mut offsets, &mut list) }?;
    let longest = longest_row(on, &offsets)?;
    if longest <= most_alone {
        // SAFETY: the lists are disjoint.
        unsafe { kernel::order_buckets::launch(on, count as u32, &offsets, &mut list) }?;
    } else {
        // SAFETY: items are elements whose key has a bucket, each once.
        list = unsafe { merge_lists(on, keys, &offsets, list, longest) }?;
    }
    let lists = Csr {
        offsets,
        items: list.cast(),
        key: PhantomData,
    };
    Ok((lists, longest))
}

/// Orders each list with all threads: first short runs, then pairwise merges. Elements in `list` have `keys`, whose
/// lists begin at `offsets`; the longest list has `longest` elements.
///
/// # Errors
/// Errors of the device.
///
/// # Safety
/// `list` contains the elements of each key in the key's list, each once.
///
/// ```
/// # use trioxide_device::{Device, collective::merge_lists};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// // Element 1 has key 0; elements 0 and 2 have key 1.
/// let (keys, offsets) = (on.upload(&[1, 0, 1])?, on.upload(&[0, 1, 3])?);
/// let list = on.upload(&[1, 2, 0])?;
/// // SAFETY: the lists of keys 0 and 1, each element once; the longest has two.
/// let list = unsafe { merge_lists(&on, &keys, &offsets, list, 2) }?;
/// assert_eq!(on.download(&list)?, [1, 0, 2]);
/// # Ok(())
/// # }
/// ```
pub unsafe fn merge_lists(
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
        // SAFETY: as above; elements differ, so each takes a place of its own.
        unsafe {
            kernel::merge_runs::launch(on, items, keys, offsets, &list, level, &mut ordered)
        }?;
        level += 1;
    }
    Ok(ordered)
}

/// Longest list that one thread orders in [`bucket_long`]: 2^11 on a GPU, 2^22 on a CPU.
///
/// ```
/// # use trioxide_device::{Device, collective::most_alone};
/// # fn main() -> trioxide_device::Result<()> {
/// assert_eq!(most_alone(&Device::cpu(None)?), 1 << 22);
/// # Ok(())
/// # }
/// ```
pub fn most_alone(on: &Device) -> u32 {
    // A thread of a GPU waits for each access. A thread of a CPU orders a million faster than all threads merge them.
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
    // SAFETY: keys without a count are left out.
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
    // SAFETY: each element takes a place of its own, below the sum of the counts (the caller's promise).
    unsafe { kernel::fill_buckets::launch(on, n, keys.as_words(), &mut offsets, &mut items) }?;
    // SAFETY: the fill has moved each start to the next; the lists are disjoint.
    unsafe { kernel::order_buckets::launch(on, buckets, &offsets, &mut items) }?;
    Ok(Csr {
        offsets,
        items: items.cast(),
        key: PhantomData,
    })
}
