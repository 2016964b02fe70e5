//! Which tetrahedra are to be divided, and by which edges.

use crate::point3::Spatial;
use glam::DVec3;
use trioxide_kernel::{Atomic, In, kernel};

use super::edges::corners;
use super::{TETRAHEDRON, edge_index, longest_within};
use crate::point3::Point3;

/// Whether `t` is one of a fraction of all, chosen by `seed`: a number below 2^32 drawn for it is below `threshold`.
///
/// SplitMix64's finalizer (Steele, Lea, Flood 2014) of seed and index.
#[inline(always)]
pub fn is_chosen(t: u32, seed: u64, threshold: u64) -> bool {
    let mut x = seed.wrapping_add((u64::from(t) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ x >> 31) >> 32 < threshold
}

/// Whether tetrahedron `t` is one of a fraction of all ([`is_chosen`]).
#[kernel]
pub fn mark_tets_by_fraction(t: u32, seed: u64, threshold: u64) -> bool {
    is_chosen(t, seed, threshold)
}

/// Whether tetrahedron `t` comes from a marked one of the first level.
#[kernel]
pub fn mark_tet_descendants(t: u32, parents: In<u32>, marked: In<u32>) -> bool {
    marked.bit(parents.at(t))
}

/// The mean of a tetrahedron's vertices.
#[inline(always)]
pub fn centroid<P: Point3>(corners: [P; 4]) -> DVec3 {
    let [a, b, c, d] = corners.map(P::to_f64);
    ((a + b) + (c + d)) * 0.25
}

#[inline(always)]
fn points_of<P: Point3>(t: u32, tetrahedra: In<u32>, points: In<P>) -> [P; 4] {
    let [a, b, c, d] = corners(tetrahedra, t);
    [points.at(a), points.at(b), points.at(c), points.at(d)]
}

/// Whether the centroid of tetrahedron `t` lies in a box, its sides included.
#[kernel(P in Spatial)]
pub fn mark_tets_in_box<P: Point3>(
    t: u32,
    tetrahedra: In<u32>,
    points: In<P>,
    low_x: f64,
    low_y: f64,
    low_z: f64,
    high_x: f64,
    high_y: f64,
    high_z: f64,
) -> bool {
    let p = centroid(points_of(t, tetrahedra, points));
    p.x >= low_x && p.y >= low_y && p.z >= low_z && p.x <= high_x && p.y <= high_y && p.z <= high_z
}

/// Whether the centroid of tetrahedron `t` is no farther than a squared radius from a centre.
#[kernel(P in Spatial)]
pub fn mark_tets_in_ball<P: Point3>(
    t: u32,
    tetrahedra: In<u32>,
    points: In<P>,
    x: f64,
    y: f64,
    z: f64,
    radius_squared: f64,
) -> bool {
    let p = centroid(points_of(t, tetrahedra, points));
    p.distance_squared(DVec3::new(x, y, z)) <= radius_squared
}

/// Six times the volume of a tetrahedron.
#[inline(always)]
pub fn six_volumes<P: Point3>(corners: [P; 4]) -> f64 {
    let [a, b, c, d] = corners.map(P::to_f64);
    let (b, c, d) = (b - a, c - a, d - a);
    b.x * (c.y * d.z - c.z * d.y) + b.y * (c.z * d.x - c.x * d.z) + b.z * (c.x * d.y - c.y * d.x)
}

/// Whether six times the volume of tetrahedron `t` is over a bound.
#[kernel(P in Spatial)]
pub fn mark_large_tets<P: Point3>(t: u32, tetrahedra: In<u32>, points: In<P>, bound: f64) -> bool {
    six_volumes(points_of(t, tetrahedra, points)) > bound
}

/// Marks the longest edge of tetrahedron `t` if that is marked; each of its edges if `every` is not 0.
#[kernel]
pub fn mark_edges_of_tets(
    t: u32,
    chosen: In<u32>,
    orders: In<u32>,
    edges: In<u32>,
    every: u32,
    marked: Atomic,
) {
    if !chosen.bit(t) {
        return;
    }
    let mark = |e: u32| {
        // Others have marked most: a load costs less than an atomic update.
        if !marked.bit(e) {
            marked.set_bit(e);
        }
    };
    if every == 0 {
        let longest = longest_within(orders.at(t), TETRAHEDRON);
        mark(edges.at(6 * t + edge_index(longest)));
        return;
    }
    let mut k = 0;
    while k < 6 {
        mark(edges.at(6 * t + k));
        k += 1;
    }
}
