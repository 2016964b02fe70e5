//! The options of decimation.

use trioxide::decimate::{self, Place};
use trioxide::weld::Locks;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::decimate::Refusal;

/// How a mesh is decimated: one of to, keep and error is needed.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Number of triangles to reach (k, M, G are thousands, millions, billions): the result has the first number that
    /// is not above it
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", value_parser = parse_count, required_unless_present_any = ["keep", "error"], conflicts_with = "keep")
    )]
    pub to: Option<usize>,
    /// Fraction of the triangles to reach, instead of their number
    #[cfg_attr(feature = "clap", arg(long, value_name = "F"))]
    pub keep: Option<f64>,
    /// Largest error of a collapse, in the units of the mesh: the root of the mean of the squared distances to the
    /// planes of the triangles that a vertex stands for, weighted by area; no bound of the distance between the
    /// surfaces
    #[cfg_attr(feature = "clap", arg(long, value_name = "E"))]
    pub error: Option<f64>,
    /// Where the vertex of a collapse goes
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub place: Place,
    /// The vertices that stay where they are. How a front end names them is its own.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub locks: Locks,
}

impl Options {
    /// Decimates to this number of triangles.
    pub fn new(to: usize) -> Self {
        Self {
            to: Some(to),
            ..Self::default()
        }
    }

    /// Refuses options out of range, and options that do not go together.
    ///
    /// # Errors
    /// [`Refusal::NoTarget`], [`Refusal::TwoTargets`], [`Refusal::Keep`]; those of
    /// [`trioxide::decimate::Options::check`].
    pub fn check(&self) -> Result<()> {
        match (self.to, self.keep) {
            (Some(_), Some(_)) => return Err(Refusal::TwoTargets.into()),
            (None, None) if self.error.is_none() => return Err(Refusal::NoTarget.into()),
            (_, Some(keep)) if !(0.0..=1.0).contains(&keep) => {
                return Err(Refusal::Keep(keep).into());
            }
            _ => {}
        }
        Ok(self.settings(0).check()?)
    }

    /// The options of the family, for a mesh of `triangles`.
    pub fn settings(&self, triangles: usize) -> decimate::Options {
        let kept = self.keep.map(|keep| (keep * triangles as f64) as usize);
        decimate::Options {
            triangles: self.to.or(kept).unwrap_or(0),
            error: self.error,
            place: self.place,
            lock_boundary: self.locks.boundary,
        }
    }
}
