//! Nodes in memory: the paper's three data layouts (section 2.3), each in two precisions.
//!
//! The element type of an array defines its layout: `f32` or `f64` is a structure of arrays (all x, then all y, then
//! all z), `Vec3` or `DVec3` an array of structures, `Vec4` or `DVec4` an array of aligned structures, whose fourth
//! coordinate is unused.

use core::ops::{Add, Sub};

use glam::{DVec3, DVec4, Vec3, Vec4};

use trioxide_kernel::view::RacingElement;
use trioxide_kernel::{In, Out, Racing};

use crate::ids::Place;
use crate::point3::Point3;

trioxide_kernel::instances! {
    /// The three layouts in both precisions.
    pub(crate) Layouts(
        soa_f32 = f32,
        soa_f64 = f64,
        aos_f32 = glam::Vec3,
        aos_f64 = glam::DVec3,
        aligned_f32 = glam::Vec4,
        aligned_f64 = glam::DVec4,
    )
}

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

    /// Each coordinate times a number that is rounded to this precision first.
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
///
/// # Safety
/// The functions access only the elements of node `i`, in an array of [`Self::ELEMENTS`] elements a node.
pub unsafe trait Nodes: RacingElement {
    /// A node.
    type Point: Vector;
    /// Number of elements for each node.
    const ELEMENTS: usize;

    /// Node `i` of an array of `len` elements; `at` returns an element by its number.
    fn read(len: u32, at: impl Fn(u32) -> Self, i: Place) -> Self::Point;

    /// Node `i`.
    #[inline(always)]
    fn load(nodes: In<Self>, i: Place) -> Self::Point {
        Self::read(nodes.len(), |k| nodes.at(k), i)
    }

    /// Writes node `i`.
    fn store(nodes: Out<Self>, i: Place, point: Self::Point);

    /// Node `i`; another thread may be between the writes of its coordinates.
    fn load_racing(nodes: Racing<Self>, i: Place) -> Self::Point;

    /// Writes node `i`, which another thread may read at the same time.
    fn store_racing(nodes: Racing<Self>, i: Place, point: Self::Point);
}

macro_rules! soa {
    ($scalar:ident, $vector:ident) => {
        // SAFETY: coordinate k of node i is element k n + i of 3 n.
        unsafe impl Nodes for $scalar {
            type Point = $vector;
            const ELEMENTS: usize = 3;

            #[inline(always)]
            fn read(len: u32, at: impl Fn(u32) -> Self, i: Place) -> $vector {
                let n = len / 3;
                let i = i.index();
                $vector::new(at(i), at(n + i), at(2 * n + i))
            }

            #[inline(always)]
            fn store(nodes: Out<Self>, i: Place, point: $vector) {
                let n = nodes.len() / 3;
                let i = i.index();
                nodes.set(i, point.x);
                nodes.set(n + i, point.y);
                nodes.set(2 * n + i, point.z);
            }

            #[inline(always)]
            fn load_racing(nodes: Racing<Self>, i: Place) -> $vector {
                let n = nodes.len() / 3;
                let at = |i: u32| nodes.load(i, 0);
                let i = i.index();
                $vector::new(at(i), at(n + i), at(2 * n + i))
            }

            #[inline(always)]
            fn store_racing(nodes: Racing<Self>, i: Place, point: $vector) {
                let n = nodes.len() / 3;
                let i = i.index();
                nodes.store(i, 0, point.x);
                nodes.store(n + i, 0, point.y);
                nodes.store(2 * n + i, 0, point.z);
            }
        }
    };
}

soa!(f32, Vec3);
soa!(f64, DVec3);

macro_rules! aos {
    ($element:ident, $vector:ident, $load:expr, $store:expr) => {
        // SAFETY: node i is element i.
        unsafe impl Nodes for $element {
            type Point = $vector;
            const ELEMENTS: usize = 1;

            #[inline(always)]
            fn read(_: u32, at: impl Fn(u32) -> Self, i: Place) -> $vector {
                $load(at(i.index()))
            }

            #[inline(always)]
            fn store(nodes: Out<Self>, i: Place, point: $vector) {
                nodes.set(i, $store(point));
            }

            #[inline(always)]
            fn load_racing(nodes: Racing<Self>, i: Place) -> $vector {
                let at = |k| nodes.load(i, k);
                $vector::new(at(0), at(1), at(2))
            }

            #[inline(always)]
            fn store_racing(nodes: Racing<Self>, i: Place, point: $vector) {
                nodes.store(i, 0, point.x);
                nodes.store(i, 1, point.y);
                nodes.store(i, 2, point.z);
            }
        }
    };
}

aos!(Vec3, Vec3, |e: Vec3| e, |p: Vec3| p);
aos!(DVec3, DVec3, |e: DVec3| e, |p: DVec3| p);
aos!(Vec4, Vec3, |e: Vec4| Vec3::new(e.x, e.y, e.z), |p: Vec3| {
    Vec4::new(p.x, p.y, p.z, 0.0)
});
aos!(
    DVec4,
    DVec3,
    |e: DVec4| DVec3::new(e.x, e.y, e.z),
    |p: DVec3| DVec4::new(p.x, p.y, p.z, 0.0)
);
