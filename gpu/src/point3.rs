//! Points of space in the precisions that kernels come in.

use glam::{DVec3, Vec3};

use crate::point::power_of_two;

trioxide_kernel::instances! {
    /// Both precisions of points in space.
    pub(crate) Spatial(f32 = glam::Vec3, f64 = glam::DVec3)
}

/// A point of space.
pub trait Point3: bytemuck::Pod + Send + Sync {
    /// Its coordinates' type.
    type Scalar: Copy + PartialOrd;
    /// Name of the precision, and suffix of its PTX entries.
    const INSTANCE: &'static str;
    /// The precision in words.
    const PRECISION: &'static str;
    /// Largest absolute value of a coordinate: squared distances stay finite in it, and volumes in double precision.
    const LARGEST: f64;
    /// Smallest extent of a tetrahedron along an axis: below it squares of its edges, or its volume, lose digits.
    const SMALLEST: f64;

    /// Squared distance; the same from either end. Rounded, so a device and a CPU agree on it bit for bit.
    fn distance_squared(self, other: Self) -> Self::Scalar;

    /// The middle between two points, each coordinate rounded once; the same from either end.
    fn midpoint(self, other: Self) -> Self;

    /// Coordinates in double precision (exact).
    fn to_f64(self) -> DVec3;

    /// The point of this precision nearest to `point`.
    fn from_f64(point: DVec3) -> Self;
}

impl Point3 for Vec3 {
    type Scalar = f32;
    const INSTANCE: &'static str = "f32";
    const PRECISION: &'static str = "single precision";
    const LARGEST: f64 = power_of_two(62);
    const SMALLEST: f64 = power_of_two(-60);

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f32 {
        let d = self - other;
        d.x * d.x + d.y * d.y + d.z * d.z
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        (self + other) * 0.5
    }

    #[inline(always)]
    fn to_f64(self) -> DVec3 {
        self.as_dvec3()
    }

    #[inline(always)]
    fn from_f64(point: DVec3) -> Self {
        point.as_vec3()
    }
}

impl Point3 for DVec3 {
    type Scalar = f64;
    const INSTANCE: &'static str = "f64";
    const PRECISION: &'static str = "double precision";
    const LARGEST: f64 = power_of_two(330);
    const SMALLEST: f64 = power_of_two(-300);

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f64 {
        let d = self - other;
        d.x * d.x + d.y * d.y + d.z * d.z
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        (self + other) * 0.5
    }

    #[inline(always)]
    fn to_f64(self) -> DVec3 {
        self
    }

    #[inline(always)]
    fn from_f64(point: DVec3) -> Self {
        point
    }
}
