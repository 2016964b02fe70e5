//! Rows of a plain grid, written on the device: the host makes no list and copies none.
//!
//! The grid has `side` x `side` points on the unit square, numbered row by row. Each square is split by its rising
//! diagonal, the lower triangle first (`trioxide::generate::Grid`). A part of the grid is a run of consecutive points
//! and a run of consecutive squares, each with its own ids from 0 on.
//!
//! | stage | kernels |
//! | --- | --- |
//! | write the grid | [`write_points()`], [`write_corners()`] |
//!
//! A jittered grid is not made here: the displacements of its points are one sequence of random numbers, and a thread
//! could enter it only by a jump of 128-bit products.

pub mod write_corners;
pub mod write_points;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::write_corners::*;
    pub use super::write_points::*;
}

/// The factor of [`row_of()`] for rows of `width` elements: 2^64 / `width`, rounded up. A width of 1 has no such
/// factor, and stands for a single row.
pub const fn reciprocal(width: u32) -> u64 {
    (u64::MAX / width as u64).wrapping_add(1)
}

/// The row of element `i`, by a multiplication: a division by a variable is software on a GPU. The reciprocal is too
/// large by less than 1, so the product over 2^64 is too large by less than 2^-32 and rounds down to the quotient.
#[inline(always)]
#[doc(hidden)]
pub fn row_of(i: u32, reciprocal: u64) -> u32 {
    ((u128::from(i) * u128::from(reciprocal)) >> 64) as u32
}
