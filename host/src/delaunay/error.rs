//! The failures of triangulation.

use std::fmt;

use glam::DVec2;
use trioxide_mesh::outline::{crossing, repeated};

/// A failure of triangulation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Two points are equal.
    Repeated {
        /// The lowest that equals one before it.
        vertex: u32,
        /// That one.
        other: u32,
    },
    /// Two segments cross each other elsewhere than at a point.
    Crossing {
        /// Their numbers.
        segments: [u32; 2],
        /// The places of their ends.
        ends: [[DVec2; 2]; 2],
    },
    /// A failure that is not the family's own.
    Shared(crate::Error),
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Shared(error)
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Repeated { vertex, other } => repeated(vertex.into(), other.into()),
            Error::Crossing { segments, ends } => crossing(segments, ends),
            Error::Shared(error) => error,
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { vertex, other } => repeated((*vertex).into(), (*other).into()).fmt(f),
            Self::Crossing { segments, ends } => crossing(*segments, *ends).fmt(f),
            Self::Shared(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// Result of triangulation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
