//! Kernels whose lanes work together: one body for a block of `LANES` lanes.
//!
//! A body is written in phases. On the device each lane runs a phase once and the phase ends in a barrier; on the CPU one thread
//! runs the phase for all lanes of the block before the next. A value that a lane keeps from one phase to another is a [`Lanes`]:
//! a register there, an array here.
//!
//! # Examples
//!
//! [`Block::phase`] and [`Shared`] memory: lanes read values that other lanes wrote in an earlier phase.
//!
//! ```
//! use trioxide_device::Device;
//! use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};
//!
//! #[derive(SharedMemory)]
//! pub struct Tile {
//!     values: Shared<u32, 64>,
//! }
//!
//! /// Reverses each 64 values.
//! #[kernel(requires(values.len() == 64 * n, reversed.len() == 64 * n))]
//! pub fn reverse(block: &Block<64, Tile>, values: In<u32>, reversed: Out<u32>) {
//!     let (tile, first) = (&block.shared().values, 64 * block.index());
//!     block.phase(|lane| tile.set(lane, lane.index(), values.at(first + lane.index())));
//!     block.phase(|lane| reversed.set(first + lane.index(), tile.at(63 - lane.index())));
//! }
//! # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let values = on.upload(&(0..128).collect::<Vec<u32>>())?;
//! let mut reversed = on.uninitialized(128)?;
//! // SAFETY: the lengths are checked, and each lane writes its own element.
//! unsafe { reverse::launch(&on, 2, &values, &mut reversed) }?;
//! assert_eq!(on.download(&reversed)?[..2], [63, 62]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Block::lanes`] keeps a value for each lane; [`Block::exclusive_sum`] sums over the lanes before each.
//!
//! ```
//! use trioxide_device::Device;
//! use trioxide_kernel::{Block, Out, kernel};
//!
//! /// Replaces each of 32 values by the sum of those before it.
//! #[kernel(requires(values.len() == 32 * n))]
//! pub fn scan(block: &Block<32>, values: Out<u32>) {
//!     let place = block.lanes(|lane| 32 * block.index() + lane.index());
//!     let (before, _) = block.exclusive_sum(&block.lanes(|lane| values.at(place.at(lane))));
//!     block.phase(|lane| values.set(place.at(lane), before.at(lane)));
//! }
//! # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let mut values = on.filled(32, 2)?;
//! // SAFETY: the length is checked, and each lane uses its own element.
//! unsafe { scan::launch(&on, 1, &mut values) }?;
//! assert_eq!(on.download(&values)?[..3], [0, 2, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Block::any`] asks all lanes; [`Block::ballot`] packs the flags of 32 lanes into a word.
//!
//! ```
//! use trioxide_device::Device;
//! use trioxide_kernel::{Block, In, Out, kernel};
//!
//! /// Bit i of word k says whether value 32 k + i is odd. A word without an odd value stays as it was.
//! #[kernel(requires(values.len() == 32 * n, words.len() == n))]
//! pub fn mark_odd(block: &Block<32>, values: In<u32>, words: Out<u32>) {
//!     let odd = block.lanes(|lane| values.at(32 * block.index() + lane.index()) % 2 == 1);
//!     if block.any(&odd) {
//!         let word = block.ballot(&odd);
//!         block.phase(|_| words.set_same(block.index(), word));
//!     }
//! }
//! # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let (values, mut words) = (on.upload(&(0..32).collect::<Vec<u32>>())?, on.filled(1, 0)?);
//! // SAFETY: the lengths are checked; lanes write the same word.
//! unsafe { mark_odd::launch(&on, 1, &values, &mut words) }?;
//! assert_eq!(on.download(&words)?, [0xAAAA_AAAA]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Block::each`] runs over any number of indices.
//!
//! ```
//! use trioxide_device::Device;
//! use trioxide_kernel::{Block, Out, kernel};
//!
//! /// Numbers the elements of each row of `width`.
//! #[kernel(requires(numbers.len() == width as usize * n))]
//! pub fn number(block: &Block<64>, width: u32, numbers: Out<u32>) {
//!     block.each(width, |_, i| numbers.set(block.index() * width + i, i));
//! }
//! # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let mut numbers = on.uninitialized(300)?;
//! // SAFETY: the length is checked, and each index writes its own element.
//! unsafe { number::launch(&on, 3, 100, &mut numbers) }?;
//! assert_eq!(on.download(&numbers)?[99..102], [99, 0, 1]);
//! # Ok(())
//! # }
//! ```

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::panic::RefUnwindSafe;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::check::{CHECKED, shared_label};

