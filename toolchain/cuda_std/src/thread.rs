//! Indices of the calling thread, and the barrier of its block. Launches are one-dimensional.

use core::arch::nvptx;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_or(barrier: i32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.membar.sys"]
    fn membar_sys();
}

/// Thread within its block.
#[inline(always)]
pub fn thread_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_thread_idx_x() as u32 }
}

/// Block within the grid.
#[inline(always)]
pub fn block_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_idx_x() as u32 }
}

/// Threads in a block.
#[inline(always)]
pub fn block_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_dim_x() as u32 }
}

/// Blocks in the grid.
#[inline(always)]
pub fn grid_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_grid_dim_x() as u32 }
}

/// Thread within the grid.
#[inline(always)]
pub fn index_1d() -> u32 {
    block_idx_x() * block_dim_x() + thread_idx_x()
}

/// Waits for every thread of the block; afterwards the block sees all writes of its threads to memory.
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: every caller in this project reaches it with its whole block.
    unsafe { nvptx::_syncthreads() }
}

/// [`sync_threads()`], which returns to every thread whether `predicate` holds for any thread of the block.
#[inline(always)]
pub fn sync_threads_or(predicate: bool) -> bool {
    // SAFETY: as above.
    unsafe { barrier_or(0, predicate) }
}

/// Makes this thread's earlier writes visible to the host before its later ones.
#[inline(always)]
pub fn system_fence() {
    // SAFETY: a fence.
    unsafe { membar_sys() }
}
