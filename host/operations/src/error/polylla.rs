//! Reasons why Polylla of whole meshes refuses a mesh or options, in words.

use super::Names;

/// A reason why Polylla of whole meshes refuses a mesh or options, besides the reasons of the family
/// ([`trioxide::polylla::Error`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A place of repair is given, but the method with half-edges has no choice of one.
    RepairOfHalfEdges,
    /// An option with which polygons of arrays are not made: those are not cut.
    OfHalfEdges {
        /// The option.
        option: &'static str,
    },
    /// The sequential algorithm repairs on the host.
    SerialRepair,
    /// The indexed method joins triangles of the plane.
    IndexedSurface,
    /// An option that surfaces in space do without.
    InPlane {
        /// The option.
        option: &'static str,
    },
    /// An angle is none.
    Angle {
        /// The option.
        option: &'static str,
        /// Its value.
        degrees: f64,
    },
    /// A length of short edges is no part of a diameter.
    MinEdge {
        /// Its value.
        ratio: f64,
    },
    /// An option that tetrahedra do without.
    OfTriangles {
        /// The option.
        option: &'static str,
    },
    /// An option that cavities do without.
    OfLargestFaces {
        /// The option.
        option: &'static str,
    },
    /// An option that triangles do without: they are joined along longest edges.
    RuleOfTetrahedra,
    /// An option that triangles do without: each polygon is one face.
    FacesOfTetrahedra,
    /// An option that triangles do without: their edges are compared by length.
    MeasureOfTetrahedra,
    /// An option that meshes on a device do without.
    Resident {
        /// The option.
        option: &'static str,
    },
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::RepairOfHalfEdges => format!(
                "{0} goes with {1}: add it, or leave {0} out",
                option("repair"),
                value("method", "indexed")
            ),
            Self::OfHalfEdges { option: given } => format!(
                "{} needs half-edges: use {}, which gives the same polygons",
                option(given),
                value("method", "half-edge")
            ),
            Self::SerialRepair => format!(
                "{} repairs on the host: leave {} out",
                value("device", "serial"),
                value("repair", "device")
            ),
            Self::IndexedSurface => format!(
                "{} goes with planar meshes, but this one is a surface in space: use {}, which joins both",
                value("method", "indexed"),
                value("method", "half-edge")
            ),
            Self::InPlane { option: given } => format!(
                "{} goes with planar meshes, but this one is a surface in space: leave it out",
                option(given)
            ),
            Self::Angle {
                option: given,
                degrees,
            } => format!(
                "{} is {degrees}, but must be an angle from 0 to 180 degrees",
                option(given)
            ),
            Self::MinEdge { ratio } => format!(
                "{} is {ratio}, but must be a part of a polygon's diameter, between 0 and 1",
                option("min_edge")
            ),
            Self::OfTriangles { option: given } => format!(
                "{} goes with triangles, but this one is a volume mesh: leave it out",
                option(given)
            ),
            Self::OfLargestFaces { option: given } => format!(
                "{0} goes with {1}: add it, or leave {0} out",
                option(given),
                value("rule", "largest-faces")
            ),
            Self::RuleOfTetrahedra => format!(
                "{} goes with tetrahedra: triangles are joined along their longest edges",
                option("rule")
            ),
            Self::FacesOfTetrahedra => format!(
                "{} goes with tetrahedra: polygons of the plane are one face each",
                option("merge_faces")
            ),
            Self::MeasureOfTetrahedra => format!(
                "{} goes with tetrahedra: edges of triangles are compared by length",
                option("by")
            ),
            Self::Resident { option: given } => format!(
                "a mesh on a device is joined there by half-edges in double precision, with ties by the edge: leave {} out, or join \
                 on the host",
                option(given)
            ),
        }
    }
}
