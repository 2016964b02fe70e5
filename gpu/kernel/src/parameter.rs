//! Parameters of a kernel after its index: views, scalars, groups of both.

use bytemuck::Pod;
use glam::{DVec2, DVec3, DVec4, Vec2, Vec3, Vec4};

use crate::block::NoCells;
use crate::check::Names;
#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{Arguments, Buffer};
use crate::view::{Atomic, AtomicElement, In, Out, Racing, RacingElement, RawView};
#[cfg(not(target_arch = "nvptx64"))]
use crate::writers::Writers;

/// A kernel's parameter: a view, a scalar, or a group (see [`Group`](macro@crate::Group)).
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::{Group, In, Out, kernel};
///
/// /// Rows of a sparse matrix.
/// #[derive(Group)]
/// pub struct Matrix<'a> {
///     starts: In<'a, u32>,
///     values: In<'a, f64>,
/// }
///
/// /// The sum of each row.
/// #[kernel(requires(rows.starts.len() == n + 1, sums.len() == n))]
/// pub fn sum_rows(i: u32, rows: Matrix, sums: Out<f64>) {
///     let row = rows.starts.at(i)..rows.starts.at(i + 1);
///     sums.set(i, row.map(|k| rows.values.at(k)).sum());
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (starts, values) = (on.upload(&[0, 2, 3])?, on.upload(&[1.0, 2.0, 4.0])?);
/// let (rows, mut sums) = (MatrixBuffers { starts: &starts, values: &values }, on.uninitialized(2)?);
/// // SAFETY: the lengths are checked; starts ascend to the number of values.
/// unsafe { sum_rows::launch(&on, 2, rows, &mut sums) }?;
/// assert_eq!(on.download(&sums)?, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// `raw` records each array of its argument. The view that `from_raw` makes accesses only these arrays, for the
/// lifetime of the run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's parameter",
    label = "no parameter of a kernel",
    note = "take a view (In<T>, Out<T>, Atomic<T>), a number, a bool, an id, a vector of glam, or a struct with #[derive(Group)]; \
            a struct of plain data (Pod) becomes a parameter by `impl Scalar`, an enum without fields by #[derive(Scalar)]"
)]
pub unsafe trait Parameter: Copy {
    /// The PTX entry's argument.
    type Raw: Copy + Send + Sync;

    /// The parameter as a body receives it, for the lifetime of one run.
    type View<'v>: Copy;

    /// The launch's argument.
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a>;

    /// Makes the parameter from the entry's argument, for as long as `run` is borrowed.
    ///
    /// # Safety
    /// The promise of the views' `from_raw`.
    unsafe fn from_raw<'v>(raw: Self::Raw, names: Names, run: &'v Run) -> Self::View<'v>;

    /// Makes the entry's argument from the launch's; records its arrays in `arguments`.
    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(
        name: &'static str,
        argument: Self::Argument<'_>,
        arguments: &mut Arguments,
    ) -> Self::Raw;
}

/// One run of a kernel's body over a range of indices. Views borrow it, so no body can keep one: the lifetime has no
/// name outside the launch's code.
pub struct Run {
    #[cfg(all(
        any(debug_assertions, feature = "checked"),
        not(target_arch = "nvptx64")
    ))]
    writers: crate::writers::OfLaunch,
}