/// A lane in one of its phases: a closure of [`Block::phase`], [`Block::lanes`] or [`Block::each`] receives it, and cannot keep it.
///
/// It is the proof that the closure runs for one lane: a lane reads its own value of [`Lanes`], and writes to [`Shared`] memory,
/// with it alone.
#[derive(Clone, Copy)]
pub struct Lane<'phase> {
    index: u32,
    /// It ends with its phase, and goes to no other thread.
    phase: PhantomData<(&'phase (), *mut ())>,
}

impl Lane<'_> {
    /// Runs `f` for lane `index`, in a phase of its own.
    #[inline(always)]
    fn run<T>(index: u32, f: impl FnOnce(Lane<'_>) -> T) -> T {
        f(Lane {
            index,
            phase: PhantomData,
        })
    }

    /// Number of the lane in its block, from 0.
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A type without a `Cell` or `RefCell` in it. The closures of [`Block::phase`], [`Block::lanes`] and [`Block::each`] have such types.
///
/// A variable outside of a closure is one variable on a CPU, and one for each lane on a device: a lane cannot change it by a cell
/// either. All other types implement this trait, as do the views and [`Shared`]. A generic function asks for it where its closure
/// captures a value of the type.
#[diagnostic::on_unimplemented(
    message = "a closure of lanes captures a value that it can change, a `Cell` or a `RefCell`",
    label = "captures a `Cell`, a `RefCell`, or a value of a generic type",
    note = "a CPU has one such value for the block, and a device has one for each lane: results would differ",
    note = "keep a value for each lane in `Lanes` (`block.lanes(…)`), and values that lanes share in `Shared` memory; write \
            `T: NoCells` for a generic type"
)]
pub trait NoCells: RefUnwindSafe {}

// `RefUnwindSafe` is the standard library's auto trait that `UnsafeCell` lacks. Its own message speaks of panics.
#[diagnostic::do_not_recommend]
impl<T: RefUnwindSafe + ?Sized> NoCells for T {}

/// A value of type `T` for each lane of a block.
#[derive(Clone, Copy)]
pub struct Lanes<T, const LANES: usize> {
    #[cfg(target_arch = "nvptx64")]
    value: T,
    #[cfg(not(target_arch = "nvptx64"))]
    values: [T; LANES],
}

// The closure that gave the values captured no cell, so they refer to none.
impl<T, const LANES: usize> RefUnwindSafe for Lanes<T, LANES> {}

/// An array of `N` elements in a block's shared memory; a field of the struct that [`Block::shared`] gives.
///
/// Lanes share it: after a barrier a lane reads the values that others wrote.
#[repr(C, align(16))]
pub struct Shared<T, const N: usize>(UnsafeCell<[T; N]>);

// Lanes write to it with their `Lane` alone.
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
        // SAFETY: lanes are kept apart by barriers (promise of the launch's caller).
        unsafe { *self.pointer(i) }
    }

    /// Writes element `i`, in a phase.
    #[inline(always)]
    pub fn set(&self, _: Lane<'_>, i: u32, value: T) {
        self.put(i, value);
    }

    #[inline(always)]
    fn put(&self, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { *self.pointer(i) = value }
    }
}

impl<const N: usize> Shared<u32, N> {
    /// Element `i`, which any lane may change at any time in the phase.
    #[inline(always)]
    fn atomic(&self, i: u32) -> &AtomicU32 {
        // SAFETY: in range, as `pointer` checks; in a phase that calls this, every access to the element is atomic (promise of the
        // launch's caller).
        unsafe { AtomicU32::from_ptr(self.pointer(i)) }
    }

