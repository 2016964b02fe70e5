//! Arrays that a launch writes, each element by one index.

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;

use super::array::{Array, RawView};
use super::atomic_element::AtomicElement;
use super::input::In;
use crate::Index;
use crate::check::Label;
use crate::index::BitWord;
use crate::index::Word;
#[cfg(not(target_arch = "nvptx64"))]
use crate::writers::Writers;

/// An array. At most one index of the launch writes an element, and no other index reads it. [`Out::set_same`] is for
/// elements that several indices write.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::{In, Out, kernel};
///
/// /// Adds `step` to value `i`, which index `i` alone reads and writes; notes in `is_large` that one is over 2.
/// #[kernel(requires(values.len() == n, is_large.len() == 1))]
/// pub fn raise(i: u32, step: f64, values: Out<f64>, is_large: Out<u32>) {
///     values.set(i, values.at(i) + step);
///     if values.at(i) > 2.0 {
///         is_large.set_same(0u32, 1);
///     }
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (mut values, mut is_large) = (on.upload(&[1.0, 2.0])?, on.filled(1, 0)?);
/// // SAFETY: the lengths are checked; all that write to `is_large` write 1.
/// unsafe { raise::launch(&on, 2, 0.5, &mut values, &mut is_large) }?;
/// assert_eq!((on.download(&values)?, on.download(&is_large)?), (vec![1.5, 2.5], vec![1]));
/// # Ok(())
/// # }
/// ```
pub struct Out<'a, T> {
    array: Array<T>,
    #[cfg(not(target_arch = "nvptx64"))]
    writers: Writers,
    memory: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Out<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<'_, T> {}
// A view holds no element.
impl<T> RefUnwindSafe for Out<'_, T> {}

// SAFETY: only one index uses an element (promise of the view's maker).
unsafe impl<T: Send> Sync for Out<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Out<'_, T> {}

impl<'a, T: Copy> Out<'a, T> {
    /// A view for a kernel.
    ///
    /// # Safety
    /// The elements stay writable while the view is used, and nobody else uses them; every index that it is used with
    /// is below the length; no index of the launch reads or writes an element that another one writes.
    #[inline(always)]
    pub unsafe fn from_raw(raw: RawView<T>, label: Label) -> Self {
        Self {
            array: Array::new(raw, label),
            #[cfg(not(target_arch = "nvptx64"))]
            writers: Writers::NONE,
            memory: PhantomData,
        }
    }

    /// The view, which records its writes in a checked build of the CPU.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub(crate) fn noted_by(self, writers: Writers) -> Self {
        Self { writers, ..self }
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

    /// The same array, for reading elements that no index of the launch writes.
    #[inline(always)]
    pub fn unwritten(self) -> In<'a, T> {
        In::of(self.array)
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn set<I: Index>(self, i: I, value: T) {
        // SAFETY: in range, and used only by this index, by the promise of the view's maker.
        unsafe { *self.array.pointer(i) = value }
        #[cfg(not(target_arch = "nvptx64"))]
        self.writers
            .note(i.index(), 1, self.array.len(), self.array.label());
    }

    /// Element `i`, which this index of the launch writes, or none does.
    #[inline(always)]
    pub fn at<I: Index>(self, i: I) -> T {
        // SAFETY: as `set`.
        unsafe { *self.array.pointer(i) }
    }
}

impl<T: AtomicElement> Out<'_, T> {
    /// Writes element `i` by a relaxed atomic store; it has one writer, as with [`Out::set`].
    #[inline(always)]
    pub(crate) fn set_atomically(self, i: u32, value: T) {
        // SAFETY: in range; each of several concurrent writes is atomic.
        unsafe { T::store(self.array.pointer(i), value) }
        #[cfg(not(target_arch = "nvptx64"))]
        self.writers
            .note(i, 1, self.array.len(), self.array.label());
    }

    /// Writes element `i`, which other indices may write too, all with the same value: a relaxed atomic store.
    #[inline(always)]
    pub fn set_same<I: Index>(self, i: I, value: T) {
        // SAFETY: in range; each of several concurrent writes is atomic.
        unsafe { T::store(self.array.pointer(i), value) }
        #[cfg(not(target_arch = "nvptx64"))]
        self.writers.note_same(i.index(), value, self.array.label());
    }
}

impl<T: Word> Out<'_, T> {
    /// Elements `i` to `i + 3`; `i` is a multiple of 4; elements after the end read as 0.
    #[inline(always)]
    pub fn quad(self, i: u32) -> [T; 4] {
        self.array.quad(i)
    }

    /// Writes elements `i` to `i + 3`, as far as they exist; `i` is a multiple of 4.
    #[inline(always)]
    pub fn set_quad(self, i: u32, quad: [T; 4]) {
        self.array.set_quad(i, quad);
        #[cfg(not(target_arch = "nvptx64"))]
        self.writers
            .note(i, 4, self.array.len(), self.array.label());
    }
}

impl<W: BitWord> Out<'_, W> {
    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        let i = member.index();
        self.at(i / 32).to_word() >> (i % 32) & 1 != 0
    }
}
