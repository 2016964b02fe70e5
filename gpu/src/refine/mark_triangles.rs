//! Which triangles to refine: a bit for each.

use glam::DVec3;
use trioxide_kernel::{Bits, In, kernel};

use super::Corners;
use crate::ids::Triangle;
use crate::point::{Anywhere, DoublePoint, MeshPoint};

/// Marks triangle `t` if a number drawn from it and the seed lies below `chance`, in parts of 2^32.
#[kernel(moves(4 * words(n)))]
pub fn mark_fraction(t: Triangle, seed: u64, chance: u64) -> bool {
    // SplitMix64's finalizer: every bit of seed and index moves every bit of the result.
    let mut x = seed.wrapping_add((u64::from(t.index()) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) >> 32 < chance
}

/// Marks triangle `t` if its centroid lies in the box, its boundary included. A point of the plane has z = 0.
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_box<P: MeshPoint>(
    t: Triangle,
    mesh: Corners<P>,
    x0: f64,
    y0: f64,
    z0: f64,
    x1: f64,
    y1: f64,
    z1: f64,
) -> bool {
    let [a, b, c] = mesh.points_of(t);
    let p = ((a + b + c) / 3.0).in_space();
    p.x >= x0 && p.x <= x1 && p.y >= y0 && p.y <= y1 && p.z >= z0 && p.z <= z1
}

/// Marks triangle `t` if its centroid lies in the ball, its boundary included; unless `IS_BALL` in the cylinder along z
/// around it, which in the plane is the disk.
#[kernel(
    P in Anywhere,
    IS_BALL in [false, true],
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_disk<P: MeshPoint, const IS_BALL: bool>(
    t: Triangle,
    mesh: Corners<P>,
    x: f64,
    y: f64,
    z: f64,
    radius: f64,
) -> bool {
    let [a, b, c] = mesh.points_of(t);
    let d = ((a + b + c) / 3.0).in_space() - DVec3::new(x, y, z);
    let mut squared = d.x * d.x + d.y * d.y;
    if IS_BALL {
        squared += d.z * d.z;
    }
    squared <= radius * radius
}

/// Marks triangle `t` if its area is above `area`.
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_area<P: MeshPoint>(t: Triangle, mesh: Corners<P>, area: f64) -> bool {
    let [a, b, c] = mesh.points_of(t);
    (b - a).spanned_area(c - a) * 0.5 > area
}

/// Marks triangle `t` if one of its angles is below the one with this cosine and sine.
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_angle<P: MeshPoint>(t: Triangle, mesh: Corners<P>, cosine: f64, sine: f64) -> bool {
    let [a, b, c] = mesh.points_of(t);
    // Below: the first arm, turned by the angle, lies beyond the second.
    let below = |p: P::Double, q: P::Double, r: P::Double| {
        let (u, v) = (q - p, r - p);
        u.spanned_area(v) * cosine < u.inner(v) * sine
    };
    below(a, b, c) || below(b, c, a) || below(c, a, b)
}

/// Marks triangle `t` if the triangle of the input that it is a part of is marked.
#[kernel(requires(parents.len() + triangles as usize == n, marked.len() == words(triangles as usize)))]
pub fn mark_parts(
    t: Triangle,
    parents: In<Triangle>,
    triangles: u32,
    marked: In<Bits<Triangle>>,
) -> bool {
    marked.bit(ancestor(t, parents, triangles))
}

/// The triangle of the input that triangle `t` is a part of. The input has `triangles` triangles; `parents` has an
/// element for each new one.
#[inline(always)]
pub fn ancestor(t: Triangle, parents: In<Triangle>, triangles: u32) -> Triangle {
    let mut t = t;
    while t.index() >= triangles {
        t = parents.at(t.index() - triangles);
    }
    t
}
