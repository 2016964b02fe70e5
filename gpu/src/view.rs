//! Views of device memory that a kernel works on.
//!
//! A view is a pointer and a length. Indices are checked in debug builds on the CPU only: what a kernel indexes with is
//! validated before (DESIGN: any input is safe).

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Asks a CPU for the memory at `address` ahead of its use; nothing on a device, where other threads run meanwhile.
#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// No element: the index type's reserved value.
pub const NONE: u32 = u32::MAX;

/// An array that the launch only reads.
pub struct In<'a, T> {
    ptr: *const T,
    len: usize,
    memory: PhantomData<&'a [T]>,
}

/// An array of which each element is written by one index of the launch at most (or by several with the same value).
pub struct Out<'a, T> {
    ptr: *mut T,
    len: usize,
    memory: PhantomData<&'a mut [T]>,
}

/// An array of `u32` that any index may change at any time. Every access is relaxed: launches order them.
#[derive(Clone, Copy)]
pub struct Atomic<'a> {
    ptr: *mut u32,
    len: usize,
    memory: PhantomData<&'a [AtomicU32]>,
}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<'_, T> {}
impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<'_, T> {}

// SAFETY: read-only.
unsafe impl<T: Sync> Sync for In<'_, T> {}
// SAFETY: read-only.
unsafe impl<T: Sync> Send for In<'_, T> {}
// SAFETY: an element is written by one index (type's contract).
unsafe impl<T: Send> Sync for Out<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Out<'_, T> {}
// SAFETY: every access is atomic.
unsafe impl Sync for Atomic<'_> {}
// SAFETY: every access is atomic.
unsafe impl Send for Atomic<'_> {}

impl<'a, T> From<&'a [T]> for In<'a, T> {
    /// A view of host memory, to call a kernel's function with.
    fn from(slice: &'a [T]) -> Self {
        Self {
            ptr: slice.as_ptr(),
            len: slice.len(),
            memory: PhantomData,
        }
    }
}

