//! trioxide

pub mod edges;
pub mod error;
pub mod formats;
pub mod mesh;

pub use error::{Error, Result};
