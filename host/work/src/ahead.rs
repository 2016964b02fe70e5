//! Early touching of new memory.
//!
//! The system clears a page when it is first touched. A thread that works alone waits for the clearing: a third of its
//! time where its lists are new and large, while other cores are idle. A program whose allocator asks [`is_wanted`] may
//! let other threads touch the pages of large lists as soon as they are allocated. Without such an allocator nothing
//! changes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` on this thread; its large lists will be filled to their capacity.
pub fn while_running<R>(work: impl FnOnce() -> R) -> R {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Relaxed);
        }
    }
    RUNNING.fetch_add(1, Relaxed);
    let _running = Running;
    work()
}

/// Whether other threads should touch the pages of large lists allocated now.
pub fn is_wanted() -> bool {
    RUNNING.load(Relaxed) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_wish() {
        assert!(while_running(is_wanted));
        assert!(std::panic::catch_unwind(|| while_running(|| panic!("as it should"))).is_err());
        assert!(!is_wanted());
    }
}
