//! The marks of the tetrahedra to divide: a bit for each tetrahedron.

use glam::DVec3;
use trioxide_kernel::safe::{Group, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::corners;
use crate::ids::{Tet, Vertex};
use crate::point3::{Point3, Spatial};

/// Tetrahedra by their corners.
#[derive(Group)]
pub struct Tets<'a, P: Point3> {
    /// Vertices, four for each tetrahedron; 4T.
    pub tetrahedra: In<'a, Vertex>,
    /// Coordinates; V.
    pub points: In<'a, P, Vertex>,
}

impl<P: Point3> Tets<'_, P> {
    /// The points of tetrahedron `t`.
    #[inline(always)]
    fn points_of(self, t: Tet) -> [P; 4] {
        self.points.at_all(corners(self.tetrahedra, t))
    }
}

/// Whether `t` is in a random fraction of all tetrahedra: its random number below 2^32 for `seed` is below `threshold`.
///
/// The number is SplitMix64's finalizer (Steele, Lea, Flood 2014) of seed and index.
#[inline(always)]
pub fn is_chosen(t: Tet, seed: u64, threshold: u64) -> bool {
    let mut x = seed.wrapping_add((u64::from(t.index()) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) >> 32 < threshold
}

/// Whether tetrahedron `t` is in a random fraction of all ([`is_chosen`]).
#[kernel]
pub fn mark_tets_by_fraction(t: Own<Tet>, seed: u64, threshold: u64) -> bool {
    is_chosen(*t, seed, threshold)
}

/// Whether tetrahedron `t` is a part of a marked tetrahedron of the input.
#[kernel(requires(parents.len() == n))]
pub fn mark_tet_descendants(t: Own<Tet>, parents: In<Tet, Tet>, marked: In<Bits<Tet>>) -> bool {
    // Without a branch, so that a thread's reads for several tetrahedra overlap.
    let [is_marked] = marked.bit_all([parents.at(t)]);
    is_marked
}

/// The mean of a tetrahedron's vertices.
#[inline(always)]
pub fn centroid<P: Point3>(corners: [P; 4]) -> DVec3 {
    let [a, b, c, d] = corners.each(P::to_f64);
    ((a + b) + (c + d)) * 0.25
}

/// Whether the centroid of tetrahedron `t` lies in a box, its sides included.
#[kernel(P in Spatial, requires(mesh.tetrahedra.len() == 4 * n))]
pub fn mark_tets_in_box<P: Point3>(t: Own<Tet>, mesh: Tets<P>, low: DVec3, high: DVec3) -> bool {
    let p = centroid(mesh.points_of(*t));
    p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z
}

/// Whether the centroid of tetrahedron `t` is no farther than a squared radius from a centre.
#[kernel(P in Spatial, requires(mesh.tetrahedra.len() == 4 * n))]
pub fn mark_tets_in_ball<P: Point3>(
    t: Own<Tet>,
    mesh: Tets<P>,
    centre: DVec3,
    radius_squared: f64,
) -> bool {
    let p = centroid(mesh.points_of(*t));
    p.distance_squared(centre) <= radius_squared
}

/// Six times the volume of a tetrahedron.
#[inline(always)]
pub fn six_volumes<P: Point3>(corners: [P; 4]) -> f64 {
    let [a, b, c, d] = corners.each(P::to_f64);
    let (b, c, d) = (b - a, c - a, d - a);
    b.x * (c.y * d.z - c.z * d.y) + b.y * (c.z * d.x - c.x * d.z) + b.z * (c.x * d.y - c.y * d.x)
}

/// Whether six times the volume of tetrahedron `t` is over a bound.
#[kernel(P in Spatial, requires(mesh.tetrahedra.len() == 4 * n))]
pub fn mark_large_tets<P: Point3>(t: Own<Tet>, mesh: Tets<P>, bound: f64) -> bool {
    six_volumes(mesh.points_of(*t)) > bound
}