impl<T: Copy> In<'_, T> {
    /// A view of `len` elements at `ptr`.
    ///
    /// # Safety
    /// They stay readable and unchanged while the view is used.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *const T, len: usize) -> Self {
        Self {
            ptr,
            len,
            memory: PhantomData,
        }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(self, i: u32) -> T {
        debug_assert!((i as usize) < self.len, "{i} of {}", self.len);
        // SAFETY: in range by the kernel's contract.
        unsafe { *self.ptr.add(i as usize) }
    }

    /// Asks a CPU for element `i` ahead of its use.
    #[inline(always)]
    pub fn prefetch(self, i: u32) {
        prefetch(self.ptr.wrapping_add(i as usize));
    }

    /// Asks a CPU for the element that an item of `list` some way behind `i` names.
    #[inline(always)]
    pub fn prefetch_item(self, list: In<u32>, i: u32) {
        if cfg!(not(target_arch = "nvptx64")) && i + PREFETCHED_AHEAD < list.len() {
            self.prefetch(list.at(i + PREFETCHED_AHEAD));
        }
    }

    /// Asks a CPU for the elements at the corners of a triangle some way behind `t`.
    #[inline(always)]
    pub fn prefetch_corners(self, origins: In<u32>, t: u32) {
        let h = 3 * t + 3 * PREFETCHED_AHEAD;
        if cfg!(not(target_arch = "nvptx64")) && h + 2 < origins.len() {
            self.prefetch(origins.at(h));
            self.prefetch(origins.at(h + 1));
            self.prefetch(origins.at(h + 2));
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.len as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Elements, in the order of a loop, that a CPU is asked for ahead of their use.
pub const PREFETCHED_AHEAD: u32 = 16;

/// Two neighbouring elements, loaded as one vector.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Pair([u32; 2]);

/// Four neighbouring elements, loaded and stored as one vector.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Quad([u32; 4]);

impl In<'_, u32> {
    /// Elements `i` to `i + 3`; `i` is a multiple of 4, and what lies behind the end reads as 0.
    #[inline(always)]
    pub fn quad(self, i: u32) -> [u32; 4] {
        // SAFETY: the same array; `Out` allows reads.
        unsafe { Out::from_raw(self.ptr.cast_mut(), self.len) }.quad(i)
    }

    /// Elements `i` and `i + 1`; `i` is even.
    #[inline(always)]
    pub fn pair(self, i: u32) -> [u32; 2] {
        debug_assert!(
            i.is_multiple_of(2) && (i as usize + 1) < self.len,
            "{i} of {}",
            self.len
        );
        // SAFETY: in range by the kernel's contract; buffers are aligned to 16 bytes.
        unsafe { (*self.ptr.add(i as usize).cast::<Pair>()).0 }
    }

    /// Bit `i` of a bit set.
    #[inline(always)]
    pub fn bit(self, i: u32) -> bool {
        self.at(i / 32) >> (i % 32) & 1 != 0
    }
}

impl<T: Copy> Out<'_, T> {
    /// A view of `len` elements at `ptr`.
    ///
    /// # Safety
    /// They stay writable while the view is used, and the kernel keeps the contract of [`Out`].
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *mut T, len: usize) -> Self {
        Self {
            ptr,
            len,
            memory: PhantomData,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.len as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The same array, for reading what no index of the launch writes.
    #[inline(always)]
    pub fn unwritten<'a>(self) -> In<'a, T> {
        // SAFETY: as `at`.
        unsafe { In::from_raw(self.ptr, self.len) }
    }

    /// Where element `i` lies, for accesses that race by design.
    #[inline(always)]
    pub fn pointer(self, i: u32) -> *mut T {
        debug_assert!((i as usize) < self.len, "{i} of {}", self.len);
        // SAFETY: in range by the kernel's contract.
        unsafe { self.ptr.add(i as usize) }
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn set(self, i: u32, value: T) {
        debug_assert!((i as usize) < self.len, "{i} of {}", self.len);
        // SAFETY: in range by the kernel's contract; one index writes it.
        unsafe { *self.ptr.add(i as usize) = value }
    }

    /// Element `i`, that this index of the launch wrote or that none writes.
    #[inline(always)]
    pub fn at(self, i: u32) -> T {
        debug_assert!((i as usize) < self.len, "{i} of {}", self.len);
        // SAFETY: in range by the kernel's contract; no other index writes it.
        unsafe { *self.ptr.add(i as usize) }
    }
}

impl Out<'_, u32> {
    /// Elements `i` to `i + 3`; `i` is a multiple of 4, and what lies behind the end reads as 0.
    #[inline(always)]
    pub fn quad(self, i: u32) -> [u32; 4] {
        if i as usize + 4 <= self.len {
            // SAFETY: in range; buffers are aligned to 16 bytes.
            unsafe { (*self.ptr.add(i as usize).cast::<Quad>()).0 }
        } else {
            let element = |i: u32| {
                if (i as usize) < self.len {
                    self.at(i)
                } else {
                    0
                }
            };
            [element(i), element(i + 1), element(i + 2), element(i + 3)]
        }
    }

    /// Writes elements `i` to `i + 3`, as far as they exist; `i` is a multiple of 4.
    #[inline(always)]
    pub fn set_quad(self, i: u32, quad: [u32; 4]) {
        if i as usize + 4 <= self.len {
            // SAFETY: in range; buffers are aligned to 16 bytes.
            unsafe { *self.ptr.add(i as usize).cast::<Quad>() = Quad(quad) }
        } else {
            let write = |i: u32, value| {
                if (i as usize) < self.len {
                    self.set(i, value);
                }
            };
            write(i, quad[0]);
            write(i + 1, quad[1]);
            write(i + 2, quad[2]);
            write(i + 3, quad[3]);
        }
    }
}

impl Atomic<'_> {
    /// A view of `len` elements at `ptr`.
    ///
    /// # Safety
    /// They stay valid while the view is used, and every access at that time is atomic.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *mut u32, len: usize) -> Self {
        Self {
            ptr,
            len,
            memory: PhantomData,
        }
    }

    #[inline(always)]
    fn cell(&self, i: u32) -> &AtomicU32 {
        debug_assert!((i as usize) < self.len, "{i} of {}", self.len);
        // SAFETY: in range by the kernel's contract; accessed through atomics only.
        unsafe { AtomicU32::from_ptr(self.ptr.add(i as usize)) }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn load(self, i: u32) -> u32 {
        self.cell(i).load(Relaxed)
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn store(self, i: u32, value: u32) {
        self.cell(i).store(value, Relaxed)
    }

    /// Adds to element `i`; its value before.
    #[inline(always)]
    pub fn add(self, i: u32, value: u32) -> u32 {
        self.cell(i).fetch_add(value, Relaxed)
    }

    /// Replaces element `i`; its value before.
    #[inline(always)]
    pub fn swap(self, i: u32, value: u32) -> u32 {
        self.cell(i).swap(value, Relaxed)
    }

    /// Replaces element `i` by `new` if it is `old`; its value before.
    #[inline(always)]
    pub fn compare_exchange(self, i: u32, old: u32, new: u32) -> u32 {
        match self.cell(i).compare_exchange(old, new, Relaxed, Relaxed) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.len as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Asks a CPU for element `i` ahead of its use.
    #[inline(always)]
    pub fn prefetch(self, i: u32) {
        prefetch(self.ptr.wrapping_add(i as usize));
    }

    /// Lowers element `i` to `value`.
    #[inline(always)]
    pub fn min(self, i: u32, value: u32) {
        // Most calls find a lower value there already: a load costs less than an atomic update.
        if self.load(i) > value {
            self.cell(i).fetch_min(value, Relaxed);
        }
    }

    /// Lowers element `i` to `value`; its value before.
    #[inline(always)]
    pub fn fetch_min(self, i: u32, value: u32) -> u32 {
        self.cell(i).fetch_min(value, Relaxed)
    }

    /// Clears bit `i` of a bit set.
    #[inline(always)]
    pub fn clear_bit(self, i: u32) {
        self.cell(i / 32).fetch_and(!(1 << (i % 32)), Relaxed);
    }

    /// Sets bit `i` of a bit set.
    #[inline(always)]
    pub fn set_bit(self, i: u32) {
        self.cell(i / 32).fetch_or(1 << (i % 32), Relaxed);
    }

    /// Sets bit `i` of a bit set; whether it was set before.
    #[inline(always)]
    pub fn test_and_set_bit(self, i: u32) -> bool {
        let bit = 1 << (i % 32);
        // A load costs less than an atomic update, and many calls find the bit set.
        self.load(i / 32) & bit != 0 || self.cell(i / 32).fetch_or(bit, Relaxed) & bit != 0
    }

    /// Bit `i` of a bit set.
    #[inline(always)]
    pub fn bit(self, i: u32) -> bool {
        self.load(i / 32) >> (i % 32) & 1 != 0
    }
}
