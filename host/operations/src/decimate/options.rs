//! The options of decimation.

use trioxide::decimate::{self, Place};
use trioxide::weld::Locks;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::decimate::Refusal;

use super::weighed::Weigh;

/// How a mesh is decimated: one of to, keep and error is needed.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "clap",
    derive(clap::Args),
    group(skip),
    command(group = clap::ArgGroup::new("target").required(true).multiple(true))
)]
pub struct Options {
    /// Number of triangles to reach (k, M, G are thousands, millions, billions): the result has the largest number not
    /// above it that collapses reach; one inside removes two triangles, one at the boundary one
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", value_parser = parse_count, group = "target", conflicts_with = "keep")
    )]
    pub to: Option<usize>,
    /// Fraction of the triangles to reach, instead of their number; several (0.5,0.1) give as many meshes in one run,
    /// each that of a run of its own
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "F", value_delimiter = ',', group = "target")
    )]
    pub keep: Vec<f64>,
    /// Largest error of a collapse, in the units of the mesh: the root of the mean of the squared distances to the
    /// planes of the triangles that a vertex stands for, weighted by area; no bound of the distance between the
    /// surfaces
    #[cfg_attr(feature = "clap", arg(long, value_name = "E", group = "target"))]
    pub error: Option<f64>,
    /// Where the vertex of a collapse goes
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub place: Place,
    /// Numbers of the points that count beside the surface in the choice of edges and places: normals, colours (or
    /// colors), uvs (texture coordinates), or the names of fields of floats. NAME=W gives the weight: a difference of
    /// 1, of a field its whole range, counts as the distance of W times the diagonal of the bounding box; by default W
    /// is 0.01. With or without this option vertices get the values that fit best at their places
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME[=W],...", value_delimiter = ',')
    )]
    pub weigh: Vec<Weigh>,
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
    /// [`Refusal::NoTarget`], [`Refusal::TwoTargets`], [`Refusal::Keep`], [`Refusal::KeptTwice`],
    /// [`Refusal::WeighedTwice`]; those of [`trioxide::decimate::Options::check`].
    pub fn check(&self) -> Result<()> {
        match self.to {
            Some(_) if !self.keep.is_empty() => return Err(Refusal::TwoTargets.into()),
            None if self.keep.is_empty() && self.error.is_none() => {
                return Err(Refusal::NoTarget.into());
            }
            _ => {}
        }
        for (i, &keep) in self.keep.iter().enumerate() {
            if !(0.0..=1.0).contains(&keep) {
                return Err(Refusal::Keep(keep).into());
            }
            if self.keep[..i].contains(&keep) {
                return Err(Refusal::KeptTwice(keep).into());
            }
        }
        for (i, Weigh { name, .. }) in self.weigh.iter().enumerate() {
            let is_same = |other: &Weigh| other.word() == self.weigh[i].word();
            if self.weigh[..i].iter().any(is_same) {
                return Err(Refusal::WeighedTwice(name.clone()).into());
            }
        }
        Ok(self.settings(0).check()?)
    }

    /// As [`Self::check`]; refuses more than one mesh.
    ///
    /// # Errors
    /// [`Refusal::Several`] besides.
    pub fn check_one(&self) -> Result<()> {
        self.check()?;
        match self.keep.len() {
            0 | 1 => Ok(()),
            several => Err(Refusal::Several(several).into()),
        }
    }

    /// The numbers of triangles to reach, of a mesh of `triangles`.
    pub fn targets(&self, triangles: usize) -> Vec<usize> {
        if self.keep.is_empty() {
            return vec![self.to.unwrap_or(0)];
        }
        let kept = |&keep: &f64| (keep * triangles as f64) as usize;
        self.keep.iter().map(kept).collect()
    }

    /// The options of the family, for a mesh of `triangles` and its first target.
    pub fn settings(&self, triangles: usize) -> decimate::Options {
        decimate::Options {
            triangles: self.targets(triangles)[0],
            error: self.error,
            place: self.place,
            lock_boundary: self.locks.boundary,
        }
    }
}
