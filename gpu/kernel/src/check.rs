//! The checks of a checked build: names for the message about a bad index, and the device's report of it.
//!
//! Debug builds and builds with the feature `checked` check every index of every view, and evaluate
//! [`kernel_assert!`](crate::kernel_assert). On the CPU a bad index or a broken assertion is a panic. A kernel on the
//! device writes a [`Fault`](crate::fault::Fault) to memory that the host reads, and traps.

use core::fmt;

/// Whether this build checks indices.
pub const CHECKED: bool = cfg!(any(debug_assertions, feature = "checked"));

#[cfg(not(target_arch = "nvptx64"))]
static LOOKS_FOR_WRITERS: core::sync::atomic::AtomicBool =
    core::sync::atomic::AtomicBool::new(true);

/// Whether checked builds of the CPU search for two writers of one element, from the next launch on. They do unless a
/// program turns it off: the check takes 8 bytes for each element of an `Out`, which a measurement of memory would
/// count.
#[cfg(not(target_arch = "nvptx64"))]
pub fn look_for_writers(looks: bool) {
    LOOKS_FOR_WRITERS.store(looks, core::sync::atomic::Ordering::Relaxed);
}

#[cfg(not(target_arch = "nvptx64"))]
#[cfg(any(debug_assertions, feature = "checked"))]
pub(crate) fn is_looked_for() -> bool {
    LOOKS_FOR_WRITERS.load(core::sync::atomic::Ordering::Relaxed)
}

/// The name of a view's array, for messages. It has no size if indices are not checked.
#[derive(Clone, Copy)]
pub struct Label {
    #[cfg(all(
        any(debug_assertions, feature = "checked"),
        not(target_arch = "nvptx64")
    ))]
    names: (&'static str, &'static str),
    #[cfg(all(any(debug_assertions, feature = "checked"), target_arch = "nvptx64"))]
    array: u32,
}

impl Label {
    /// Array `array` of kernel `kernel`.
    #[inline(always)]
    pub const fn new(kernel: &'static str, array: &'static str) -> Self {
        let _ = (kernel, array);
        Self {
            #[cfg(all(
                any(debug_assertions, feature = "checked"),
                not(target_arch = "nvptx64")
            ))]
            names: (kernel, array),
            #[cfg(all(any(debug_assertions, feature = "checked"), target_arch = "nvptx64"))]
            array: hash(array),
        }
    }

    /// The array's name.
    #[cfg(all(
        any(debug_assertions, feature = "checked"),
        not(target_arch = "nvptx64")
    ))]
    pub(crate) const fn array(self) -> &'static str {
        self.names.1
    }

    /// Ends the kernel, or panics, unless `index` is below `len`; does nothing if indices are not checked.
    #[inline(always)]
    pub fn check(self, index: usize, len: usize) {
        #[cfg(any(debug_assertions, feature = "checked"))]
        if index >= len {
            self.fail(index, len);
        }
        let _ = (index, len);
    }

    #[cfg(all(
        any(debug_assertions, feature = "checked"),
        not(target_arch = "nvptx64")
    ))]
    #[cold]
    fn fail(self, index: usize, len: usize) -> ! {
        let (kernel, array) = self.names;
        panic!(
            "{}",
            OutOfBounds {
                kernel,
                array,
                index: index as u64,
                len: len as u64
            }
        );
    }

    #[cfg(all(any(debug_assertions, feature = "checked"), target_arch = "nvptx64"))]
    #[cold]
    fn fail(self, index: usize, len: usize) -> ! {
        crate::fault::report(0, self.array, index, len)
    }
}

/// Kernel and array, for the message about a wrong index: in every build, unlike a [`Label`].
#[derive(Clone, Copy)]
pub struct Names {
    #[cfg(not(target_arch = "nvptx64"))]
    kernel: &'static str,
    #[cfg(not(target_arch = "nvptx64"))]
    array: &'static str,
    // Hashes; 0 for an empty name.
    #[cfg(target_arch = "nvptx64")]
    kernel: u32,
    #[cfg(target_arch = "nvptx64")]
    array: u32,
}

