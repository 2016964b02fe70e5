//! A CUDA driver without a GPU: it runs the PTX of kernels on the CPU.
//!
//! The dynamic library has the driver's functions under their own names ([`driver`]), so a program that loads `libcuda.so.1` runs its
//! whole GPU path on any machine: `cargo xtask emulate selftest --tiny`. What runs is the PTX text that the driver would
//! compile, one warp at a time:
//!
//! - The 32 lanes of a warp step together where they are at one instruction, those that are behind first. Votes, shuffles and barriers
//!   wait for all lanes; lanes that wait for each other at two of them end the launch with an error, as synccheck would say.
//! - Blocks run beside each other, by all cores, some of them at a time. What one writes another may read in any order.
//! - Loads and stores outside of an allocation of their device, or not aligned, end the launch with a message that names kernel, block,
//!   lane and instruction, as memcheck would. New memory is filled with a pattern, so that what nobody wrote is no zero.
//!
//! PTX is NVIDIA's definition of what a kernel means ("PTX ISA", whose sections the modules name); arithmetic is IEEE 754's, by the
//! CPU. So this finds what the compiler of the kernels gets wrong, what the host's calls get wrong, and addresses that are wrong. It does not find what only
//! NVIDIA's assembler or a GPU does: races between lanes of a warp that steps in another order, weak memory order, time.
//!
//! Only instructions that Rust's kernels have are there; another one is an error that names it when its module is loaded.

mod block;
mod compile;
mod compute;
mod convert;
mod devices;
pub mod driver;
mod grid;
mod memory;
mod module;
mod program;
mod races;
mod statements;
mod types;
mod warp;

#[cfg(test)]
mod tests;