    /// Adds to element `i`, as other lanes may in the same phase; its value before. The order of lanes is not known.
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

    /// Replaces element `i` by `new` if it is `old`, as other lanes may in the same phase; its value before.
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

/// Most lanes of a block.
pub const MOST_LANES: usize = 1024;
/// Most bytes of shared memory of a block on any device, without asking for more.
pub const MOST_SHARED: usize = 48 << 10;

/// Whether devices have blocks of `lanes` lanes.
#[doc(hidden)]
pub const fn is_width(lanes: usize) -> bool {
    lanes > 0 && lanes.is_multiple_of(32) && lanes <= MOST_LANES
}

/// Whether devices have blocks with `bytes` bytes of shared memory, beside the scratch.
#[doc(hidden)]
pub const fn has_shared(bytes: usize) -> bool {
    bytes <= MOST_SHARED - SCRATCH_BYTES
}

/// Whether devices have blocks of `lanes` lanes with `registers` registers each.
#[doc(hidden)]
pub const fn has_registers(lanes: usize, registers: usize) -> bool {
    lanes * registers.next_multiple_of(8) <= 1 << 16
}

/// Refuses an alignment that shared memory does not have.
const fn check_alignment<S>() {
    assert!(
        align_of::<S>() <= 16,
        "shared memory is aligned to 16 bytes at most: remove the struct's repr(align)"
    );
}

/// Bytes at the start of shared memory that [`Block::exclusive_sum`] uses.
pub const SCRATCH_BYTES: usize = 256;

/// A block of `LANES` lanes with the shared memory `S`.
///
/// A closure of [`Block::phase`], [`Block::lanes`] or [`Block::each`] assigns no variable outside of itself, and captures no
/// `Cell` ([`NoCells`]). The compiler does not refuse an atomic or a lock of the standard library, in a variable or a `static`: a kernel
/// uses none, since it would be one value on a CPU and one for each lane, or for each module, on a device. Values that lanes
/// change together lie in [`Shared`] memory or in an [`Atomic`](crate::Atomic).
///
/// The methods have examples at the head of this [module](self).
pub struct Block<const LANES: usize, S = ()> {
    index: u32,
    #[cfg(not(target_arch = "nvptx64"))]
    shared: *mut u8,
    memory: PhantomData<fn() -> S>,
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::*;
    use cuda_std::{shared, thread, warp};

    impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
        #[inline(always)]
        pub fn at(&self, _lane: Lane<'_>) -> T {
            self.value
        }
    }

    impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
        /// Block `index`.
        ///
        /// # Safety
        /// The thread belongs to the block, whose shared memory has the scratch and `S`.
        #[inline(always)]
        pub unsafe fn new(index: u32) -> Self {
            Self {
                index,
                memory: PhantomData,
            }
        }

