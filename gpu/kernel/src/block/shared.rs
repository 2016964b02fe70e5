//! The shared memory of a block.

use core::cell::UnsafeCell;
use core::panic::RefUnwindSafe;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::Lane;
use crate::check::{CHECKED, shared_label};

/// An array of `N` elements in a block's shared memory; a field of the struct that
/// [`Block::shared`](crate::Block::shared) returns.
///
/// Lanes share it: after a barrier a lane reads the values that other lanes wrote.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};
///
/// #[derive(SharedMemory)]
/// pub struct Counts {
///     counts: Shared<u32, 4>,
/// }
///
/// /// Counts the values of each 64 that leave a rest of 0, 1, 2 and 3.
/// #[kernel(requires(values.len() == 64 * n, rests.len() == 4 * n))]
/// pub fn count_rests(block: &Block<64, Counts>, values: In<u32>, rests: Out<u32>) {
///     let counts = &block.shared().counts;
///     block.each(4, |lane, k| counts.set(lane, k, 0));
///     block.phase(|lane| {
///         let value = values.at(64 * block.index() + lane.index());
///         counts.add(lane, value % 4, 1);
///     });
///     block.each(4, |_, k| rests.set(4 * block.index() + k, counts.at(k)));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let values = on.upload(&(1..65).collect::<Vec<u32>>())?;
/// let mut rests = on.uninitialized(4)?;
/// // SAFETY: the lengths are checked, and each index writes its own element.
/// unsafe { count_rests::launch(&on, 1, &values, &mut rests) }?;
/// assert_eq!(on.download(&rests)?, [16; 4]);
/// # Ok(())
/// # }
/// ```
#[repr(C, align(16))]
pub struct Shared<T, const N: usize>(UnsafeCell<[T; N]>);

// Lanes write to it only with their `Lane`.
impl<T, const N: usize> RefUnwindSafe for Shared<T, N> {}

impl<T, const N: usize> Shared<T, N> {
    /// Refuses index `i` unless it is below `N`.
    #[inline(always)]
    fn check(i: usize) {
        if CHECKED && i >= N {
            shared_label().check(i, N);
        }
    }
}

impl<T: Copy, const N: usize> Shared<T, N> {
    /// Address of element `i`.
    #[inline(always)]
    fn pointer(&self, i: u32) -> *mut T {
        Self::check(i as usize);
        // SAFETY: in range by the promise of the launch's caller.
        unsafe { self.0.get().cast::<T>().add(i as usize) }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(&self, i: u32) -> T {
        // SAFETY: barriers separate lanes (promise of the launch's caller).
        unsafe { *self.pointer(i) }
    }

    /// Writes element `i`, in a phase.
    #[inline(always)]
    pub fn set(&self, _: Lane<'_>, i: u32, value: T) {
        self.put(i, value);
    }

    #[inline(always)]
    pub(super) fn put(&self, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { *self.pointer(i) = value }
    }
}

impl<const N: usize> Shared<u32, N> {
    /// Element `i`, which any lane may change at any time in the phase.
    #[inline(always)]
    fn atomic(&self, i: u32) -> &AtomicU32 {
        // SAFETY: in range, as `pointer` checks; in a phase that calls this, every access to the element is atomic
        // (promise of the launch's caller).
        unsafe { AtomicU32::from_ptr(self.pointer(i)) }
    }

    /// Adds to element `i`, as other lanes may in the same phase. Returns its value before. The order of lanes is not
    /// defined.
    #[inline(always)]
    pub fn add(&self, _: Lane<'_>, i: u32, value: u32) -> u32 {
        if cfg!(not(target_arch = "nvptx64")) {
            // One thread runs all lanes.
            let before = self.at(i);
            self.put(i, before.wrapping_add(value));
            return before;
        }
        self.atomic(i).fetch_add(value, Relaxed)
    }

    /// Replaces element `i` by `new` if it is `old`, as other lanes may in the same phase. Returns its value before.
    #[inline(always)]
    pub fn claim(&self, _: Lane<'_>, i: u32, old: u32, new: u32) -> u32 {
        if cfg!(not(target_arch = "nvptx64")) {
            let before = self.at(i);
            if before == old {
                self.put(i, new);
            }
            return before;
        }
        match self.atomic(i).compare_exchange(old, new, Relaxed, Relaxed) {
            Ok(before) | Err(before) => before,
        }
    }
}

impl<const N: usize> Shared<u8, N> {
    /// Bytes `4 i` to `4 i + 3` as one number, the lowest first.
    #[inline(always)]
    pub fn word(&self, i: u32) -> u32 {
        const {
            assert!(
                N.is_multiple_of(4),
                "words of a shared array whose length is no multiple of 4"
            )
        };
        Self::check(4 * i as usize + 3);
        // SAFETY: in range; the array is aligned to 16 bytes; every machine here is little-endian.
        unsafe { *self.0.get().cast::<u32>().add(i as usize) }
    }
}

/// The struct of a block's shared memory: `#[derive(SharedMemory)]` on a struct whose fields are [`Shared`] arrays.
///
/// # Safety
/// Any bits are a value of it, and its alignment is at most 16.
pub unsafe trait SharedMemory {}

// SAFETY: no bits.
unsafe impl SharedMemory for () {}
// SAFETY: as its elements; aligned to 16.
unsafe impl<T: bytemuck::Pod, const N: usize> SharedMemory for Shared<T, N> {}
