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

/// One of the `N` elements of an own index in an array over [`Parts`].
pub struct OwnPart<'call, I, const N: u32> {
    /// Not truncated: two own indices never have one number.
    number: u64,
    own: PhantomData<Own<'call, I>>,
}

impl<I, const N: u32> Clone for OwnPart<'_, I, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<I, const N: u32> Copy for OwnPart<'_, I, N> {}

impl<'call, I: Index> Own<'call, I> {
    /// Element `k` of the own index in an array over [`Parts`]. The array says how many there are; another `k` ends the
    /// launch as a wrong index does.
    #[inline(always)]
    pub fn part<const N: u32>(self, k: u32) -> OwnPart<'call, I, N> {
        let first = u64::from(self.number()) * u64::from(N);
        OwnPart {
            // Beyond every array, so that it is refused.
            number: if k < N {
                first + u64::from(k)
            } else {
                u64::MAX
            },
            own: PhantomData,
        }
    }
}

// SAFETY: it is compared.
unsafe impl<I: Index, const N: u32> Place<Parts<I, N>> for OwnPart<'_, I, N> {
    #[inline(always)]
    fn checked(self, len: u32, names: Names) -> u32 {
        if self.number >= u64::from(len) {
            names.fail(u32::try_from(self.number).unwrap_or(u32::MAX), len);
        }
        self.number as u32
    }
}

// SAFETY: an own index has these `N` numbers alone, and no other own index has one of them.
unsafe impl<I: Index, const N: u32> Owner<Parts<I, N>> for OwnPart<'_, I, N> {}
