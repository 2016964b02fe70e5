//! The views: arrays whose types name their index.

use core::marker::PhantomData;
use core::panic::RefUnwindSafe;

use bytemuck::Pod;

use super::Safe;
use super::own::{Owner, Place};
use crate::check::Names;
use crate::each::Each;
use crate::index::Word;
#[cfg(not(target_arch = "nvptx64"))]
use crate::launch::{Arguments, Buffer, Lengths, Need};
use crate::parameter::{Parameter, Run};
use crate::view::{self, AtomicElement, AtomicInteger, OrderedElement, RawView};
use crate::{BitWord, Index};

/// The elements of an array over `I` that a launch over `Own` needs.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(never)]
fn need<Own: 'static, I: Index>() -> Need {
    use core::any::TypeId;
    let own = TypeId::of::<Own>();
    let (is_own, is_part) = (TypeId::of::<I>() == own, TypeId::of::<I::Whole>() == own);
    match (is_own, is_part) {
        (false, false) => Need::Nothing,
        (true, false) => Need::Each(1),
        // An index that is its own whole has one part; otherwise two indices would share an element.
        (true, true) if I::PER != 1 => Need::Refused(I::PER),
        (_, true) => Need::Each(I::PER),
    }
}

/// The indices that a view compares with its length.
#[derive(Clone, Copy)]
enum Compares {
    /// All: the launch does not know the view.
    All,
    /// All but the own index and its parts: the launch has compared the length.
    Others,
    /// None: the launch, which is unsafe, promises that they are in range.
    Nothing,
}

impl Compares {
    /// Whether an index is compared; `is_known` if the launch knows it.
    #[inline(always)]
    const fn compare(self, is_known: bool) -> bool {
        match self {
            Self::All => true,
            Self::Others => !is_known,
            Self::Nothing => false,
        }
    }
}

