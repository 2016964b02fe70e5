//! The failures of decimation.

use trioxide_kernel::launch::LaunchError;

/// Result of decimation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of decimation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A vertex has a coordinate that is no finite number, or is too large.
    #[error("vertex {vertex} has a coordinate that is not a finite number, or is beyond 2^250")]
    Coordinate {
        /// The lowest such vertex.
        vertex: usize,
    },
    /// A triangle names a vertex that the mesh does not have.
    #[error("triangle {triangle} has a vertex index that is out of range")]
    Range {
        /// The lowest such triangle.
        triangle: usize,
    },
    /// A triangle has a vertex twice.
    #[error(
        "triangle {triangle} has a vertex twice: remove such triangles first, as welding by a distance of 0 does"
    )]
    Degenerate {
        /// The lowest such triangle.
        triangle: usize,
    },
    /// An array does not have as many elements as the mesh.
    #[error("the mesh has {length} {array} for {needed} elements")]
    Length {
        /// The array.
        array: &'static str,
        /// Its length.
        length: usize,
        /// The length that the mesh needs.
        needed: usize,
    },
    /// The largest error is no distance.
    #[error("the largest error is {0}, but must be a distance: 0 or more, and finite")]
    Bound(f64),
    /// A vertex has a weighed number that is not finite, or is too large.
    #[error("vertex {vertex} has a weighed number that is not finite, or is beyond 2^250")]
    Number {
        /// The lowest such vertex.
        vertex: usize,
    },
    /// A weight is no distance.
    #[error("a weight is {0}, but must be a part of the diagonal: 0 or more, and finite")]
    Weight(f64),
    /// The mesh has more elements than 32-bit indices reach.
    #[error(
        "{points} vertices and {triangles} triangles are more than 32-bit indices reach ({most_points} and {most_triangles})"
    )]
    TooLarge {
        /// Vertices of the mesh.
        points: usize,
        /// Triangles of the mesh.
        triangles: usize,
        /// Most vertices.
        most_points: usize,
        /// Most triangles.
        most_triangles: usize,
    },
    /// A failure that is not decimation's own: of the device, of its memory.
    #[error(transparent)]
    Shared(#[from] crate::Error),
}

impl From<LaunchError> for Error {
    fn from(error: LaunchError) -> Self {
        Self::Shared(error.into())
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let rule = error.to_string();
        let element = match error {
            Error::Shared(error) => return error,
            Error::Coordinate { vertex } | Error::Number { vertex } => format!("vertex {vertex}"),
            Error::Range { triangle } | Error::Degenerate { triangle } => {
                format!("triangle {triangle}")
            }
            Error::Length { .. } => "the mesh".to_owned(),
            Error::Bound(_) | Error::Weight(_) | Error::TooLarge { .. } => {
                return Self::Argument(rule);
            }
        };
        Self::of_element(element, &rule)
    }
}
