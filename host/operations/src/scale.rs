//! Meshes of very large or very small coordinates. The arithmetic of an operation ends where products of coordinates
//! leave the range of numbers, so such a mesh is scaled by a power of two first, and its result back: both keep every
//! digit. A mesh of usual size is only looked at.

#[cfg(feature = "info")]
use std::borrow::Cow;

use glam::DVec3;
use trioxide::Error;
#[cfg(feature = "info")]
use trioxide::quality::Distribution;
use trioxide_work::parallel;

use crate::error::{self, Result};
use crate::precision::Precision;

/// The exponent of the power of two that coordinates are divided by for the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale(i32);

impl Scale {
    /// Scales coordinates for work in this precision, where they are not of usual size. Coordinates that are not finite
    /// are left to the operation, which refuses them.
    ///
    /// # Errors
    /// A vertex that would lose digits.
    pub fn take(points: &mut [DVec3], precision: Precision) -> Result<Self> {
        if is_usual(points, precision) {
            return Ok(Self(0));
        }
        let largest = points.iter().map(size).fold(0.0, f64::max);
        let is_finite = parallel::all(points, |p| p.is_finite());
        if largest == 0.0 || !is_finite {
            return Ok(Self(0));
        }
        let exponent = exponent_of(largest);
        // The least scale that gives a usual size keeps more of small coordinates.
        let usual = exponent_of(precision.usual_sizes()[1]) - 1;
        let scales = [exponent, exponent - usual].map(Self);
        let lost = |scale: Self| parallel::position(points, |&p| !scale.keeps(p));
        let scale = scales
            .into_iter()
            .find(|&scale| scale.0.signum() == exponent.signum() && lost(scale).is_none());
        let Some(scale) = scale else {
            let v = lost(scales[1]).unwrap_or_default();
            return Err(lossy(
                format!("vertex {v}"),
                points[v],
                &format!(
                    "coordinates reach {largest:e}, and it has digits that are too small beside them"
                ),
            ));
        };
        Self(-scale.0).back_all(points);
        Ok(scale)
    }

    /// Scales coordinates back.
    ///
    /// # Errors
    /// A vertex of the result that double precision does not hold at the size of the input.
    pub fn give(self, points: &mut [DVec3]) -> Result<()> {
        if self.0 == 0 {
            return Ok(());
        }
        let back = Self(-self.0);
        if let Some(v) = parallel::position(points, |&p| !back.keeps(p)) {
            return Err(lossy(
                format!("vertex {v} of the result"),
                self.back(points[v]),
                "double precision does not hold all of its digits there",
            ));
        }
        self.back_all(points);
        Ok(())
    }

    /// Scales coordinates of the input back, which loses no digit.
    pub fn back_all(self, points: &mut [DVec3]) {
        if self.0 != 0 {
            parallel::for_each_mut(points, |_, p| *p = self.back(*p));
        }
    }

    /// A point of the work at the size of the input.
    pub fn back(self, point: DVec3) -> DVec3 {
        point.to_array().map(|x| self.length(x)).into()
    }

    /// A length of the work at the size of the input.
    pub fn length(self, length: f64) -> f64 {
        self.measure(length, 1)
    }

    /// A power of a length, as an area, of the work at the size of the input; infinite beyond double precision.
    pub fn measure(self, number: f64, power: i32) -> f64 {
        times(number, power * self.0)
    }

    /// Measures of the work at the size of the input.
    #[cfg(feature = "info")]
    pub fn distribution(self, of: &mut Distribution, power: i32) {
        for number in [&mut of.min, &mut of.mean, &mut of.max] {
            *number = self.measure(*number, power);
        }
    }

    /// A mesh to measure: as it is, or, where its coordinates are not of usual size, at another scale. One that loses
    /// digits by it stays as it is.
    #[cfg(feature = "info")]
    pub fn to_measure<M: Clone>(
        mesh: Cow<'_, M>,
        points: impl Fn(&mut M) -> &mut Vec<DVec3>,
        given: impl Fn(&M) -> &[DVec3],
    ) -> (Cow<'_, M>, Self) {
        if is_usual(given(&mesh), Precision::F64) {
            return (mesh, Self(0));
        }
        let mut scaled = mesh.clone().into_owned();
        match Self::take(points(&mut scaled), Precision::F64) {
            Ok(scale) => (Cow::Owned(scaled), scale),
            Err(_) => (mesh, Self(0)),
        }
    }

    /// Appends the scale to sentences on the scaled mesh, whose lengths differ from the input's.
    #[cfg(feature = "info")]
    pub fn explain_all(self, sentences: &mut [String]) {
        for sentence in sentences.iter_mut().filter(|_| self.0 != 0) {
            *sentence = format!("{sentence} {}", self.explanation());
        }
    }

    fn explanation(self) -> String {
        format!("(lengths are those of the mesh times 2^{})", -self.0)
    }

    /// A length of an option at the size of the work: at most the largest number, and 0 only for 0.
    pub fn option(self, length: f64) -> f64 {
        match times(length, -self.0) {
            scaled if scaled == 0.0 && length > 0.0 => f64::from_bits(1),
            scaled if length.is_finite() => scaled.clamp(f64::MIN, f64::MAX),
            scaled => scaled,
        }
    }

    /// Appends the scale to an error on the scaled mesh, whose lengths differ from the input's.
    pub fn explain(self, error: error::Error) -> error::Error {
        match error {
            error::Error::Shared(Error::Invalid { element, rule }) if self.0 != 0 => {
                let rule = format!("{rule} {}", self.explanation());
                Error::Invalid { element, rule }.into()
            }
            error => error,
        }
    }

    fn to_work(self, point: DVec3) -> DVec3 {
        Self(-self.0).back(point)
    }

    /// Whether the way to the work and back keeps every digit.
    fn keeps(self, point: DVec3) -> bool {
        self.back(self.to_work(point)) == point
    }
}

fn size(p: &DVec3) -> f64 {
    p.abs().max_element()
}

/// Whether coordinates need no scale.
fn is_usual(points: &[DVec3], precision: Precision) -> bool {
    let [low, high] = precision.usual_sizes();
    !parallel::any(points, |p| size(p) >= high) && parallel::any(points, |p| size(p) >= low)
}

/// The refusal of a point that cannot be scaled.
fn lossy(element: String, point: DVec3, cause: &str) -> error::Error {
    let [x, y, z] = point.to_array();
    let rule = format!(
        "lies at ({x:e}, {y:e}, {z:e}): {cause}. Operations scale such meshes by a power of two and must not lose digits: bring \
         the mesh to another unit"
    );
    Error::Invalid { element, rule }.into()
}

/// The exponent of the power of two at or below a number above 0.
fn exponent_of(number: f64) -> i32 {
    let bits = number.to_bits();
    match (bits >> 52) as i32 {
        // The last bit of a subnormal number is 2^-1074.
        0 => 63 - bits.leading_zeros() as i32 - 1074,
        exponent => exponent - 1023,
    }
}

/// A number times a power of two.
fn times(number: f64, exponent: i32) -> f64 {
    const MOST: i32 = 1000;
    let mut number = number;
    let mut left = exponent;
    while left != 0 {
        let step = left.clamp(-MOST, MOST);
        number *= f64::from_bits(((1023 + step) as u64) << 52);
        left -= step;
    }
    number
}

#[cfg(test)]
mod tests;
