//! Kernels whose lanes work together: one body for a block of `LANES` lanes.
//!
//! A body is written in phases. On the device each lane runs a phase once and the phase ends in a barrier; on the CPU one
//! thread runs the phase for all lanes of the block before the next. What a lane keeps from one phase to another is a
//! [`Lanes`]: a register there, an array here.

#[cfg(not(target_arch = "nvptx64"))]
use core::cell::Cell;
use core::cell::UnsafeCell;
use core::marker::PhantomData;

#[cfg(not(target_arch = "nvptx64"))]
use crate::check::CHECKED;
use crate::check::Label;

/// A value of type `T` for each lane of a block.
#[derive(Clone, Copy)]
pub struct Lanes<T, const LANES: usize> {
    #[cfg(target_arch = "nvptx64")]
    value: T,
    #[cfg(not(target_arch = "nvptx64"))]
    values: [T; LANES],
}

/// An array of `N` elements in a block's shared memory; a field of the struct that [`Block::shared`] gives.
///
/// Lanes share it: what one writes another reads after a barrier.
#[repr(C, align(16))]
pub struct Shared<T, const N: usize>(UnsafeCell<[T; N]>);

impl<T: Copy, const N: usize> Shared<T, N> {
    /// Address of element `i`.
    #[inline(always)]
    fn pointer(&self, i: u32) -> *mut T {
        Label::new("a kernel with shared memory", "shared").check(i as usize, N);
        // SAFETY: in range by the promise of who launches the kernel.
        unsafe { self.0.get().cast::<T>().add(i as usize) }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(&self, i: u32) -> T {
        // SAFETY: lanes are kept apart by barriers (promise of who launches the kernel).
        unsafe { *self.pointer(i) }
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn set(&self, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { *self.pointer(i) = value }
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
        self.pointer(4 * i + 3);
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

/// Most lanes of a block.
pub const MOST_LANES: usize = 1024;
/// Most bytes of shared memory of a block on any device, without asking for more.
pub const MOST_SHARED: usize = 48 << 10;

/// Refuses a width that no device has. Evaluated where a kernel is declared.
pub const fn check_width(lanes: usize) {
    assert!(
        lanes > 0 && lanes.is_multiple_of(32) && lanes <= MOST_LANES,
        "a block has 32 to 1024 lanes, a multiple of 32: change N in `&Block<N>`"
    );
}

/// Refuses more shared memory than a device has. Evaluated where a kernel is declared.
pub const fn check_shared(bytes: usize) {
    assert!(
        bytes + SCRATCH_BYTES <= MOST_SHARED,
        "a block has at most 48 KiB of shared memory, 256 bytes of which are for `exclusive_sum`: make S in `&Block<N, S>` smaller"
    );
}

/// Bytes at the start of shared memory that [`Block::exclusive_sum`] uses.
pub const SCRATCH_BYTES: usize = 256;

/// A block of `LANES` lanes with the shared memory `S`.
pub struct Block<const LANES: usize, S = ()> {
    index: u32,
    #[cfg(not(target_arch = "nvptx64"))]
    shared: *mut u8,
    /// Whether a lane's closure runs: no place for a barrier.
    #[cfg(not(target_arch = "nvptx64"))]
    is_in_lane: Cell<bool>,
    memory: PhantomData<fn() -> S>,
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

    impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
        #[inline(always)]
        pub fn new(index: u32) -> Self {
            Self {
                index,
                memory: PhantomData,
            }
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
        pub fn shared(&self) -> &S {
            // SAFETY: the launch reserves the scratch, and behind it the bytes of `S`.
            unsafe { &*shared::dynamic_shared_mem::<u8>().add(SCRATCH_BYTES).cast() }
        }

        /// Warps scan by shuffles; the first warp scans their sums in shared memory.
        #[inline(always)]
        pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
            // SAFETY: the scratch at the start of shared memory, 64 words.
            let sums = unsafe { &*shared::dynamic_shared_mem::<Shared<u32, 64>>() };
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

    impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
        /// Block `index`, with `shared` as its shared memory, scratch included.
        ///
        /// # Safety
        /// `shared` is aligned to 16 bytes, as long as the scratch and `S`, and the block's alone.
        pub unsafe fn new(index: u32, shared: *mut u8) -> Self {
            Self {
                index,
                shared,
                is_in_lane: Cell::new(false),
                memory: PhantomData,
            }
        }

        /// `f` of every lane, without a barrier.
        pub fn lanes<T: Copy>(&self, f: impl FnMut(u32) -> T) -> Lanes<T, LANES> {
            let mut f = f;
            self.is_in_lane.set(true);
            let values = core::array::from_fn(|lane| f(lane as u32));
            self.is_in_lane.set(false);
            Lanes { values }
        }

        /// Runs `f` for every lane, then a barrier.
        pub fn phase(&self, mut f: impl FnMut(u32)) {
            self.refuse_barrier_in_lane();
            self.is_in_lane.set(true);
            for lane in 0..LANES as u32 {
                f(lane);
            }
            self.is_in_lane.set(false);
        }

        /// Whether `x` holds for one of the lanes. A barrier.
        pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
            self.refuse_barrier_in_lane();
            x.values.contains(&true)
        }

        /// The block's shared memory.
        pub fn shared(&self) -> &S {
            // SAFETY: behind the scratch (contract of `new`); any bits are a value of `S`.
            unsafe { &*self.shared.add(SCRATCH_BYTES).cast() }
        }

        /// Sum of `x` over the lanes below each, and over all, modulo 2^32. A barrier before and after.
        pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
            self.refuse_barrier_in_lane();
            let mut sum = 0u32;
            let values = core::array::from_fn(|lane| {
                let before = sum;
                sum = sum.wrapping_add(x.values[lane]);
                before
            });
            (Lanes { values }, sum)
        }

        /// On a device a barrier that not all lanes reach hangs the block.
        #[inline(always)]
        fn refuse_barrier_in_lane(&self) {
            assert!(
                !CHECKED || !self.is_in_lane.get(),
                "a barrier inside of a lane's closure: call phase, any and exclusive_sum outside of the closures of lanes and phase"
            );
        }
    }
}

impl<const LANES: usize, S> Block<LANES, S> {
    /// Index of the block in its launch.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.index
    }
}
