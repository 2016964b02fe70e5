//! A failed allocation ends the command with a sentence and status 1, as every other error.
//!
//! Rust aborts the process where a list cannot grow. The allocator here notes that it found no memory, and the handler of the signal
//! that follows ends the process. What handles a failed allocation itself goes on. The note stays: the
//! standard library allocates for its message before it aborts.

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

// SAFETY: every call goes to the system's allocator, and its answer back.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller promises is what the system's allocator needs.
        note(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        note(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        note(unsafe { System.realloc(memory, layout, size) })
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
