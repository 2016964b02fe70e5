//! Blocks of kernels whose launches are safe.

use core::any::TypeId;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::RefUnwindSafe;

use super::{Element, In, Out, Owner, Place, Safe, Scatter};
use crate::Index;
use crate::block::{Block, Lane, NoCells, SharedMemory};
use crate::check::Names;
#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{Arguments, Buffer, Lengths, Need};
use crate::parameter::{Parameter, Run, Scalar};
use crate::view::{self, AtomicElement, AtomicInteger, RawView};
use crate::wide::WIDTH;

/// The own block of a call: `LANES` lanes that work together, with the shared memory `S`.
///
/// It has the operations of [`Block`](crate::Block). `S` is a [`Shared`](self::Shared) or [`PerLane`] array or a tuple
/// of these.
///
/// | the kernel writes | by |
/// | --- | --- |
/// | an element of a [`PerBlock`] for each block | [`OwnBlock::once`] |
/// | an element of an [`Out`] for each lane | [`OwnBlock::element`] |
///
/// The kernel's other parameters are [`In`] views and scalars. It takes no `Atomic`: lanes could read different values
/// outside their closures, and then some of them would not reach the next barrier.
pub struct OwnBlock<'call, const LANES: usize, S = ()> {
    block: &'call Block<LANES, S>,
}

impl<const LANES: usize, S> Clone for OwnBlock<'_, LANES, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<const LANES: usize, S> Copy for OwnBlock<'_, LANES, S> {}

impl<const LANES: usize, S> Deref for OwnBlock<'_, LANES, S> {
    type Target = Block<LANES, S>;

    #[inline(always)]
    fn deref(&self) -> &Block<LANES, S> {
        self.block
    }
}

impl<'call, const LANES: usize, S: SafeMemory> OwnBlock<'call, LANES, S> {
    /// The block of a call.
    ///
    /// # Safety
    /// Only one call of a launch has this block.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(block: &'call Block<LANES, S>, _: &'call Run) -> Self {
        Self { block }
    }

    /// Runs `f` once, in the first lane, followed by a barrier.
    #[inline(always)]
    pub fn once(self, f: impl Fn(Lane<'_>, OwnPlace<'_>) + NoCells) {
        self.block.phase(|lane| {
            if lane.index() == 0 {
                let own = OwnPlace {
                    number: self.block.index(),
                    phase: PhantomData,
                };
                f(lane, own);
            }
        });
    }

    /// The element of a lane: number `block.index() * LANES + lane.index()`. The last block may have lanes after the
    /// last element: compare the number with the length of an array.
    #[inline(always)]
    pub fn element<'phase, I: Index>(self, lane: Lane<'phase>) -> OwnElement<'phase, I> {
        let first = self.block.index().wrapping_mul(LANES as u32);
        OwnElement {
            number: first.wrapping_add(lane.index()),
            index: PhantomData,
            lane: PhantomData,
        }
    }
}

/// The place of a block in a [`PerBlock`].
#[derive(Clone, Copy)]
pub struct OwnPlace<'phase> {
    number: u32,
    phase: PhantomData<(&'phase (), *mut ())>,
}

/// The element of a lane. No other lane of the launch has it: the launch has fewer than 2^32 lanes, which it checks.
pub struct OwnElement<'phase, I> {
    number: u32,
    index: PhantomData<fn(I)>,
    lane: PhantomData<Lane<'phase>>,
}

impl<I> Clone for OwnElement<'_, I> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<I> Copy for OwnElement<'_, I> {}

impl<I: Index> OwnElement<'_, I> {
    /// The index.
    #[inline(always)]
    pub fn get(self) -> I {
        I::from_index(self.number)
    }

    /// Its number.
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.number
    }
}

// SAFETY: it is compared.
unsafe impl<I: Index> Place<I> for OwnElement<'_, I> {
    const IS_KNOWN: bool = false;

    #[inline(always)]
    fn number(self) -> u32 {
        self.number
    }
}

// SAFETY: only one lane has the number.
unsafe impl<I: Index> Owner<I> for OwnElement<'_, I> {}

