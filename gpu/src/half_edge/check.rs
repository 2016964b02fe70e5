//! What must hold before any other kernel may index with a mesh.

use crate::half_edge::prefetch_corners;
use crate::point::Planar;
use trioxide_kernel::{Atomic, In, kernel};

use crate::orientation::is_counter_clockwise;

use crate::point::Point2;

/// Slots of the check kernels' result: the smallest offending element for each rule, `NONE` where it holds.
pub mod rule {
    /// Vertex with a coordinate that is no finite number.
    pub const FINITE: u32 = 0;
    /// Triangle with an index out of range.
    pub const RANGE: u32 = 1;
    /// Triangle that is clockwise or degenerate.
    pub const ORIENTATION: u32 = 2;
    /// Half-edge of an edge that is not shared by exactly two opposite half-edges at most.
    pub const MANIFOLD: u32 = 3;
    /// Half-edge for which the table of twins has no room.
    pub const CROWDED: u32 = 4;
    /// Number of rules.
    pub const COUNT: usize = 5;
}

/// Finds vertex `v` if a coordinate of it is not finite.
#[kernel(P in Planar)]
pub fn check_points<P: Point2>(v: u32, points: In<P>, found: Atomic) {
    let p = points.at(v).to_f64();
    if !(p.x.is_finite() && p.y.is_finite()) {
        found.min(rule::FINITE, v);
    }
}

/// Finds triangle `t` if it has an index out of range, or if it is not counter-clockwise (which a triangle with a vertex
/// twice is not). Orientation is exact, of the points in the precision that the device holds.
#[kernel(P in Planar)]
pub fn check_triangles<P: Point2>(t: u32, origins: In<u32>, points: In<P>, found: Atomic) {
    let corner = |k| origins.at(3 * t + k);
    let (a, b, c) = (corner(0), corner(1), corner(2));
    let n = points.len();
    prefetch_corners(points, origins, t);
    if a >= n || b >= n || c >= n {
        found.min(rule::RANGE, t);
        return;
    }
    let point = |v| points.at(v).to_f64();
    if !is_counter_clockwise(point(a), point(b), point(c)) {
        found.min(rule::ORIENTATION, t);
    }
}
