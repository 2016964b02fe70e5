//! Corners of tetrahedra, nodes and points of clouds, in the precisions that kernels come in.

use glam::{DVec3, Vec3};

use crate::point::{Coordinates, power_of_two};

trioxide_kernel::instances! {
    /// Both precisions of points in space.
    pub(crate) Spatial(f32 = glam::Vec3, f64 = glam::DVec3)
}

/// A point of space.
pub trait Point3: Coordinates<Double = DVec3> {
    /// Name of the precision, for messages.
    const INSTANCE: &'static str;
    /// Largest absolute value of a coordinate: squared distances stay finite in it, and volumes in double precision.
    const LARGEST: f64;
    /// Smallest extent of a tetrahedron along an axis: below it squares of its edges, or its volume, lose digits.
    const SMALLEST: f64;
}

impl Point3 for Vec3 {
    const INSTANCE: &'static str = "f32";
    const LARGEST: f64 = power_of_two(62);
    const SMALLEST: f64 = power_of_two(-60);
}

impl Point3 for DVec3 {
    const INSTANCE: &'static str = "f64";
    const LARGEST: f64 = power_of_two(330);
    const SMALLEST: f64 = power_of_two(-300);
}

/// The square of the sine up to which a triangle is a needle or a cap: its own normal does not decide its side.
pub const FLAT: f64 = power_of_two(-40);
/// The square of the sine up to which a normal may be rounding. Each component has an error of 2^-51 of the product of
/// both sides' lengths at most.
pub const ROUNDING: f64 = power_of_two(-96);

/// The normal of a triangle, twice as long as its area, and the product of the squares of its sides at `a`.
#[inline(always)]
pub fn normal(a: DVec3, b: DVec3, c: DVec3) -> (DVec3, f64) {
    let (p, q) = (b - a, c - a);
    (p.cross(q), p.dot(p) * q.dot(q))
}
