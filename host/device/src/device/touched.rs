//! Host memory whose pages are touched before it is pinned.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::thread::{self, JoinHandle};

use super::pages::{HUGE_PAGE, ask_for_huge_pages};

/// Touched memory in huge pages.
pub struct Touched {
    pointer: *mut u8,
    layout: Layout,
}

// SAFETY: memory like any other, owned.
unsafe impl Send for Touched {}
// SAFETY: a shared reference gives no access to its bytes.
unsafe impl Sync for Touched {}

impl Touched {
    pub fn new(bytes: usize) -> Self {
        const PAGE: usize = 4096;
        let layout = Layout::from_size_align(bytes, HUGE_PAGE).expect("some megabytes");
        // SAFETY: the layout has a size.
        let pointer = unsafe { alloc(layout) };
        if pointer.is_null() {
            handle_alloc_error(layout);
        }
        let touched = Self { pointer, layout };
        ask_for_huge_pages(pointer, bytes);
        for page in (0..bytes).step_by(PAGE) {
            // SAFETY: within the memory.
            unsafe { pointer.add(page).write(0) };
        }
        touched
    }

    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    pub fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` by this layout.
        unsafe { dealloc(self.pointer, self.layout) };
    }
}

/// Memory that a thread touches while a driver starts.
pub struct Touching {
    bytes: usize,
    /// `None` if no thread could be started.
    thread: Option<JoinHandle<Touched>>,
}

impl Touching {
    pub fn begin(bytes: usize) -> Self {
        let thread = thread::Builder::new().spawn(move || Touched::new(bytes));
        Self {
            bytes,
            thread: thread.ok(),
        }
    }

    /// Waits for the thread.
    pub fn end(self) -> Touched {
        let touched = self.thread.and_then(|thread| thread.join().ok());
        touched.unwrap_or_else(|| Touched::new(self.bytes))
    }
}