        #[inline(always)]
        pub fn lanes<T: Copy>(&self, f: impl Fn(Lane<'_>) -> T + NoCells) -> Lanes<T, LANES> {
            Lanes {
                value: Lane::run(thread::thread_idx_x(), f),
            }
        }

        #[inline(always)]
        pub fn phase(&self, f: impl Fn(Lane<'_>) + NoCells) {
            Lane::run(thread::thread_idx_x(), f);
            thread::sync_threads();
        }

        #[inline(always)]
        pub fn each(&self, count: u32, f: impl Fn(Lane<'_>, u32) + NoCells) {
            let mut i = thread::thread_idx_x();
            while i < count {
                Lane::run(thread::thread_idx_x(), |lane| f(lane, i));
                i += LANES as u32;
            }
            thread::sync_threads();
        }

        #[inline(always)]
        pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
            thread::sync_threads_or(x.value)
        }

        #[inline(always)]
        pub fn shared(&self) -> &S {
            const { check_alignment::<S>() };
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
                sums.put(lane / 32, inclusive);
            }
            thread::sync_threads();
            if lane < 32 {
                let sum = if lane < warps { sums.at(lane) } else { 0 };
                let inclusive = warp_sum(sum);
                sums.put(lane, inclusive);
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

    impl<S: SharedMemory> Block<32, S> {
        #[inline(always)]
        pub fn ballot(&self, x: &Lanes<bool, 32>) -> u32 {
            warp::ballot(x.value)
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
    use core::cell::Cell;

    use super::*;

    /// No lane.
    const NO_LANE: u32 = u32::MAX;

    thread_local! {
        /// The lane whose closure this thread runs, in a checked build.
        static LANE: Cell<u32> = const { Cell::new(NO_LANE) };
    }

    /// Runs `f` for each lane.
    struct InLanes;

    impl InLanes {
        /// # Panics
        /// Inside of a lane's closure.
        fn enter() -> Self {
            refuse_in_lane();
            InLanes
        }

        #[inline(always)]
        fn run<T>(&self, lane: u32, f: impl FnOnce(Lane<'_>) -> T) -> T {
            if CHECKED {
                LANE.set(lane);
            }
            Lane::run(lane, f)
        }
    }

    impl Drop for InLanes {
        // After a panic too: the thread runs other kernels later.
        fn drop(&mut self) {
            if CHECKED {
                LANE.set(NO_LANE);
            }
        }
    }

    /// On a device a barrier that not all lanes reach hangs the block, and a loop over lanes inside of a lane runs that lane
    /// alone.
    #[inline(always)]
    fn refuse_in_lane() {
        assert!(
            !CHECKED || LANE.get() == NO_LANE,
            "a barrier inside of a lane's closure: call lanes, phase, any, ballot and exclusive_sum outside of the closures of lanes \
             and phase"
        );
    }

    impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
        /// Value of `lane`, in its closure. On a device a lane has its own value only: lanes exchange values by shared memory.
        pub fn at(&self, lane: Lane<'_>) -> T {
            self.values[lane.index() as usize]
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
                memory: PhantomData,
            }
        }

        /// `f` of every lane, without a barrier.
        pub fn lanes<T: Copy>(&self, f: impl Fn(Lane<'_>) -> T + NoCells) -> Lanes<T, LANES> {
            let lanes = InLanes::enter();
            let values = core::array::from_fn(|lane| lanes.run(lane as u32, &f));
            Lanes { values }
        }

        /// Runs `f` for every lane, then a barrier.
        pub fn phase(&self, f: impl Fn(Lane<'_>) + NoCells) {
            let lanes = InLanes::enter();
            for lane in 0..LANES as u32 {
                lanes.run(lane, &f);
            }
        }

        /// Runs `f` for every index below `count`, then a barrier. On a device neighbouring lanes have neighbouring indices.
        #[inline(always)]
        pub fn each(&self, count: u32, f: impl Fn(Lane<'_>, u32) + NoCells) {
            let lanes = InLanes::enter();
            for i in 0..count {
                lanes.run(i % LANES as u32, |lane| f(lane, i));
            }
        }

        /// Whether `x` holds for one of the lanes. A barrier.
        pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
            refuse_in_lane();
            x.values.contains(&true)
        }

        /// The block's shared memory.
        pub fn shared(&self) -> &S {
            const { check_alignment::<S>() };
            // SAFETY: behind the scratch (contract of `new`), aligned as checked; any bits are a value of `S`.
            unsafe { &*self.shared.add(SCRATCH_BYTES).cast() }
        }

        /// Sum of `x` over the lanes below each, and over all, modulo 2^32. A barrier before and after.
        pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
            refuse_in_lane();
            let mut sum = 0u32;
            let values = core::array::from_fn(|lane| {
                let before = sum;
                sum = sum.wrapping_add(x.values[lane]);
                before
            });
            (Lanes { values }, sum)
        }
    }

    impl<S: SharedMemory> Block<32, S> {
        /// Bit i is the flag of lane i. No barrier: shared memory that lanes wrote before is not seen by others yet.
        pub fn ballot(&self, x: &Lanes<bool, 32>) -> u32 {
            refuse_in_lane();
            let bit = |(lane, &flag): (usize, &bool)| u32::from(flag) << lane;
            x.values.iter().enumerate().map(bit).sum()
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
