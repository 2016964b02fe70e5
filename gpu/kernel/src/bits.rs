//! Bit sets: arrays of words, 32 members to a word.

use core::fmt;
use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use crate::index::{BitWord, Index, Word};
use crate::view::AtomicElement;

/// 32 bits of a set of `E`: an array of these is a bit set.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::safe::{Atomic, In, Own};
/// use trioxide_kernel::{Bits, kernel, words};
///
/// trioxide_kernel::id! {
///     /// A triangle.
///     pub struct Triangle = "triangle";
/// }
///
/// /// Counts the members of a set.
/// #[kernel(requires(set.len() == words(n)))]
/// pub fn count(triangle: Own<Triangle>, set: In<Bits<Triangle>>, counts: Atomic) {
///     if set.bit(triangle.get()) {
///         counts.add(0u32, 1);
///     }
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (set, mut counts) = (on.upload(&[Bits::new(0b1001), Bits::new(1)])?, on.filled(1, 0)?);
/// count::launch(&on, 40, &set, &mut counts)?;
/// assert_eq!(on.download(&counts)?, [3]);
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct Bits<E> {
    word: u32,
    member: PhantomData<E>,
}

impl<E> Clone for Bits<E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Bits<E> {}

impl<E> PartialEq for Bits<E> {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}
impl<E> Eq for Bits<E> {}

impl<E> fmt::Debug for Bits<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#034b}", self.word)
    }
}

impl<E> Bits<E> {
    /// No member.
    pub const EMPTY: Self = Self::new(0);

    /// Bit i of `word` is set if member i of this word is in the set.
    #[inline(always)]
    pub const fn new(word: u32) -> Self {
        Self {
            word,
            member: PhantomData,
        }
    }

    /// The 32 bits.
    #[inline(always)]
    pub const fn word(self) -> u32 {
        self.word
    }
}

// SAFETY: a transparent `u32`.
unsafe impl<E> Zeroable for Bits<E> {}
// SAFETY: a transparent `u32`.
unsafe impl<E: 'static> Pod for Bits<E> {}
// SAFETY: a transparent `u32`.
unsafe impl<E: 'static> Word for Bits<E> {}
// SAFETY: a transparent `u32`.
unsafe impl<E: Send + Sync + 'static> AtomicElement for Bits<E> {
    type Bits = u32;
}

impl<E: Index> BitWord for Bits<E> {
    type Member = E;

    #[inline(always)]
    fn from_word(word: u32) -> Self {
        Self::new(word)
    }

    #[inline(always)]
    fn to_word(self) -> u32 {
        self.word
    }
}

/// Words of a bit set of `members` members.
#[inline(always)]
pub const fn words(members: usize) -> usize {
    members.div_ceil(32)
}
