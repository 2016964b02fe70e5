//! Arrays, the common part of all views.

use core::marker::PhantomData;

use crate::Index;
use crate::check::{CHECKED, Label};
use crate::index::Word;

/// Elements, in the order of a loop, by which a CPU prefetches ahead of their use.
pub const PREFETCHED_AHEAD: u32 = 16;

/// Bytes of a line of a cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Prefetches the element at `address` on a CPU, by the first byte of it in each line. Does nothing on a device, where
/// other threads run while one waits.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast::<i8>().wrapping_add(line * LINE)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// A view as the PTX entry receives it.
#[repr(C)]
pub struct RawView<T> {
    /// Address in the device's memory.
    pub address: u64,
    /// Number of elements.
    pub len: u64,
    element: PhantomData<*const T>,
}

impl<T> RawView<T> {
    /// The view of `len` elements at `address`.
    pub const fn new(address: u64, len: u64) -> Self {
        Self {
            address,
            len,
            element: PhantomData,
        }
    }
}

impl<T> Clone for RawView<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for RawView<T> {}
// SAFETY: two numbers.
unsafe impl<T> Send for RawView<T> {}
// SAFETY: two numbers.
unsafe impl<T> Sync for RawView<T> {}

/// Pointer, length and name of an array. Its maker promises the conditions in the module's documentation.
pub struct Array<T> {
    ptr: *mut T,
    len: usize,
    label: Label,
}

impl<T> Clone for Array<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Array<T> {}

impl<T> Array<T> {
    #[inline(always)]
    pub fn new(raw: RawView<T>, label: Label) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let ptr = cuda_std::global::pointer(raw.address);
        #[cfg(not(target_arch = "nvptx64"))]
        let ptr = core::ptr::with_exposed_provenance_mut(raw.address as usize);
        Self {
            ptr,
            len: raw.len as usize,
            label,
        }
    }

    /// Its name.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub fn label(self) -> Label {
        self.label
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Address of element `i`, which exists.
    #[inline(always)]
    pub fn pointer<I: Index>(self, i: I) -> *mut T {
        self.run(i, 1)
    }

    /// Address of element `i`; this and the next `count - 1` elements exist.
    #[inline(always)]
    pub fn run<I: Index>(self, i: I, count: usize) -> *mut T {
        let i = i.index() as usize;
        self.label.check(i + (count - 1), self.len);
        // SAFETY: in range by the promise of the view's maker.
        unsafe { self.ptr.add(i) }
    }

    /// The array of the `count` elements from `first` on, which exist.
    #[inline(always)]
    pub fn part(self, first: u32, count: u32) -> Self {
        Self {
            ptr: self.ptr.wrapping_add(first as usize),
            len: count as usize,
            label: self.label,
        }
    }

    /// Elements `i` to `i + 3`, which exist.
    #[inline(always)]
    pub fn four<I: Index>(self, i: I) -> [T; 4]
    where
        T: Copy,
    {
        // SAFETY: in range.
        unsafe { *self.run(i, 4).cast::<[T; 4]>() }
    }

    #[inline(always)]
    pub fn prefetch<I: Index>(self, i: I) {
        prefetch(self.ptr.wrapping_add(i.index() as usize));
    }
}

/// Two neighbouring elements, loaded as one vector.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Pair<T>([T; 2]);

/// Four neighbouring elements, loaded and stored as one vector.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Quad<T>([T; 4]);

/// The vector at `at`. On the CPU it may lie anywhere, since a view may be of a slice.
///
/// # Safety
/// The vector exists; on a device it is aligned.
#[inline(always)]
unsafe fn load<V: Copy>(at: *const V) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        match cfg!(target_arch = "nvptx64") {
            true => at.read(),
            false => at.read_unaligned(),
        }
    }
}

impl<T: Word> Array<T> {
    /// Elements `i` and `i + 1`; `i` is even.
    #[inline(always)]
    pub fn pair(self, i: u32) -> [T; 2] {
        assert!(
            !CHECKED || i.is_multiple_of(2),
            "pair({i}): pairs begin at even indices"
        );
        // SAFETY: in range; buffers are aligned to 16 bytes.
        unsafe { load(self.run(i, 2).cast::<Pair<T>>()).0 }
    }

    /// Elements `i` to `i + 3`; `i` is a multiple of 4; elements after the end read as 0.
    #[inline(always)]
    pub fn quad(self, i: u32) -> [T; 4] {
        assert!(
            !CHECKED || i.is_multiple_of(4),
            "quad({i}): quads begin at multiples of 4"
        );
        if i as usize + 4 <= self.len {
            // SAFETY: in range; buffers are aligned to 16 bytes.
            unsafe { load(self.run(i, 4).cast::<Quad<T>>()).0 }
        } else {
            let element = |i: u32| {
                if (i as usize) < self.len {
                    // SAFETY: in range.
                    unsafe { *self.pointer(i) }
                } else {
                    T::zeroed()
                }
            };
            [element(i), element(i + 1), element(i + 2), element(i + 3)]
        }
    }

    /// Writes elements `i` to `i + 3`, as far as they exist; `i` is a multiple of 4.
    #[inline(always)]
    pub fn set_quad(self, i: u32, quad: [T; 4]) {
        assert!(
            !CHECKED || i.is_multiple_of(4),
            "set_quad({i}): quads begin at multiples of 4"
        );
        if i as usize + 4 <= self.len {
            // SAFETY: in range; buffers are aligned to 16 bytes.
            unsafe { *self.run(i, 4).cast::<Quad<T>>() = Quad(quad) }
        } else {
            let write = |i: u32, value| {
                if (i as usize) < self.len {
                    // SAFETY: in range.
                    unsafe { *self.pointer(i) = value }
                }
            };
            write(i, quad[0]);
            write(i + 1, quad[1]);
            write(i + 2, quad[2]);
            write(i + 3, quad[3]);
        }
    }
}
