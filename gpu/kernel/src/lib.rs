//! A language for kernels in Rust: one function, run by the GPU (as PTX) and by the CPU, with the same bits.
//!
//! ```
//! # // The attribute's PTX entry is there on the device only.
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
//! | to find | look in |
//! | --- | --- |
//! | the attribute, and all that may stand in it | [`macro@kernel`] |
//! | arrays in a kernel | [`view`]: [`In`], [`Out`], [`Atomic`], [`Racing`] |
//! | ids and bit sets, so that arrays cannot be swapped | [`id!`], [`Bits`] |
//! | kernels whose launches are safe | [`safe`] |
//! | structs of arrays as one parameter | [`macro@Group`] |
//! | kernels whose lanes work together | [`block`] |
//! | lists and ranks, as kernels read them | [`rows`] |
//! | launches and buffers, on the host | `launch` |
//! | checked builds | [`check`] |
//! | lines that a kernel prints | [`kernel_print!`] |
//!
//! Kernels run elsewhere: on trioxide's `Device`, or on any other implementation of `launch::Launcher`.
#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx),
    allow(internal_features, missing_docs)
)]
// A view is passed as `In<T>`: its lifetime says nothing that a reader needs.
#![allow(elided_lifetimes_in_paths)]

// The macros write `::trioxide_kernel::…`, in this crate's own tests too.
extern crate self as trioxide_kernel;

pub mod bits;
pub mod block;
pub mod check;
#[cfg(target_arch = "nvptx64")]
pub mod device;
pub mod fault;
mod id;
pub mod index;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launch;
pub mod parameter;
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
pub mod place;
pub mod print;
pub mod rows;
pub mod safe;
pub mod view;
#[cfg(not(target_arch = "nvptx64"))]
mod writers;

pub use bits::{Bits, words};
pub use block::{Block, Lane, Lanes, NoCells, Ordered, Shared, SharedMemory, Summed};
pub use bytemuck;
#[doc(hidden)]
pub use cuda_std;
pub use index::{BitWord, Index, NONE, Word};
pub use parameter::{Parameter, Scalar};
pub use trioxide_kernel_macros::{Group, Scalar, SharedMemory, instances, kernel};
pub use view::{Atomic, In, Out, PREFETCHED_AHEAD, Racing};