impl Names {
    /// Array `array` of kernel `kernel`.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn new(kernel: &'static str, array: &'static str) -> Self {
        #[cfg(target_arch = "nvptx64")]
        return Self {
            kernel: match kernel.is_empty() {
                true => 0,
                false => hash(kernel),
            },
            array: hash(array),
        };
        #[cfg(not(target_arch = "nvptx64"))]
        Self { kernel, array }
    }

    /// The array `field` of a group.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn field(self, field: &'static str) -> Self {
        #[cfg(target_arch = "nvptx64")]
        return Self {
            kernel: self.kernel,
            array: hash(field),
        };
        #[cfg(not(target_arch = "nvptx64"))]
        Self::new(self.kernel, field)
    }

    /// The array's label in a checked build.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn label(self) -> Label {
        #[cfg(target_arch = "nvptx64")]
        return Label {
            #[cfg(any(debug_assertions, feature = "checked"))]
            array: self.array,
        };
        #[cfg(not(target_arch = "nvptx64"))]
        Label::new(self.kernel, self.array)
    }

    /// Ends the launch: `i` is out of range for an array of `len` elements.
    #[cfg(target_arch = "nvptx64")]
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(self, i: u32, len: u32) -> ! {
        crate::fault::report(self.kernel, self.array, i as usize, len as usize);
    }

    /// Ends the launch: `i` is out of range for an array of `len` elements.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub(crate) fn fail(self, i: u32, len: u32) -> ! {
        /// Its arguments fit in registers: with the address of names each access would write the view to memory first.
        #[cold]
        #[inline(never)]
        fn fail(kernel: &'static str, array: &'static str, i: u32, len: u32) -> ! {
            // It is not a panic: the launch catches it, and nothing is printed.
            std::panic::resume_unwind(Box::new(OutOfBounds {
                kernel,
                array,
                index: i.into(),
                len: len.into(),
            }))
        }
        fail(self.kernel, self.array, i, len)
    }
}

/// The label of the arrays in shared memory.
#[inline(always)]
pub(crate) fn shared_label() -> Label {
    #[cfg(target_arch = "nvptx64")]
    return Label::new("", "shared");
    #[cfg(not(target_arch = "nvptx64"))]
    Label::new(crate::place::kernel(), "shared")
}

/// Ends the launch unless a condition holds, in a checked build: `kernel_assert!(count < 8, "a vertex has fewer than 8
/// corners", v)`.
///
/// The message has the kernel, the file, the line, and the last argument, an index: an id or a `u32`. A build that is
/// not [`CHECKED`](crate::check::CHECKED) does not evaluate the condition, and its PTX has no trace of it.
///
/// ```should_panic
/// use trioxide_kernel::kernel_assert;
///
/// let i = 3u32;
/// kernel_assert!(i < 3, "an index is below 3", i);
/// ```
#[macro_export]
macro_rules! kernel_assert {
    ($condition:expr, $message:literal, $index:expr $(,)?) => {
        if $crate::check::CHECKED && !$condition {
            $crate::check::fail_assertion(
                ::core::concat!(::core::file!(), ":", ::core::line!(), ": ", $message),
                $crate::Index::index($index),
            );
        }
    };
}

/// Ends the launch: an assertion does not hold. `text` has the place and the message.
#[doc(hidden)]
#[cold]
pub fn fail_assertion(text: &'static str, index: u32) -> ! {
    #[cfg(target_arch = "nvptx64")]
    crate::fault::report_assertion(text, index);
    #[cfg(not(target_arch = "nvptx64"))]
    panic!(
        "{}",
        BrokenAssertion {
            kernel: crate::place::kernel(),
            text,
            index: index.into(),
        }
    )
}

/// The message for an assertion that does not hold.
#[derive(Clone, Copy, Debug)]
pub struct BrokenAssertion<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// File, line and message.
    pub text: &'a str,
    /// The index.
    pub index: u64,
}

impl fmt::Display for BrokenAssertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            text,
            index,
        } = self;
        write!(f, "kernel {kernel}: index {index}: {text}")
    }
}

/// FNV-1a of a name.
pub const fn hash(name: &str) -> u32 {
    hash_bytes(name.as_bytes())
}

/// FNV-1a.
pub(crate) const fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hash = 0x811C_9DC5u32;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

/// The message for an index that is out of range.
#[derive(Clone, Copy, Debug)]
pub struct OutOfBounds<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Name of the array: the kernel's parameter, or the field of a group.
    pub array: &'a str,
    /// The index.
    pub index: u64,
    /// Number of elements of the array.
    pub len: u64,
}

impl fmt::Display for OutOfBounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kernel,
            array,
            index,
            len,
        } = self;
        write!(
            f,
            "kernel {kernel}: index {index} of array `{array}`, which has {len} elements"
        )
    }
}