/// A parameter of a kernel over an [`OwnBlock`].
///
/// # Safety
/// All lanes of a block read the same values from it outside their closures.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of a kernel over an `OwnBlock`",
    label = "lanes could read different values of it",
    note = "take In<T, I>, Out<T, I> or PerBlock<T> of trioxide_kernel::safe, or a scalar"
)]
pub unsafe trait SafeInBlock: Safe {}

// SAFETY: nobody writes it.
unsafe impl<T: Element, I: Index> SafeInBlock for In<'_, T, I> {}
// SAFETY: only its own lane reads an element.
unsafe impl<T: Element, I: Index> SafeInBlock for Out<'_, T, I> {}
// SAFETY: nobody reads it.
unsafe impl<T: AtomicElement, I: Index> SafeInBlock for Scatter<'_, T, I> {}
// SAFETY: only its own block reads an element.
unsafe impl<T: Element> SafeInBlock for PerBlock<'_, T> {}
// SAFETY: a value.
unsafe impl<T: Scalar> SafeInBlock for T {}
// SAFETY: a value.
unsafe impl SafeInBlock for bool {}

/// The kind of a [`PerBlock`]'s elements, one for each block.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocks {}

/// An array with an element for each block of the launch; only that block uses it.
pub struct PerBlock<'a, T> {
    view: view::Out<'a, T>,
}

impl<T> Clone for PerBlock<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for PerBlock<'_, T> {}
// A view holds no element.
impl<T> RefUnwindSafe for PerBlock<'_, T> {}

impl<T: Element> PerBlock<'_, T> {
    /// Writes the own element.
    #[inline(always)]
    pub fn set(self, own: OwnPlace<'_>, value: T) {
        // The launch has compared the lengths.
        self.view.set(own.number, value);
    }

    /// The own element.
    #[inline(always)]
    pub fn at(self, own: OwnPlace<'_>) -> T {
        self.view.at(own.number)
    }
}

// SAFETY: as the view's.
unsafe impl<T: Element> Parameter for PerBlock<'_, T> {
    type Raw = RawView<T>;
    type View<'v> = PerBlock<'v, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Argument<'a> = &'a mut Buffer<T>;

    #[inline(always)]
    unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, _: &'v Run) -> PerBlock<'v, T> {
        // SAFETY: the caller's promise.
        let view = unsafe { view::Out::from_raw(raw, names.label()) };
        PerBlock { view }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn raw(name: &'static str, buffer: &mut Buffer<T>, arguments: &mut Arguments) -> RawView<T> {
        arguments.array(name, buffer)
    }
}

// SAFETY: a block has only its own place.
unsafe impl<T: Element> Safe for PerBlock<'_, T> {
    #[cfg(not(target_arch = "nvptx64"))]
    fn compare_lengths<I: 'static>(lengths: &mut Lengths<'_>) {
        let is_own = TypeId::of::<I>() == TypeId::of::<Blocks>();
        lengths.compare(if is_own {
            Need::Each(1)
        } else {
            Need::Refused(1)
        });
    }
}

/// Shared memory of a kernel over an [`OwnBlock`]: [`Shared`](self::Shared) and [`PerLane`] arrays, or a tuple of
/// these.
///
/// # Safety
/// Safe code cannot leave an array of it, and cannot race on one.
pub unsafe trait SafeMemory: SharedMemory {}

// SAFETY: nothing.
unsafe impl SafeMemory for () {}

macro_rules! tuples {
    ($(($($part:ident),+)),+) => { $(
        // SAFETY: any bits are a value of each part, and the alignment is that of a part.
        unsafe impl<$($part: SharedMemory),+> SharedMemory for ($($part,)+) {}
        // SAFETY: as its parts.
        unsafe impl<$($part: SafeMemory),+> SafeMemory for ($($part,)+) {}
    )+ };
}

tuples!((A), (A, B), (A, B, C), (A, B, C, D));

/// `N` elements for each of a block's `LANES` lanes, in shared memory. A lane uses only its own, so accesses are plain:
/// unlike loops over [`Shared`](self::Shared), loops over them keep a warp's lanes together.
///
/// On a device element `i` of a lane lies next to element `i` of the next lane, so lanes that use the same `i` use all
/// banks. On a CPU, which runs one lane at a time, the elements of a lane lie side by side.
#[repr(C, align(16))]
pub struct PerLane<T, const LANES: usize, const N: usize>(UnsafeCell<[[T; LANES]; N]>);

