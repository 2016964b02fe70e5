//! Errors of refinement.

use trioxide_kernel::launch::LaunchError;

use crate::marking::{Unfit, Unvalued};

/// Why a triangulation was not refined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The mesh breaks a rule, or the device failed.
    #[error(transparent)]
    Mesh(#[from] trioxide_mesh::Error),
    /// The triangles have no half-edges.
    #[error(transparent)]
    HalfEdges(#[from] crate::half_edges::Error),
    /// A segment names a vertex that the mesh does not have.
    #[error("segment {segment} has a vertex index that is out of range")]
    SegmentVertex {
        /// The segment, by its place in the mesh.
        segment: usize,
    },
    /// A segment is no edge.
    #[error(
        "the segment from vertex {} to vertex {} is no edge of the triangulation: `repair --all` leaves such segments out",
        ends[0],
        ends[1]
    )]
    SegmentWithoutEdge {
        /// Its vertices.
        ends: [u32; 2],
    },
    /// Triangles do not all run the same way.
    #[error(
        "triangle {triangle} is degenerate in the chosen precision, or does not run the way of triangle 0"
    )]
    Orientation {
        /// The first such triangle.
        triangle: usize,
    },
    /// A triangle came out degenerate.
    #[error(
        "triangle {triangle} of the refined mesh is degenerate: the triangles are as small as the precision allows, \
         or a corner of one lay in the middle of its longest edge"
    )]
    Degenerate {
        /// The triangle, by its id in the refined mesh.
        triangle: u32,
    },
    /// The refined mesh has too many edges.
    #[error(
        "the refined mesh would have {edges} edges, but at most {most} fit 32-bit ids: refine less"
    )]
    TooManyEdges {
        /// Its edges.
        edges: usize,
        /// Most edges that fit.
        most: usize,
    },
    /// The marking belongs to another mesh.
    #[error("the marks are for {marks} triangles; the mesh has {triangles} triangles")]
    MarksOfAnotherMesh {
        /// Triangles that have a mark.
        marks: usize,
        /// Triangles of the mesh.
        triangles: usize,
    },
    /// Triangles are not marked by their values.
    #[error(transparent)]
    Unvalued(#[from] Unvalued),
    /// A marking does not fit triangles, or the mesh.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A marking has no meaning.
    #[error("{marking} is no marking: {rule}")]
    Marking {
        /// The marking: `a disk of radius -1`.
        marking: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// There was no such level.
    #[error(transparent)]
    NoSuchLevel(#[from] NoSuchLevel),
    /// A round to undo was not recorded.
    #[error("a round after level {level} ran without history, so there is no way back")]
    NoHistory {
        /// The level.
        level: usize,
    },
    /// A list has a wrong number of values.
    #[error("there are {given} {values}, but the input has {needed} {elements}")]
    Length {
        /// The values: `regions`.
        values: &'static str,
        /// Number of values given.
        given: usize,
        /// The elements that need one each: `triangles`.
        elements: &'static str,
        /// Number of these elements.
        needed: usize,
    },
}

/// A level that was not reached, of triangles or tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "level {level} was not reached: there were {rounds} rounds, so ask for that level at most, or for more rounds"
)]
pub struct NoSuchLevel {
    /// The level.
    pub level: usize,
    /// The rounds so far.
    pub rounds: usize,
}

/// Result of refinement.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<LaunchError> for Error {
    fn from(error: LaunchError) -> Self {
        Error::Mesh(error.into())
    }
}

impl From<Error> for trioxide_mesh::Error {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let invalid = |element| trioxide_mesh::Error::of_element(element, &text);
        match error {
            Error::Mesh(error) => error,
            Error::HalfEdges(error) => error.into(),
            Error::SegmentVertex { segment } => invalid(format!("segment {segment}")),
            Error::SegmentWithoutEdge { ends: [a, b] } => {
                invalid(format!("the segment from vertex {a} to vertex {b}"))
            }
            Error::Orientation { triangle } => invalid(format!("triangle {triangle}")),
            Error::Degenerate { triangle } => {
                invalid(format!("triangle {triangle} of the refined mesh"))
            }
            Error::TooManyEdges { .. } => invalid("the refined mesh".to_owned()),
            Error::MarksOfAnotherMesh { .. }
            | Error::Unvalued(_)
            | Error::Unfit(_)
            | Error::Marking { .. }
            | Error::NoSuchLevel(_)
            | Error::NoHistory { .. }
            | Error::Length { .. } => trioxide_mesh::Error::Argument(text),
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}
