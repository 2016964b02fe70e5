//! Exchange between the 32 threads of a warp. Every thread of the warp must take part.

unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up_i32(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx_i32(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
}

const ALL: u32 = u32::MAX;

/// Thread within its warp.
#[inline(always)]
pub fn lane_id() -> u32 {
    crate::thread::thread_idx_x() & 31
}

/// `value` of the thread `delta` lanes below; the thread's own value if there is none.
#[inline(always)]
pub fn shuffle_up(value: u32, delta: u32) -> u32 {
    // SAFETY: the whole warp takes part (module docs).
    unsafe { shfl_sync_up_i32(ALL, value, delta, 0) }
}

/// `value` of the thread `lane`.
#[inline(always)]
pub fn shuffle(value: u32, lane: u32) -> u32 {
    // SAFETY: the whole warp takes part (module docs).
    unsafe { shfl_sync_idx_i32(ALL, value, lane, 31) }
}

/// Bit i is the predicate of thread i.
#[inline(always)]
pub fn ballot(predicate: bool) -> u32 {
    // SAFETY: the whole warp takes part (module docs).
    unsafe { vote_ballot_sync(ALL, predicate) }
}
