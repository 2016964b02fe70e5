//! Why a triangulation has no half-edges.

use gpu::point::MeshPoint;
use trioxide_kernel::launch::LaunchError;

use super::{MOST_HALF_EDGES, MOST_TRIANGLES, MOST_VERTICES};

/// Why a triangulation has no half-edges.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The mesh has more triangles than half-edge ids can name.
    #[error(
        "the mesh has {triangles} triangles, but at most {MOST_TRIANGLES} fit 32-bit half-edge ids"
    )]
    TooManyTriangles {
        /// Triangles.
        triangles: usize,
    },
    /// With its boundary the mesh has more half-edges than ids can name.
    #[error(
        "the mesh has {half_edges} half-edges with those along its boundary, but at most {MOST_HALF_EDGES} fit 32-bit ids"
    )]
    TooManyHalfEdges {
        /// Half-edges of triangles, and of the boundary.
        half_edges: usize,
    },
    /// The mesh has more vertices than ids can name.
    #[error("the mesh has {vertices} vertices, but at most {MOST_VERTICES} fit 32-bit vertex ids")]
    TooManyVertices {
        /// Vertices.
        vertices: usize,
    },
    /// The list of origins does not have three for each triangle.
    #[error("the list of triangles has {origins} vertex ids, which is no multiple of 3")]
    NoTriangles {
        /// Vertex ids.
        origins: usize,
    },
    /// A coordinate is no finite number.
    #[error("vertex {vertex} has a coordinate that is not a finite number in the chosen precision")]
    NotFinite {
        /// The vertex.
        vertex: u32,
    },
    /// A coordinate is too large for the squares of distances.
    #[error(
        "vertex {vertex} has a coordinate beyond {most:e}: squares of distances leave {precision}; scale the mesh down"
    )]
    TooLarge {
        /// The vertex.
        vertex: u32,
        /// Largest absolute value.
        most: f64,
        /// The precision.
        precision: &'static str,
    },
    /// A triangle is too small for the squares of its edges.
    #[error(
        "triangle {triangle} extends over less than {least:e}: squares of its edges leave {precision}; scale the mesh up"
    )]
    TooSmall {
        /// The triangle.
        triangle: u32,
        /// Smallest extent along x or y.
        least: f64,
        /// The precision.
        precision: &'static str,
    },
    /// A triangle has a vertex that does not exist.
    #[error("triangle {triangle} has a vertex index that is out of range")]
    OutOfRange {
        /// The triangle.
        triangle: u32,
    },
    /// A triangle does not run counter-clockwise; in space one of its edges has no length.
    #[error(
        "triangle {triangle} is clockwise or degenerate in the chosen precision: its vertices must run counter-clockwise"
    )]
    Orientation {
        /// The triangle.
        triangle: u32,
    },
    /// More than two triangles share an edge, or two run along it in the same direction.
    #[error(
        "edge {edge} of triangle {triangle} is not shared by two triangles that run along it in opposite directions: \
         three or more triangles share it, or a triangle is there twice"
    )]
    NotManifold {
        /// The triangle.
        triangle: u32,
        /// Its edge: 0, 1 or 2.
        edge: u32,
    },
    /// The mesh breaks another rule, or the device failed.
    #[error(transparent)]
    Mesh(#[from] crate::Error),
}

impl From<LaunchError> for Error {
    fn from(error: LaunchError) -> Self {
        Self::Mesh(error.into())
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let element = match error {
            Error::Mesh(error) => return error,
            Error::TooManyTriangles { .. }
            | Error::TooManyHalfEdges { .. }
            | Error::TooManyVertices { .. } => "the mesh".to_owned(),
            Error::NoTriangles { .. } => "the list of triangles".to_owned(),
            Error::NotFinite { vertex } | Error::TooLarge { vertex, .. } => {
                format!("vertex {vertex}")
            }
            Error::OutOfRange { triangle }
            | Error::Orientation { triangle }
            | Error::TooSmall { triangle, .. } => {
                format!("triangle {triangle}")
            }
            Error::NotManifold { triangle, edge } => format!("edge {edge} of triangle {triangle}"),
        };
        crate::Error::of_element(element, &text)
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}

/// Result of building half-edges.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of a vertex beyond [`MeshPoint::LARGEST`].
pub(crate) fn too_large<P: MeshPoint>(vertex: u32) -> Error {
    Error::TooLarge {
        vertex,
        most: P::LARGEST,
        precision: P::PRECISION,
    }
}

/// The error of a triangle below [`MeshPoint::SMALLEST`].
pub(crate) fn too_small<P: MeshPoint>(triangle: u32) -> Error {
    Error::TooSmall {
        triangle,
        least: P::SMALLEST,
        precision: P::PRECISION,
    }
}
