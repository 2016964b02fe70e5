//! trioxide

pub mod backend;
pub mod collective;
pub mod digest;
pub mod edges;
pub mod error;
pub mod formats;
pub mod generate;
pub mod half_edges;
pub mod indexed;
pub mod mesh;
pub mod polylla;
pub mod quality;
pub mod reference;
pub mod render;
pub mod selftest;
pub mod validate;

pub use error::{Error, Result};
