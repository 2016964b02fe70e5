//! Host memory for results.

use bytemuck::Pod;
use trioxide_work::parallel;

/// Memory for `count` rows. `vec![..; count]` would touch all its pages, on one thread.
pub(super) fn new_rows<R: Pod>(count: usize) -> Vec<R> {
    let mut rows = parallel::zeroed::<R>(count);
    let bytes = bytemuck::cast_slice_mut::<R, u8>(&mut rows);
    ask_for_huge_pages(bytes.as_mut_ptr(), bytes.len());
    rows
}

/// From this size on, page faults dominate the time of a copy.
const WORTH_HUGE_PAGES: usize = 8 << 20;
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Asks the system to back new, untouched memory by huge pages: otherwise page faults take most of the time of a large
/// copy. If the system has no huge pages, the copy is only slower.
pub(super) fn ask_for_huge_pages(memory: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= WORTH_HUGE_PAGES {
        let start = (memory as usize).next_multiple_of(HUGE_PAGE);
        let end = (memory as usize + bytes) / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: whole pages within the memory; the advice does not change the content.
        unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes, WORTH_HUGE_PAGES);
}
