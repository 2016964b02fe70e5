//! Errors of Polylla.

use trioxide_kernel::launch::LaunchError;

/// Why there are no polygons.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A segment has a vertex that does not exist.
    #[error("segment {segment} has a vertex index that is out of range")]
    SegmentOutOfRange {
        /// The segment.
        segment: usize,
    },
    /// A segment is no edge.
    #[error(
        "segment {segment}, from vertex {from} to vertex {to}, is no edge of the triangulation: `repair --all` leaves such segments out"
    )]
    NoEdge {
        /// The segment.
        segment: u32,
        /// Its first vertex.
        from: u32,
        /// Its second vertex.
        to: u32,
    },
    /// The list of regions has another length than the list of triangles.
    #[error("the list of regions has {regions} entries; the mesh has {triangles} triangles")]
    Regions {
        /// Entries.
        regions: usize,
        /// Triangles.
        triangles: u32,
    },
    /// [`Ties::First`](crate::mesh::Ties::First) leaves triangles without a terminal edge.
    #[error(
        "a ring of triangles with equally long edges has no terminal edge when ties go to the first edge"
    )]
    TiedRing,
    /// The arrays were made for another triangulation.
    #[error(
        "{arrays} were made for another triangulation: make them for the one that they are used with"
    )]
    OtherMesh {
        /// Name of the arrays.
        arrays: &'static str,
    },
    /// The run was asked for no lists.
    #[error("the polygons have no lists of vertices: set `lists` in the options")]
    NoLists,
    /// A polygon visits a vertex twice, where simple polygons are needed.
    #[error("polygon {polygon} visits a vertex twice: make polygons with `strict` in the options")]
    WeaklySimple {
        /// The polygon.
        polygon: u32,
    },
    /// A pinned vertex does not exist.
    #[error("vertex {vertex} is pinned, but the mesh has {vertices} vertices")]
    Pinned {
        /// The vertex.
        vertex: u32,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// The device failed.
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
            Error::SegmentOutOfRange { segment } => format!("segment {segment}"),
            Error::NoEdge { segment, from, to } => {
                format!("segment {segment}, from vertex {from} to vertex {to},")
            }
            Error::Regions { .. } => "the list of regions".to_owned(),
            Error::TiedRing => "a ring of triangles".to_owned(),
            Error::WeaklySimple { polygon } => format!("polygon {polygon}"),
            Error::Pinned { vertex, .. } => format!("vertex {vertex}"),
            Error::OtherMesh { .. } | Error::NoLists => return crate::Error::Argument(text),
        };
        crate::Error::of_element(element, &text)
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}

/// Result of a run.
pub type Result<T> = std::result::Result<T, Error>;
