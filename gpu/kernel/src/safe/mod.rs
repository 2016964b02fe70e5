//! Views of kernels whose launches are safe functions.
//!
//! A kernel over an [`Own`] index takes these views, which are typed by their index: `In<f64, Sample>` has an element
//! for each [`Own<Sample>`](Own). Nothing that safe code does with them leaves an array or races:
//!
//! | access | why it is safe |
//! | --- | --- |
//! | by the own index | the launch has checked that every array over this index has an element for each |
//! | by another index | it is compared with the length; a launch that used a wrong one is an error, which names kernel, array and index |
//! | a write to [`Out`] | only the own index writes an element, and no other call has that index |
//! | a change of [`Atomic`] | it is atomic |
//!
//! A kernel over a plain index (`i: u32`) takes the views of [`view`], which compare nothing; its launch is `unsafe`.

mod block;
mod own;

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;

use bytemuck::Pod;

use crate::check::Label;
#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{Arguments, Buffer, TooShort};
use crate::parameter::{Parameter, Run, Scalar};
use crate::view::{self, AtomicElement, AtomicInteger, OrderedElement, RawView};
use crate::{BitWord, Index};

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
pub use block::{OwnBlock, OwnElement, OwnPlace, PerBlock, SafeInBlock, SafeMemory, Shared};
pub use own::{Names, Own, Owner, Place};
pub use trioxide_kernel_macros::SafeGroup as Group;

/// A parameter of a kernel over an [`Own`] index: a view of this module, a scalar, or a group of these.
///
/// # Safety
/// Safe code cannot leave the parameter's arrays or race on them, if `too_short` finds none for the index of the
/// launch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel over an `Own` index",
    label = "its indices are not checked",
    note = "take a view of trioxide_kernel::safe (In<T, I>, Out<T, I>, Atomic<T, I>), a scalar or a group of these; or take the \
            index as `i: I`: then indices are not checked, and the launch is unsafe"
)]
pub unsafe trait Safe: Parameter {
    /// The parameter from the entry's argument, for as long as `run` is borrowed.
    ///
    /// # Safety
    /// The promise of [`Parameter::from_raw`], but for indices.
    #[doc(hidden)]
    unsafe fn view<'v>(raw: Self::Raw, names: Names, run: &'v Run) -> Self::View<'v>;

    /// The first array over `I` with fewer than `n` elements.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    fn too_short<I: 'static>(
        name: &'static str,
        argument: &Self::Argument<'_>,
        n: u32,
    ) -> Option<TooShort>;
}

/// The array as one over `I` with fewer than `n` elements, if it is.
#[cfg(not(target_arch = "nvptx64"))]
fn short<T: Pod, Own: 'static, I: 'static>(
    name: &'static str,
    buffer: &Buffer<T>,
    n: u32,
) -> Option<TooShort> {
    use core::any::TypeId;
    let is_over = TypeId::of::<Own>() == TypeId::of::<I>();
    let is_short = is_over && buffer.len() < n as usize;
    is_short.then(|| TooShort {
        array: name,
        len: buffer.len() as u64,
    })
}

/// A parameter without an array, by [`Parameter::from_raw`].
///
/// # Safety
/// As for that.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn value<'v, P: Parameter>(raw: P::Raw, names: Names, run: &'v Run) -> P::View<'v> {
    // SAFETY: the caller's promise.
    unsafe { P::from_raw(raw, names.label(), run) }
}

// SAFETY: no array.
unsafe impl<T: Scalar> Safe for T {
    #[inline(always)]
    unsafe fn view(raw: T, _: Names, _: &Run) -> T {
        raw
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn too_short<I: 'static>(_: &'static str, _: &T, _: u32) -> Option<TooShort> {
        None
    }
}

// SAFETY: no array.
unsafe impl Safe for bool {
    #[inline(always)]
    unsafe fn view(raw: u32, _: Names, _: &Run) -> bool {
        raw != 0
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn too_short<I: 'static>(_: &'static str, _: &bool, _: u32) -> Option<TooShort> {
        None
    }
}

