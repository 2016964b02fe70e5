//! Circumspheres of tetrahedra.

use glam::DVec3;
use trioxide_kernel::safe::{Group, In, Out, Own};
use trioxide_kernel::{Each, kernel};

use crate::ids::{FaceSide, Tet, Vertex};
use crate::point3::{Point3, Spatial};
use crate::polyhedra::link::Link;
use crate::tet_faces::corners_of;

/// The circumspheres of tetrahedra.
#[derive(Group)]
pub struct Spheres<'a> {
    /// Centre of each; infinite if the tetrahedron is flat; T.
    pub centres: In<'a, DVec3, Tet>,
    /// Squared radius of each; infinite if the tetrahedron is flat; T.
    pub radii: In<'a, f64, Tet>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl SpheresBuffers<'_> {
    /// Whether there are as many of both.
    pub fn fit(&self, tetrahedra: usize) -> bool {
        self.centres.len() == tetrahedra && self.radii.len() == tetrahedra
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.centres.bytes() + self.radii.bytes()
    }
}

/// Whether a sphere has a tetrahedron, by their centres. The centre of a flat one is infinite: then the distance is
/// infinite or NaN, and the answer is no.
#[inline(always)]
pub fn is_inside(centre: DVec3, radius_squared: f64, other: DVec3) -> bool {
    let apart = other - centre;
    apart.dot(apart) < radius_squared
}

/// Centre and squared radius of the sphere through four points, in ascending order of the vertices' ids. Both are
/// infinite if the points are flat.
#[inline(always)]
fn sphere([a, b, c, d]: [DVec3; 4]) -> (DVec3, f64) {
    let (u, v, w) = (b - a, c - a, d - a);
    let (vw, wu, uv) = (v.cross(w), w.cross(u), u.cross(v));
    let (uu, vv, ww) = (u.dot(u), v.dot(v), w.dot(w));
    let twice = 2.0 * u.dot(vw);
    let from_a = (uu * vw + vv * wu + ww * uv) / twice;
    let (centre, radius) = (a + from_a, from_a.dot(from_a));
    // A NaN compares as false.
    if radius < f64::INFINITY {
        (centre, radius)
    } else {
        (DVec3::INFINITY, f64::INFINITY)
    }
}

/// The circumsphere of tetrahedron `t`, and its first claim: itself.
#[kernel(
    P in Spatial,
    requires(
        tetrahedra.len() == 4 * n,
        centres.len() == n,
        radii.len() == n,
        owners.len() == n,
        links.len() == n
    ),
    moves(
        tetrahedra.bytes() + points.bytes() + centres.bytes() + radii.bytes() + owners.bytes() + links.bytes()
    )
)]
pub fn measure_spheres<P: Point3>(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    points: In<P, Vertex>,
    centres: Out<DVec3, Tet>,
    radii: Out<f64, Tet>,
    owners: Out<Tet, Tet>,
    links: Out<Link, Tet>,
) {
    let order = |x: Vertex, y: Vertex| (x.min(y), x.max(y));
    let [a, b, c, d] = corners_of(tetrahedra, *t);
    let (a, b) = order(a, b);
    let (c, d) = order(c, d);
    let (a, c) = order(a, c);
    let (b, d) = order(b, d);
    let (b, c) = order(b, c);
    let (centre, radius) = sphere(points.at_all([a, b, c, d]).each(P::to_f64));
    centres.set(t, centre);
    radii.set(t, radius);
    owners.set(t, *t);
    links.set(t, Link::to(*t, 0));
}
