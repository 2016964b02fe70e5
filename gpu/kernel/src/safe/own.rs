//! Indices of kernels whose launches are safe: own ones, and others, which are compared.

use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::RefUnwindSafe;

use crate::Index;
use crate::check::Label;
use crate::parameter::Run;
use crate::print::Numbered;

/// The index that a call of a kernel's function is for. No other call of the launch has it.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::kernel;
/// use trioxide_kernel::safe::{Out, Own};
///
/// /// Writes the number of each element.
/// #[kernel]
/// pub fn number(i: Own, numbers: Out<u32>) {
///     // `get` gives the plain index.
///     numbers.set(i, i.get());
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut numbers = on.uninitialized(3)?;
/// number::launch(&on, 3, &mut numbers)?;
/// assert_eq!(on.download(&numbers)?, [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
pub struct Own<'call, I = u32> {
    index: I,
    /// Its number: what `I` says of itself is not trusted.
    number: u32,
    /// It ends with its call, and goes to no other thread.
    call: PhantomData<(&'call (), *mut ())>,
}

impl<I: Copy> Clone for Own<'_, I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<I: Copy> Copy for Own<'_, I> {}
// It holds an index.
impl<I> RefUnwindSafe for Own<'_, I> {}

impl<'call, I: Index> Own<'call, I> {
    /// The own index of a call.
    ///
    /// # Safety
    /// One call of a launch has this number, which is below the number of its indices.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(number: u32, _: &'call Run) -> Self {
        Self {
            index: I::from_index(number),
            number,
            call: PhantomData,
        }
    }

    /// The index.
    #[inline(always)]
    pub fn get(self) -> I {
        self.index
    }
}

impl<I: Index> Numbered for Own<'_, I> {
    #[inline(always)]
    fn number(self) -> u32 {
        self.index.index()
    }
}

impl<I> Deref for Own<'_, I> {
    type Target = I;

    #[inline(always)]
    fn deref(&self) -> &I {
        &self.index
    }
}

/// Kernel and array, for the report of a wrong index.
#[derive(Clone, Copy)]
pub struct Names {
    #[cfg(not(target_arch = "nvptx64"))]
    kernel: &'static str,
    #[cfg(not(target_arch = "nvptx64"))]
    array: &'static str,
    #[cfg(target_arch = "nvptx64")]
    array: u32,
}

impl Names {
    /// Array `array` of kernel `kernel`.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn new(kernel: &'static str, array: &'static str) -> Self {
        #[cfg(target_arch = "nvptx64")]
        {
            let _ = kernel;
            let array = crate::check::hash(array);
            Self { array }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        Self { kernel, array }
    }

    /// The array `field` of a group.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn field(self, field: &'static str) -> Self {
        #[cfg(target_arch = "nvptx64")]
        return Self::new("", field);
        #[cfg(not(target_arch = "nvptx64"))]
        Self::new(self.kernel, field)
    }

    pub(super) fn label(self) -> Label {
        #[cfg(target_arch = "nvptx64")]
        return Label::new("", "");
        #[cfg(not(target_arch = "nvptx64"))]
        Label::new(self.kernel, self.array)
    }

    /// Ends the launch: index `i` is no index of an array of `len` elements.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(self, i: u32, len: u32) -> ! {
        #[cfg(target_arch = "nvptx64")]
        crate::fault::report(self.array, i as usize, len as usize);
        // Not a panic: the launch catches it, and nothing is printed.
        #[cfg(not(target_arch = "nvptx64"))]
        std::panic::resume_unwind(Box::new(crate::check::OutOfBounds {
            kernel: self.kernel,
            array: self.array,
            index: i.into(),
            len: len.into(),
        }))
    }
}

/// Where an array over `I` is read: by an [`Own<I>`](Own), or by an `I`, which is compared with the length.
///
/// # Safety
/// `checked` gives a number below `len`, or one that the launch has compared with it; or it does not return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of an array over `{I}`",
    label = "an index of other elements",
    note = "an array `In<T, I>` is read by `Own<I>` or by `I`: name the elements of the array as its second type"
)]
pub unsafe trait Place<I> {
    /// The place, which the array has.
    #[doc(hidden)]
    fn checked(self, len: u32, names: Names) -> u32;
}

// SAFETY: the launch has compared the lengths.
unsafe impl<I: Index> Place<I> for Own<'_, I> {
    #[inline(always)]
    fn checked(self, _: u32, _: Names) -> u32 {
        // The launch has compared the lengths.
        self.number
    }
}

/// An index that nobody else has: an [`Own<I>`](Own), or the [`OwnElement<I>`](OwnElement) of a lane.
///
/// # Safety
/// No two of a launch have one place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the own index of an array over `{I}`",
    label = "another call may have this index",
    note = "an `Out<T, I>` is written by `Own<I>`, or by the `OwnElement<I>` of a lane; several calls change an `Atomic<T, I>`"
)]
pub unsafe trait Owner<I>: Place<I> {}

// SAFETY: one call has the index.
unsafe impl<I: Index> Owner<I> for Own<'_, I> {}

// SAFETY: it is compared.
unsafe impl<I: Index> Place<I> for I {
    #[inline(always)]
    fn checked(self, len: u32, names: Names) -> u32 {
        let i = self.index();
        if i >= len {
            names.fail(i, len);
        }
        i
    }
}
