//! A CUDA driver without a GPU: it runs the PTX of kernels on the CPU.
//!
//! The dynamic library has the driver's functions under their own names ([`driver`]), so a program that loads
//! `libcuda.so.1` runs its whole GPU path on any machine: `cargo xtask emulate -- selftest --tiny --device cuda`. What
//! runs is the PTX text that the driver would compile, one warp at a time:
//!
//! - The 32 lanes of a warp step together where they are at one instruction, those that are behind first. Votes,
//!   shuffles and barriers wait for all lanes; lanes that wait for each other at two of them end the launch with an
//!   error, as synccheck would say.
//! - Blocks run beside each other, some of them at a time, those of large launches by all cores. What one writes
//!   another may read in any order.
//! - Loads and stores outside of an allocation of their device, or not aligned, end the launch with a message that
//!   names kernel, block, lane and instruction, as memcheck would; and file and line, where the PTX has them. New
//!   memory is filled with a pattern, so that what nobody wrote is no zero.
//! - On request a data race of a launch is a fault, and a read of device memory that nobody has written; warps and the
//!   lanes of atomic operations then run in the opposite order.
//!
//! PTX is NVIDIA's definition of what a kernel means ("PTX ISA", whose sections the modules name); arithmetic is IEEE
//! 754's, by the CPU. So this finds what the compiler of the kernels gets wrong, what the host's calls get wrong, and
//! addresses that are wrong. It does not find what only NVIDIA's assembler or a GPU does: lanes of a warp in yet
//! another order, weak memory order, time.
//!
//! A Rust program can also use the emulator without the driver's functions, as an [`Emulator`]: a launch then names its
//! arrays, so that their lengths are the bounds, and a fault names the array and the index.
//!
//! Only instructions that Rust's kernels have are there; another one is an error that names it when its module is
//! loaded.

mod block;
mod compile;
mod compute;
mod convert;
mod devices;
pub mod driver;
mod emulator;
mod grid;
mod memory;
mod module;
mod program;
mod races;
mod statements;
mod types;
mod warp;

pub use emulator::{Emulator, Kernels, Launch};
pub use grid::Wrong;
pub use memory::Array;

#[cfg(test)]
mod tests;
