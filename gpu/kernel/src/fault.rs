//! The device's report of a bad index or a broken assertion.

#[cfg(target_arch = "nvptx64")]
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Most bytes of an assertion's text that a report holds.
pub const MOST_TEXT: usize = 224;

/// A bad index or a broken assertion, as the device reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Fault {
    /// [`hash`](crate::check::hash) of the array's name.
    pub array: u32,
    /// 0 if there is no fault, [`BAD_INDEX`] or [`BROKEN_ASSERTION`].
    pub is_set: u32,
    /// The index.
    pub index: u64,
    /// Number of elements of the array, or of bytes of the text.
    pub len: u64,
    /// [`hash`](crate::check::hash) of the kernel's name; 0 if the report does not know it.
    pub kernel: u32,
    /// Unused: makes the size a whole number of `u64`.
    pub padding: u32,
    /// File, line and message of an assertion.
    pub text: [u8; MOST_TEXT],
}

impl Default for Fault {
    fn default() -> Self {
        Self {
            array: 0,
            is_set: 0,
            index: 0,
            len: 0,
            kernel: 0,
            padding: 0,
            text: [0; MOST_TEXT],
        }
    }
}

/// [`Fault::is_set`] of a bad index.
pub const BAD_INDEX: u32 = 1;
/// [`Fault::is_set`] of a broken assertion.
pub const BROKEN_ASSERTION: u32 = 2;

/// Name of the device's variable with the address of the host's [`Fault`].
pub const FAULT_SYMBOL: &str = "__trioxide_fault";

/// Address of the memory in which the host reads faults; the host writes it here when it loads the module.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
#[cfg(target_arch = "nvptx64")]
static mut __trioxide_fault: *mut Fault = core::ptr::null_mut();

/// State of a thread's report: not begun, being written, done.
#[cfg(target_arch = "nvptx64")]
static REPORTED: AtomicU32 = AtomicU32::new(0);

/// Loads after which a thread stops waiting for another thread's report.
#[cfg(target_arch = "nvptx64")]
const MOST_WAITS: u32 = 1 << 20;

/// Reports a bad index of an array with `len` elements to the host, and ends the launch. Kernel and array are hashes of
/// their names.
#[cfg(target_arch = "nvptx64")]
pub(crate) fn report(kernel: u32, array: u32, index: usize, len: usize) -> ! {
    end(BAD_INDEX, [kernel, array], index as u64, len as u64, "")
}

/// Reports a broken assertion to the host, and ends the launch.
#[cfg(target_arch = "nvptx64")]
#[allow(dead_code)]
pub(crate) fn report_assertion(text: &'static str, index: u32) -> ! {
    let len = text.len().min(MOST_TEXT) as u64;
    end(BROKEN_ASSERTION, [0, 0], index.into(), len, text)
}

/// Reports a fault and ends the launch. Only the first of several threads reports; the others wait for it, since the
/// first trap ends them all.
#[cfg(target_arch = "nvptx64")]
fn end(is_set: u32, [kernel, array]: [u32; 2], index: u64, len: u64, text: &str) -> ! {
    if REPORTED.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
        // SAFETY: the host's memory, or null; only this thread writes it.
        unsafe {
            let at = __trioxide_fault;
            if !at.is_null() {
                (&raw mut (*at).kernel).write_volatile(kernel);
                (&raw mut (*at).array).write_volatile(array);
                (&raw mut (*at).is_set).write_volatile(is_set);
                (&raw mut (*at).index).write_volatile(index);
                (&raw mut (*at).len).write_volatile(len);
                let (to, from) = ((&raw mut (*at).text).cast::<u8>(), text.as_ptr());
                let mut k = 0;
                while k < text.len() && k < MOST_TEXT {
                    to.add(k).write_volatile(from.add(k).read());
                    k += 1;
                }
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
