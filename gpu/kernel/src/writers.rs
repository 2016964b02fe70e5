//! The writers of an `Out`'s elements: checked builds of the CPU refuse two writers of one element.
//!
//! Each launch has a shadow of each such array: 64 bits for each element, which identify its last writer.

#[cfg(any(debug_assertions, feature = "checked"))]
mod shadow {
    use std::sync::{Arc, Mutex, PoisonError};

    use core::ptr;

    use bytemuck::Pod;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use crate::check::{Label, hash_bytes, is_looked_for};
    use crate::place::{Writer, kernel};

    /// Set in the shadow of an element that `set_same` wrote: the other bits are a hash of the value, and the index.
    const SAME: u64 = 1 << 63;

    /// Shadows of a launch's arrays.
    #[derive(Clone, Default)]
    pub struct OfLaunch(Arc<Mutex<Vec<Shadow>>>);

    /// The shadow of an array.
    struct Shadow {
        /// The array's address.
        address: u64,
        /// For each element its last writer, or 0.
        writers: *mut [u64],
    }

    // SAFETY: the shadow owns the memory, which is accessed by atomics.
    unsafe impl Send for Shadow {}

    impl Drop for Shadow {
        fn drop(&mut self) {
            // SAFETY: made by `Box::into_raw`; views borrow the run, which holds the launch's shadows.
            drop(unsafe { Box::from_raw(self.writers) });
        }
    }

    impl OfLaunch {
        fn of(&self, address: u64, len: usize) -> *mut u64 {
            let mut shadows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(shadow) = shadows.iter().find(|shadow| shadow.address == address) {
                return shadow.writers.cast();
            }
            // The system gives zeros page by page, when elements are written.
            let writers = Box::into_raw(vec![0u64; len].into_boxed_slice());
            shadows.push(Shadow { address, writers });
            writers.cast()
        }
    }

    /// Writers of an array's elements; none if the view belongs to no launch.
    #[derive(Clone, Copy)]
    pub struct Writers(*mut u64);

    impl Writers {
        pub const NONE: Self = Self(ptr::null_mut());

        pub fn new(launch: &OfLaunch, address: u64, len: usize) -> Self {
            match len == 0 || !is_looked_for() {
                true => Self::NONE,
                false => Self(launch.of(address, len)),
            }
        }

        /// The shadow of element `i`, which exists.
        fn shadow(&self, i: usize) -> Option<&AtomicU64> {
            // SAFETY: as many as the array has elements, which the caller has checked; every access is atomic.
            (!self.0.is_null()).then(|| unsafe { AtomicU64::from_ptr(self.0.add(i)) })
        }

        /// Records that the thread writes `count` elements from `i` on, as far as they exist: the array has `len`.
        pub fn note(self, i: u32, count: u32, len: usize, label: Label) {
            let end = (i as usize + count as usize).min(len);
            for i in i as usize..end {
                let Some(shadow) = self.shadow(i) else {
                    return;
                };
                let here = Writer::here();
                let before = shadow.swap(here.pack(), Relaxed);
                if before == 0 || before & SAME != 0 {
                    continue;
                }
                let before = Writer::unpack(before);
                if before.races(here) {
                    refuse(label.array(), i, before, here, "write");
                }
            }
        }

        /// Records that the thread writes `value` to element `i`, as other threads may.
        pub fn note_same<T: Pod>(self, i: u32, value: T, label: Label) {
            let i = i as usize;
            let Some(shadow) = self.shadow(i) else {
                return;
            };
            let here = Writer::here();
            let value = u64::from(hash_bytes(bytemuck::bytes_of(&value)) >> 1);
            let before = shadow.swap(SAME | value << 32 | u64::from(here.index), Relaxed);
            let index = before as u32;
            if before & SAME != 0 && before >> 32 & 0x7FFF_FFFF != value && index != here.index {
                let before = here.of_index(index);
                refuse(label.array(), i, before, here, "write different values to");
            }
        }
    }

    #[cold]
    fn refuse(array: &str, i: usize, first: Writer, second: Writer, write: &str) -> ! {
        panic!(
            "kernel {}: {first} and {second} {write} element {i} of array `{array}`: one index writes an element, or several the \
             same value by set_same",
            kernel()
        );
    }
}

#[cfg(not(any(debug_assertions, feature = "checked")))]
mod shadow {
    use crate::check::Label;

    #[derive(Clone, Copy)]
    pub struct Writers;

    impl Writers {
        pub const NONE: Self = Self;

        #[inline(always)]
        pub fn note(self, _: u32, _: u32, _: usize, _: Label) {}

        #[inline(always)]
        pub fn note_same<T>(self, _: u32, _: T, _: Label) {}
    }
}

#[cfg(any(debug_assertions, feature = "checked"))]
pub(crate) use shadow::OfLaunch;
pub(crate) use shadow::Writers;
