//! The checks of a mesh, on which the other kernels rely.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use super::corners;
use crate::handedness::determinant;
use crate::ids::{Item, Tet, Vertex};
use crate::point3::{Point3, Spatial};

/// Slots of the check kernels' result: the smallest offending element for each rule, `NONE` where it holds.
pub mod tet_rule {
    /// Vertex with a coordinate that is not finite.
    pub const FINITE: u32 = 0;
    /// Tetrahedron with an index out of range.
    pub const RANGE: u32 = 1;
    /// Tetrahedron whose orientation is negative.
    pub const ORIENTATION: u32 = 2;
    /// Corner of a tagged triangle that begins an edge which no tetrahedron has.
    pub const FACE: u32 = 3;
    /// Edge use for which the table of edges has no room.
    pub const CROWDED: u32 = 4;
    /// Vertex with a coordinate beyond [`Point3::LARGEST`](crate::point3::Point3::LARGEST).
    pub const LARGE: u32 = 5;
    /// Tetrahedron smaller than [`Point3::SMALLEST`](crate::point3::Point3::SMALLEST).
    pub const SMALL: u32 = 6;
    /// Number of rules.
    pub const COUNT: usize = 7;
}

/// Finds vertex `v` if one of its coordinates is not finite, or too large.
#[kernel(
    P in Spatial,
    requires(points.len() == n, found.len() == tet_rule::COUNT),
    moves(points.bytes())
)]
pub fn check_tet_points<P: Point3>(v: Own<Vertex>, points: In<P, Vertex>, found: Atomic) {
    let p = points.at(v).to_f64();
    if !p.is_finite() {
        found.min(tet_rule::FINITE, v.index());
    } else if p.x.abs() > P::LARGEST || p.y.abs() > P::LARGEST || p.z.abs() > P::LARGEST {
        found.min(tet_rule::LARGE, v.index());
    }
}

/// Finds tetrahedron number `i` if it has an index out of range, is too small for its squares, or has negative
/// orientation. Returns whether its orientation is undecided.
///
/// Number i of the n tetrahedra in `list` is `list[i]`; number n + j is tetrahedron `first + j`.
///
/// The sign is that of a filter: Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
/// Predicates (1997), figure 21. The host decides the other tetrahedra exactly: very few, with volumes under 10^-15 of
/// the volume of their bounding box.
#[kernel(
    P in Spatial,
    requires(
        list.len() <= n,
        first as usize + n - list.len() <= tetrahedra.len() / 4,
        found.len() == tet_rule::COUNT
    ),
    // If only a part of the tetrahedra is read, the points read depend on the mesh.
    moves(
        list.bytes() + 16 * n + 4 * words(n)
            + if 4 * n == tetrahedra.len() { points.bytes() } else { 0 }
    )
)]
pub fn check_tetrahedra<P: Point3>(
    i: Own<Item>,
    list: In<Tet>,
    tetrahedra: In<Vertex>,
    points: In<P, Vertex>,
    found: Atomic,
    first: u32,
) -> bool {
    let i = i.index();
    let t = if i < list.len() {
        list.at(i)
    } else {
        Tet::new(first + (i - list.len()))
    };
    let v = corners(tetrahedra, t);
    let n = points.len();
    if v[0].index() >= n || v[1].index() >= n || v[2].index() >= n || v[3].index() >= n {
        found.min(tet_rule::RANGE, t.index());
        return false;
    }
    let d = points.at(v[3]).to_f64();
    let a = points.at(v[0]).to_f64() - d;
    let b = points.at(v[1]).to_f64() - d;
    let c = points.at(v[2]).to_f64() - d;
    let larger = |x: f64, y: f64| if x > y { x } else { y };
    let extent = |p: DVec3| larger(p.x.abs(), larger(p.y.abs(), p.z.abs()));
    let extent = larger(extent(a), larger(extent(b), extent(c)));
    if extent > 0.0 && extent < P::SMALLEST {
        found.min(tet_rule::SMALL, t.index());
        return false;
    }
    let (determinant, bound) = determinant(b, c, a);
    // This is det(a - d, b - d, c - d): the negative of det(b - a, c - a, d - a).
    if determinant > bound {
        found.min(tet_rule::ORIENTATION, t.index());
        return false;
    }
    let is_positive = determinant < -bound;
    // True also where the products overflow and every comparison fails.
    !is_positive
}
