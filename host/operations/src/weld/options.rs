//! The options of welding.

use trioxide::weld::{self, EpsilonFound, Guards, Locks, Method, Position};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::weld::Refusal;

/// How vertices are welded: one of epsilon and ratio is needed.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    group(skip),
    command(group = clap::ArgGroup::new("distance").required(true))
)]
pub struct Options {
    /// Distance within which vertices merge; 0 merges exact duplicates
    #[cfg_attr(feature = "clap", arg(long, value_name = "E", group = "distance"))]
    pub epsilon: Option<f64>,
    /// Fraction of the vertices to remove, instead of epsilon: searches the distance that removes as many, to 0.0001
    /// or as near as any distance comes
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", group = "distance"))]
    pub ratio: Option<f64>,
    /// Position of a merged vertex, and its attributes: the mean of its vertices, or those of the first
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub position: Position,
    /// Keep degenerate faces and segments, whose ends merged, and duplicate ones
    #[cfg_attr(feature = "clap", arg(long))]
    pub keep_degenerate: bool,
    /// Largest angle between the normals of vertices that merge, in degrees (0 to 180); one larger by 1e-5 degrees
    /// counts as equal, but for 0; a normal of length zero keeps none apart
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEG"))]
    pub normal_tolerance: Option<f64>,
    /// Largest distance of the texture coordinates of vertices that merge, in units of these coordinates
    #[cfg_attr(feature = "clap", arg(long, value_name = "T"))]
    pub uv_tolerance: Option<f64>,
    /// Largest difference in any of red, green, blue and alpha between vertices that merge, in steps of 255 (0 to 255)
    #[cfg_attr(feature = "clap", arg(long, value_name = "T"))]
    pub color_tolerance: Option<u8>,
    /// How clusters are computed: the same result by each, in other time and memory
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
    /// Bytes of device memory to use at most: 512M, 4G; a mesh that takes more by the method grid is welded in slabs,
    /// with the same result [default: the free memory]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "BYTES", value_parser = parse_count, conflicts_with = "ratio")
    )]
    pub memory_limit: Option<usize>,
    /// The vertices that merge with none and stay where they are. How a front end names them is its own.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub locks: Locks,
}

impl Options {
    /// Vertices within `epsilon` of each other become one, at their mean.
    pub fn new(epsilon: f64) -> Self {
        Self {
            epsilon: Some(epsilon),
            ..Self::default()
        }
    }

    /// Refuses options out of range, and options that do not go together.
    ///
    /// # Errors
    /// [`Refusal::NoDistance`], [`Refusal::TwoDistances`], [`Refusal::LimitedRatio`]; those of
    /// [`trioxide::weld::Options::check`] and [`trioxide::weld::check_ratio`].
    pub fn check(&self) -> Result<()> {
        match (self.epsilon, self.ratio) {
            (None, None) => return Err(Refusal::NoDistance.into()),
            (Some(_), Some(_)) => return Err(Refusal::TwoDistances.into()),
            (None, Some(_)) if self.memory_limit.is_some() => {
                return Err(Refusal::LimitedRatio.into());
            }
            (None, Some(ratio)) => weld::check_ratio(ratio)?,
            (Some(_), None) => {}
        }
        Ok(self.settings(None).check()?)
    }

    /// The tolerances.
    pub fn guards(&self) -> Guards {
        Guards {
            normals: self.normal_tolerance,
            uvs: self.uv_tolerance,
            colors: self.color_tolerance,
        }
    }

    /// The options of the family, at the distance that was given, or that was found for a ratio: 0 before it is.
    pub fn settings(&self, found: Option<EpsilonFound>) -> weld::Options {
        let settings = weld::Options {
            guards: self.guards(),
            position: self.position,
            keep_degenerate: self.keep_degenerate,
            method: self.method,
            ..weld::Options::new(self.epsilon.unwrap_or(0.0))
        };
        settings.at(found)
    }

    /// Whether vertices are locked.
    pub fn has_locks(&self) -> bool {
        self.locks != Locks::default()
    }
}
