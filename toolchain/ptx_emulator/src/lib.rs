//! A CUDA driver without a GPU: it runs the PTX of kernels on the CPU.
//!
//! The dynamic library has the driver's functions under their own names ([`driver`]), so a program that loads
//! `libcuda.so.1` runs its whole GPU path on any machine: `cargo xtask emulate -- selftest --tiny --device cuda`. It
//! runs the PTX text that the driver would compile, one warp at a time:
//!
//! - The 32 lanes of a warp step together where they are at the same instruction; the lanes that are furthest behind
//!   step first. Votes, shuffles and barriers wait for all lanes; if lanes wait for each other at two of them, the
//!   launch ends with an error, as in synccheck.
//! - Some blocks at a time run concurrently; all cores run those of large launches. Other blocks may see the writes of
//!   a block in any order.
//! - Loads and stores that are not aligned or outside the device's allocations end the launch. As in memcheck, the
//!   message has kernel, block, lane and instruction; it also has file and line, if the PTX has them. New memory is
//!   filled with a pattern, so unwritten memory is not zero.
//! - On request a data race in a launch is a fault, and so is a read of unwritten device memory; warps and the lanes of
//!   atomic operations then run in the opposite order.
//!   lanes of atomic operations then run in the opposite order.
//!
//! PTX is NVIDIA's definition of a kernel's meaning ("PTX ISA", whose sections the modules cite); arithmetic is IEEE
//! 754's, by the CPU. So the emulator finds errors of the kernels' compiler, wrong calls of the host, and wrong
//! addresses. It does not find effects of NVIDIA's assembler or of a GPU: another order of a warp's lanes, weak memory
//! order, time.
//!
//! A Rust program can also use the emulator without the driver's functions, as an [`Emulator`]: a launch then lists its
//! arrays, so that their lengths are the bounds, and a fault contains the array and the index.
//!
//! It supports only the instructions that Rust's kernels use. Loading a module with another one is an error with that
//! instruction.

mod block;
mod compile;
mod compute;
mod cvt;
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
