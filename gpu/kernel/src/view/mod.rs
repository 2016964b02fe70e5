//! Views of device memory, which a kernel works on: [`In`], [`Out`], [`Atomic`], [`Racing`].
//!
//! A view is an address and a length. Whoever makes one promises that every index it is used with is in range and that no
//! two threads race on an element; in return its methods are safe to call. Launches make views, so launches are unsafe.
//! Debug builds, and builds with the feature `checked`, check every index nevertheless.

mod array;
mod atomic;
mod input;
mod output;

pub use array::{PREFETCHED_AHEAD, RawView};
pub use atomic::{Atomic, AtomicElement, AtomicInteger, Racing, RacingElement};
pub use input::In;
pub use output::Out;
