//! trioxide

pub mod digest;
pub mod error;
pub mod mesh;
pub mod quality;
pub mod reference;
pub mod validate;

pub use error::{Error, Result};
