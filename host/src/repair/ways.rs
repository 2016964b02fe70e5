//! The way that a face looks, and points by a power of two.

use glam::DVec3;
use gpu::point3::normal;

use super::exact::turn;

/// Whether a mesh lies in the plane, and the power of two of its coordinates.
pub(super) struct Ways {
    is_planar: bool,
    scale: f64,
}

impl Ways {
    /// Of a mesh whose faces have these vertices.
    pub fn of(faces: &[[u32; 3]], point: impl Fn(u32) -> DVec3) -> Self {
        let mut corners = faces.as_flattened().iter().map(|&v| point(v));
        let first = corners.next().unwrap_or_default();
        let start = (true, first.abs().max_element());
        let (is_planar, largest) = corners.fold(start, |(is_planar, largest), p| {
            let largest = p.abs().max_element().max(largest);
            (is_planar && p.z == first.z, largest)
        });
        Self {
            is_planar,
            scale: scale_of(largest),
        }
    }

    /// In the plane up, down or zero, by the exact sign of the face's area. In space the face's normal, or zero if its
    /// squared sine is at most `least`.
    pub fn of_face(&self, corners: [DVec3; 3], least: f64) -> DVec3 {
        if self.is_planar {
            return DVec3::Z * f64::from(turn(&corners));
        }
        let [a, b, c] = corners.map(|p| p * self.scale);
        let (way, squares) = normal(a, b, c);
        match way.dot(way) > least * squares {
            true => way,
            false => DVec3::ZERO,
        }
    }
}

/// The power of two that brings `largest` into [1, 2), as far as it is a normal number.
fn scale_of(largest: f64) -> f64 {
    let exponent = (largest.to_bits() >> 52).clamp(1, 2045);
    f64::from_bits((2046 - exponent) << 52)
}

/// Points by a power of two, such that products of their coordinates neither overflow nor vanish.
pub(super) fn scaled(points: &[DVec3]) -> Vec<DVec3> {
    let sizes = points.iter().map(|p| p.abs().max_element());
    let scale = scale_of(sizes.fold(0.0, f64::max));
    points.iter().map(|&p| p * scale).collect()
}
