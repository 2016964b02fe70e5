//! Nodes in memory: the paper's three data layouts (section 2.3), each in two precisions.
//!
//! The element type of an array is its layout: `f32` or `f64` is a structure of arrays (all x, then all y, then all z),
//! `Vec3` or `DVec3` an array of structures, `Vec4` or `DVec4` an array of aligned structures, whose fourth coordinate is
//! nothing.

use core::ops::{Add, Sub};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use glam::{DVec3, DVec4, Vec3, Vec4};

use crate::point3::Point3;
use crate::view::{In, Out};

/// A point, and the arithmetic of smoothing in its precision.
pub trait Vector: Point3 + Add<Output = Self> + Sub<Output = Self> + bytemuck::Pod {
    /// The element of the structure of arrays.
    type Soa: Nodes<Point = Self>;
    /// The element of the array of structures.
    type Aos: Nodes<Point = Self>;
    /// The element of the aligned array of structures.
    type Aligned: Nodes<Point = Self>;
    /// The origin.
    const ZERO: Self;

    /// Each coordinate times a number, which is rounded to this precision before.
    fn times(self, factor: f64) -> Self;

    /// Each coordinate times the reciprocal of `sum`, both in this precision.
    fn over(self, sum: f64) -> Self;

    /// The squared length, rounded in this precision.
    fn square(self) -> f64;
}

macro_rules! vector {
    ($vector:ident, $scalar:ident, $aligned:ident) => {
        impl Vector for $vector {
            type Soa = $scalar;
            type Aos = $vector;
            type Aligned = $aligned;
            const ZERO: Self = $vector::ZERO;

            #[inline(always)]
            fn times(self, factor: f64) -> Self {
                let factor = factor as $scalar;
                $vector::new(self.x * factor, self.y * factor, self.z * factor)
            }

            #[inline(always)]
            fn over(self, sum: f64) -> Self {
                let factor = 1.0 / sum as $scalar;
                $vector::new(self.x * factor, self.y * factor, self.z * factor)
            }

            #[inline(always)]
            fn square(self) -> f64 {
                (self.x * self.x + self.y * self.y + self.z * self.z).into()
            }
        }
    };
}

vector!(Vec3, f32, Vec4);
vector!(DVec3, f64, DVec4);

/// Element of an array of nodes.
pub trait Nodes: bytemuck::Pod + Send + Sync {
    /// A node.
    type Point: Vector;
    /// Name of layout and precision, and suffix of their PTX entries.
    const INSTANCE: &'static str;
    /// Elements a node.
    const ELEMENTS: usize;

    /// Node `i`.
    fn load(nodes: In<Self>, i: u32) -> Self::Point;

    /// Writes node `i`.
    fn store(nodes: Out<Self>, i: u32, point: Self::Point);

    /// Node `i`, of which another thread may have written some coordinates and not yet others.
    fn load_racing(nodes: Out<Self>, i: u32) -> Self::Point;

    /// Writes node `i`, which another thread may read meanwhile.
    fn store_racing(nodes: Out<Self>, i: u32, point: Self::Point);
}

/// Coordinates that race: relaxed atomic loads and stores of whole coordinates.
trait Coordinate: Copy {
    /// # Safety
    /// `at` is valid, and all accesses at the time are atomic.
    unsafe fn load(at: *mut Self) -> Self;
    /// # Safety
    /// As `load`.
    unsafe fn store(at: *mut Self, value: Self);
}

macro_rules! coordinate {
    ($scalar:ident, $atomic:ident) => {
        impl Coordinate for $scalar {
            #[inline(always)]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: the caller's contract.
                Self::from_bits(unsafe { $atomic::from_ptr(at.cast()) }.load(Relaxed))
            }

            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: the caller's contract.
                unsafe { $atomic::from_ptr(at.cast()) }.store(value.to_bits(), Relaxed);
            }
        }
    };
}

coordinate!(f32, AtomicU32);
coordinate!(f64, AtomicU64);

macro_rules! soa {
    ($scalar:ident, $vector:ident, $name:literal) => {
        impl Nodes for $scalar {
            type Point = $vector;
            const INSTANCE: &'static str = $name;
            const ELEMENTS: usize = 3;

            #[inline(always)]
            fn load(nodes: In<Self>, i: u32) -> $vector {
                let n = nodes.len() / 3;
                $vector::new(nodes.at(i), nodes.at(n + i), nodes.at(2 * n + i))
            }

            #[inline(always)]
            fn store(nodes: Out<Self>, i: u32, point: $vector) {
                let n = nodes.len() / 3;
                nodes.set(i, point.x);
                nodes.set(n + i, point.y);
                nodes.set(2 * n + i, point.z);
            }

            #[inline(always)]
            fn load_racing(nodes: Out<Self>, i: u32) -> $vector {
                let n = nodes.len() / 3;
                // SAFETY: in range by the kernel's contract; racing kernels use these functions only.
                let at = |i| unsafe { <$scalar as Coordinate>::load(nodes.pointer(i)) };
                $vector::new(at(i), at(n + i), at(2 * n + i))
            }

            #[inline(always)]
            fn store_racing(nodes: Out<Self>, i: u32, point: $vector) {
                let n = nodes.len() / 3;
                // SAFETY: as above.
                let set = |i, x| unsafe { <$scalar as Coordinate>::store(nodes.pointer(i), x) };
                set(i, point.x);
                set(n + i, point.y);
                set(2 * n + i, point.z);
            }
        }
    };
}

soa!(f32, Vec3, "soa_f32");
soa!(f64, DVec3, "soa_f64");

macro_rules! aos {
    ($element:ident, $scalar:ident, $vector:ident, $name:literal, $load:expr, $store:expr) => {
        impl Nodes for $element {
            type Point = $vector;
            const INSTANCE: &'static str = $name;
            const ELEMENTS: usize = 1;

            #[inline(always)]
            fn load(nodes: In<Self>, i: u32) -> $vector {
                let element: $element = nodes.at(i);
                $load(element)
            }

            #[inline(always)]
            fn store(nodes: Out<Self>, i: u32, point: $vector) {
                nodes.set(i, $store(point));
            }

            #[inline(always)]
            fn load_racing(nodes: Out<Self>, i: u32) -> $vector {
                let first: *mut $scalar = nodes.pointer(i).cast();
                // SAFETY: the first coordinates of an element in range; racing kernels use these functions only.
                let at = |k| unsafe { <$scalar as Coordinate>::load(first.add(k)) };
                $vector::new(at(0), at(1), at(2))
            }

            #[inline(always)]
            fn store_racing(nodes: Out<Self>, i: u32, point: $vector) {
                let first: *mut $scalar = nodes.pointer(i).cast();
                // SAFETY: as above.
                let set = |k, x| unsafe { <$scalar as Coordinate>::store(first.add(k), x) };
                set(0, point.x);
                set(1, point.y);
                set(2, point.z);
            }
        }
    };
}

aos!(Vec3, f32, Vec3, "aos_f32", |e: Vec3| e, |p: Vec3| p);
aos!(DVec3, f64, DVec3, "aos_f64", |e: DVec3| e, |p: DVec3| p);
aos!(
    Vec4,
    f32,
    Vec3,
    "aligned_f32",
    |e: Vec4| Vec3::new(e.x, e.y, e.z),
    |p: Vec3| Vec4::new(p.x, p.y, p.z, 0.0)
);
aos!(
    DVec4,
    f64,
    DVec3,
    "aligned_f64",
    |e: DVec4| DVec3::new(e.x, e.y, e.z),
    |p: DVec3| DVec4::new(p.x, p.y, p.z, 0.0)
);
