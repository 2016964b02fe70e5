//! Points in the precisions that kernels come in: of the plane, and of surfaces in space.

use core::ops::{Add, Div, Sub};

use glam::{DVec2, DVec3, Vec2, Vec3};

use crate::orientation::{is_counter_clockwise, is_surely_counter_clockwise};

trioxide_kernel::instances! {
    /// Both precisions of points of the plane.
    pub(crate) Planar(f32 = glam::Vec2, f64 = glam::DVec2)
}

trioxide_kernel::instances! {
    /// Both precisions of points of the plane, and of points of surfaces in space.
    pub(crate) Anywhere(
        f32 = glam::Vec2,
        f64 = glam::DVec2,
        f32_in_space = glam::Vec3,
        f64_in_space = glam::DVec3
    )
}

/// 2 to the power `exponent`, which is that of a normal number.
pub(crate) const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// A point of the plane or of space, in single or double precision.
pub trait Coordinates: bytemuck::Pod + Send + Sync {
    /// Its coordinates' type.
    type Scalar: Copy + PartialOrd;
    /// The point in double precision.
    type Double: DoublePoint;
    /// The precision in words.
    const PRECISION: &'static str;

    /// Squared distance, the same from either end. It is rounded at each step, so a device and a CPU agree bit for bit.
    fn distance_squared(self, other: Self) -> Self::Scalar;

    /// The point halfway to `other`; the same from either end. Cannot overflow.
    fn midpoint(self, other: Self) -> Self;

    /// Coordinates in double precision (exact).
    fn to_f64(self) -> Self::Double;

    /// The point of this precision nearest to `point`.
    fn from_f64(point: Self::Double) -> Self;
}

/// A point of a triangulation: of the plane ([`Point2`]), or of a surface in space.
pub trait MeshPoint: Coordinates {
    /// Name of the precision and, for surfaces, of the space; for messages.
    const INSTANCE: &'static str;
    /// Largest absolute value of a coordinate: squared distances stay finite.
    const LARGEST: f64;
    /// Smallest extent of a triangle along an axis: below it squares of its edges, and products that decide its
    /// orientation, lose digits.
    const SMALLEST: f64;
}

/// A point of the plane.
pub trait Point2: MeshPoint<Double = DVec2> {}

/// A point of the plane or of space in double precision.
pub trait DoublePoint:
    bytemuck::Pod
    + core::fmt::Debug
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Div<f64, Output = Self>
{
    /// A point of the plane; in space it has z = 0.
    fn of_plane(point: DVec2) -> Self;

    /// The point in space; one of the plane has z = 0.
    fn in_space(self) -> DVec3;

    /// Whether every coordinate is a finite number.
    fn has_finite_coordinates(self) -> bool;

    /// Largest absolute value of a coordinate.
    fn largest_coordinate(self) -> f64;

    /// Inner product: the product of the vectors' lengths and the cosine of the angle between them.
    fn inner(self, other: Self) -> f64;

    /// Area of the parallelogram of two vectors: the product of their lengths and the sine of the angle between them, 0
    /// to 180 degrees.
    fn spanned_area(self, other: Self) -> f64;

    /// Whether a triangle is proper: in the plane, counter-clockwise; in space, without an edge of length zero, while
    /// its corners may lie on one line. Exact.
    fn is_proper(a: Self, b: Self, c: Self) -> bool;

    /// As [`is_proper()`](Self::is_proper()), if rounded arithmetic decides it.
    fn is_surely_proper(a: Self, b: Self, c: Self) -> Option<bool>;
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if x.abs() > y.abs() { x.abs() } else { y.abs() }
}

impl DoublePoint for DVec2 {
    #[inline(always)]
    fn of_plane(point: DVec2) -> Self {
        point
    }

    #[inline(always)]
    fn in_space(self) -> DVec3 {
        DVec3::new(self.x, self.y, 0.0)
    }

    #[inline(always)]
    fn has_finite_coordinates(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }

    #[inline(always)]
    fn largest_coordinate(self) -> f64 {
        larger(self.x, self.y)
    }

    #[inline(always)]
    fn inner(self, other: Self) -> f64 {
        self.dot(other)
    }

    #[inline(always)]
    fn spanned_area(self, other: Self) -> f64 {
        self.perp_dot(other).abs()
    }

    #[inline(always)]
    fn is_proper(a: Self, b: Self, c: Self) -> bool {
        is_counter_clockwise(a, b, c)
    }

    #[inline(always)]
    fn is_surely_proper(a: Self, b: Self, c: Self) -> Option<bool> {
        is_surely_counter_clockwise(a, b, c)
    }
}

impl DoublePoint for DVec3 {
    #[inline(always)]
    fn of_plane(point: DVec2) -> Self {
        point.extend(0.0)
    }

    #[inline(always)]
    fn in_space(self) -> DVec3 {
        self
    }

    #[inline(always)]
    fn has_finite_coordinates(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }

    #[inline(always)]
    fn largest_coordinate(self) -> f64 {
        larger(larger(self.x, self.y), self.z)
    }

    #[inline(always)]
    fn inner(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    fn spanned_area(self, other: Self) -> f64 {
        let x = self.y * other.z - self.z * other.y;
        let y = self.z * other.x - self.x * other.z;
        let z = self.x * other.y - self.y * other.x;
        crate::smooth::root(x * x + y * y + z * z)
    }

    #[inline(always)]
    fn is_proper(a: Self, b: Self, c: Self) -> bool {
        a != b && b != c && c != a
    }

    #[inline(always)]
    fn is_surely_proper(a: Self, b: Self, c: Self) -> Option<bool> {
        Some(Self::is_proper(a, b, c))
    }
}

impl Coordinates for Vec2 {
    type Scalar = f32;
    type Double = DVec2;
    const PRECISION: &'static str = "single precision";

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

impl Coordinates for DVec2 {
    type Scalar = f64;
    type Double = DVec2;
    const PRECISION: &'static str = "double precision";

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

impl Coordinates for Vec3 {
    type Scalar = f32;
    type Double = DVec3;
    const PRECISION: &'static str = "single precision";

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f32 {
        let d = self - other;
        d.x * d.x + d.y * d.y + d.z * d.z
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        self * 0.5 + other * 0.5
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

impl Coordinates for DVec3 {
    type Scalar = f64;
    type Double = DVec3;
    const PRECISION: &'static str = "double precision";

    #[inline(always)]
    fn distance_squared(self, other: Self) -> f64 {
        let d = self - other;
        d.x * d.x + d.y * d.y + d.z * d.z
    }

    #[inline(always)]
    fn midpoint(self, other: Self) -> Self {
        self * 0.5 + other * 0.5
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

impl MeshPoint for Vec2 {
    const INSTANCE: &'static str = "f32";
    const LARGEST: f64 = power_of_two(62);
    const SMALLEST: f64 = power_of_two(-60);
}

impl MeshPoint for DVec2 {
    const INSTANCE: &'static str = "f64";
    const LARGEST: f64 = power_of_two(500);
    const SMALLEST: f64 = power_of_two(-450);
}

impl MeshPoint for Vec3 {
    const INSTANCE: &'static str = "f32_in_space";
    const LARGEST: f64 = power_of_two(62);
    const SMALLEST: f64 = power_of_two(-60);
}

impl MeshPoint for DVec3 {
    const INSTANCE: &'static str = "f64_in_space";
    /// The square of an area must stay finite too.
    const LARGEST: f64 = power_of_two(250);
    const SMALLEST: f64 = power_of_two(-250);
}

impl Point2 for Vec2 {}

impl Point2 for DVec2 {}
