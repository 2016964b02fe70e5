//! The distance of a point to a triangle and to a box: the family's definition.

use bytemuck::{Pod, Zeroable};
use glam::{DVec2, DVec3};

/// The product of the lengths of two vectors and the cosine of the angle between them.
#[inline(always)]
pub(super) fn dot(u: DVec3, v: DVec3) -> f64 {
    (u.x * v.x + u.y * v.y) + u.z * v.z
}

/// The vector at right angles to both, as long as the parallelogram is large.
#[inline(always)]
pub(super) fn cross(u: DVec3, v: DVec3) -> DVec3 {
    DVec3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    )
}

/// The smaller one, by a comparison: `f64::min` of zeros of both signs differs between machines.
#[inline(always)]
pub(super) fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The larger one.
#[inline(always)]
pub(super) fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// A box: the lowest and the highest x, y and z. An axis is one vector in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Bounds {
    x: DVec2,
    y: DVec2,
    z: DVec2,
}

impl Bounds {
    /// The box of no points: it is infinitely far from each.
    pub(super) const NONE: Self = {
        let none = DVec2::new(f64::INFINITY, f64::NEG_INFINITY);
        Self {
            x: none,
            y: none,
            z: none,
        }
    };

    /// The box around this one and `other`.
    #[inline(always)]
    pub fn with(self, other: Self) -> Self {
        let axis = |a: DVec2, b: DVec2| DVec2::new(min(a.x, b.x), max(a.y, b.y));
        Self {
            x: axis(self.x, other.x),
            y: axis(self.y, other.y),
            z: axis(self.z, other.z),
        }
    }

    /// The box around the corners of a triangle.
    #[inline(always)]
    pub fn of([a, b, c]: [DVec3; 3]) -> Self {
        let axis = |a: f64, b: f64, c: f64| DVec2::new(min(min(a, b), c), max(max(a, b), c));
        Self {
            x: axis(a.x, b.x, c.x),
            y: axis(a.y, b.y, c.y),
            z: axis(a.z, b.z, c.z),
        }
    }

    /// The point in the middle.
    #[inline(always)]
    pub(super) fn center(self) -> DVec3 {
        let middle = |axis: DVec2| 0.5 * axis.x + 0.5 * axis.y;
        DVec3::new(middle(self.x), middle(self.y), middle(self.z))
    }

    /// Whether the middle of this box is nearer to `p` than that of `other`, by the sums of the distances along the
    /// axes.
    #[inline(always)]
    pub(super) fn is_middle_nearer(self, p: DVec3, other: Self) -> bool {
        let along = |p: f64, axis: DVec2| ((p - axis.x) - (axis.y - p)).abs();
        let sum = |of: Self| along(p.x, of.x) + along(p.y, of.y) + along(p.z, of.z);
        sum(self) < sum(other)
    }

    /// Squared distance of `p`, at most that of each point in the box.
    #[inline(always)]
    pub fn square_to(self, p: DVec3) -> f64 {
        let gap = |p: f64, axis: DVec2| max(max(axis.x - p, p - axis.y), 0.0);
        let (x, y, z) = (gap(p.x, self.x), gap(p.y, self.y), gap(p.z, self.z));
        (x * x + y * y) + z * z
    }
}

/// Squared distance of `p` to a triangle of finite corners, which may have no area: see the family's module.
#[inline(always)]
pub fn square_to(p: DVec3, triangle: [DVec3; 3]) -> f64 {
    square_within(p, triangle, Bounds::of(triangle).square_to(p))
}

/// As [`square_to()`], with the squared distance of the box around the triangle.
#[inline(always)]
pub(super) fn square_within(p: DVec3, [a, b, c]: [DVec3; 3], of_box: f64) -> f64 {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let (to_a, to_b, to_c) = (p - a, p - b, p - c);
    let mut least = square_to_edge(to_a, ab);
    least = min(least, square_to_edge(to_b, bc));
    least = min(least, square_to_edge(to_c, ca));
    // The foot is a + v ab - w ca, by the areas that it spans with the edges.
    let normal = cross(ca, ab);
    let area = dot(normal, normal);
    let (v, w) = (dot(cross(ca, to_a), normal), dot(cross(ab, to_a), normal));
    // Not of a triangle without an area.
    if area > 0.0 && v >= 0.0 && w >= 0.0 && v + w <= area {
        let to = to_a - ab * (v / area) + ca * (w / area);
        least = min(least, dot(to, to));
    }
    max(least, of_box)
}

/// Squared length of the way from the nearest point of an edge, where `to` is that from the edge's start.
#[inline(always)]
fn square_to_edge(to: DVec3, edge: DVec3) -> f64 {
    let length = dot(edge, edge);
    // An edge without a length is its start.
    let fraction = if length > 0.0 {
        dot(to, edge) / length
    } else {
        0.0
    };
    let to = to - edge * min(max(fraction, 0.0), 1.0);
    dot(to, to)
}
