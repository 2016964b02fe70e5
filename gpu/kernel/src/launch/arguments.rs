//! The arguments of a launch.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use bytemuck::Pod;

use super::{Buffer, DeviceId};
use crate::print::Collector;
use crate::view::RawView;
#[cfg(any(debug_assertions, feature = "checked"))]
use crate::writers::OfLaunch;

/// An array that a launch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The kernel's parameter, or the field of a group.
    pub name: &'static str,
    /// Number of elements.
    pub len: u64,
    /// Size in bytes.
    pub bytes: u64,
    address: u64,
    pub(super) device: DeviceId,
}

impl Array {
    /// Its address in the device's memory.
    pub fn address(&self) -> u64 {
        self.address
    }
}

/// Values that a PTX entry takes.
pub struct Arguments {
    /// 16 bytes at a time, so that every value is aligned.
    values: Vec<MaybeUninit<u128>>,
    /// Start of each value in `values`.
    starts: Vec<usize>,
    pub(super) arrays: Vec<Array>,
    pub(super) prints: Collector,
    /// The writers of elements on a CPU.
    #[cfg(any(debug_assertions, feature = "checked"))]
    pub(crate) writers: OfLaunch,
}

impl Arguments {
    /// The arguments of a launch of `n` indices.
    #[doc(hidden)]
    pub fn new(n: u32) -> Self {
        // Room for most kernels' parameters: the host's time limits small launches.
        let mut arguments = Self {
            values: Vec::with_capacity(32),
            starts: Vec::with_capacity(24),
            arrays: Vec::with_capacity(16),
            prints: Collector::default(),
            #[cfg(any(debug_assertions, feature = "checked"))]
            writers: OfLaunch::default(),
        };
        arguments.push(n);
        arguments
    }

    /// Records an array, and returns the entry's argument for it.
    #[doc(hidden)]
    pub fn array<T: Pod>(&mut self, name: &'static str, buffer: &Buffer<T>) -> RawView<T> {
        let len = buffer.len() as u64;
        self.record(Array {
            name,
            len,
            bytes: buffer.bytes() as u64,
            address: buffer.address(),
            device: buffer.device(),
        });
        RawView::new(buffer.address(), len)
    }

    /// Adds the entry's argument for its next bit set.
    #[doc(hidden)]
    pub fn add_bit_set<W: Pod>(&mut self, name: &'static str, words: &Buffer<W>) {
        let raw = self.array(name, words);
        self.push(raw);
    }

    /// Adds the entry's argument for its next parameter.
    pub(super) fn push<R: Copy>(&mut self, raw: R) {
        const {
            assert!(
                align_of::<R>() <= 16,
                "a kernel's parameter is aligned to 16 bytes at most"
            )
        };
        // SAFETY: there is room for the value, aligned to 16 bytes.
        unsafe { self.room(size_of::<R>()).cast::<R>().write(raw) };
    }

    // Code that no type changes is compiled once, not for each of hundreds of launches.

    #[inline(never)]
    fn record(&mut self, array: Array) {
        self.arrays.push(array);
    }

    /// Makes room for the next value.
    #[inline(never)]
    fn room(&mut self, bytes: usize) -> *mut MaybeUninit<u128> {
        let start = self.values.len();
        self.starts.push(start);
        let end = start + bytes.div_ceil(16).max(1);
        self.values.resize_with(end, || MaybeUninit::new(0));
        // Of the whole vector: a reference to one element gives no right to the next, and a value may have several.
        self.values.as_mut_ptr().wrapping_add(start)
    }

    #[inline(never)]
    fn place(&self, k: usize) -> *const MaybeUninit<u128> {
        self.values.as_ptr().wrapping_add(self.starts[k])
    }

    /// The arrays, in the order of the kernel's parameters, a group's in the order of its fields; the bit sets that the
    /// function returns come last.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// A value that was added: number 0 is `n`, followed by the entry's parameters.
    ///
    /// # Safety
    /// The value was added as an `R`.
    #[doc(hidden)]
    pub unsafe fn value<R: Copy>(&self, k: usize) -> R {
        // SAFETY: the caller's promise; `push` aligned it.
        unsafe { self.place(k).cast::<R>().read() }
    }

    /// Addresses of the values, as the driver takes them.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        let first = self.values.as_mut_ptr();
        // SAFETY: starts lie within the values.
        let pointer = |&start: &usize| unsafe { first.add(start) }.cast();
        self.starts.iter().map(pointer).collect()
    }
}
