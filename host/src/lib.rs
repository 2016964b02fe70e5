//! trioxide

pub mod edges;
pub mod error;
pub mod formats;
pub mod generate;
pub mod mesh;
pub mod render;

pub use error::{Error, Result};
