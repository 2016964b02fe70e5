//! The device's report of a bad index.

#[cfg(target_arch = "nvptx64")]
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A bad index, as the device reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Fault {
    /// [`hash`](crate::check::hash) of the array's name.
    pub array: u32,
    /// 1 if there is a fault.
    pub is_set: u32,
    /// The index.
    pub index: u64,
    /// Number of elements of the array.
    pub len: u64,
}

/// Name of the device's variable with the address of the host's [`Fault`].
pub const FAULT_SYMBOL: &str = "__trioxide_fault";

/// Address of the memory in which the host reads faults; the host writes it here when it loads the module.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
#[cfg(target_arch = "nvptx64")]
static mut __trioxide_fault: *mut Fault = core::ptr::null_mut();

/// State of a thread's report: none yet, at work, done.
#[cfg(target_arch = "nvptx64")]
static REPORTED: AtomicU32 = AtomicU32::new(0);

/// Loads after which a thread no longer waits for another's report.
#[cfg(target_arch = "nvptx64")]
const MOST_WAITS: u32 = 1 << 20;

/// Reports a bad index to the host and ends the launch. The first of several threads reports; the others wait for it, since the
/// first trap ends them all.
#[cfg(target_arch = "nvptx64")]
pub(crate) fn report(fault: Fault) -> ! {
    if REPORTED.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
        // SAFETY: the host's memory, or null; this thread alone writes it.
        unsafe {
            let at = __trioxide_fault;
            if !at.is_null() {
                at.write_volatile(fault);
                cuda_std::thread::system_fence();
            }
        }
        REPORTED.store(2, Relaxed);
    } else {
        let mut waits = 0;
        while REPORTED.load(Relaxed) != 2 && waits < MOST_WAITS {
            waits += 1;
        }
    }
    panic!()
}
