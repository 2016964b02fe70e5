//! Points in the precisions that kernels come in.

use glam::{DVec2, Vec2};

trioxide_kernel::instances! {
    /// Both precisions of points of the plane.
    pub(crate) Planar(f32 = glam::Vec2, f64 = glam::DVec2)
}

/// 2 to a power that numbers of full precision have.
pub(crate) const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// A point of the plane.
pub trait Point2: bytemuck::Pod + Send + Sync {
    /// Its coordinates' type.
    type Scalar: Copy + PartialOrd;
    /// Name of the precision, and suffix of its PTX entries.
    const INSTANCE: &'static str;
    /// The precision in words.
    const PRECISION: &'static str;
    /// Largest absolute value of a coordinate: squared distances stay finite.
    const LARGEST: f64;
    /// Smallest extent of a triangle, along x or y: below it squares of its edges, and products that decide its orientation, lose
    /// digits.
    const SMALLEST: f64;

    /// Squared distance; the same from either end. Rounded, so a device and a CPU agree on it bit for bit.
    fn distance_squared(self, other: Self) -> Self::Scalar;

    /// The point halfway to `other`; the same from either end. Cannot overflow.
    fn midpoint(self, other: Self) -> Self;

    /// Coordinates in double precision (exact).
    fn to_f64(self) -> DVec2;

    /// The point of this precision nearest to `point`.
    fn from_f64(point: DVec2) -> Self;
}

impl Point2 for Vec2 {
    type Scalar = f32;
    const INSTANCE: &'static str = "f32";
    const PRECISION: &'static str = "single precision";
    const LARGEST: f64 = power_of_two(62);
    const SMALLEST: f64 = power_of_two(-60);

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f32 {
        let d = self - other;
        d.x * d.x + d.y * d.y
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        self * 0.5 + other * 0.5
    }

    #[inline(always)]
    fn to_f64(self) -> DVec2 {
        self.as_dvec2()
    }

    #[inline(always)]
    fn from_f64(point: DVec2) -> Self {
        point.as_vec2()
    }
}

impl Point2 for DVec2 {
    type Scalar = f64;
    const INSTANCE: &'static str = "f64";
    const PRECISION: &'static str = "double precision";
    const LARGEST: f64 = power_of_two(500);
    const SMALLEST: f64 = power_of_two(-450);

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f64 {
        let d = self - other;
        d.x * d.x + d.y * d.y
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        self * 0.5 + other * 0.5
    }

    #[inline(always)]
    fn to_f64(self) -> DVec2 {
        self
    }

    #[inline(always)]
    fn from_f64(point: DVec2) -> Self {
        point
    }
}
