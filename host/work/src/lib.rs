//! Long work on the host: errors, progress, interrupts, threads. Every crate of trioxide uses it; it knows no mesh and
//! no device.
//!
//! | module | holds |
//! | --- | --- |
//! | [`error`] | [`Error`] |
//! | [`progress`] | how far a long computation is, for programs that show it; its end by another thread |
//! | [`parallel`] | loops that all threads share |
//! | [`ahead`] | whether new memory is touched by other threads |
//! | [`memory`] | how much memory is left |

pub mod ahead;
pub mod error;
pub mod memory;
pub mod parallel;
pub mod progress;

pub use error::{Error, Result};
