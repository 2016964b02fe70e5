//! Kernels whose lanes work together: one body for a block of `LANES` lanes.
//!
//! A body is written in phases. On the device each lane runs a phase once and the phase ends in a barrier; on the CPU one
//! thread runs the phase for all lanes of the block before the next. What a lane keeps from one phase to another is a
//! [`Lanes`]: a register there, an array here.

use core::marker::PhantomData;

/// A value of type `T` for each lane of a block.
#[derive(Clone, Copy)]
pub struct Lanes<T, const LANES: usize> {
    #[cfg(target_arch = "nvptx64")]
    value: T,
    #[cfg(not(target_arch = "nvptx64"))]
    values: [T; LANES],
}

/// Shared memory of a block, as an array.
#[derive(Clone, Copy)]
pub struct Shared<'a, T> {
    ptr: *mut T,
    memory: PhantomData<&'a mut [T]>,
}

impl<T: Copy> Shared<'_, T> {
    /// Element `i`.
    #[inline(always)]
    pub fn at(self, i: u32) -> T {
        // SAFETY: within the bytes that the kernel declares; phases are split at barriers.
        unsafe { *self.ptr.add(i as usize) }
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn set(self, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { *self.ptr.add(i as usize) = value }
    }
}

/// Bytes at the start of shared memory that [`Block::exclusive_sum`] uses.
pub const SCRATCH_BYTES: usize = 256;

/// A block of `LANES` lanes.
pub struct Block<const LANES: usize> {
    index: u32,
    #[cfg(not(target_arch = "nvptx64"))]
    shared: *mut u8,
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::*;
    use cuda_std::{shared, thread, warp};

    impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
        #[inline(always)]
        pub fn at(&self, _lane: u32) -> T {
            self.value
        }
    }

    impl<const LANES: usize> Block<LANES> {
        #[inline(always)]
        pub fn new(index: u32) -> Self {
            Self { index }
        }

        #[inline(always)]
        pub fn lanes<T: Copy>(&self, mut f: impl FnMut(u32) -> T) -> Lanes<T, LANES> {
            Lanes {
                value: f(thread::thread_idx_x()),
            }
        }

        #[inline(always)]
        pub fn phase(&self, mut f: impl FnMut(u32)) {
            f(thread::thread_idx_x());
            thread::sync_threads();
        }

        #[inline(always)]
        pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
            thread::sync_threads_or(x.value)
        }

        #[inline(always)]
        pub fn shared<T>(&self) -> Shared<'_, T> {
            Shared {
                // SAFETY: the launch reserves the scratch before the kernel's own bytes.
                ptr: unsafe { shared::dynamic_shared_mem::<u8>().add(SCRATCH_BYTES).cast() },
                memory: PhantomData,
            }
        }

        /// Warps scan by shuffles; the first warp scans their sums in shared memory.
        #[inline(always)]
        pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
            let sums = Shared::<u32> {
                ptr: shared::dynamic_shared_mem(),
                memory: PhantomData,
            };
            let lane = thread::thread_idx_x();
            let warps = LANES as u32 / 32;
            let inclusive = warp_sum(x.value);
            if lane % 32 == 31 {
                sums.set(lane / 32, inclusive);
            }
            thread::sync_threads();
            if lane < 32 {
                let sum = if lane < warps { sums.at(lane) } else { 0 };
                let inclusive = warp_sum(sum);
                sums.set(lane, inclusive);
            }
            thread::sync_threads();
            let before = if lane >= 32 {
                sums.at(lane / 32 - 1)
            } else {
                0
            };
            let total = sums.at(warps - 1);
            // The next call writes the sums again.
            thread::sync_threads();
            (
                Lanes {
                    value: before + inclusive - x.value,
                },
                total,
            )
        }
    }

    /// Inclusive sum over a warp.
    #[inline(always)]
    fn warp_sum(mut x: u32) -> u32 {
        let mut distance = 1;
        while distance < 32 {
            let below = warp::shuffle_up(x, distance);
            if warp::lane_id() >= distance {
                x += below;
            }
            distance *= 2;
        }
        x
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use super::*;

    impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
        /// Value of `lane`.
        pub fn at(&self, lane: u32) -> T {
            self.values[lane as usize]
        }
    }

    impl<const LANES: usize> Block<LANES> {
        /// Block `index`, with `shared` as its shared memory, scratch included.
        ///
        /// # Safety
        /// `shared` is aligned to 16 bytes, as long as the kernel declares, and the block's alone.
        pub unsafe fn new(index: u32, shared: *mut u8) -> Self {
            Self { index, shared }
        }

        /// `f` of every lane, without a barrier.
        pub fn lanes<T: Copy>(&self, f: impl FnMut(u32) -> T) -> Lanes<T, LANES> {
            let mut f = f;
            Lanes {
                values: core::array::from_fn(|lane| f(lane as u32)),
            }
        }

        /// Runs `f` for every lane, then a barrier.
        pub fn phase(&self, mut f: impl FnMut(u32)) {
            for lane in 0..LANES as u32 {
                f(lane);
            }
        }

        /// Whether `x` holds for one of the lanes. A barrier.
        pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
            x.values.contains(&true)
        }

        /// The kernel's shared memory.
        pub fn shared<T>(&self) -> Shared<'_, T> {
            Shared {
                // SAFETY: behind the scratch (contract of `new`).
                ptr: unsafe { self.shared.add(SCRATCH_BYTES).cast() },
                memory: PhantomData,
            }
        }

        /// Sum of `x` over the lanes below each, and over all, modulo 2^32. A barrier before and after.
        pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
            let mut sum = 0u32;
            let values = core::array::from_fn(|lane| {
                let before = sum;
                sum = sum.wrapping_add(x.values[lane]);
                before
            });
            (Lanes { values }, sum)
        }
    }
}

impl<const LANES: usize> Block<LANES> {
    /// Index of the block in its launch.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.index
    }
}
