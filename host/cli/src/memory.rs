//! The allocator of the command line: large lists lie in huge pages, and a failed allocation ends the command with a
//! sentence and status 1, as every other error.
//!
//! Rust aborts the process where a list cannot grow. The allocator here notes that it found no memory, and the handler
//! of the signal that follows ends the process. Code that handles a failed allocation itself goes on. The note stays,
//! because the standard library allocates for its message before it aborts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Noting;

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// The thread whose failed allocation is the last of all; 0 for none.
static FAILED: AtomicUsize = AtomicUsize::new(0);

/// This thread, as a number that is not 0.
fn thread() -> usize {
    // SAFETY: it has no requirements. POSIX lets a signal's handler call it.
    (unsafe { libc::pthread_self() }) as usize
}

fn note(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        FAILED.store(thread(), Ordering::Relaxed);
    }
    memory
}

/// Bytes from which on the time of a list goes into its pages: to get them, and at the end to give them back.
const WORTH_HUGE_PAGES: usize = 8 << 20;

/// Asks the system to back new memory by huge pages: 1 GB has 500 of them in place of 250,000. Where it has none, the
/// run is only slower.
fn in_huge_pages(memory: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= WORTH_HUGE_PAGES && !memory.is_null() {
        const HUGE_PAGE: usize = 2 << 20;
        let start = (memory as usize).next_multiple_of(HUGE_PAGE);
        let end = (memory as usize + size) / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: whole pages within the memory; the advice changes no content.
        unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (size, WORTH_HUGE_PAGES);
    memory
}

// SAFETY: every call is forwarded to the system's allocator, and its result is returned.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises, which `GlobalAlloc` demands, are the requirements of the system's allocator.
        in_huge_pages(note(unsafe { System.alloc(layout) }), layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        in_huge_pages(note(unsafe { System.alloc_zeroed(layout) }), layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        in_huge_pages(note(unsafe { System.realloc(memory, layout, size) }), size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Gives each list in huge pages a mapping of its own. The command runs in a thread, and glibc would make room for such
/// a list in that thread's heap, once one was freed: it grows and shrinks the heap in small pages, which took 16 of the
/// 24 ms of a refinement on a GPU with its copies. Smaller lists that are freed stay for the next ones.
pub fn settle() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: numbers that the allocator checks; it keeps its own if it refuses them.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, WORTH_HUGE_PAGES as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 8 * WORTH_HUGE_PAGES as i32);
    }
}

/// Whether the calling thread is the last that found no memory. A signal's handler may ask.
pub fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed) == thread()
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::{WORTH_HUGE_PAGES, settle};

    #[test]
    fn large_lists_have_mappings_of_their_own_after_one_was_freed() {
        // SAFETY: it only reads the allocator's counters.
        let mapped = || unsafe { libc::mallinfo2() }.hblkhd;
        let grows = move || {
            drop(vec![1u8; 3 * WORTH_HUGE_PAGES]);
            let before = mapped();
            let list = vec![1u8; 2 * WORTH_HUGE_PAGES];
            mapped() >= before + list.len()
        };
        settle();
        assert!(std::thread::spawn(grows).join().unwrap());
    }
}
