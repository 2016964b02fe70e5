//! Memory in proportion to the input: a run that holds more at once is a finding.
//!
//! libFuzzer's own limit of one allocation needs a sanitiser's hooks; this allocator counts instead.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that any run may hold.
const BASE: usize = 64 << 20;
/// Bytes for each byte of the input. zlib makes at most 1,032 bytes of one, and a parsed number may take 8 times as
/// many.
const EACH: usize = 16 << 10;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    if held > MOST.load(Relaxed) {
        MOST.store(usize::MAX, Relaxed);
        panic!(
            "{held} bytes are held at once, the last {bytes} of them in one piece: more than in proportion to the input"
        );
    }
}

// SAFETY: every call is passed to the system's allocator, and its result is returned.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Runs `work` on an input of `bytes` bytes.
pub fn in_proportion(bytes: usize, work: impl FnOnce()) {
    MOST.store(HELD.load(Relaxed) + BASE + EACH * bytes, Relaxed);
    work();
    MOST.store(usize::MAX, Relaxed);
}
