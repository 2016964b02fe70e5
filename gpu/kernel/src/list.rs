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
/// numbers.push_numbers(5, 2);
/// numbers.push_numbers(9, 1);
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
}

/// Values that [`List::push_numbers`] writes at a time.
const AT_ONCE: usize = 8;

impl<const N: usize> List<u32, N> {
    /// Appends `count` numbers from `first` on. It writes eight at a time, and there must be room for them: a loop over
    /// few would end where a CPU does not expect it.
    #[inline(always)]
    pub fn push_numbers(&mut self, first: u32, count: u32) {
        let (len, room) = (self.len as usize, N.saturating_sub(AT_ONCE));
        if len > room || count as usize > room - len {
            Names::new("", "list").fail(self.len.saturating_add(count), N as u32);
        }
        let mut i = 0;
        loop {
            let numbers =
                core::array::from_fn::<u32, AT_ONCE, _>(|k| first.wrapping_add(i + k as u32));
            // SAFETY: the loop ends at most a step beyond the `count` values, for which there is room.
            unsafe {
                let at = self.values.as_mut_ptr().cast::<u32>().add(len + i as usize);
                at.cast::<[u32; AT_ONCE]>().write(numbers);
            }
            i += AT_ONCE as u32;
            if i >= count {
                break;
            }
        }
        self.len += count;
    }

    /// Appends those of the numbers from `first` on whose flag is set, of four. There must be room for four.
    #[inline(always)]
    pub fn push_flagged(&mut self, first: u32, flags: u32) {
        let len = self.len as usize;
        if len + 4 > N {
            Names::new("", "list").fail(self.len.saturating_add(4), N as u32);
        }
        let (numbers, count) = FLAGGED[(flags & 15) as usize];
        // SAFETY: there is room.
        unsafe {
            let at = self.values.as_mut_ptr().cast::<u32>().add(len);
            at.cast::<[u32; 4]>().write(numbers.map(|k| first.wrapping_add(k)));
        }
        self.len += count;
    }
}

/// The places of set flags, of four, and how many are set.
static FLAGGED: [([u32; 4], u32); 16] = {
    let mut all = [([0; 4], 0); 16];
    let mut flags = 0;
    while flags < 16 {
        let (mut place, mut count) = (0, 0);
        while place < 4 {
            if flags >> place & 1 != 0 {
                all[flags].0[count] = place;
                count += 1;
            }
            place += 1;
        }
        all[flags].1 = count as u32;
        flags += 1;
    }
    all
};
