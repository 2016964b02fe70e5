//! Several elements of one index.

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::own::{Own, Owner, Place};
use crate::Bits;
use crate::Index;
use crate::check::Names;

/// The index of an array with `N` elements for each `I`: element `k` of `i` is number `N * i + k`.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::kernel;
/// use trioxide_kernel::safe::{Out, Own, Parts};
///
/// /// Writes the two ends of each interval.
/// #[kernel]
/// pub fn ends(interval: Own, width: u32, ends: Out<u32, Parts<u32, 2>>) {
///     ends.set(interval.part(0), width * interval.get());
///     ends.set(interval.part(1), width * (interval.get() + 1));
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut ends_of = on.uninitialized(4)?;
/// ends::launch(&on, 2, 10, &mut ends_of)?;
/// assert_eq!(on.download(&ends_of)?, [0, 10, 10, 20]);
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct Parts<I, const N: u32> {
    number: u32,
    whole: PhantomData<fn(I)>,
}

impl<I, const N: u32> Clone for Parts<I, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<I, const N: u32> Copy for Parts<I, N> {}

impl<I, const N: u32> PartialEq for Parts<I, N> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl<I, const N: u32> Eq for Parts<I, N> {}

impl<I, const N: u32> PartialOrd for Parts<I, N> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I, const N: u32> Ord for Parts<I, N> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

// SAFETY: a transparent `u32`.
unsafe impl<I, const N: u32> Zeroable for Parts<I, N> {}
// SAFETY: a transparent `u32`.
unsafe impl<I: Index, const N: u32> Pod for Parts<I, N> {}

impl<I: Index, const N: u32> Index for Parts<I, N> {
    type Word = Bits<Self>;
    type Whole = I;
    const PER: u32 = N;

    #[inline(always)]
    fn index(self) -> u32 {
        self.number
    }

    #[inline(always)]
    fn from_index(number: u32) -> Self {
        Self {
            number,
            whole: PhantomData,
        }
    }
}

/// One of an own index's parts in arrays over `J`; each whole has [`Index::PER`] of them.
pub struct OwnPart<'call, J> {
    number: u32,
    own: PhantomData<Own<'call, J>>,
}

impl<J> Clone for OwnPart<'_, J> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<J> Copy for OwnPart<'_, J> {}

impl<J: Index> OwnPart<'_, J> {
    /// The index.
    #[inline(always)]
    pub fn get(self) -> J {
        J::from_index(self.number)
    }
}

impl<'call, I: Index> Own<'call, I> {
    /// Part `k` of the own index: half-edge `3 t + k` of triangle t, in arrays over half-edges. A `k` that is not below
    /// [`Index::PER`] ends the launch as a wrong index does.
    #[inline(always)]
    pub fn part<J: Index<Whole = I>>(self, k: u32) -> OwnPart<'call, J> {
        if k >= J::PER {
            Names::new("", "part").fail(k, J::PER);
        }
        OwnPart {
            // It does not wrap: it is below the length of every array over `J`, as the launch has checked.
            number: self.number().wrapping_mul(J::PER).wrapping_add(k),
            own: PhantomData,
        }
    }
}

// SAFETY: the launch has compared the length with the number of parts of all its indices, by the same `PER`.
unsafe impl<J: Index> Place<J> for OwnPart<'_, J> {
    const IS_KNOWN: bool = true;

    #[inline(always)]
    fn number(self) -> u32 {
        self.number
    }
}

// SAFETY: an own index has only these `PER` numbers, and no other own index has one of them.
unsafe impl<J: Index> Owner<J> for OwnPart<'_, J> {}
