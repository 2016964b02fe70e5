//! Errors of refinement of tetrahedra.

use trioxide_kernel::launch::LaunchError;

use crate::marking::{Unfit, Unvalued};
use crate::refine::NoSuchLevel;

/// Why a mesh of tetrahedra was not refined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device failed.
    #[error(transparent)]
    Mesh(#[from] trioxide_mesh::Error),
    /// The list of regions has another length than the list of tetrahedra.
    #[error("mesh has region ids for {regions} tetrahedra of {tetrahedra}")]
    Regions {
        /// Entries of the list of regions.
        regions: usize,
        /// Tetrahedra of the mesh.
        tetrahedra: usize,
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
    /// A tetrahedron is too small for the squares of its edges.
    #[error(
        "tetrahedron {tetrahedron} extends over less than {least:e}: squares of its edges leave {precision}; scale the mesh up"
    )]
    TooSmall {
        /// The tetrahedron.
        tetrahedron: u32,
        /// Smallest extent along an axis.
        least: f64,
        /// The precision.
        precision: &'static str,
    },
    /// A tetrahedron names a vertex that the mesh does not have.
    #[error("tetrahedron {tetrahedron} has a vertex index that is out of range")]
    OutOfRange {
        /// The tetrahedron.
        tetrahedron: u32,
    },
    /// A tetrahedron is not positively oriented.
    #[error(
        "tetrahedron {tetrahedron} is inverted or flat in the chosen precision: its volume must be greater than zero"
    )]
    Inverted {
        /// The tetrahedron.
        tetrahedron: u32,
    },
    /// A tagged triangle is no face of a tetrahedron.
    #[error("tagged face {face} has an edge that no tetrahedron has")]
    LooseFace {
        /// The tagged triangle.
        face: u32,
    },
    /// A child is flat.
    #[error(
        "level {level}: tetrahedron {tetrahedron} is flat, as midpoints fall on vertices: coordinates in the chosen precision are \
         too coarse for so many levels"
    )]
    Flat {
        /// The level, from 1.
        level: usize,
        /// The tetrahedron, by its id in the refined mesh.
        tetrahedron: u32,
    },
    /// There are too many tetrahedra.
    #[error("the mesh has {tetrahedra} tetrahedra, but at most {most} fit 32-bit edge ids")]
    TooManyTetrahedra {
        /// Tetrahedra of the mesh, or of the refined mesh.
        tetrahedra: usize,
        /// Most tetrahedra that fit.
        most: usize,
    },
    /// There are too many vertices or tagged triangles.
    #[error("the refined mesh has {count} {elements}, more than 32-bit indices can number")]
    TooMany {
        /// Number of these elements.
        count: usize,
        /// `vertices` or `tagged faces`.
        elements: &'static str,
    },
    /// The edges did not fit a table with room for all.
    #[error("the mesh has edges that no table can hold")]
    Crowded,
    /// A marking does not fit tetrahedra, or the mesh.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Tetrahedra are not marked by their values.
    #[error(transparent)]
    Unvalued(#[from] Unvalued),
    /// There was no such level.
    #[error(transparent)]
    NoSuchLevel(#[from] NoSuchLevel),
    /// A fraction is not between 0 and 1.
    #[error("a fraction of {fraction} tetrahedra cannot be marked: give one between 0 and 1")]
    Fraction {
        /// The fraction.
        fraction: f64,
    },
    /// A box has a coordinate that is no finite number.
    #[error("a box to mark has a coordinate that is no finite number")]
    InfiniteBox,
    /// A box whose corners are in the wrong order.
    #[error("a box to mark from {low} to {high} is empty: its low corner comes first")]
    ReversedBox {
        /// Its first corner.
        low: glam::DVec3,
        /// Its second corner.
        high: glam::DVec3,
    },
    /// A ball without a finite centre or with a negative radius.
    #[error("a ball to mark needs a finite centre and a radius of 0 or more")]
    Ball,
    /// A volume is negative or no number.
    #[error("tetrahedra over a volume of {volume} cannot be marked: give 0 or more")]
    Volume {
        /// The volume.
        volume: f64,
    },
    /// The list of chosen tetrahedra belongs to another mesh.
    #[error(
        "the list of chosen tetrahedra has {chosen} entries; the mesh has {tetrahedra} tetrahedra"
    )]
    Chosen {
        /// Entries of the list.
        chosen: usize,
        /// Tetrahedra of the mesh.
        tetrahedra: usize,
    },
}

/// Result of refinement of tetrahedra.
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
            Error::Regions { .. } => invalid("mesh".to_owned()),
            Error::NotFinite { vertex } | Error::TooLarge { vertex, .. } => {
                invalid(format!("vertex {vertex}"))
            }
            Error::OutOfRange { tetrahedron }
            | Error::Inverted { tetrahedron }
            | Error::TooSmall { tetrahedron, .. } => invalid(format!("tetrahedron {tetrahedron}")),
            Error::LooseFace { face } => invalid(format!("tagged face {face}")),
            Error::Flat { level, tetrahedron } => {
                invalid(format!("level {level}: tetrahedron {tetrahedron}"))
            }
            Error::TooManyTetrahedra { .. } | Error::Crowded => invalid("the mesh".to_owned()),
            Error::TooMany { .. } => invalid("the refined mesh".to_owned()),
            Error::Unfit(_)
            | Error::Unvalued(_)
            | Error::NoSuchLevel(_)
            | Error::Fraction { .. }
            | Error::InfiniteBox
            | Error::ReversedBox { .. }
            | Error::Ball
            | Error::Volume { .. }
            | Error::Chosen { .. } => trioxide_mesh::Error::Argument(text),
        }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}
