//! Views of kernels whose launches are safe functions.
//!
//! A kernel over an [`Own`] index takes these views, whose types name their index: `In<f64, Sample>` has an element for
//! each [`Own<Sample>`](Own). Safe code cannot leave an array or race with them:
//!
//! | access | why it is safe |
//! | --- | --- |
//! | by the own index | the launch has checked that every array over this index has an element for each |
//! | by another index | it is compared with the length; a wrong index makes the launch an error with kernel, array and index |
//! | a write to [`Out`] | only the own index writes an element, and no other call has that index |
//! | a write to [`Out`] over [`Parts`] | only the own index writes its `N` elements |
//! | a write to [`Scatter`] | it is atomic |
//! | a change of [`Atomic`] | it is atomic |
//!
//! A kernel over a plain index (`i: u32`) takes the views of [`view`], which compare no index; its launch is `unsafe`.

mod block;
mod own;
mod parts;
mod views;

#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::Lengths;
use crate::parameter::{Parameter, Scalar};

/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::kernel;
/// use trioxide_kernel::safe::{Group, In, Out, Own};
///
/// /// Lines, as several kernels take them.
/// #[derive(Group)]
/// pub struct Lines<'a> {
///     slopes: In<'a, f64>,
///     starts: In<'a, f64>,
/// }
///
/// /// The value of each line at `x`.
/// #[kernel]
/// pub fn follow(i: Own, lines: Lines, x: f64, values: Out<f64>) {
///     values.set(i, lines.slopes.at(i) * x + lines.starts.at(i));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (slopes, starts) = (on.upload(&[2.0, 3.0])?, on.upload(&[0.0, 1.0])?);
/// let lines = LinesBuffers { slopes: &slopes, starts: &starts };
/// let mut values = on.uninitialized(2)?;
/// follow::launch(&on, 2, lines, 10.0, &mut values)?;
/// assert_eq!(on.download(&values)?, [20.0, 31.0]);
/// # Ok(())
/// # }
/// ```
#[doc(hidden)]
pub use block::Blocks;
pub use block::{
    OwnBlock, OwnElement, OwnPlace, PerBlock, PerLane, SafeInBlock, SafeMemory, Shared,
};
pub use own::{Own, Owner, Place};
pub use parts::{OwnPart, Parts};
pub use trioxide_kernel_macros::SafeGroup as Group;
pub use views::{Atomic, Element, In, Out, Scatter};

/// A parameter of a kernel over an [`Own`] index: a view of this module, a scalar, or a group of these.
///
/// # Safety
/// Safe code cannot leave the parameter's arrays or race on them, if `compare_lengths` finds no array that is too short
/// for the launch's index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel over an `Own` index",
    label = "its indices are not checked",
    note = "take a view of trioxide_kernel::safe (In<T, I>, Out<T, I>, Atomic<T, I>), a scalar or a group of these; or take the \
            index as `i: I`: then indices are not checked, and the launch is unsafe"
)]
pub unsafe trait Safe: Parameter {
    /// Compares the lengths of its arrays over `I`, in the order in which `raw` records them.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    fn compare_lengths<I: 'static>(lengths: &mut Lengths<'_>);

    /// The same arrays without comparisons of indices, for a kernel whose launch is unsafe.
    ///
    /// # Safety
    /// Every index that they are used with is below the length of its array.
    #[inline(always)]
    unsafe fn trusted(self) -> Self {
        self
    }
}

// SAFETY: no array.
unsafe impl<T: Scalar> Safe for T {
    #[cfg(not(target_arch = "nvptx64"))]
    fn compare_lengths<I: 'static>(_: &mut Lengths<'_>) {}
}

// SAFETY: no array.
unsafe impl Safe for bool {
    #[cfg(not(target_arch = "nvptx64"))]
    fn compare_lengths<I: 'static>(_: &mut Lengths<'_>) {}
}
