//! Views of device memory, which a kernel works on: [`In`], [`Out`], [`Atomic`], [`Racing`].
//!
//! A view is an address and a length. Whoever makes one promises that every index it is used with is in range and that
//! no two threads race on an element; in return its methods are safe to call. Launches make views, so launches are
//! unsafe. In range means also: `pair` at even indices, `quad` and `set_quad` at multiples of 4, in an array that is
//! aligned to 16 bytes (every `Buffer` is), and parts of a [`Racing`] element that it has. A kernel keeps no view
//! beyond its call. Debug builds, and builds with the feature `checked`, check every index nevertheless.

mod array;
mod atomic;
mod atomic_element;
mod input;
mod output;

pub use array::{PREFETCHED_AHEAD, RawView};
pub use atomic::{Atomic, Racing, RacingElement};
pub use atomic_element::{AtomicElement, AtomicInteger, OrderedElement};
pub use input::In;
pub use output::Out;
