//! Lists that a lane keeps for itself.

use core::mem::MaybeUninit;

use crate::check::Names;

/// A list of up to `N` values, which a lane keeps for itself: on a CPU's stack, in the local memory of a device. An
/// index beyond the list ends the launch, as does a value beyond its room.
///
/// ```
/// use trioxide_kernel::List;
///
/// let mut numbers = List::<u32, 16>::new();
/// numbers.write(0, [5, 6, 7, 8]);
/// numbers.write(2, [9]);
/// let mut squares = List::<u32, 8>::new();
/// squares.fill(3, |i| numbers.at(i) * numbers.at(i));
/// assert_eq!((squares.len(), squares.run::<2>(1)), (3, [36, 81]));
/// ```
pub struct List<T, const N: usize> {
    values: MaybeUninit<[T; N]>,
    len: u32,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// No values.
    #[inline(always)]
    #[expect(
        clippy::new_without_default,
        reason = "a kernel makes a list where it is used"
    )]
    pub fn new() -> Self {
        let mut list = MaybeUninit::<Self>::uninit();
        // The compiler would write a constant's values too.
        // SAFETY: the values need none, the length is written.
        unsafe {
            (&raw mut (*list.as_mut_ptr()).len).write(0);
            list.assume_init()
        }
    }

    /// Number of values.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is no value.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Replaces all values by those of 0 to `count` - 1.
    #[inline(always)]
    pub fn fill(&mut self, count: u32, mut value: impl FnMut(u32) -> T) {
        if count as usize > N {
            Names::new("", "list").fail(count, N as u32);
        }
        self.len = 0;
        let mut i = 0;
        while i < count {
            // SAFETY: in range.
            unsafe {
                self.values
                    .as_mut_ptr()
                    .cast::<T>()
                    .add(i as usize)
                    .write(value(i))
            };
            i += 1;
        }
        self.len = count;
    }

    /// Replaces value `i`.
    #[inline(always)]
    pub fn set(&mut self, i: u32, value: T) {
        if i >= self.len {
            Names::new("", "list").fail(i, self.len);
        }
        // SAFETY: in range.
        unsafe {
            self.values
                .as_mut_ptr()
                .cast::<T>()
                .add(i as usize)
                .write(value)
        };
    }

    /// Value `i`.
    #[inline(always)]
    pub fn at(&self, i: u32) -> T {
        self.run::<1>(i)[0]
    }

    /// Values `first` to `first + COUNT - 1`.
    #[inline(always)]
    pub fn run<const COUNT: usize>(&self, first: u32) -> [T; COUNT] {
        if first > self.len || self.len - first < COUNT as u32 {
            Names::new("", "list").fail(first.saturating_add(COUNT as u32 - 1), self.len);
        }
        // SAFETY: the first `len` values were written.
        unsafe {
            let at = self.values.as_ptr().cast::<T>().add(first as usize);
            at.cast::<[T; COUNT]>().read()
        }
    }

    /// Writes values from `first` on, at most the list's end, and ends the list with them.
    ///
    /// The next ones may take the place of some: a loop over as many as are needed, if few, would end where a CPU does
    /// not expect it.
    #[inline(always)]
    pub fn write<const COUNT: usize>(&mut self, first: u32, values: [T; COUNT]) {
        if first > self.len || N - (first as usize) < COUNT {
            Names::new("", "list").fail(first.saturating_add(COUNT as u32), N as u32);
        }
        // SAFETY: there is room, and all values before were written.
        unsafe {
            let at = self.values.as_mut_ptr().cast::<T>().add(first as usize);
            at.cast::<[T; COUNT]>().write_unaligned(values);
        }
        self.len = first + COUNT as u32;
    }
}
