//! Long work on the host: errors, progress, interrupts, threads. Every crate of trioxide uses it; it knows no mesh and
//! no device.
//!
//! | module | holds |
//! | --- | --- |
//! | [`error`] | [`Error`] |
//! | [`progress`] | the progress of a long computation, for programs that show it; its interruption by another thread |
//! | [`parallel`] | loops over all threads |
//! | [`memory`] | the memory that is left |

pub mod error;
pub mod memory;
pub mod parallel;
pub mod progress;

pub use error::{Error, Result};
