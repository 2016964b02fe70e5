//! The refusals of [`triangulate`](crate::triangulate()), in words.

use trioxide::delaunay::crossings::{Crossings, MOST};

use super::Names;

/// The element of errors of a whole outline.
pub(super) const OUTLINE: &str = "the outline";

/// A refusal of triangulation besides the failures of the algorithms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Segments cross each other elsewhere than at vertices.
    Crossings(Box<Crossings>),
    /// More segments cross than are resolved.
    TooManyCrossings,
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
    pub(super) fn say(&self, Names { option, value }: Names) -> String {
        match self {
            Self::Crossings(found) => format!(
                "{OUTLINE} has {}; {} puts vertices there",
                crossings(found),
                option("resolve")
            ),
            Self::TooManyCrossings => {
                format!("more than {MOST} pairs of segments cross: divide the outline")
            }
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

/// The number of crossings, and the first of them with their places.
fn crossings(found: &Crossings) -> String {
    let first: Vec<String> = (found.first.iter())
        .map(|crossing| {
            let [a, b] = crossing.segments;
            format!("{a} and {b} at {}", crossing.place)
        })
        .collect();
    let listed = first.join(", ");
    let more = match found.count {
        Some(count) if count <= first.len() => "",
        _ => ", and so on",
    };
    let pairs = match found.count {
        Some(1) => "1 pair".to_owned(),
        Some(count) => format!("{count} pairs"),
        None => format!("more than {MOST} pairs"),
    };
    format!("{pairs} of segments that cross where no vertex is: {listed}{more}")
}