macro_rules! views {
    ($(
        $(#[$doc:meta])*
        $name:ident<T: $bound:path> $(= $element:ty)?, $view:ident, &$($mutable:ident)?
    );*) => { $(
        $(#[$doc])*
        pub struct $name<'a, T $(= $element)?, I = u32> {
            view: view::$view<'a, T>,
            names: Names,
            compares: Compares,
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

            #[inline(always)]
            fn place<P: Place<I>>(self, i: P) -> u32 {
                // Read once: a user's index may return another number at each call.
                let i = i.number();
                if self.compares.compare(P::IS_KNOWN) && i >= self.len() {
                    self.names.fail(i, self.len());
                }
                i
            }
        }

        // SAFETY: as the view's.
        unsafe impl<T: $bound, I: Index> Parameter for $name<'_, T, I> {
            type Raw = RawView<T>;
            type View<'v> = $name<'v, T, I>;
            #[cfg(not(target_arch = "nvptx64"))]
            type Argument<'a> = &'a $($mutable)? Buffer<T>;

            #[inline(always)]
            unsafe fn from_raw<'v>(raw: RawView<T>, names: Names, run: &'v Run) -> $name<'v, T, I> {
                $name {
                    // SAFETY: the caller's promise; indices are compared before they are used, or are own ones.
                    view: unsafe { <view::$view<'_, T> as Parameter>::from_raw(raw, names, run) },
                    names,
                    compares: Compares::Others,
                    index: PhantomData,
                }
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
            #[cfg(not(target_arch = "nvptx64"))]
            fn compare_lengths<Own: 'static>(lengths: &mut Lengths<'_>) {
                lengths.compare(need::<Own, I>());
            }

            #[inline(always)]
            unsafe fn trusted(self) -> Self {
                Self { compares: Compares::Nothing, ..self }
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
    In<T: Element>, In, &;
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
    Out<T: Element>, Out, &mut;
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
    Atomic<T: AtomicElement> = u32, Atomic, &mut;
    /// An array over `I` that calls write at any index; no call reads it.
    ///
    /// Each element should have one writer, or several that write one value: else the last one wins, and the result may
    /// differ from run to run. Checked builds of the CPU refuse two writers of one element.
    ///
    /// ```
    /// use trioxide_device::Device;
    /// use trioxide_kernel::kernel;
    /// use trioxide_kernel::safe::{In, Own, Scatter};
    ///
    /// /// Writes the place of each item of a permutation.
    /// #[kernel]
    /// pub fn invert(place: Own, items: In<u32>, places: Scatter<u32>) {
    ///     places.set(items.at(place), place.get());
    /// }
    /// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let (items, mut places) = (on.upload(&[2, 0, 1])?, on.uninitialized(3)?);
    /// invert::launch(&on, 3, &items, &mut places)?;
    /// assert_eq!(on.download(&places)?, [1, 2, 0]);
    /// # Ok(())
    /// # }
    /// ```
    Scatter<T: AtomicElement>, Out, &mut
}

#[cfg(not(target_arch = "nvptx64"))]
impl<'a, T: Element, I: Index> In<'a, T, I> {
    /// A view of host memory, to call a kernel's function with.
    pub fn from_slice(slice: &'a [T]) -> Self {
        Self {
            // SAFETY: every index is compared before it is used; vectors are loaded from any address.
            view: unsafe { view::In::from_slice(slice) },
            names: Names::new("called by the host", "slice"),
            compares: Compares::All,
            index: PhantomData,
        }
    }
}

impl<'a, T: Element, I: Index> In<'a, T, I> {
    /// The `count` elements from `first` on, numbered from 0. The run is compared once: a loop over numbers below
    /// `count` makes no further comparison.
    #[inline(always)]
    pub fn run(self, first: I, count: u32) -> In<'a, T> {
        let (first, len) = (first.index(), self.len());
        if self.compares.compare(false) && (first > len || count > len - first) {
            self.names
                .fail(first.saturating_add(count.saturating_sub(1)), len);
        }
        In {
            view: self.view.part(first, count),
            names: self.names,
            compares: match self.compares {
                Compares::Nothing => Compares::Nothing,
                // The launch has not compared this length.
                Compares::Others | Compares::All => Compares::All,
            },
            index: PhantomData,
        }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(self, i: impl Place<I>) -> T {
        self.view.at(self.place(i))
    }

    /// Several elements. All indices are compared before the first element is read, so that the reads overlap.
    #[inline(always)]
    pub fn at_all<P: Place<I>, const N: usize>(self, places: [P; N]) -> [T; N] {
        let len = self.len();
        let numbers = places.each(Place::number);
        let mut is_outside = false;
        let mut k = 0;
        while k < N {
            is_outside |= self.compares.compare(P::IS_KNOWN) & (numbers[k] >= len);
            k += 1;
        }
        if is_outside {
            k = 0;
            while k + 1 < N && numbers[k] < len {
                k += 1;
            }
            self.names.fail(numbers[k], len);
        }
        numbers.each(|i| self.view.at(i))
    }

    /// Element `i`, if there is one.
    #[inline(always)]
    pub fn get(self, i: I) -> Option<T> {
        let i = i.index();
        (i < self.len()).then(|| self.view.at(i))
    }

    /// Elements `i` to `i + 3`, at any `i`.
    #[inline(always)]
    pub fn four(self, i: I) -> [T; 4] {
        let (i, len) = (i.index(), self.len());
        if self.compares.compare(false) && (i >= len || len - i < 4) {
            self.names.fail(i.saturating_add(3), len);
        }
        self.view.four(i)
    }

    /// Prefetches element `i` on a CPU.
    #[inline(always)]
    pub fn prefetch(self, i: I) {
        self.view.prefetch(i);
    }

    /// Prefetches, on a CPU, the element that an item of `list` some way after `i` names.
    #[inline(always)]
    pub fn prefetch_item<J: Index>(self, list: In<I, J>, i: J) {
        if cfg!(not(target_arch = "nvptx64"))
            && let Some(ahead) = i.index().checked_add(view::PREFETCHED_AHEAD)
            && let Some(item) = list.get(J::from_index(ahead))
        {
            self.prefetch(item);
        }
    }
}

impl<T: Element + Word, I: Index> In<'_, T, I> {
    /// Elements `i` and `i + 1`; `i` is even.
    #[inline(always)]
    pub fn pair(self, i: I) -> [T; 2] {
        let (i, len) = (i.index(), self.len());
        debug_assert!(
            i.is_multiple_of(2),
            "pair({i}): pairs begin at even indices"
        );
        let i = i & !1;
        if self.compares.compare(false) && i | 1 >= len {
            self.names.fail(i | 1, len);
        }
        self.view.pair(i)
    }

    /// Elements `i` to `i + 3`; `i` is a multiple of 4; elements after the end read as 0.
    #[inline(always)]
    pub fn quad(self, i: I) -> [T; 4] {
        let (i, len) = (i.index(), self.len());
        debug_assert!(
            i.is_multiple_of(4),
            "quad({i}): quads begin at multiples of 4"
        );
        let i = i & !3;
        if self.compares.compare(false) && i >= len {
            self.names.fail(i, len);
        }
        self.view.quad(i)
    }
}

impl<W: BitWord + Send + Sync> In<'_, W> {
    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        let i = member.index();
        let word = self.view.at(self.place(i / 32));
        word.to_word() >> (i % 32) & 1 != 0
    }
}