macro_rules! views {
    ($(
        $(#[$doc:meta])*
        $name:ident<T: $bound:path> $(= $element:ty)?, &$($mutable:ident)?
    );*) => { $(
        $(#[$doc])*
        pub struct $name<'a, T $(= $element)?, I = u32> {
            view: view::$name<'a, T>,
            names: Names,
            index: PhantomData<fn(I)>,
        }

        impl<T, I> Clone for $name<'_, T, I> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, I> Copy for $name<'_, T, I> {}
        // A view holds no element.
        impl<T, I> RefUnwindSafe for $name<'_, T, I> {}

        impl<T: $bound, I: Index> $name<'_, T, I> {
            /// Number of elements.
            #[inline(always)]
            pub fn len(self) -> u32 {
                self.view.len()
            }

            /// Whether there is no element.
            #[inline(always)]
            pub fn is_empty(self) -> bool {
                self.view.is_empty()
            }
        }

        // SAFETY: as the view's.
        unsafe impl<T: $bound, I: Index> Parameter for $name<'_, T, I> {
            type Raw = RawView<T>;
            type View<'v> = $name<'v, T, I>;
            #[cfg(not(target_arch = "nvptx64"))]
            type Argument<'a> = &'a $($mutable)? Buffer<T>;

            #[inline(always)]
            unsafe fn from_raw<'v>(raw: RawView<T>, _: Label, run: &'v Run) -> $name<'v, T, I> {
                // SAFETY: the caller's promise.
                unsafe { <Self as Safe>::view(raw, Names::new("", ""), run) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn raw(
                name: &'static str,
                buffer: Self::Argument<'_>,
                arguments: &mut Arguments,
            ) -> RawView<T> {
                arguments.array(name, buffer)
            }
        }

        // SAFETY: indices are compared or owned.
        unsafe impl<T: $bound, I: Index> Safe for $name<'_, T, I> {
            #[inline(always)]
            unsafe fn view<'v>(raw: RawView<T>, names: Names, _: &'v Run) -> $name<'v, T, I> {
                $name {
                    // SAFETY: the caller's promise; indices are compared before they are used, or are own ones.
                    view: unsafe { view::$name::from_raw(raw, names.label()) },
                    names,
                    index: PhantomData,
                }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn too_short<Own: 'static>(
                name: &'static str,
                buffer: &Self::Argument<'_>,
                n: u32,
            ) -> Option<TooShort> {
                short::<T, Own, I>(name, buffer, n)
            }
        }
    )* };
}

/// Plain data of a buffer.
pub trait Element: Pod + Send + Sync {}
impl<T: Pod + Send + Sync> Element for T {}

views! {
    /// An array over `I` that nobody writes during the launch.
    ///
    /// ```
    /// use trioxide_device::Device;
    /// use trioxide_kernel::kernel;
    /// use trioxide_kernel::safe::{In, Out, Own};
    ///
    /// /// The difference from value `i` to the next; 0 for the last.
    /// #[kernel]
    /// pub fn differ(i: Own, values: In<f64>, differences: Out<f64>) {
    ///     let next = values.get(i.get() + 1).unwrap_or(values.at(i));
    ///     differences.set(i, next - values.at(i));
    /// }
    /// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let values = on.upload(&[1.0, 4.0, 6.0])?;
    /// let mut differences = on.uninitialized(3)?;
    /// differ::launch(&on, 3, &values, &mut differences)?;
    /// assert_eq!(on.download(&differences)?, [3.0, 2.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    In<T: Element>, &;
    /// An array over `I`, each element of which its own index alone uses.
    ///
    /// ```
    /// use trioxide_device::Device;
    /// use trioxide_kernel::kernel;
    /// use trioxide_kernel::safe::{Out, Own};
    ///
    /// /// Doubles a value in place.
    /// #[kernel]
    /// pub fn double(i: Own, values: Out<f64>) {
    ///     values.set(i, 2.0 * values.at(i));
    /// }
    /// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let mut values = on.upload(&[1.0, 4.0])?;
    /// double::launch(&on, 2, &mut values)?;
    /// assert_eq!(on.download(&values)?, [2.0, 8.0]);
    /// // Three indices, two elements: an error, and nothing has run.
    /// assert!(double::launch(&on, 3, &mut values).is_err());
    /// # Ok(())
    /// # }
    /// ```
    Out<T: Element>, &mut;
    /// An array over `I` that any index may change at any time. Every access is relaxed: launches order them.
    ///
    /// ```
    /// use trioxide_device::Device;
    /// use trioxide_kernel::kernel;
    /// use trioxide_kernel::safe::{Atomic, In, Own};
    ///
    /// trioxide_kernel::id! {
    ///     /// A station, at which samples are taken.
    ///     pub struct Station = "station";
    /// }
    ///
    /// /// Counts the samples of each station.
    /// #[kernel]
    /// pub fn count(sample: Own, stations: In<Station>, counts: Atomic<u32, Station>) {
    ///     counts.add(stations.at(sample), 1);
    /// }
    /// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let (stations, mut counts) = (on.upload(&[1, 0, 1].map(Station::new))?, on.filled(2, 0)?);
    /// count::launch(&on, 3, &stations, &mut counts)?;
    /// assert_eq!(on.download(&counts)?, [1, 2]);
    /// // A station that is not there: an error.
    /// let stations = on.upload(&[Station::new(2)])?;
    /// let error = count::launch(&on, 1, &stations, &mut counts).unwrap_err();
    /// assert_eq!(error.to_string(), "kernel count: index 2 of array `counts`, which has 2 elements");
    /// # Ok(())
    /// # }
    /// ```
    Atomic<T: AtomicElement> = u32, &mut
}

