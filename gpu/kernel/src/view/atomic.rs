//! Arrays that any index of a launch may change at any time.

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytemuck::Pod;
use glam::{DVec2, DVec3, DVec4, Vec2, Vec3, Vec4};

use super::array::{Array, RawView};
use super::atomic_element::{AtomicElement, AtomicInteger, OrderedElement, bits, element};
use crate::check::{CHECKED, Label};
use crate::index::{BitWord, Index};

/// An array that any index may change at any time. Every access is relaxed: launches order them.
///
/// The element is `u32` by default.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::{Atomic, In, kernel};
///
/// /// Counts the values of each class, and finds the smallest value of all.
/// #[kernel(requires(smallest.len() == 1))]
/// pub fn count_classes(i: u32, classes: In<u32>, values: In<u32>, counts: Atomic, smallest: Atomic) {
///     counts.add(classes.at(i), 1);
///     smallest.min(0u32, values.at(i));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (classes, values) = (on.upload(&[1, 0, 1])?, on.upload(&[7, 5, 9])?);
/// let (mut counts, mut smallest) = (on.filled(2, 0)?, on.filled(1, u32::MAX)?);
/// // SAFETY: there are three classes and values, and the classes are below 2.
/// unsafe { count_classes::launch(&on, 3, &classes, &values, &mut counts, &mut smallest) }?;
/// assert_eq!((on.download(&counts)?, on.download(&smallest)?), (vec![1, 2], vec![5]));
/// # Ok(())
/// # }
/// ```
pub struct Atomic<'a, T = u32> {
    array: Array<T>,
    memory: PhantomData<&'a [AtomicU32]>,
}

impl<T> Clone for Atomic<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Atomic<'_, T> {}
// A view holds no element.
impl<T> RefUnwindSafe for Atomic<'_, T> {}

// SAFETY: every access is atomic.
unsafe impl<T> Sync for Atomic<'_, T> {}
// SAFETY: every access is atomic.
unsafe impl<T> Send for Atomic<'_, T> {}

impl<T: AtomicElement> Atomic<'_, T> {
    /// A view for a kernel.
    ///
    /// # Safety
    /// The elements stay valid while the view is used, every access during that time is atomic, and every index that it
    /// is used with is below the length.
    #[inline(always)]
    pub unsafe fn from_raw(raw: RawView<T>, label: Label) -> Self {
        Self {
            array: Array::new(raw, label),
            memory: PhantomData,
        }
    }

    /// Address of element `i`, as its bits.
    #[inline(always)]
    fn cell<I: Index>(self, i: I) -> *mut T::Bits {
        self.array.pointer(i).cast()
    }

    /// Element `i`.
    #[inline(always)]
    pub fn load<I: Index>(self, i: I) -> T {
        // SAFETY: in range, and every access atomic, by the promise of the view's maker.
        unsafe { T::load(self.array.pointer(i)) }
    }

    /// Writes element `i`.
    #[inline(always)]
    pub fn store<I: Index>(self, i: I, value: T) {
        // SAFETY: as `load`.
        unsafe { T::store(self.array.pointer(i), value) }
    }

    /// Replaces element `i`. Returns its value before.
    #[inline(always)]
    pub fn swap<I: Index>(self, i: I, value: T) -> T {
        // SAFETY: as `load`.
        unsafe { element(T::Bits::swap(self.cell(i), bits(value))) }
    }

    /// Replaces element `i` by `new` if it is `old`. Returns its value before.
    #[inline(always)]
    pub fn compare_exchange<I: Index>(self, i: I, old: T, new: T) -> T {
        // SAFETY: as `load`.
        unsafe { element(T::Bits::exchange(self.cell(i), bits(old), bits(new))) }
    }

    /// As [`Atomic::compare_exchange`], for elements that often differ from `old`: a CPU loads first, since a load
    /// costs less there than an atomic update. On a device both cost the same.
    #[inline(always)]
    pub fn claim<I: Index>(self, i: I, old: T, new: T) -> T
    where
        T: PartialEq,
    {
        if cfg!(not(target_arch = "nvptx64")) {
            let now = self.load(i);
            if now != old {
                return now;
            }
        }
        self.compare_exchange(i, old, new)
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.array.len() as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.array.len() == 0
    }

    /// Prefetches element `i` on a CPU.
    #[inline(always)]
    pub fn prefetch<I: Index>(self, i: I) {
        self.array.prefetch(i);
    }
}

impl<T: AtomicElement> Atomic<'_, T> {
    /// Lowers element `i` to `value`.
    #[inline(always)]
    pub fn min<I: Index>(self, i: I, value: T)
    where
        T: OrderedElement,
    {
        // Most calls find a lower value there already: a load costs less than an atomic update.
        if self.load(i) > value {
            self.fetch_min(i, value);
        }
    }

    /// Lowers element `i` to `value`. Returns its value before.
    #[inline(always)]
    pub fn fetch_min<I: Index>(self, i: I, value: T) -> T
    where
        T: OrderedElement,
    {
        // SAFETY: as `load`.
        unsafe { element(AtomicInteger::min(self.cell(i), bits(value))) }
    }

    /// Raises element `i` to `value`. Returns its value before.
    #[inline(always)]
    pub fn fetch_max<I: Index>(self, i: I, value: T) -> T
    where
        T: OrderedElement,
    {
        // SAFETY: as `load`.
        unsafe { element(AtomicInteger::max(self.cell(i), bits(value))) }
    }
}

