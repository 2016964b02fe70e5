//! The refusals of [`triangulate`](crate::triangulate()), in words.

use super::Names;

/// A refusal of triangulation besides the failures of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no sequential algorithm.
    Serial,
    /// Sizes are a field and a mesh.
    Sizes,
    /// Points on a device keep their order.
    ResidentOrder,
    /// Points on a device that are refined have one z.
    ResidentHeights {
        /// The lowest and the highest z.
        heights: [f64; 2],
    },
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::Serial => format!(
                "triangulation has no sequential algorithm: use {}",
                value("device", "cpu")
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
            Self::ResidentHeights {
                heights: [low, high],
            } => format!(
                "the points have z from {low} to {high}: points that are refined lie in a plane of one z"
            ),
        }
    }
}