impl<T: Element, I: Index> In<'_, T, I> {
    #[inline(always)]
    fn place(self, i: impl Place<I>) -> u32 {
        i.checked(self.len(), self.names)
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(self, i: impl Place<I>) -> T {
        self.view.at(self.place(i))
    }

    /// Element `i`, if there is one.
    #[inline(always)]
    pub fn get(self, i: I) -> Option<T> {
        let i = i.index();
        (i < self.len()).then(|| self.view.at(i))
    }
}

impl<W: BitWord + Send + Sync> In<'_, W> {
    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        let i = member.index();
        let word = self.view.at((i / 32).checked(self.len(), self.names));
        word.to_word() >> (i % 32) & 1 != 0
    }
}

impl<T: Element, I: Index> Out<'_, T, I> {
    /// Writes the own element.
    #[inline(always)]
    pub fn set(self, own: impl Owner<I>, value: T) {
        let i = own.checked(self.view.len(), self.names);
        self.view.set(i, value);
    }

    /// The own element.
    #[inline(always)]
    pub fn at(self, own: impl Owner<I>) -> T {
        let i = own.checked(self.view.len(), self.names);
        self.view.at(i)
    }
}

impl<T: AtomicElement, I: Index> Atomic<'_, T, I> {
    #[inline(always)]
    fn place(self, i: impl Place<I>) -> u32 {
        i.checked(self.len(), self.names)
    }

    /// Element `i`.
    #[inline(always)]
    pub fn load(self, i: impl Place<I>) -> T {
        self.view.load(self.place(i))
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn store(self, i: impl Place<I>, value: T) {
        self.view.store(self.place(i), value);
    }

    /// Replaces element `i`; its value before.
    #[inline(always)]
    pub fn swap(self, i: impl Place<I>, value: T) -> T {
        self.view.swap(self.place(i), value)
    }

    /// Replaces element `i` by `new` if it is `old`; its value before.
    #[inline(always)]
    pub fn compare_exchange(self, i: impl Place<I>, old: T, new: T) -> T {
        self.view.compare_exchange(self.place(i), old, new)
    }

    /// Lowers element `i` to `value`.
    #[inline(always)]
    pub fn min(self, i: impl Place<I>, value: T)
    where
        T: OrderedElement,
    {
        self.view.min(self.place(i), value);
    }

    /// Raises element `i` to `value`; its value before.
    #[inline(always)]
    pub fn fetch_max(self, i: impl Place<I>, value: T) -> T
    where
        T: OrderedElement,
    {
        self.view.fetch_max(self.place(i), value)
    }
}

impl<T: AtomicElement<Bits = T> + AtomicInteger, I: Index> Atomic<'_, T, I> {
    /// Adds to element `i`; its value before.
    #[inline(always)]
    pub fn add(self, i: impl Place<I>, value: T) -> T {
        self.view.add(self.place(i), value)
    }
}

impl<W: BitWord<Member = u32> + AtomicElement<Bits = u32>> Atomic<'_, W> {
    /// Puts `member` into the bit set.
    #[inline(always)]
    pub fn set_bit(self, member: u32) {
        (member / 32).checked(self.len(), self.names);
        self.view.set_bit(member);
    }

    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: u32) -> bool {
        (member / 32).checked(self.len(), self.names);
        self.view.bit(member)
    }
}
