//! trioxide

pub mod backend;
pub mod error;
pub mod mesh;

pub use error::{Error, Result};
