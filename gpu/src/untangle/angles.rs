//! The smallest and the largest angle of cells, by their cosines.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Each, kernel};

use super::energy::square;
use super::simplices::{TRIANGLE, cross, dot, simplex_count, simplex_places};
use crate::ids::{Cell, Vertex};
use crate::ordered::ordered_bits;
use crate::point3::{Point3, Spatial};
use crate::smooth::{Cells, root};

/// The cosines of the smallest and of the largest angle of some simplices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// Of the smallest angle.
    pub of_smallest: f64,
    /// Of the largest angle.
    pub of_largest: f64,
}

impl Angles {
    /// Of no simplex.
    pub const NONE: Self = Self {
        of_smallest: f64::NEG_INFINITY,
        of_largest: f64::INFINITY,
    };

    #[inline(always)]
    fn add(&mut self, cosine: f64) {
        if cosine > self.of_smallest {
            self.of_smallest = cosine;
        }
        if cosine < self.of_largest {
            self.of_largest = cosine;
        }
    }

    /// Of a simplex of a cell of `size` vertices: the angles of a triangle, the dihedral angles of a tetrahedron, and
    /// of other cells the ones at the three edges from the simplex's first corner. Cosines that are no numbers do not
    /// count.
    #[inline(always)]
    pub fn of(size: u32, [a, b, c, d]: [DVec3; 4]) -> Self {
        let mut angles = Self::NONE;
        let (ab, ac) = (b - a, c - a);
        if size == TRIANGLE {
            let bc = c - b;
            let [p, q, r] = [square(ab), square(bc), square(ac)];
            angles.add(dot(ab, ac) / root(p * r));
            angles.add(-dot(ab, bc) / root(p * q));
            angles.add(dot(ac, bc) / root(r * q));
            return angles;
        }
        let ad = d - a;
        // All point outward, or all inward.
        let [m, n, o] = [cross(ad, ac), cross(ab, ad), cross(ac, ab)];
        let [p, q, r] = [square(m), square(n), square(o)];
        angles.add(-dot(m, n) / root(p * q));
        angles.add(-dot(n, o) / root(q * r));
        angles.add(-dot(o, m) / root(r * p));
        if size == 4 {
            let far = cross(c - b, d - b);
            let s = square(far);
            angles.add(-dot(far, m) / root(s * p));
            angles.add(-dot(far, n) / root(s * q));
            angles.add(-dot(far, o) / root(s * r));
        }
        angles
    }

    /// Whether no angle is smaller or larger than these.
    #[inline(always)]
    pub fn are_within(self, bounds: Self) -> bool {
        self.of_smallest <= bounds.of_smallest && self.of_largest >= bounds.of_largest
    }
}

/// Lowers `extremes` to the keys of minus the cosine of the smallest angle of cell `c`, and of the cosine of the
/// largest.
#[kernel(
    P in Spatial,
    requires(cells.fit(), cells.count() == n, extremes.len() == 2),
    moves(cells.bytes() + points.bytes())
)]
pub fn find_angles<P: Point3>(
    c: Own<Cell>,
    cells: Cells,
    points: In<P, Vertex>,
    extremes: Atomic<u64>,
) {
    let cell = cells.cell(*c);
    let mut angles = Angles::NONE;
    let mut j = 0;
    while j < simplex_count(cell.size) {
        let places = simplex_places(cell.size, j);
        let corners = [0, 4, 8, 12].each(|k| cells.vertex(cell, places >> k & 0xF));
        let simplex = Angles::of(cell.size, points.at_all(corners).each(P::to_f64));
        angles.add(simplex.of_smallest);
        angles.add(simplex.of_largest);
        j += 1;
    }
    let keys = [-angles.of_smallest, angles.of_largest].each(ordered_bits);
    if keys[0] < extremes.load(0) {
        extremes.fetch_min(0, keys[0]);
    }
    if keys[1] < extremes.load(1) {
        extremes.fetch_min(1, keys[1]);
    }
}
