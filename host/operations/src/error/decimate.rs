//! The refusals of decimation of whole meshes, in words.

use super::Names;

/// A reason why decimation of whole meshes refuses a mesh or options, besides the reasons of the family
/// ([`trioxide::decimate::Error`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Neither a number of triangles, nor a fraction, nor an error is given.
    NoTarget,
    /// Both a number of triangles and a fraction are given.
    TwoTargets,
    /// The fraction of the triangles is none.
    Keep(f64),
    /// A fraction is given twice.
    KeptTwice(f64),
    /// So many meshes are asked for where one is needed.
    Several(usize),
    /// The mesh does not have the numbers to weigh.
    Missing {
        /// Their name.
        name: String,
        /// The names of its numbers.
        has: Vec<String>,
    },
    /// The field to weigh has integers.
    Labels(String),
    /// Numbers to weigh are named twice.
    WeighedTwice(String),
    /// Numbers are to be weighed of a surface in a device's memory, which has none.
    Resident,
    /// A segment names a vertex that the mesh does not have.
    Segment(usize),
    /// There is no sequential algorithm.
    Serial,
}

impl Refusal {
    pub(super) fn say(&self, Names { option, value }: Names) -> String {
        match self {
            Self::NoTarget => format!(
                "give {}, a number of triangles, {}, a fraction of them, or {}, the largest error",
                option("to"),
                option("keep"),
                option("error")
            ),
            Self::TwoTargets => format!(
                "{} and {} both say how many triangles to reach: give one of them",
                option("to"),
                option("keep")
            ),
            Self::Keep(keep) => format!(
                "{} is {keep}, but must be a fraction of the triangles: from 0 to 1",
                option("keep")
            ),
            Self::KeptTwice(keep) => format!("{} has {keep} twice", option("keep")),
            Self::Several(several) => format!(
                "{} gives {several} meshes, and one is needed here: give one fraction",
                option("keep")
            ),
            Self::Missing { name, has } if has.is_empty() => format!(
                "the points have no {name} to weigh, and no other numbers: leave {} out",
                option("weigh")
            ),
            Self::Missing { name, has } => {
                format!(
                    "the points have no {name} to weigh: they have {}",
                    has.join(", ")
                )
            }
            Self::Labels(name) => format!(
                "field {name} has integers, which are labels: {} takes fields of floats",
                option("weigh")
            ),
            Self::WeighedTwice(name) => format!("{} has {name} twice", option("weigh")),
            Self::Resident => format!(
                "{} needs the attributes of a mesh in host memory: leave it out, or decimate on the host",
                option("weigh")
            ),
            Self::Segment(segment) => {
                format!("segment {segment} has a vertex index that is out of range")
            }
            Self::Serial => format!(
                "decimation has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
        }
    }
}
