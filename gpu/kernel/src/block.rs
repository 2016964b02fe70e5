//! Kernels whose lanes work together: one body for a block of `LANES` lanes.
//!
//! A body is written in phases. On the device each lane runs a phase once and the phase ends in a barrier; on the CPU
//! one thread runs the phase for all lanes of the block before the next phase. A value that a lane keeps from one phase
//! to another is a [`Lanes`]: a register on the device, an array on the CPU.
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
//! [`Block::any`] is true if a flag of any lane is; [`Block::ballot`] packs the flags of 32 lanes into a word.
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
//! [`Block::sum`], [`Block::min`], [`Block::max`] and [`Block::argmin`] reduce the values of all lanes;
//! [`Block::shuffle`] gives each lane the value of another.
//!
//! ```
//! use trioxide_device::Device;
//! use trioxide_kernel::{Block, In, Out, kernel};
//!
//! /// Of each 32 values: the sum, the first smallest one's lane, and how many are over the value before.
//! #[kernel(requires(values.len() == 32 * n, found.len() == n))]
//! pub fn describe(block: &Block<32>, values: In<u32>, found: Out<[u32; 3]>) {
//!     let value = block.lanes(|lane| values.at(32 * block.index() + lane.index()));
//!     let before = block.shuffle(&value, &block.lanes(|lane| lane.index().saturating_sub(1)));
//!     let ascends = block.lanes(|lane| u32::from(value.at(lane) > before.at(lane)));
//!     let (sum, (_, least), ascents) = (block.sum(&value), block.argmin(&value), block.sum(&ascends));
//!     block.phase(|lane| {
//!         if lane.index() == 0 {
//!             found.set(block.index(), [sum, least, ascents]);
//!         }
//!     });
//! }
//! # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let values = on.upload(&(0..32).map(|i| i % 4 + 1).rev().collect::<Vec<u32>>())?;
//! let mut found = on.uninitialized(1)?;
//! // SAFETY: the lengths are checked, and one lane writes.
//! unsafe { describe::launch(&on, 1, &values, &mut found) }?;
//! assert_eq!(on.download(&found)?, [[80, 3, 7]]);
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

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(not(target_arch = "nvptx64"))]
mod host;
mod reduce;
mod shared;

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;

pub use reduce::{Ordered, Summed};
pub use shared::{Shared, SharedMemory};

/// A lane in one of its phases. A closure of [`Block::phase`], [`Block::lanes`] or [`Block::each`] receives it, and
/// cannot keep it.
///
/// It proves that the closure runs for one lane: a lane needs it to read its own value of [`Lanes`], and to write to
/// [`Shared`] memory.
#[derive(Clone, Copy)]
pub struct Lane<'phase> {
    index: u32,
    /// It ends with its phase, and cannot be sent to another thread.
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

/// A type without a `Cell` or `RefCell` in it. The closures of [`Block::phase`], [`Block::lanes`] and [`Block::each`]
/// have such types.
///
/// A variable outside a closure is one variable on a CPU, and one for each lane on a device, so a lane must not change
/// it, not even through a cell. All other types implement this trait, as do the views and [`Shared`]. A generic
/// function requires it if its closure captures a value of the type.
#[diagnostic::on_unimplemented(
    message = "a closure of lanes captures a value that it can change, a `Cell` or a `RefCell`",
    label = "captures a `Cell`, a `RefCell`, or a value of a generic type",
    note = "a CPU has one such value for the block, and a device has one for each lane: results would differ",
    note = "keep a value for each lane in `Lanes` (`block.lanes(…)`), and values that lanes share in `Shared` memory; write \
            `T: NoCells` for a generic type"
)]
pub trait NoCells: RefUnwindSafe {}

// `RefUnwindSafe` is the standard library's auto trait that `UnsafeCell` lacks. Its own message is about panics.
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

// The closure that made the values captured no cell, so they refer to none.
impl<T, const LANES: usize> RefUnwindSafe for Lanes<T, LANES> {}

/// Most lanes of a block.
pub const MOST_LANES: usize = 1024;
/// Most bytes of shared memory that a block can have on every device.
pub const SHARED_EVERYWHERE: usize = 48 << 10;
/// Most bytes of shared memory that a block can have on any device: compute capability 9.0 ("CUDA C++ Programming
/// Guide", table of compute capabilities). A device with less refuses the launch.
pub const MOST_SHARED: usize = 227 << 10;

/// Whether devices have blocks of `lanes` lanes.
#[doc(hidden)]
pub const fn is_width(lanes: usize) -> bool {
    lanes > 0 && lanes.is_multiple_of(32) && lanes <= MOST_LANES
}

/// Whether some device has blocks with `bytes` bytes of shared memory and the scratch.
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

/// Bytes at the start of shared memory that [`Block::exclusive_sum`] and the reductions use.
pub const SCRATCH_BYTES: usize = 256;

/// Refuses values that lanes cannot exchange.
const fn check_exchanged<T>() {
    assert!(
        size_of::<T>().is_multiple_of(4) && size_of::<T>() > 0 && size_of::<T>() <= 16,
        "lanes exchange values of 4, 8, 12 or 16 bytes"
    );
}

/// A block of `LANES` lanes with the shared memory `S`.
///
/// A closure of [`Block::phase`], [`Block::lanes`] or [`Block::each`] assigns no variable outside itself, and captures
/// no `Cell` ([`NoCells`]). The compiler does not refuse an atomic or a lock of the standard library, in a variable or
/// a `static`. A kernel must not use one: it would be one value on a CPU and one for each lane, or for each module, on
/// a device. Values that several lanes change are in [`Shared`] memory or in an [`Atomic`](crate::Atomic).
///
/// The methods have examples at the head of this [module](self).
pub struct Block<const LANES: usize, S = ()> {
    index: u32,
    #[cfg(not(target_arch = "nvptx64"))]
    shared: *mut u8,
    memory: PhantomData<fn() -> S>,
}

impl<const LANES: usize, S> Block<LANES, S> {
    /// Index of the block in its launch.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.index
    }
}
