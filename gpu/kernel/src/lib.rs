//! A language for kernels in Rust: one function, run by the GPU (as PTX) and by the CPU, with the same bits.
//!
//! ```
//! # // The attribute's PTX entry exists only on the device.
//! use trioxide_kernel::{In, Out, kernel};
//!
//! /// Doubles value `i`.
//! #[kernel(requires(values.len() == n, doubled.len() == n))]
//! pub fn double_values(i: u32, values: In<f32>, doubled: Out<f32>) {
//!     doubled.set(i, 2.0 * values.at(i));
//! }
//! # fn main() {}
//! ```
//!
//! | topic | see |
//! | --- | --- |
//! | the attribute and its options | [`macro@kernel`] |
//! | arrays in a kernel | [`view`]: [`In`], [`Out`], [`Atomic`], [`Racing`] |
//! | ids and bit sets, which make swapped arrays an error | [`id!`], [`Bits`] |
//! | kernels whose launches are safe | [`safe`] |
//! | structs of arrays as one parameter | [`macro@Group`] |
//! | kernels of blocks, whose lanes cooperate | [`block`] |
//! | lists and ranks for reading in kernels | [`rows`] |
//! | a few values, each computed by a closure | [`Each`] |
//! | numbers that a CPU computes several at a time | [`wide`] |
//! | launches and buffers, on the host | `launch` |
//! | checked builds | [`check`] |
//! | lines that a kernel prints | [`kernel_print!`] |
//!
//! Kernels run on trioxide's `Device`, or on any other implementation of `launch::Launcher`.
#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx),
    allow(internal_features, missing_docs)
)]
// Views are passed as `In<T>`: a reader does not need their lifetime.
#![allow(elided_lifetimes_in_paths)]

// The macros write `::trioxide_kernel::…`, in this crate's own tests too.
extern crate self as trioxide_kernel;

pub mod bits;
pub mod block;
pub mod check;
#[cfg(target_arch = "nvptx64")]
pub mod device;
mod each;
pub mod fault;
mod id;
pub mod index;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
mod list;
pub mod parameter;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub mod place;
pub mod print;
pub mod rows;
pub mod safe;
pub mod view;
pub mod wide;
#[cfg(not(target_arch = "nvptx64"))]
mod writers;

pub use bits::{Bits, words};
pub use block::{Block, Lane, Lanes, NoCells, Ordered, Shared, SharedMemory, Summed};
pub use bytemuck;
#[doc(hidden)]
pub use cuda_std;
pub use each::Each;
pub use index::{BitWord, Index, NONE, Word};
pub use list::List;
pub use parameter::{Parameter, Scalar};
pub use trioxide_kernel_macros::{Group, Scalar, SharedMemory, instances, kernel};
pub use view::{Atomic, In, Out, PREFETCHED_AHEAD, Racing};
