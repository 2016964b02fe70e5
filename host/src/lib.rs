//! trioxide

pub mod error;
pub mod generate;
pub mod mesh;
pub mod render;

pub use error::{Error, Result};
