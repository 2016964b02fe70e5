//! Guards: conditions in addition to the distance that two neighbours must meet.
//!
//! Tolerances of normals, texture coordinates and colours, and locks. All are symmetric, as the distance is.
//!
//! Angles are compared without their cosines. Let d be the dot product and c the length of the cross product of two
//! normals: the angle between them is at most t if c² cos² t <= d² sin² t, and d has the right sign. That is as exact
//! near 0 and 180 degrees as elsewhere, and takes normals of any length.

use bytemuck::{Pod, Zeroable};
use glam::{DVec2, DVec3};

use trioxide_kernel::safe::{Group, In};
use trioxide_kernel::{Bits, Each, Scalar};

use super::grid::LARGEST_COORDINATE;
use crate::ids::Vertex;

trioxide_kernel::instances! {
    /// Searches by distance alone, and with guards.
    pub(crate) Guarding(plain = crate::weld::Unguarded, guarded = crate::weld::Limits)
}

/// Instances of the kernels that search for neighbours: with guards, or by distance alone.
pub trait Guard: Scalar {
    /// Whether two vertices within epsilon are neighbours.
    fn allows(guards: &Guards<Self>, a: Vertex, b: Vertex) -> bool;

    /// Whether a vertex may have neighbours at all.
    fn has_neighbours(guards: &Guards<Self>, v: Vertex) -> bool;
}

/// No guard: all vertices within epsilon of each other are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Unguarded {
    /// Unused: gives the type a size.
    pub padding: u32,
}

impl Scalar for Unguarded {}

/// Tolerances of the guards.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Limits {
    /// Square of the cosine of the largest angle between normals.
    pub cosine_squared: f64,
    /// Square of its sine.
    pub sine_squared: f64,
    /// Power of two that differences of texture coordinates are multiplied by, as [`super::Grid::scale`].
    pub uv_scale: f64,
    /// Square of their largest distance times the scale.
    pub uv_bound: f64,
    /// Largest difference of colours in a channel, 0 to 255.
    pub color_step: u32,
    /// Whether the largest angle is over 90 degrees, or 90.
    pub is_obtuse: u32,
    /// Unused: fills the struct.
    pub padding: [u32; 2],
}

impl Scalar for Limits {}

/// The arrays that the guards compare, of V elements each; an empty array is no guard.
#[derive(Group)]
pub struct Guards<'a, G: Guard> {
    /// The tolerances.
    pub limits: G,
    /// Bit set of the locked vertices, which have no neighbours.
    pub locked: In<'a, Bits<Vertex>>,
    /// Normals of any length.
    pub normals: In<'a, DVec3, Vertex>,
    /// Texture coordinates.
    pub uvs: In<'a, DVec2, Vertex>,
    /// Red, green, blue and alpha, a byte each.
    pub colors: In<'a, u32, Vertex>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl<G: Guard> GuardsBuffers<'_, G> {
    /// Whether each array is empty or has an element (a bit) for each of `vertices` vertices.
    pub fn fit(&self, vertices: usize) -> bool {
        let fits = |len: usize, needed: usize| len == 0 || len == needed;
        fits(self.locked.len(), trioxide_kernel::words(vertices))
            && fits(self.normals.len(), vertices)
            && fits(self.uvs.len(), vertices)
            && fits(self.colors.len(), vertices)
    }
}

impl Guard for Unguarded {
    #[inline(always)]
    fn allows(_: &Guards<Self>, _: Vertex, _: Vertex) -> bool {
        true
    }

    #[inline(always)]
    fn has_neighbours(_: &Guards<Self>, _: Vertex) -> bool {
        true
    }
}

impl Guard for Limits {
    #[inline(always)]
    fn allows(guards: &Guards<Self>, a: Vertex, b: Vertex) -> bool {
        if !guards.locked.is_empty() {
            let [a, b] = guards.locked.bit_all([a, b]);
            if a | b {
                return false;
            }
        }
        let limits = guards.limits;
        if !guards.colors.is_empty() {
            let [mut a, mut b] = guards.colors.at_all([a, b]);
            while a != b {
                if (a & 0xFF).abs_diff(b & 0xFF) > limits.color_step {
                    return false;
                }
                a >>= 8;
                b >>= 8;
            }
        }
        if !guards.uvs.is_empty() {
            let [a, b] = guards.uvs.at_all([a, b]);
            let u = (a.x - b.x) * limits.uv_scale;
            let v = (a.y - b.y) * limits.uv_scale;
            // A comparison with NaN is false.
            let is_near = u * u + v * v <= limits.uv_bound;
            if !is_near {
                return false;
            }
        }
        if guards.normals.is_empty() {
            return true;
        }
        let [a, b] = guards.normals.at_all([a, b]);
        limits.allows_angle(direction(a.to_array()), direction(b.to_array()))
    }

    #[inline(always)]
    fn has_neighbours(guards: &Guards<Self>, v: Vertex) -> bool {
        guards.locked.is_empty() || !guards.locked.bit(v)
    }
}

impl Limits {
    /// Whether the angle between two directions is small enough. The zero direction is allowed with any other.
    #[inline(always)]
    fn allows_angle(&self, a: [f64; 3], b: [f64; 3]) -> bool {
        let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let cross = [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ];
        let across =
            (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) * self.cosine_squared;
        let along = dot * dot * self.sine_squared;
        let is_none = |d: [f64; 3]| d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0;
        let is_within = if self.is_obtuse != 0 {
            dot >= 0.0 || along <= across
        } else {
            dot >= 0.0 && across <= along
        };
        is_within || is_none(a) || is_none(b)
    }
}

/// The normal times the power of two that makes its largest coordinate 1 or more and less than 2, so that no
/// significant square of a coordinate overflows or vanishes. Zero for a normal without direction: zero, not finite, or
/// beyond 1e298.
#[inline(always)]
pub(super) fn direction(normal: [f64; 3]) -> [f64; 3] {
    let largest = |n: [f64; 3]| {
        let [x, y, z] = n.each(|x| x.to_bits() & (u64::MAX >> 1));
        // The bits of magnitudes order as the magnitudes do; NaN is above all.
        let yz = if y > z { y } else { z };
        if x > yz { x } else { yz }
    };
    let power_of_two = |exponent: u64| f64::from_bits((1023 + exponent) << 52);
    let mut normal = normal;
    let mut bits = largest(normal);
    if bits == 0 || bits > LARGEST_COORDINATE.to_bits() {
        return [0.0; 3];
    }
    if bits < (1023 - 500) << 52 {
        // Subnormal numbers have fewer digits.
        normal = normal.each(|x| x * power_of_two(600));
        bits = largest(normal);
    }
    let scale = f64::from_bits((2046 - (bits >> 52)) << 52);
    normal.each(|x| x * scale)
}
