//! Views of device memory, on which a kernel works: [`In`], [`Out`], [`Atomic`], [`Racing`].
//!
//! A view is an address and a length. Its maker promises that every index that it is used with is in range and that no
//! two threads race on an element; in return its methods are safe to call. Launches make views, so launches are unsafe.
//! In range also means: `pair` at even indices, `quad` and `set_quad` at multiples of 4, in an array that is aligned to
//! 16 bytes (every `Buffer` is), and existing parts of a [`Racing`] element. A kernel keeps no view after its call.
//! Debug builds, and builds with the feature `checked`, still check every index.

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
