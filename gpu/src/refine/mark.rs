//! Which triangles to refine: a bit for each.

use crate::half_edge::prefetch_corners;
use crate::point::Planar;
use glam::DVec2;
use trioxide_kernel::{In, kernel};

use crate::point::Point2;

/// The corners of triangle `t`.
#[inline(always)]
pub(super) fn triangle<P: Point2>(t: u32, corners: In<u32>, points: In<P>) -> [DVec2; 3] {
    prefetch_corners(points, corners, t);
    let corner = |k| points.at(corners.at(3 * t + k)).to_f64();
    [corner(0), corner(1), corner(2)]
}

/// Chance as one part of 2^32: marks triangle `t` if a number drawn from it and the seed lies below.
#[kernel]
pub fn mark_fraction(t: u32, seed: u64, chance: u64) -> bool {
    // SplitMix64's finalizer: every bit of seed and index moves every bit of the result.
    let mut x = seed.wrapping_add((u64::from(t) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) >> 32 < chance
}

/// Marks triangle `t` if its centroid lies in the box, its boundary included.
#[kernel(P in Planar)]
pub fn mark_box<P: Point2>(
    t: u32,
    corners: In<u32>,
    points: In<P>,
    x0: f64,
    y0: f64,
    x1: f64,
    y1: f64,
) -> bool {
    let [a, b, c] = triangle(t, corners, points);
    let p = (a + b + c) / 3.0;
    p.x >= x0 && p.x <= x1 && p.y >= y0 && p.y <= y1
}

/// Marks triangle `t` if its centroid lies in the disk, its boundary included.
#[kernel(P in Planar)]
pub fn mark_disk<P: Point2>(
    t: u32,
    corners: In<u32>,
    points: In<P>,
    x: f64,
    y: f64,
    radius: f64,
) -> bool {
    let [a, b, c] = triangle(t, corners, points);
    let d = (a + b + c) / 3.0 - DVec2::new(x, y);
    d.x * d.x + d.y * d.y <= radius * radius
}

/// Marks triangle `t` if its area is above `area`.
#[kernel(P in Planar)]
pub fn mark_area<P: Point2>(t: u32, corners: In<u32>, points: In<P>, area: f64) -> bool {
    let [a, b, c] = triangle(t, corners, points);
    (b - a).perp_dot(c - a).abs() * 0.5 > area
}

/// Marks triangle `t` if an angle of it is below the one whose cosine and sine are given.
#[kernel(P in Planar)]
pub fn mark_angle<P: Point2>(
    t: u32,
    corners: In<u32>,
    points: In<P>,
    cosine: f64,
    sine: f64,
) -> bool {
    let [a, b, c] = triangle(t, corners, points);
    // Below: the second arm lies on the first's side of the first turned by the angle.
    let below = |p: DVec2, q: DVec2, r: DVec2| {
        let (u, v) = (q - p, r - p);
        u.perp_dot(v).abs() * cosine < u.dot(v) * sine
    };
    below(a, b, c) || below(b, c, a) || below(c, a, b)
}

/// Marks triangle `t` if the triangle of the input that it is a part of is marked.
#[kernel]
pub fn mark_parts(t: u32, parents: In<u32>, triangles: u32, marked: In<u32>) -> bool {
    marked.bit(ancestor(t, parents, triangles))
}

/// The triangle of the input, of `triangles`, that triangle `t` is a part of. `parents` are those of the new triangles.
#[inline(always)]
pub fn ancestor(t: u32, parents: In<u32>, triangles: u32) -> u32 {
    let mut t = t;
    while t >= triangles {
        t = parents.at(t - triangles);
    }
    t
}
