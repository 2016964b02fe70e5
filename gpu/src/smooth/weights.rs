//! Weights of neighbours: one over their distance, or cotangents; not in the paper.
//!
//! Weights are measured before the first sweep. Equal weights have no array.
//!
//! Only the ratios of a node's weights matter, so each node measures them in its own unit: a power of two near the
//! extent of its neighbours, by which edges are divided without rounding. So a mesh that is scaled by a power of two
//! moves as the mesh does.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use super::cells::{Stars, next, previous};
use super::neighbours::Adjacency;
use super::quality::{root, square};
use crate::ids::Vertex;
use crate::point3::{Point3, Spatial};

/// In units of a node's neighbours: the distance up to which two nodes count as one point, and the area or volume that
/// counts as zero. Its reciprocal is finite in single precision.
const NOWHERE: f64 = 1e-30;

/// The largest absolute coordinate of an edge.
#[inline(always)]
pub fn extent(edge: DVec3) -> f64 {
    let larger = |x: f64, y: f64| if x > y { x } else { y };
    larger(edge.x.abs(), larger(edge.y.abs(), edge.z.abs()))
}

/// The power of two that scales an extent to 1 or more and less than 2.
#[inline(always)]
pub fn to_unit(extent: f64) -> f64 {
    f64::from_bits((2046 - (extent.to_bits() >> 52)) << 52)
}

/// [`to_unit`] of the neighbours' extent around node `v`.
#[inline(always)]
fn unit_of<P: Point3>(v: Own<Vertex>, adjacency: &Adjacency, points: In<P, Vertex>) -> f64 {
    let here = points.at(v).to_f64();
    let mut largest = 0.0;
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        let other = extent(points.at(adjacency.neighbours.at(s)).to_f64() - here);
        if other > largest {
            largest = other;
        }
        s += 1;
    }
    to_unit(largest)
}

/// One over the length; 0 if the length is 0.
#[inline(always)]
pub fn inverse_length(edge: DVec3) -> f64 {
    let length = root(square(edge));
    if length > NOWHERE { 1.0 / length } else { 0.0 }
}

/// Writes the weight of each neighbour of node `v`: one over its distance, or 0 if it is at the same place.
#[kernel(
    P in Spatial,
    requires(
        adjacency.rows.len() == n + 1,
        points.len() == n,
        weights.len() == adjacency.neighbours.len()
    )
)]
pub fn weigh_by_distance<P: Point3>(
    v: Own<Vertex>,
    adjacency: Adjacency,
    points: In<P, Vertex>,
    weights: Scatter<f64>,
) {
    let here = points.at(v).to_f64();
    let unit = unit_of(v, &adjacency, points);
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        let there = points.at(adjacency.neighbours.at(s)).to_f64();
        weights.set(s, inverse_length((there - here) * unit));
        s += 1;
    }
}

/// The cotangent of the angle between two edges; 0 if there is no angle. The triangle adds half of it to the weight of
/// the opposite edge (Pinkall and Polthier, Computing discrete minimal surfaces and their conjugates, 1993).
#[inline(always)]
pub fn angle_cotangent(a: DVec3, b: DVec3) -> f64 {
    over(dot(a, b), root(square(a.cross(b))))
}

/// The length of edge `along` times the cotangent of the dihedral angle at it, between the faces through its start plus
/// `a` and plus `b`; 0 if there is no angle. The tetrahedron adds a sixth of it to the weight of the opposite edge
/// (Crane, The n-dimensional cotangent formula, 2019).
#[inline(always)]
pub fn dihedral_cotangent(along: DVec3, a: DVec3, b: DVec3) -> f64 {
    let (m, n) = (along.cross(a), along.cross(b));
    over(dot(m, n), dot(m, b).abs())
}

#[inline(always)]
fn over(value: f64, divisor: f64) -> f64 {
    if divisor > NOWHERE {
        value / divisor
    } else {
        0.0
    }
}

#[inline(always)]
pub(super) fn dot(a: DVec3, b: DVec3) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Writes the weight of each neighbour of node `v`: the sum of the cotangents opposite to the edge, in triangles or
/// tetrahedra; 0 if the sum is negative, so that the mean lies among the neighbours.
///
/// `corners` of each node are ascending: sums are taken in the order of cells.
#[kernel(
    P in Spatial,
    requires(
        stars.fit(n),
        adjacency.rows.len() == n + 1,
        points.len() == n,
        weights.len() == adjacency.neighbours.len()
    )
)]
pub fn weigh_by_cotangents<P: Point3>(
    v: Own<Vertex>,
    stars: Stars,
    adjacency: Adjacency,
    points: In<P, Vertex>,
    weights: Scatter<f64>,
) {
    let cells = stars.cells;
    let here = points.at(v).to_f64();
    let unit = unit_of(v, &adjacency, points);
    let mut r = adjacency.start(v);
    while r < adjacency.end(*v) {
        let u = adjacency.neighbours.at(r);
        let there = points.at(u).to_f64();
        let mut weight = 0.0;
        let mut s = stars.start(v);
        while s < stars.end(*v) {
            let corner = stars.corner(s);
            s += 1;
            let cell = cells.cell_of(corner);
            let own = cell.place(corner);
            let at = |k: u32| points.at(cells.vertex(cell, k)).to_f64();
            let mut place = cell.size;
            let mut k = 0;
            while k < cell.size {
                if cells.vertex(cell, k) == u {
                    place = k;
                }
                k += 1;
            }
            if place == cell.size {
                continue;
            }
            if cell.size == 3 {
                let other = if next(own, 3) == place {
                    previous(own, 3)
                } else {
                    next(own, 3)
                };
                let top = at(other);
                weight += angle_cotangent((here - top) * unit, (there - top) * unit);
                continue;
            }
            let is_used = |k: u32| k == own || k == place;
            let low = if !is_used(0) {
                0
            } else if !is_used(1) {
                1
            } else {
                2
            };
            let (start, end) = (at(low), at(6 - own - place - low));
            weight += dihedral_cotangent(
                (end - start) * unit,
                (here - start) * unit,
                (there - start) * unit,
            );
        }
        weights.set(r, if weight > 0.0 { weight } else { 0.0 });
        r += 1;
    }
}
