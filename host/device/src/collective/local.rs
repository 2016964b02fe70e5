//! Buckets for keys with locality.

use trioxide_collective::{self as kernel, LOCAL_TILE};
use trioxide_kernel::launch::Buffer;

use super::{count, exclusive_scan};
use crate::Result;
use crate::device::Device;

/// A 0, then the start of each of `buckets` buckets by the keys of elements, and the end of the last. For keys as in
/// [`bucket_local`]. The host does not wait.
///
/// # Errors
/// Errors of [`bucket_local`].
///
/// ```
/// # use trioxide_device::{Device, collective::start_local};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let starts = start_local(&on, &on.upload(&[1, 0, 1])?, 2)?;
/// assert_eq!(on.download(&starts)?, [0, 0, 1, 3]);
/// # Ok(())
/// # }
/// ```
pub fn start_local(on: &Device, keys: &Buffer<u32>, buckets: usize) -> Result<Buffer<u32>> {
    let tiles = count("elements", keys.len())?.div_ceil(LOCAL_TILE);
    count("keys", buckets.saturating_add(2))?;
    // The count of a key is one place after the key, and the scan moves it one place further.
    let mut starts = on.filled(buckets + 2, 0)?;
    // SAFETY: keys without a count are left out.
    unsafe { kernel::count_local_keys::launch(on, tiles, keys, &mut starts) }?;
    exclusive_scan(on, &mut starts)?;
    Ok(starts)
}

/// Elements by their keys: the start of each of `buckets` buckets and the end of the last, and the elements, in any
/// order within a bucket. All keys are below `buckets`.
///
/// For keys whose neighbours are similar, as vertices of cells in a mesh in a good order. The host does not wait.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for more than 2^32 - 1 elements or keys; errors of the device.
///
/// # Safety
/// The keys are below `buckets`.
///
/// ```
/// # use trioxide_device::{Device, collective::bucket_local};
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// // SAFETY: the keys are below 2.
/// let (starts, items) = unsafe { bucket_local(&on, &on.upload(&[1, 0])?, 2) }?;
/// assert_eq!((on.download(&starts)?, on.download(&items)?), (vec![0, 1, 2], vec![1, 0]));
/// # Ok(())
/// # }
/// ```
pub unsafe fn bucket_local(
    on: &Device,
    keys: &Buffer<u32>,
    buckets: usize,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let tiles = count("elements", keys.len())?.div_ceil(LOCAL_TILE);
    count("keys", buckets.saturating_add(1))?;
    let mut offsets = on.filled(buckets + 1, 0)?;
    // SAFETY: keys without a count are left out.
    unsafe { kernel::count_local_keys::launch(on, tiles, keys, &mut offsets) }?;
    exclusive_scan(on, &mut offsets)?;
    let mut items = on.uninitialized(keys.len())?;
    // SAFETY: each element takes a place of its own, below the number of all elements (the caller's promise).
    unsafe { kernel::fill_local_buckets::launch(on, tiles, keys, &mut offsets, &mut items) }?;
    Ok((offsets, items))
}
