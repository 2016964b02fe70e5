//! Indices of kernels whose launches are safe: own indices, and other ones, which are compared.

use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::RefUnwindSafe;

use crate::Index;
use crate::parameter::Run;
use crate::print::Numbered;

/// The own index of a call of a kernel's function. No other call of the launch has it.
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
    /// Its number: the number that `I` returns is not trusted.
    number: u32,
    /// It ends with its call, and cannot be sent to another thread.
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
    /// Only one call of a launch has this number, which is below the number of its indices.
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

    /// Its number, which no other call has.
    #[inline(always)]
    pub(super) fn number(self) -> u32 {
        self.number
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

/// An index that reads an array over `I`: an [`Own<I>`](Own), or an `I`, which is compared with the length.
///
/// # Safety
/// If it `IS_KNOWN`, `number` is below the length of every array over `I` of the launch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of an array over `{I}`",
    label = "an index of other elements",
    note = "an array `In<T, I>` is read by `Own<I>` or by `I`: name the elements of the array as its second type"
)]
pub unsafe trait Place<I>: Copy {
    /// Whether the launch has compared it with the lengths.
    #[doc(hidden)]
    const IS_KNOWN: bool;
    /// The place.
    #[doc(hidden)]
    fn number(self) -> u32;
}

// SAFETY: the launch has compared the lengths.
unsafe impl<I: Index> Place<I> for Own<'_, I> {
    const IS_KNOWN: bool = true;

    #[inline(always)]
    fn number(self) -> u32 {
        self.number
    }
}

/// An index that no other call has: an [`Own<I>`](Own), or the [`OwnElement<I>`](OwnElement) of a lane.
///
/// # Safety
/// No two of them in a launch have the same place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the own index of an array over `{I}`",
    label = "another call may have this index",
    note = "an `Out<T, I>` is written by `Own<I>`, or by the `OwnElement<I>` of a lane; several calls change an `Atomic<T, I>`"
)]
pub unsafe trait Owner<I>: Place<I> {}

// SAFETY: only one call has the index.
unsafe impl<I: Index> Owner<I> for Own<'_, I> {}

// SAFETY: it is compared.
unsafe impl<I: Index> Place<I> for I {
    const IS_KNOWN: bool = false;

    #[inline(always)]
    fn number(self) -> u32 {
        self.index()
    }
}
