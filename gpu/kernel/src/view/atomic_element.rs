//! Elements that are loaded and stored whole.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use bytemuck::Pod;

/// An integer with atomic operations: `u32` or `u64`. All are relaxed: launches order them.
pub trait AtomicInteger: Pod + Ord + Send + Sync {
    /// # Safety
    /// `at` is valid, and every access during the call is atomic.
    unsafe fn load(at: *mut Self) -> Self;
    /// # Safety
    /// As [`Self::load`].
    unsafe fn store(at: *mut Self, value: Self);
    /// # Safety
    /// As [`Self::load`].
    unsafe fn add(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As [`Self::load`].
    unsafe fn min(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As [`Self::load`].
    unsafe fn max(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As [`Self::load`].
    unsafe fn swap(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// As [`Self::load`].
    unsafe fn exchange(at: *mut Self, old: Self, new: Self) -> Self;
}

macro_rules! atomic_integer {
    ($integer:ident, $cell:ident) => {
        impl AtomicInteger for $integer {
            #[inline(always)]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.load(Relaxed)
            }

            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.store(value, Relaxed);
            }

            #[inline(always)]
            unsafe fn add(at: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.fetch_add(value, Relaxed)
            }

            #[inline(always)]
            unsafe fn min(at: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.fetch_min(value, Relaxed)
            }

            #[inline(always)]
            unsafe fn max(at: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.fetch_max(value, Relaxed)
            }

            #[inline(always)]
            unsafe fn swap(at: *mut Self, value: Self) -> Self {
                // SAFETY: the caller's contract.
                unsafe { $cell::from_ptr(at) }.swap(value, Relaxed)
            }

            #[inline(always)]
            unsafe fn exchange(at: *mut Self, old: Self, new: Self) -> Self {
                // SAFETY: the caller's contract.
                let cell = unsafe { $cell::from_ptr(at) };
                match cell.compare_exchange(old, new, Relaxed, Relaxed) {
                    Ok(before) | Err(before) => before,
                }
            }
        }
    };
}

atomic_integer!(u32, AtomicU32);
atomic_integer!(u64, AtomicU64);

/// An element that is loaded and stored as one atomic integer: an integer, a float, an id, a word of a bit set.
///
/// # Safety
/// It is as large and as aligned as [`Self::Bits`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic loads and stores",
    note = "atomic elements are u32, u64, f32, f64, ids and words of bit sets; a struct is no atomic element: use an array for each field"
)]
pub unsafe trait AtomicElement: Pod + Send + Sync {
    /// The integer of its bits.
    type Bits: AtomicInteger;

    /// The element at `at`.
    ///
    /// # Safety
    /// `at` is valid, and every access during the call is atomic.
    #[inline(always)]
    unsafe fn load(at: *mut Self) -> Self {
        // SAFETY: the caller's contract.
        unsafe { element(Self::Bits::load(at.cast())) }
    }

    /// Writes the element at `at`.
    ///
    /// # Safety
    /// As [`Self::load`].
    #[inline(always)]
    unsafe fn store(at: *mut Self, value: Self) {
        // SAFETY: the caller's contract.
        unsafe { Self::Bits::store(at.cast(), bits(value)) }
    }
}

macro_rules! atomic_element {
    ($($element:ident: $bits:ident),*) => { $(
        // SAFETY: of the same size and alignment.
        unsafe impl AtomicElement for $element {
            type Bits = $bits;
        }
    )* };
}

atomic_element!(u32: u32, i32: u32, f32: u32, u64: u64, i64: u64, f64: u64);

/// An element whose order is that of its bits: an unsigned integer or an id, not a signed integer and not a float.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not ordered as its bits",
    note = "atomic minima and maxima exist for u32, u64 and ids: map signed numbers and floats to unsigned keys"
)]
pub trait OrderedElement: AtomicElement + Ord {}

impl OrderedElement for u32 {}
impl OrderedElement for u64 {}

/// The bits of an element.
#[inline(always)]
pub(super) fn bits<T: AtomicElement>(element: T) -> T::Bits {
    // SAFETY: plain data of the same size (contract of the trait).
    unsafe { core::mem::transmute_copy(&element) }
}

/// The element with these bits.
#[inline(always)]
pub(super) unsafe fn element<T: AtomicElement>(bits: T::Bits) -> T {
    // SAFETY: plain data of the same size (contract of the trait).
    unsafe { core::mem::transmute_copy(&bits) }
}