#[cfg(target_arch = "nvptx64")]
impl Run {
    /// A run on a device.
    #[doc(hidden)]
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self {}
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl Run {
    /// A run of the launch with these arguments.
    #[doc(hidden)]
    #[inline(always)]
    pub fn of(arguments: &Arguments) -> Self {
        let _ = arguments;
        Self {
            #[cfg(any(debug_assertions, feature = "checked"))]
            writers: arguments.writers.clone(),
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl Run {
    /// The writers of an array of the launch.
    fn writers<T>(&self, array: RawView<T>) -> Writers {
        let _ = array;
        #[cfg(any(debug_assertions, feature = "checked"))]
        return Writers::new(&self.writers, array.address, array.len as usize);
        #[cfg(not(any(debug_assertions, feature = "checked")))]
        Writers::NONE
    }
}

/// Two consecutive parts of a parameter, in C's layout.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair<A, B>(pub A, pub B);

// SAFETY: the array is recorded.
unsafe impl<T: Pod + Send + Sync> Parameter for In<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = In<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, _: &'v Run) -> In<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { In::from_raw(raw, names.label()) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: the array is recorded.
unsafe impl<T: Pod + Send + Sync> Parameter for Out<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Out<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, run: &'v Run) -> Out<'v, T> {
        // SAFETY: the caller's promise.
        let view = unsafe { Out::from_raw(raw, names.label()) };
        #[cfg(not(target_arch = "nvptx64"))]
        let view = view.noted_by(run.writers(raw));
        #[cfg(target_arch = "nvptx64")]
        let _ = run;
        view
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: the array is recorded.
unsafe impl<T: AtomicElement> Parameter for Atomic<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Atomic<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, _: &'v Run) -> Atomic<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { Atomic::from_raw(raw, names.label()) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: the array is recorded.
unsafe impl<T: RacingElement> Parameter for Racing<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Racing<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, _: &'v Run) -> Racing<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { Racing::from_raw(raw, names.label()) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// The compiler names this trait in its error if a type is no parameter at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's parameter",
    label = "no parameter of a kernel",
    note = "take a view (In<T>, Out<T>, Atomic<T>), a number, a bool, an id, a vector of glam, or a struct with #[derive(Group)]; \
            a struct of plain data (Pod) becomes a parameter by `impl Scalar`, an enum without fields by #[derive(Scalar)]"
)]
/// Plain data that a kernel takes by value: numbers, ids, vectors, `#[repr(C)]` structs of these.
///
/// A struct implements the trait:
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::bytemuck::{Pod, Zeroable};
/// use trioxide_kernel::safe::{Out, Own};
/// use trioxide_kernel::{Scalar, kernel};
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Line {
///     slope: f64,
///     start: f64,
/// }
/// // SAFETY: two numbers.
/// unsafe impl Zeroable for Line {}
/// // SAFETY: two numbers.
/// unsafe impl Pod for Line {}
/// impl Scalar for Line {}
///
/// /// Values of a line.
/// #[kernel]
/// pub fn follow(i: Own, line: Line, values: Out<f64>) {
///     values.set(i, line.slope * f64::from(i.get()) + line.start);
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut values = on.uninitialized(2)?;
/// follow::launch(&on, 2, Line { slope: 2.0, start: 1.0 }, &mut values)?;
/// assert_eq!(on.download(&values)?, [1.0, 3.0]);
/// # Ok(())
/// # }
/// ```
///
/// An enum without fields derives it, and is a parameter too:
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::safe::{In, Out, Own};
/// use trioxide_kernel::{Scalar, kernel};
///
/// #[derive(Clone, Copy, Scalar)]
/// #[repr(u32)]
/// pub enum Rounding {
///     Down,
///     Up,
/// }
///
/// /// Half of each value.
/// #[kernel]
/// pub fn halve(i: Own, rounding: Rounding, values: In<u32>, halves: Out<u32>) {
///     let half = match rounding {
///         Rounding::Down => values.at(i) / 2,
///         Rounding::Up => values.at(i).div_ceil(2),
///     };
///     halves.set(i, half);
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (values, mut halves) = (on.upload(&[3])?, on.uninitialized(1)?);
/// halve::launch(&on, 1, Rounding::Up, &values, &mut halves)?;
/// assert_eq!(on.download(&halves)?, [2]);
/// # Ok(())
/// # }
/// ```
pub trait Scalar: Pod + Send + Sync + NoCells {}

macro_rules! scalars {
    ($($scalar:ty),*) => { $( impl Scalar for $scalar {} )* };
}

scalars!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
scalars!(Vec2, Vec3, Vec4, DVec2, DVec3, DVec4);

// SAFETY: no array.
unsafe impl<T: Scalar> Parameter for T {
    type Raw = T;
    type View<'v> = T;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = T;

    #[inline(always)]
    unsafe fn from_raw(raw: T, _: Names, _: &Run) -> T {
        raw
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(_: &'static str, argument: T, _: &mut Arguments) -> T {
        argument
    }
}

// SAFETY: no array.
unsafe impl Parameter for bool {
    // Any number is valid, on a device too.
    type Raw = u32;
    type View<'v> = bool;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = bool;

    #[inline(always)]
    unsafe fn from_raw(raw: u32, _: Names, _: &Run) -> bool {
        raw != 0
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(_: &'static str, argument: bool, _: &mut Arguments) -> u32 {
        argument.into()
    }
}
