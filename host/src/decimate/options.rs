//! How to decimate.

use super::{Error, Result, kernel};

/// When decimation ends, and how edges collapse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Number of triangles to reach: the result has the largest number not above it that collapses reach.
    pub triangles: usize,
    /// Largest error of a collapse: the root of its cost, divided by the area of its quadric. It is a mean distance to
    /// the planes of the triangles that the vertex stands for, not a bound of the distance between the surfaces.
    pub error: Option<f64>,
    /// Where the vertex of a collapse goes.
    pub place: Place,
    /// Lock the vertices of the boundary, which then stay as they are.
    pub lock_boundary: bool,
}

/// Where the vertex of a collapse goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Place {
    /// Where the quadrics are least
    #[default]
    Optimal,
    /// The middle of the edge
    Midpoint,
    /// The end with the lower cost
    End,
}

impl From<Place> for kernel::Place {
    fn from(place: Place) -> Self {
        match place {
            Place::Optimal => Self::Optimal,
            Place::Midpoint => Self::Midpoint,
            Place::End => Self::End,
        }
    }
}

impl Options {
    /// Decimates to this number of triangles.
    pub fn new(triangles: usize) -> Self {
        Self {
            triangles,
            error: None,
            place: Place::Optimal,
            lock_boundary: false,
        }
    }

    /// Refuses a largest error that is no distance.
    ///
    /// # Errors
    /// [`Error::Bound`].
    pub fn check(&self) -> Result<()> {
        match self.error {
            Some(error) if !(error.is_finite() && error >= 0.0) => Err(Error::Bound(error)),
            _ => Ok(()),
        }
    }

    /// The rules of kernels, with lengths in units of `unit`.
    pub(super) fn rules(&self, unit: f64) -> kernel::Rules {
        let bound = self
            .error
            .map_or(f64::INFINITY, |error| error * unit * (error * unit));
        kernel::Rules::new(self.place.into(), bound)
    }
}
