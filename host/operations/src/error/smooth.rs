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
    /// This option of sweeps to the mean, with untangling or improving.
    OwnMoves(&'static str),
    /// Going on after a failed untangling, without untangling.
    NothingToKeep,
    /// Untangling of arrays on a device.
    UntanglingResident,
    /// Untangling by the sequential algorithms.
    UntanglingSerial,
    /// Untangling by several processes.
    UntanglingOverRanks,
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
            Self::OwnMoves(other) => format!(
                "{} and {} have moves of their own: leave {} out",
                option("untangle"),
                option("improve"),
                option(other)
            ),
            Self::NothingToKeep => format!(
                "{} is for meshes that are untangled: add {}, or leave it out",
                option("keep_going"),
                option("untangle")
            ),
            Self::UntanglingResident => format!(
                "{} and {} take a mesh on the host: copy it there",
                option("untangle"),
                option("improve")
            ),
            Self::UntanglingSerial => format!(
                "no paper has a sequential algorithm for {} and {}: use {}",
                option("untangle"),
                option("improve"),
                value("device", "cpu")
            ),
            Self::UntanglingOverRanks => format!(
                "{} and {} are for one process: start one",
                option("untangle"),
                option("improve")
            ),
            Self::Resident => format!(
                "a mesh on a device is smoothed there in double precision: leave {} out, or smooth on the host",
                option("precision")
            ),
        }
    }
}

/// Inverted cells that untangling has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tangled {
    /// The inverted cells, ascending.
    pub inverted: Vec<u32>,
    /// Those of them that no move can make valid, found before the first sweep.
    pub stuck: Vec<u32>,
    /// Sweeps.
    pub sweeps: u32,
    /// A cell is a triangle.
    pub are_triangles: bool,
}

impl Tangled {
    /// The cell that its words are about.
    pub(super) fn element(&self) -> String {
        let cell = if self.are_triangles {
            "triangle"
        } else {
            "cell"
        };
        let first = self.stuck.first().or(self.inverted.first());
        format!("{cell} {}", first.copied().unwrap_or_default())
    }

    /// Its words about the first cell.
    pub(super) fn say(&self, Names { option, value }: Names) -> String {
        let go_on = option("keep_going");
        match (self.stuck.len(), self.inverted.len()) {
            (0, 1) => format!(
                "is still inverted after {} sweeps: give more {}, or {go_on} to take this result",
                self.sweeps,
                option("max_iterations")
            ),
            (0, count) => format!(
                "and {} others are still inverted after {} sweeps: give more {}, or {go_on} to take this result",
                count - 1,
                self.sweeps,
                option("max_iterations")
            ),
            (count, _) => format!(
                "is inverted and no node moves that could change it ({count} such): free some, by {} or fewer fixed ones, or give \
                 {go_on} to untangle the others",
                value("boundary", "slide")
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
        Error::Inverted { count, first } => format!(
            "{count} cells are inverted, the first is {first}: only valid meshes are improved, so add {}",
            option("untangle")
        ),
        Error::GuardedSurface => format!(
            "the guard is for cells, and for faces in a plane of one z: smooth a surface in space without {}",
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
