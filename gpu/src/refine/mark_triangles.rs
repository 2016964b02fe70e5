//! The marks of the triangles to refine: a bit for each triangle.

use glam::DVec3;
use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Bits, kernel};

use super::Corners;
use crate::ids::Triangle;
use crate::point::{Anywhere, DoublePoint, MeshPoint};

/// Marks triangle `t` if it is [drawn](is_drawn()).
#[kernel(moves(4 * words(n)))]
pub fn mark_fraction(t: Own<Triangle>, seed: u64, chance: u64) -> bool {
    is_drawn(*t, seed, chance)
}

/// Whether a random number of triangle `t` and the seed is below `chance`, in parts of 2^32.
#[inline(always)]
pub fn is_drawn(t: Triangle, seed: u64, chance: u64) -> bool {
    // SplitMix64's finalizer: every bit of seed and index moves every bit of the result.
    let mut x = seed.wrapping_add((u64::from(t.index()) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) >> 32 < chance
}

/// Marks triangle `t` if it is [in the box](is_in_box()).
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_box<P: MeshPoint>(
    t: Own<Triangle>,
    mesh: Corners<P>,
    x0: f64,
    y0: f64,
    z0: f64,
    x1: f64,
    y1: f64,
    z1: f64,
) -> bool {
    is_in_box(mesh.points_of(t), [x0, y0, z0, x1, y1, z1])
}

/// Whether the centroid of a triangle lies in the box or on its boundary; the box is its lowest corner and its highest.
/// A point of the plane has z = 0.
#[inline(always)]
pub fn is_in_box<D: DoublePoint>([a, b, c]: [D; 3], [x0, y0, z0, x1, y1, z1]: [f64; 6]) -> bool {
    let p = ((a + b + c) / 3.0).in_space();
    p.x >= x0 && p.x <= x1 && p.y >= y0 && p.y <= y1 && p.z >= z0 && p.z <= z1
}

/// Marks triangle `t` if it is [in the disk or the ball](is_in_disk()).
#[kernel(
    P in Anywhere,
    IS_BALL in [false, true],
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_disk<P: MeshPoint, const IS_BALL: bool>(
    t: Own<Triangle>,
    mesh: Corners<P>,
    x: f64,
    y: f64,
    z: f64,
    radius: f64,
) -> bool {
    is_in_disk::<_, IS_BALL>(mesh.points_of(t), [x, y, z, radius])
}

/// Whether the centroid of a triangle lies in the ball of this centre and radius, or on its boundary; without `IS_BALL`
/// in the cylinder along z, which is a disk in the plane.
#[inline(always)]
pub fn is_in_disk<D: DoublePoint, const IS_BALL: bool>(
    [a, b, c]: [D; 3],
    [x, y, z, radius]: [f64; 4],
) -> bool {
    let d = ((a + b + c) / 3.0).in_space() - DVec3::new(x, y, z);
    let mut squared = d.x * d.x + d.y * d.y;
    if IS_BALL {
        squared += d.z * d.z;
    }
    squared <= radius * radius
}

/// Marks triangle `t` if [its area is above](is_larger()) `area`.
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_area<P: MeshPoint>(t: Own<Triangle>, mesh: Corners<P>, area: f64) -> bool {
    is_larger(mesh.points_of(t), area)
}

/// Whether the area of a triangle is above `area`.
#[inline(always)]
pub fn is_larger<D: DoublePoint>([a, b, c]: [D; 3], area: f64) -> bool {
    (b - a).spanned_area(c - a) * 0.5 > area
}

/// Marks triangle `t` if [one of its angles is below](has_smaller_angle()) the one with this cosine and sine.
#[kernel(
    P in Anywhere,
    requires(mesh.corners.len() == 3 * n),
    moves(mesh.corners.bytes() + mesh.points.bytes() + 4 * words(n))
)]
pub fn mark_angle<P: MeshPoint>(
    t: Own<Triangle>,
    mesh: Corners<P>,
    cosine: f64,
    sine: f64,
) -> bool {
    has_smaller_angle(mesh.points_of(t), [cosine, sine])
}

/// Whether one of a triangle's angles is below the one with this cosine and sine.
#[inline(always)]
pub fn has_smaller_angle<D: DoublePoint>([a, b, c]: [D; 3], [cosine, sine]: [f64; 2]) -> bool {
    // Below: the first edge, turned by the angle, lies beyond the second.
    let below = |p: D, q: D, r: D| {
        let (u, v) = (q - p, r - p);
        u.spanned_area(v) * cosine < u.inner(v) * sine
    };
    below(a, b, c) || below(b, c, a) || below(c, a, b)
}

/// Marks triangle `t` if the triangle of the input that it is a part of is marked.
#[kernel(requires(parents.len() + triangles as usize == n, marked.len() == words(triangles as usize)))]
pub fn mark_parts(
    t: Own<Triangle>,
    parents: In<Triangle>,
    triangles: u32,
    marked: In<Bits<Triangle>>,
) -> bool {
    marked.bit(ancestor(*t, triangles, |new| parents.at(new)))
}

/// The triangle of the input that triangle `t` is a part of. The input has `triangles` triangles; `parent` gives the
/// triangle that each new one is a part of, in the order of the new ones.
#[inline(always)]
pub fn ancestor(t: Triangle, triangles: u32, parent: impl Fn(u32) -> Triangle) -> Triangle {
    let mut t = t;
    while t.index() >= triangles {
        t = parent(t.index() - triangles);
    }
    t
}
