//! Degenerate faces.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own};

use super::faces::is_proper;
use crate::ids::{Triangle, Vertex};

/// The three vectors along the sides of a triangle, by a power of two such that their largest component is in [1, 2).
/// Squares and products of these do not overflow, and lose no digit that counts beside the largest.
#[inline(always)]
pub fn scaled_sides([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let most = |v: DVec3| v.abs().max_element();
    let largest = most(ab).max(most(bc)).max(most(ca));
    // The exponent's bits, such that those of the inverse are in range too.
    let exponent = ((largest.to_bits() >> 52) & 0x7FF).clamp(1, 2045);
    let scale = f64::from_bits((2046 - exponent) << 52);
    [ab * scale, bc * scale, ca * scale]
}

/// Whether a triangle has no area in double precision, or a height of at most `ratio` times its longest side.
#[inline(always)]
pub fn is_flat([a, b, c]: [DVec3; 3], ratio: f64) -> bool {
    if (b - a).cross(c - a) == DVec3::ZERO {
        return true;
    }
    let [ab, bc, ca] = scaled_sides([a, b, c]);
    let area = ab.cross(ca).length_squared();
    let longest = ab
        .length_squared()
        .max(bc.length_squared())
        .max(ca.length_squared());
    // The height is the area of the parallelogram by the longest side.
    area <= ratio * ratio * longest * longest
}

/// Whether face `t` is degenerate. Vertices from `points.len()` on are copies: of `copies[0]`, …
#[kernel(requires(faces.len() == n), moves(faces.bytes() + points.bytes()))]
pub fn find_degenerate(
    t: Own<Triangle>,
    faces: In<[Vertex; 3], Triangle>,
    points: In<DVec3, Vertex>,
    copies: In<Vertex>,
    ratio: f64,
) -> bool {
    let [a, b, c] = faces.at(t);
    let point = |vertex: Vertex| match points.get(vertex) {
        Some(point) => point,
        None => points.at(copies.at(vertex.index() - points.len())),
    };
    !is_proper([a, b, c]) || is_flat([point(a), point(b), point(c)], ratio)
}
