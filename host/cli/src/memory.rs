//! A failed allocation ends the command with a sentence and status 1, as every other error.
//!
//! Rust aborts the process where a list cannot grow. The allocator here notes that it found no memory, and the handler of the signal
//! that follows ends the process. What handles a failed allocation itself goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Noting;

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// The thread whose last failed allocation is the last of all; 0 for none.
static FAILED: AtomicUsize = AtomicUsize::new(0);

fn thread() -> usize {
    // SAFETY: it has no requirements.
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

extern "C" fn on_abort(_signal: libc::c_int) {
    const MESSAGE: &[u8] = b"trioxide: there is no memory for this mesh: use a smaller one, or raise the limit of this process (ulimit -v)\n";
    if FAILED.load(Ordering::Relaxed) == thread() {
        // SAFETY: both functions may be called in a signal's handler, and the message is there as long as the process.
        unsafe {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
    // Back in `abort`, which ends the process.
}

/// Installs the handler.
pub fn handle_failed_allocations() {
    let handler: extern "C" fn(libc::c_int) = on_abort;
    // SAFETY: the handler calls only what may be called in one.
    unsafe { libc::signal(libc::SIGABRT, handler as *const () as libc::sighandler_t) };
}
