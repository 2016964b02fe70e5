//! The failures of welding.

use trioxide_kernel::launch::LaunchError;

use super::Method;

/// Result of welding.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of welding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A vertex has a coordinate that no method can weld.
    #[error("vertex {vertex} has a coordinate that is not a finite number, or is beyond 1e298")]
    Coordinate {
        /// The lowest such vertex.
        vertex: usize,
    },
    /// A face names a vertex that the mesh does not have.
    #[error("face {face} has a vertex index that is out of range")]
    FaceIndex {
        /// The lowest such face.
        face: usize,
    },
    /// A segment names a vertex that the mesh does not have.
    #[error("segment {segment} has a vertex index that is out of range")]
    SegmentIndex {
        /// The lowest such segment.
        segment: usize,
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
    /// Epsilon is no distance.
    #[error("epsilon is {0}, but must be a distance: 0 or more, and finite")]
    Epsilon(f64),
    /// The tolerance of normals is no angle.
    #[error("the tolerance of normals is {0}, but must be an angle from 0 to 180 degrees")]
    NormalTolerance(f64),
    /// The tolerance of texture coordinates is no distance.
    #[error(
        "the tolerance of texture coordinates is {0}, but must be a distance: 0 or more, and finite"
    )]
    UvTolerance(f64),
    /// The ratio is no fraction of the vertices.
    #[error("the ratio of vertices to remove is {0}, but must be 0 or more and less than 1")]
    Ratio(f64),
    /// A guard compares an attribute that the vertices do not have.
    #[error("there is a tolerance of {attribute}, but the mesh has none: leave the tolerance out")]
    MissingAttribute {
        /// The attribute.
        attribute: &'static str,
    },
    /// The method knows neither guards nor locks.
    #[error("tolerances and locks are known to the method grid alone, not to {}", method.name())]
    Guarded {
        /// The method that was asked for.
        method: Method,
    },
    /// The mesh has more elements than the indices of lists and tables reach.
    #[error(
        "{points} vertices and {faces} faces are more than weld's indices reach ({most_points} and {most_faces})"
    )]
    TooLarge {
        /// Vertices of the mesh.
        points: usize,
        /// Faces of the mesh.
        faces: usize,
        /// Most vertices.
        most_points: usize,
        /// Most faces.
        most_faces: usize,
    },
    /// A cloud of points has no boundary to lock.
    #[error("a cloud of points has no boundary that could be locked")]
    NoBoundary,
    /// The faces have too many corners for the search of their boundary.
    #[error("the faces have more corners than 32 bits number, which finding their boundary needs")]
    TooManyCorners,
    /// Lists of neighbours do not fit the device, or their indices.
    #[error(
        "{device} has room for {room} bytes of neighbours' lists, but {needed} bytes are needed at least"
    )]
    Neighbours {
        /// The device.
        device: String,
        /// Bytes that the lists need at least.
        needed: u64,
        /// Bytes that they may take.
        room: u64,
    },
    /// Slabs do without guards.
    #[error(
        "tolerances of normals, texture coordinates and colours are not known to welding in slabs: leave them out, or give weld \
         more memory"
    )]
    GuardsInSlabs,
    /// Slabs are welded by one method.
    #[error("slabs are welded by the method grid alone, not by {}", method.name())]
    MethodInSlabs {
        /// The method that was asked for.
        method: Method,
    },
    /// Not even a slab of no thickness fits the memory.
    #[error(
        "{vertices} vertices lie within epsilon of one place along each axis and have to be on the device at once: that takes \
         {needed} bytes, but {limit} bytes of {device} may be used: give weld more memory or a smaller epsilon"
    )]
    TooDense {
        /// The device.
        device: String,
        /// Vertices of the thinnest slab.
        vertices: usize,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that may be used.
        limit: u64,
    },
    /// The memory is too small for the search of repeated triangles.
    #[error(
        "{limit} bytes of {device} may be used, which is too little to look for repeated triangles among {faces}: give weld more \
         memory"
    )]
    FacesInSlabs {
        /// The device.
        device: String,
        /// Triangles of the mesh.
        faces: usize,
        /// Bytes that may be used.
        limit: u64,
    },
    /// A failure that is not welding's own: of the device, of its memory, of a mesh.
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
        let invalid = |element: String, rule: &str| Self::Invalid {
            element,
            rule: rule.to_owned(),
        };
        match error {
            Error::Shared(error) => error,
            Error::Coordinate { vertex } => invalid(
                format!("vertex {vertex}"),
                "has a coordinate that is not a finite number, or is beyond 1e298",
            ),
            Error::FaceIndex { face } => invalid(
                format!("face {face}"),
                "has a vertex index that is out of range",
            ),
            Error::SegmentIndex { segment } => invalid(
                format!("segment {segment}"),
                "has a vertex index that is out of range",
            ),
            Error::Length {
                array,
                length,
                needed,
            } => invalid(
                "the mesh".to_owned(),
                &format!("has {length} {array} for {needed} elements"),
            ),
            other => Self::Argument(other.to_string()),
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
