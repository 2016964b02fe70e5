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

/// Bytes from which on a thread may touch a list's pages before it is filled.
const WORTH_A_THREAD: usize = 32 << 20;

/// Touches these pages in another thread. The list may be gone before the thread ends: touching writes nothing, and the
/// system refuses addresses that are no memory.
#[cfg(target_os = "linux")]
fn touch_ahead(start: usize, end: usize) {
    let touch = move || {
        // SAFETY: whole pages; populating changes no content, and addresses that are no memory any more are an error.
        unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_POPULATE_WRITE) };
    };
    // Without a thread, the pages are cleared when they are needed.
    _ = std::thread::Builder::new().spawn(touch);
}

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
        if size >= WORTH_A_THREAD && trioxide::ahead::is_wanted() {
            touch_ahead(start, end);
        }
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

/// Whether the calling thread is the last that found no memory. A signal's handler may ask.
pub fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed) == thread()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// Pages of a list that are there.
    fn resident(list: &[u8]) -> usize {
        const PAGE: usize = 4096;
        let start = (list.as_ptr() as usize).next_multiple_of(PAGE);
        let count = list.len() / PAGE - 1;
        let mut pages = vec![0u8; count];
        // SAFETY: the pages lie in the list, and there is a byte for each.
        let status = unsafe { libc::mincore(start as *mut _, count * PAGE, pages.as_mut_ptr()) };
        assert_eq!(status, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn pages_of_large_lists_are_touched_ahead() {
        const SIZE: usize = 96 << 20;
        let list = vec![0u8; SIZE];
        assert!(resident(&list) < SIZE / 4096 / 2, "zeros are not touched");
        let list = trioxide::ahead::while_running(|| vec![0u8; SIZE]);
        let start = std::time::Instant::now();
        while resident(&list) < SIZE / 4096 / 2 {
            assert!(start.elapsed().as_secs() < 60, "{} pages", resident(&list));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // A list that is gone at once, and one that grows meanwhile.
        trioxide::ahead::while_running(|| {
            drop(Vec::<u8>::with_capacity(SIZE));
            let mut list = Vec::with_capacity(SIZE / 2);
            list.extend((0..SIZE).map(|i| (i % 251) as u8));
            assert!(
                list.iter()
                    .enumerate()
                    .all(|(i, &byte)| byte == (i % 251) as u8)
            );
        });
    }
}
