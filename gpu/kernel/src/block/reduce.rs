//! Sums, minima and maxima over the lanes of a block, in one order on every machine.

use bytemuck::Pod;

use super::{Block, Lanes, NoCells, SharedMemory};

/// A number that [`Block::sum`] adds.
pub trait Summed: Pod {
    /// The number that changes no sum: -0 for floats.
    const ZERO: Self;
    /// The sum: of integers modulo 2 to the number of their bits, of floats rounded.
    fn plus(self, other: Self) -> Self;
}

/// A number of which a block finds the smallest and the largest, by [`Block::min`], [`Block::max`] and
/// [`Block::argmin`].
pub trait Ordered: Pod + Ord + NoCells {
    /// The smallest number.
    const LEAST: Self;
    /// The largest number.
    const MOST: Self;
}

macro_rules! integers {
    ($($integer:ty),*) => { $(
        impl Summed for $integer {
            const ZERO: Self = 0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }

        impl Ordered for $integer {
            const LEAST: Self = <$integer>::MIN;
            const MOST: Self = <$integer>::MAX;
        }
    )* };
}

integers!(u32, i32, u64);

impl Summed for f64 {
    const ZERO: Self = -0.0;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
    /// Sum of `x` over the lanes. A barrier before and after, in a block of more than 32 lanes.
    ///
    /// Integers are added modulo 2 to the number of their bits. Floats are added in this order, on every machine: in
    /// each row of 32 lanes, lane i adds the value of lane i + 16 to its own, then that of lane i + 8, i + 4, i + 2 and
    /// i + 1; the sums of the rows are added in the same way, as if there were 32 rows, with -0 for the rows that the
    /// block does not have. If there is a NaN, the payload of the resulting NaN is not defined.
    #[inline(always)]
    pub fn sum<T: Summed>(&self, x: &Lanes<T, LANES>) -> T {
        self.reduce(x, T::ZERO, T::plus)
    }

    /// Smallest of `x` over the lanes. Barriers as [`Block::sum`].
    #[inline(always)]
    pub fn min<T: Ordered>(&self, x: &Lanes<T, LANES>) -> T {
        self.reduce(x, T::MOST, T::min)
    }

    /// Largest of `x` over the lanes. Barriers as [`Block::sum`].
    #[inline(always)]
    pub fn max<T: Ordered>(&self, x: &Lanes<T, LANES>) -> T {
        self.reduce(x, T::LEAST, T::max)
    }

    /// Smallest of `x` over the lanes, and the first lane that has it. Barriers as [`Block::sum`], twice.
    #[inline(always)]
    pub fn argmin<T: Ordered>(&self, x: &Lanes<T, LANES>) -> (T, u32) {
        let least = self.min(x);
        let first = self.lanes(|lane| match x.at(lane) == least {
            true => lane.index(),
            false => u32::MAX,
        });
        (least, self.min(&first))
    }
}
