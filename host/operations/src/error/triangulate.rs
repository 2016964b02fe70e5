//! The refusals of triangulation, in words.

use super::Names;

/// A refusal of triangulation besides the failures of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no sequential algorithm.
    Serial,
    /// Refinement takes no equal points.
    Duplicates,
    /// Sizes are a field and a mesh.
    Sizes,
    /// Points on a device keep their order.
    ResidentOrder,
    /// An option that points on a device do without.
    Resident {
        /// The option.
        option: &'static str,
    },
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::Serial => format!(
                "triangulation has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
            Self::Duplicates => format!(
                "{} goes without refinement: weld the points first",
                option("duplicates")
            ),
            Self::Sizes => format!(
                "{} is a point field of the mesh {}: give both, or neither",
                option("size"),
                option("background")
            ),
            Self::ResidentOrder => {
                "points on a device keep their order: reorder the result, which stays there"
                    .to_owned()
            }
            Self::Resident { option: given } => format!(
                "points on a device are triangulated there, without refinement: leave {} out, or triangulate on the host",
                option(given)
            ),
        }
    }
}
