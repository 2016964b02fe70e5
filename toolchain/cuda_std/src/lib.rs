//! The parts of Rust-CUDA's `cuda_std` that trioxide uses: kernels, thread indices, warps, shared and global memory.
//!
//! On the device these are rustc's NVPTX intrinsics and LLVM's. On the host only the [`kernel`] attribute exists.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(stdarch_nvptx, link_llvm_intrinsics),
    allow(internal_features)
)]

pub use cuda_std_macros::kernel;

#[cfg(target_arch = "nvptx64")]
pub mod global;
#[cfg(target_arch = "nvptx64")]
pub mod shared;
#[cfg(target_arch = "nvptx64")]
pub mod thread;
#[cfg(target_arch = "nvptx64")]
pub mod warp;

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the launch with an error that the host sees.
    unsafe { core::arch::nvptx::trap() }
}