impl<W: BitWord + Send + Sync> In<'_, W> {
    /// Whether each member is in the bit set; the reads overlap as those of [`In::at_all`].
    #[inline(always)]
    pub fn bit_all<const N: usize>(self, members: [W::Member; N]) -> [bool; N] {
        let numbers = members.each(Index::index);
        let words = self.at_all(numbers.each(|i| i / 32));
        let mut are_members = [false; N];
        let mut k = 0;
        while k < N {
            are_members[k] = words[k].to_word() >> (numbers[k] % 32) & 1 != 0;
            k += 1;
        }
        are_members
    }
}

impl<T: Element, I: Index> Out<'_, T, I> {
    /// Writes the own element.
    #[inline(always)]
    pub fn set(self, own: impl Owner<I>, value: T) {
        let i = self.place(own);
        self.view.set(i, value);
    }

    /// The own element.
    #[inline(always)]
    pub fn at(self, own: impl Owner<I>) -> T {
        let i = self.place(own);
        self.view.at(i)
    }
}

impl<T: AtomicElement, I: Index> Scatter<'_, T, I> {
    /// Writes element `i`.
    #[inline(always)]
    pub fn set(self, i: impl Place<I>, value: T) {
        self.view.set_atomically(self.place(i), value);
    }

    /// Prefetches element `i` on a CPU, for writing.
    #[inline(always)]
    pub fn prefetch(self, i: I) {
        self.view.unwritten().prefetch(i);
    }
}

impl<T: AtomicElement, I: Index> Atomic<'_, T, I> {
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

    /// Replaces element `i`. Returns its value before.
    #[inline(always)]
    pub fn swap(self, i: impl Place<I>, value: T) -> T {
        self.view.swap(self.place(i), value)
    }

    /// Replaces element `i` by `new` if it is `old`. Returns its value before.
    #[inline(always)]
    pub fn compare_exchange(self, i: impl Place<I>, old: T, new: T) -> T {
        self.view.compare_exchange(self.place(i), old, new)
    }

    /// As [`Atomic::compare_exchange`], for elements that often differ from `old`: a CPU loads first.
    #[inline(always)]
    pub fn claim(self, i: impl Place<I>, old: T, new: T) -> T
    where
        T: PartialEq,
    {
        self.view.claim(self.place(i), old, new)
    }

    /// Prefetches element `i` on a CPU.
    #[inline(always)]
    pub fn prefetch(self, i: I) {
        self.view.prefetch(i);
    }

    /// Lowers element `i` to `value`. Returns its value before.
    #[inline(always)]
    pub fn fetch_min(self, i: impl Place<I>, value: T) -> T
    where
        T: OrderedElement,
    {
        self.view.fetch_min(self.place(i), value)
    }

    /// Lowers element `i` to `value`.
    #[inline(always)]
    pub fn min(self, i: impl Place<I>, value: T)
    where
        T: OrderedElement,
    {
        self.view.min(self.place(i), value);
    }

    /// Raises element `i` to `value`. Returns its value before.
    #[inline(always)]
    pub fn fetch_max(self, i: impl Place<I>, value: T) -> T
    where
        T: OrderedElement,
    {
        self.view.fetch_max(self.place(i), value)
    }
}

impl<T: AtomicElement<Bits = T> + AtomicInteger, I: Index> Atomic<'_, T, I> {
    /// Adds to element `i`. Returns its value before.
    #[inline(always)]
    pub fn add(self, i: impl Place<I>, value: T) -> T {
        self.view.add(self.place(i), value)
    }
}

impl<W: BitWord + AtomicElement<Bits = u32>> Atomic<'_, W> {
    #[inline(always)]
    fn check_bit(self, member: W::Member) {
        self.place(member.index() / 32);
    }

    /// Adds `member` to the bit set.
    #[inline(always)]
    pub fn set_bit(self, member: W::Member) {
        self.check_bit(member);
        self.view.set_bit(member);
    }

    /// Removes `member` from the bit set.
    #[inline(always)]
    pub fn clear_bit(self, member: W::Member) {
        self.check_bit(member);
        self.view.clear_bit(member);
    }

    /// Adds `member` to the bit set. Returns whether it was there before.
    #[inline(always)]
    pub fn test_and_set_bit(self, member: W::Member) -> bool {
        self.check_bit(member);
        self.view.test_and_set_bit(member)
    }

    /// Whether `member` is in the bit set.
    #[inline(always)]
    pub fn bit(self, member: W::Member) -> bool {
        self.check_bit(member);
        self.view.bit(member)
    }
}
