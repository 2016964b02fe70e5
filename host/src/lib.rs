//! trioxide

pub mod error;
pub mod generate;
pub mod mesh;

pub use error::{Error, Result};