impl<T: AtomicElement<Bits = T> + AtomicInteger> Atomic<'_, T> {
    /// Adds to element `i`. Returns its value before.
    #[inline(always)]
    pub fn add<I: Index>(self, i: I, value: T) -> T {
        // SAFETY: as `load`.
        unsafe { T::add(self.array.pointer(i), value) }
    }
}

impl<W: BitWord + AtomicElement<Bits = u32>> Atomic<'_, W> {
    /// The word of bit `i`, as an atomic integer.
    #[inline(always)]
    fn word(&self, i: u32) -> &AtomicU32 {
        // SAFETY: in range; accessed through atomics only.
        unsafe { AtomicU32::from_ptr(self.array.pointer(i / 32).cast()) }
    }

    /// Removes `member` from the bit set.
    #[inline(always)]
    pub fn clear_bit(self, member: W::Member) {
        let i = member.index();
        self.word(i).fetch_and(!(1 << (i % 32)), Relaxed);
    }

    /// Adds `member` to the bit set.
    #[inline(always)]
    pub fn set_bit(self, member: W::Member) {
        let i = member.index();
        self.word(i).fetch_or(1 << (i % 32), Relaxed);
    }

    /// Adds `member` to the bit set. Returns whether it was there before.
    #[inline(always)]
    pub fn test_and_set_bit(self, member: W::Member) -> bool {
        let i = member.index();
        let bit = 1 << (i % 32);
        // A load costs less than an atomic update, and many calls find the bit set.
        self.word(i).load(Relaxed) & bit != 0 || self.word(i).fetch_or(bit, Relaxed) & bit != 0
    }

    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        let i = member.index();
        self.word(i).load(Relaxed) >> (i % 32) & 1 != 0
    }
}

/// An element that is a row of parts; each part is read and written whole.
///
/// # Safety
/// It consists of consecutive [`Self::Part`]s, and perhaps of padding after them.
pub unsafe trait RacingElement: Pod + Send + Sync {
    /// A part: read and written whole.
    type Part: AtomicElement;
}

macro_rules! racing_element {
    ($($element:ty: $part:ident),*) => { $(
        // SAFETY: a row of parts.
        unsafe impl RacingElement for $element {
            type Part = $part;
        }
    )* };
}

racing_element!(f32: f32, Vec2: f32, Vec3: f32, Vec4: f32, f64: f64, DVec2: f64, DVec3: f64, DVec4: f64);

/// An array that races by design: an index may read an element while another index writes it, and then some parts are
/// new and others old. The result differs from run to run.
///
/// ```
/// use trioxide_device::Device;
/// use glam::Vec2;
/// use trioxide_kernel::{Racing, kernel};
///
/// /// Moves point `i` right, up to the point before it, which may have moved or not.
/// #[kernel(requires(points.len() == n + 1))]
/// pub fn follow(i: u32, points: Racing<Vec2>) {
///     points.store(i + 1, 0, points.load(i, 0));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut points = on.upload(&[Vec2::ONE, Vec2::ZERO, Vec2::ZERO])?;
/// // SAFETY: the length is checked.
/// unsafe { follow::launch(&on, 2, &mut points) }?;
/// assert_eq!(on.download(&points)?[1], Vec2::X);
/// # Ok(())
/// # }
/// ```
pub struct Racing<'a, T> {
    array: Array<T>,
    memory: PhantomData<&'a [AtomicU32]>,
}

impl<T> Clone for Racing<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Racing<'_, T> {}
// A view holds no element.
impl<T> RefUnwindSafe for Racing<'_, T> {}

// SAFETY: every access is atomic.
unsafe impl<T> Sync for Racing<'_, T> {}
// SAFETY: every access is atomic.
unsafe impl<T> Send for Racing<'_, T> {}

impl<T: RacingElement> Racing<'_, T> {
    /// A view for a kernel.
    ///
    /// # Safety
    /// The promise of [`Atomic::from_raw`].
    #[inline(always)]
    pub unsafe fn from_raw(raw: RawView<T>, label: Label) -> Self {
        Self {
            array: Array::new(raw, label),
            memory: PhantomData,
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.array.len() as u32
    }

    /// Whether there is no element.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.array.len() == 0
    }

    /// Address of part `part` of element `i`.
    #[inline(always)]
    fn part<I: Index>(self, i: I, part: usize) -> *mut T::Part {
        assert!(
            !CHECKED || (part + 1) * size_of::<T::Part>() <= size_of::<T>(),
            "part {part} of an element of a Racing array, which has {} parts",
            size_of::<T>() / size_of::<T::Part>()
        );
        // SAFETY: within an element in range, by the promise of the view's maker.
        unsafe { self.array.pointer(i).cast::<T::Part>().add(part) }
    }

    /// Part `part` of element `i`.
    #[inline(always)]
    pub fn load<I: Index>(self, i: I, part: usize) -> T::Part {
        // SAFETY: as `part`; every access is atomic.
        unsafe { T::Part::load(self.part(i, part)) }
    }

    /// Writes part `part` of element `i`.
    #[inline(always)]
    pub fn store<I: Index>(self, i: I, part: usize, value: T::Part) {
        // SAFETY: as `part`; every access is atomic.
        unsafe { T::Part::store(self.part(i, part), value) }
    }
}
