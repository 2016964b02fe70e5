//! Arrays that a launch only reads.

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;

use super::array::{Array, PREFETCHED_AHEAD, RawView};
use crate::Index;
use crate::check::Label;
use crate::index::BitWord;
use crate::index::Word;

/// An array that nobody writes during the launch.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::{In, Out, kernel};
///
/// /// The mean of value `i` and the next one.
/// #[kernel(requires(values.len() == n + 1, means.len() == n))]
/// pub fn average(i: u32, values: In<f64>, means: Out<f64>) {
///     means.set(i, 0.5 * (values.at(i) + values.at(i + 1)));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let values = on.upload(&[1.0, 2.0, 4.0])?;
/// let mut means = on.uninitialized(2)?;
/// // SAFETY: the lengths are checked, and index i writes mean i.
/// unsafe { average::launch(&on, 2, &values, &mut means) }?;
/// assert_eq!(on.download(&means)?, [1.5, 3.0]);
/// # Ok(())
/// # }
/// ```
pub struct In<'a, T> {
    array: Array<T>,
    memory: PhantomData<&'a [T]>,
}

impl<T> Clone for In<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<'_, T> {}
// A view holds no element.
impl<T> RefUnwindSafe for In<'_, T> {}

// SAFETY: read-only.
unsafe impl<T: Sync> Sync for In<'_, T> {}
// SAFETY: read-only.
unsafe impl<T: Sync> Send for In<'_, T> {}

impl<'a, T: Copy> In<'a, T> {
    /// A view for a kernel.
    ///
    /// # Safety
    /// The elements stay readable and unchanged while the view is used, and every index that it is used with is below
    /// the length.
    #[inline(always)]
    pub unsafe fn from_raw(raw: RawView<T>, label: Label) -> Self {
        Self {
            array: Array::new(raw, label),
            memory: PhantomData,
        }
    }

    /// A view of host memory, to call a kernel's function with.
    ///
    /// # Safety
    /// Every index that the view is used with is below the length.
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe fn from_slice(slice: &'a [T]) -> Self {
        let address = slice.as_ptr().expose_provenance() as u64;
        let label = Label::new("called by the host", "slice");
        // SAFETY: borrowed for as long as the view; the caller's promise for indices.
        unsafe { Self::from_raw(RawView::new(address, slice.len() as u64), label) }
    }

    #[inline(always)]
    pub(super) fn of(array: Array<T>) -> Self {
        Self {
            array,
            memory: PhantomData,
        }
    }

    /// The array of the `count` elements from `first` on, which exist.
    #[inline(always)]
    pub(crate) fn part(self, first: u32, count: u32) -> Self {
        Self::of(self.array.part(first, count))
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at<I: Index>(self, i: I) -> T {
        // SAFETY: in range, and unchanged during the launch, by the promise of the view's maker.
        unsafe { *self.array.pointer(i) }
    }

    /// Elements `i` to `i + 3`, at any `i`.
    #[inline(always)]
    pub fn four<I: Index>(self, i: I) -> [T; 4] {
        self.array.four(i)
    }

    /// Prefetches element `i` on a CPU.
    #[inline(always)]
    pub fn prefetch<I: Index>(self, i: I) {
        self.array.prefetch(i);
    }

    /// Prefetches, on a CPU, the element that an item of `list` some way after `i` names.
    #[inline(always)]
    pub fn prefetch_item<I: Index>(self, list: In<I>, i: impl Index) {
        let i = i.index();
        if cfg!(not(target_arch = "nvptx64")) && PREFETCHED_AHEAD < list.len().saturating_sub(i) {
            self.prefetch(list.at(i + PREFETCHED_AHEAD));
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.array.len() as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.array.len() == 0
    }
}

impl<T: Word> In<'_, T> {
    /// Elements `i` to `i + 3`; `i` is a multiple of 4; elements after the end read as 0.
    #[inline(always)]
    pub fn quad(self, i: u32) -> [T; 4] {
        self.array.quad(i)
    }

    /// Elements `i` and `i + 1`; `i` is even.
    #[inline(always)]
    pub fn pair(self, i: u32) -> [T; 2] {
        self.array.pair(i)
    }
}

impl<W: BitWord> In<'_, W> {
    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        let i = member.index();
        self.at(i / 32).to_word() >> (i % 32) & 1 != 0
    }
}
