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
    /// The segments enclose triangles, but holes take all of them.
    Hollow {
        /// A hole that takes some.
        hole: usize,
        /// The point in it.
        point: DVec2,
        /// Number of holes.
        holes: usize,
    },
    /// A failure that is not the family's own.
    Shared(crate::Error),
}

/// The error of holes that take all triangles.
fn hollow(hole: usize, point: DVec2, holes: usize) -> crate::Error {
    let others = match holes {
        1 => "takes all of the outline".to_owned(),
        count => format!("and the other {} take all of the outline", count - 1),
    };
    crate::Error::Invalid {
        element: format!("hole {hole}"),
        rule: format!(
            "at {point} {others}, so it encloses no triangle: a hole needs a ring of segments around it within the outline"
        ),
    }
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
            Error::Hollow { hole, point, holes } => hollow(hole, point, holes),
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
            Self::Hollow { hole, point, holes } => hollow(*hole, *point, *holes).fmt(f),
            Self::Shared(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// Result of triangulation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
