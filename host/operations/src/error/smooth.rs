//! Reasons why smoothing of whole meshes refuses a mesh or options, and the remedies of the family's failures, in
//! words.

use trioxide::smooth::Error;

use super::Names;

/// A reason why smoothing of whole meshes refuses a mesh or options, besides the reasons of the family
/// ([`trioxide::smooth::Error`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Taubin's factors with another method.
    FactorsOfTaubin,
    /// Parameters of HC with another method.
    ParametersOfHc,
    /// A mesh on a device is smoothed in double precision.
    Resident,
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::FactorsOfTaubin => format!(
                "{} and {} are the factors of {taubin}: add {taubin}, or leave them out",
                option("lambda"),
                option("mu"),
                taubin = value("method", "taubin")
            ),
            Self::ParametersOfHc => format!(
                "{hc} has the parameters of {method}: add {method}, or leave {hc} out",
                hc = option("hc"),
                method = value("method", "hc")
            ),
            Self::Resident => format!(
                "a mesh on a device is smoothed there in double precision: leave {} out, or smooth on the host",
                option("precision")
            ),
        }
    }
}

/// A failure of the family with its remedy.
pub(super) fn say(error: &Error, Names { option, value }: Names) -> String {
    match error {
        Error::OneBlock => format!(
            "coloured and exact sweeps need many blocks: with {} use {}, which is deterministic there",
            value("blocks", "one"),
            value("form", "b")
        ),
        Error::GuardedForm(_) => format!(
            "guarded sweeps go by colours: use {}, or leave {} out",
            value("form", "b-coloured"),
            option("form")
        ),
        Error::HcForm => {
            "HC smoothing moves all nodes at the same time: it needs form a over many blocks"
                .to_owned()
        }
        Error::GuardedSurface => format!(
            "the guard is for volume meshes only: smooth a surface without {}",
            option("guard")
        ),
        Error::CotangentCells => format!(
            "cotangent weights are for triangles and tetrahedra only: use {} or inverse-length",
            value("weights", "uniform")
        ),
        Error::Race => format!(
            "form b over many blocks is a race, which {} cannot run: use {}",
            value("device", "serial"),
            value("form", "b-exact")
        ),
        error => error.to_string(),
    }
}
