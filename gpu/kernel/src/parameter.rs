//! Parameters of a kernel besides its index: views, scalars, groups of both.

use bytemuck::Pod;
use glam::{DVec2, DVec3, DVec4, Vec2, Vec3, Vec4};

use crate::block::NoCells;
use crate::check::Label;
#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{Arguments, Buffer};
use crate::view::{Atomic, AtomicElement, In, Out, Racing, RacingElement, RawView};
#[cfg(not(target_arch = "nvptx64"))]
use crate::writers::Writers;

/// A kernel's parameter: a view, a scalar, or a group (see [`Group`](macro@crate::Group)).
///
/// # Safety
/// `raw` adds no values to the arguments, and notes each array of its argument. The view that `from_raw` makes is of
/// these arrays, for the lifetime of the run.
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

    /// The parameter from the entry's argument, for as long as `run` is borrowed.
    ///
    /// # Safety
    /// The promise of the views' `from_raw`.
    unsafe fn from_raw<'v>(raw: Self::Raw, label: Label, run: &'v Run) -> Self::View<'v>;

    /// The entry's argument from the launch's; its arrays are noted in `arguments`.
    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(
        name: &'static str,
        argument: Self::Argument<'_>,
        arguments: &mut Arguments,
    ) -> Self::Raw;
}

/// One run of a kernel's body over a range of indices. Views borrow it, so no body can keep one: the lifetime has no name outside
/// of the launch's code.
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

/// Two parts of a parameter, one behind the other, as C lays them out.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair<A, B>(pub A, pub B);

// SAFETY: the array is noted.
unsafe impl<T: Pod + Send + Sync> Parameter for In<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = In<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, label: Label, _: &'v Run) -> In<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { In::from_raw(raw, label) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: the array is noted.
unsafe impl<T: Pod + Send + Sync> Parameter for Out<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Out<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, label: Label, run: &'v Run) -> Out<'v, T> {
        // SAFETY: the caller's promise.
        let view = unsafe { Out::from_raw(raw, label) };
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

// SAFETY: the array is noted.
unsafe impl<T: AtomicElement> Parameter for Atomic<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Atomic<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, label: Label, _: &'v Run) -> Atomic<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { Atomic::from_raw(raw, label) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: the array is noted.
unsafe impl<T: RacingElement> Parameter for Racing<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = Racing<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, label: Label, _: &'v Run) -> Racing<'v, T> {
        // SAFETY: the caller's promise.
        unsafe { Racing::from_raw(raw, label) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// The compiler asks for this trait where a type is no parameter at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's parameter",
    label = "no parameter of a kernel",
    note = "take a view (In<T>, Out<T>, Atomic<T>), a number, a bool, an id, a vector of glam, or a struct with #[derive(Group)]; \
            a struct of plain data (Pod) becomes a parameter by `impl Scalar`, an enum without fields by #[derive(Scalar)]"
)]
/// Plain data that a kernel takes by value: numbers, ids, vectors, `#[repr(C)]` structs of these.
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
    unsafe fn from_raw(raw: T, _: Label, _: &Run) -> T {
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
    unsafe fn from_raw(raw: u32, _: Label, _: &Run) -> bool {
        raw != 0
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(_: &'static str, argument: bool, _: &mut Arguments) -> u32 {
        argument.into()
    }
}
