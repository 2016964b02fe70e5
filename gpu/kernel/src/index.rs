//! Indices and ids. An array may be indexed by `u32` or by an id, a `u32` whose type is the kind of element.

use bytemuck::Pod;

use crate::block::NoCells;
use crate::view::AtomicElement;

/// The index of an array: `u32`, or an id made by [`id!`](crate::id).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index",
    label = "not an index",
    note = "an index is a `u32` or an id declared by `trioxide_kernel::id!`"
)]
pub trait Index: Pod + Ord + Send + Sync + NoCells {
    /// The words of bit sets over these indices.
    type Word: BitWord<Member = Self> + AtomicElement<Bits = u32>;
    /// The element with [`Self::PER`] consecutive parts of this type: half-edges 3t to 3t + 2 are a triangle's. An
    /// index without such an element has itself.
    type Whole: Index;
    /// The number of parts of a [`Self::Whole`].
    const PER: u32;
    /// The index as a number.
    fn index(self) -> u32;
    /// The index of a number.
    fn from_index(index: u32) -> Self;
}

impl Index for u32 {
    type Word = u32;
    type Whole = u32;
    const PER: u32 = 1;

    #[inline(always)]
    fn index(self) -> u32 {
        self
    }

    #[inline(always)]
    fn from_index(index: u32) -> Self {
        index
    }
}

/// A word of a bit set: `u32`, for a set of `u32`, or [`Bits<E>`](crate::Bits).
pub trait BitWord: Word {
    /// Members of the set.
    type Member: Index;
    /// The word of 32 bits.
    fn from_word(word: u32) -> Self;
    /// Its 32 bits.
    fn to_word(self) -> u32;
}

impl BitWord for u32 {
    type Member = u32;

    #[inline(always)]
    fn from_word(word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn to_word(self) -> u32 {
        self
    }
}

/// An element of 4 bytes: four neighbours load as one vector.
///
/// # Safety
/// Its size and alignment are 4.
pub unsafe trait Word: Pod {}

// SAFETY: 4 bytes.
unsafe impl Word for u32 {}
// SAFETY: 4 bytes.
unsafe impl Word for i32 {}
// SAFETY: 4 bytes.
unsafe impl Word for f32 {}

/// No element: the index type's reserved value.
pub const NONE: u32 = u32::MAX;