// Lanes use it only with their `Lane`.
impl<T, const LANES: usize, const N: usize> RefUnwindSafe for PerLane<T, LANES, N> {}

// SAFETY: any bits are elements; aligned to 16.
unsafe impl<T: Element, const LANES: usize, const N: usize> SharedMemory for PerLane<T, LANES, N> {}
// SAFETY: indices are compared, and a lane has only its own elements.
unsafe impl<T: Element, const LANES: usize, const N: usize> SafeMemory for PerLane<T, LANES, N> {}

impl<T: Element, const LANES: usize, const N: usize> PerLane<T, LANES, N> {
    #[inline(always)]
    fn pointer(&self, lane: Lane<'_>, i: u32) -> *mut T {
        const { assert!(align_of::<T>() <= 16) };
        let lane = lane.index();
        if lane as usize >= LANES {
            Names::new("", "lane").fail(lane, LANES as u32);
        }
        if i as usize >= N {
            Names::new("", "shared").fail(i, N as u32);
        }
        let (i, lane) = (i as usize, lane as usize);
        let place = match cfg!(target_arch = "nvptx64") {
            true => i * LANES + lane,
            false => lane * N + i,
        };
        // SAFETY: in range.
        unsafe { self.0.get().cast::<T>().add(place) }
    }

    /// Elements `first` to `first + WIDTH - 1` of a lane, a [row](crate::wide): elements that it has not written have
    /// any value.
    #[inline(always)]
    pub fn row(&self, lane: Lane<'_>, first: u32) -> [T; WIDTH] {
        // The last is in range, so the others are.
        self.pointer(lane, first.saturating_add(WIDTH as u32 - 1));
        // SAFETY: in range, side by side; no other lane uses them.
        unsafe { self.pointer(lane, first).cast::<[T; WIDTH]>().read() }
    }

    /// Element `i` of a lane.
    #[inline(always)]
    pub fn at(&self, lane: Lane<'_>, i: u32) -> T {
        // SAFETY: in range; no other lane uses it.
        unsafe { self.pointer(lane, i).read() }
    }

    /// Writes element `i` of a lane.
    #[inline(always)]
    pub fn set(&self, lane: Lane<'_>, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { self.pointer(lane, i).write(value) }
    }
}

/// An array of `N` elements in a block's shared memory. Indices are compared with `N`, and every access is relaxed.
#[repr(C, align(16))]
pub struct Shared<T, const N: usize>(UnsafeCell<[T; N]>);

// Lanes use it only with their `Lane`.
impl<T, const N: usize> RefUnwindSafe for Shared<T, N> {}

// SAFETY: any bits are elements; aligned to 16.
unsafe impl<T: AtomicElement, const N: usize> SharedMemory for Shared<T, N> {}
// SAFETY: indices are compared, and accesses are atomic.
unsafe impl<T: AtomicElement, const N: usize> SafeMemory for Shared<T, N> {}

impl<T: AtomicElement, const N: usize> Shared<T, N> {
    #[inline(always)]
    fn pointer(&self, i: u32) -> *mut T {
        if i as usize >= N {
            Names::new("", "shared").fail(i, N as u32);
        }
        // SAFETY: in range.
        unsafe { self.0.get().cast::<T>().add(i as usize) }
    }

    /// Element `i`, in a lane's closure.
    #[inline(always)]
    pub fn at(&self, _: Lane<'_>, i: u32) -> T {
        // SAFETY: in range; every access is atomic.
        unsafe { T::load(self.pointer(i)) }
    }

    /// Writes element `i`, in a lane's closure.
    #[inline(always)]
    pub fn set(&self, _: Lane<'_>, i: u32, value: T) {
        // SAFETY: as above.
        unsafe { T::store(self.pointer(i), value) }
    }
}

impl<T: AtomicElement<Bits = T> + AtomicInteger, const N: usize> Shared<T, N> {
    /// Adds to element `i`, as other lanes may in the same phase. Returns its value before. The order of lanes is not
    /// defined.
    #[inline(always)]
    pub fn add(&self, _: Lane<'_>, i: u32, value: T) -> T {
        // SAFETY: in range; every access is atomic.
        unsafe { T::add(self.pointer(i), value) }
    }
}
