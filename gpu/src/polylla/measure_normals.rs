//! Normals of the triangles of a surface.

use glam::DVec3;
use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use crate::half_edges::prefetch_corners;
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::{DoublePoint, MeshPoint};
use crate::point3::Spatial;
use crate::smooth::root;

/// The normal of a triangle: of length one, or zero where the square of its area is.
#[inline(always)]
pub fn unit_normal(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (u, v) = (b - a, c - a);
    let normal = DVec3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    );
    let square = normal.inner(normal);
    if square > 0.0 {
        normal / root(square)
    } else {
        DVec3::ZERO
    }
}

/// The normal of triangle `t`, from its first corner.
#[kernel(
    P in Spatial,
    requires(origins.len() == 3 * n, normals.len() == n),
    moves(origins.bytes() + points.bytes() + normals.bytes()), trusted
)]
pub fn measure_normals<P: MeshPoint<Double = DVec3>>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    normals: Out<DVec3, Triangle>,
) {
    prefetch_corners(points, origins, *t);
    let corners = origins.at_all([t.part(0), t.part(1), t.part(2)]);
    let [a, b, c] = points.at_all(corners).each(P::to_f64);
    normals.set(t, unit_normal(a, b, c));
}
