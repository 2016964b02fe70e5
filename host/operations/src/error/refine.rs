//! Reasons why refinement of whole meshes refuses a mesh or options, and the remedies, in words.

use trioxide::marking::Unfit;
use trioxide::refine::Error;

use super::Names;

/// A reason why refinement of whole meshes refuses a mesh or options, besides the reasons of the families
/// ([`trioxide::refine::Error`], [`trioxide::refine_tets::Error`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Values of triangles without a rule that marks by them, or a rule without values.
    Rule,
    /// A mark is given with a size to reach, by which cells are marked already.
    MarkAndSize {
        /// `area` or `volume`.
        size: &'static str,
    },
    /// A size to reach that is not a finite number above 0.
    Size {
        /// As of [`Refusal::MarkAndSize`].
        size: &'static str,
        /// The number.
        value: f64,
    },
    /// A threshold that is not finite.
    Threshold(f64),
    /// A mark that does not fit the mesh's cells.
    Mark(Unfit),
    /// An option that tetrahedra do without.
    OfTriangles {
        /// The option.
        option: &'static str,
    },
    /// An option that triangles do without.
    OfTetrahedra {
        /// The option.
        option: &'static str,
    },
    /// Triangles are divided at their longest edges.
    EdgesOfTetrahedra,
    /// An option that meshes on a device do without.
    Resident {
        /// The option.
        option: &'static str,
    },
}

impl Refusal {
    pub(super) fn say(&self, Names { option, value }: Names) -> String {
        match self {
            Self::Rule => format!(
                "{} by values goes with {} or {}, and these with it",
                option("mark"),
                option("threshold"),
                option("dorfler")
            ),
            Self::MarkAndSize { size } => format!(
                "{} marks by {size}: leave {} out",
                option(&format!("until_{size}")),
                option("mark")
            ),
            Self::Size { size, value } => format!(
                "{} is {value}, but must be {} above 0, and finite",
                option(&format!("until_{size}")),
                with_article(size)
            ),
            Self::Threshold(threshold) => format!(
                "{} is {threshold}, but must be a finite number",
                option("threshold")
            ),
            Self::Mark(Unfit { marking, reason }) => {
                format!("{}{reason}", value("mark", marking))
            }
            Self::OfTriangles { option: given } => format!(
                "{} goes with meshes of triangles, but this one is a volume mesh: leave it out",
                option(given)
            ),
            Self::OfTetrahedra { option: given } => format!(
                "{} goes with volume meshes, but this one has triangles: leave it out",
                option(given)
            ),
            Self::EdgesOfTetrahedra => format!(
                "{} is for tetrahedra: triangles are divided at their longest edges",
                value("edges", "every")
            ),
            Self::Resident { option: given } => format!(
                "a mesh on a device is refined there in double precision: leave {} out, or refine on the host",
                option(given)
            ),
        }
    }
}

/// `an area`, `a volume`.
pub(crate) fn with_article(size: &str) -> String {
    let article = if size == "area" { "an" } else { "a" };
    format!("{article} {size}")
}

/// The remedy where triangles come out too small for the precision.
pub fn too_fine(Names { option, value }: Names) -> String {
    format!(
        "; use {}, fewer {} or a larger area",
        value("precision", "f64"),
        option("rounds")
    )
}

/// A failure of the family with its remedy.
pub(super) fn say(error: &Error, names: Names) -> String {
    match error {
        Error::Degenerate { .. } => format!("{error}{}", too_fine(names)),
        error => error.to_string(),
    }
}
