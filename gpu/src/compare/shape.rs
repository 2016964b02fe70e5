//! A surface or a cloud as the kernels' argument.

use glam::DVec3;
use trioxide_kernel::Group;
use trioxide_kernel::view::In;

use crate::ids::{HalfEdge, Triangle, Vertex};

/// A surface, or a cloud, which has no corners.
#[derive(Group)]
pub struct Shape<'a> {
    /// Points.
    pub points: In<'a, DVec3>,
    /// Vertices of the triangles, three each.
    pub corners: In<'a, Vertex>,
}

impl Shape<'_> {
    /// Corners of triangle `t`.
    #[inline(always)]
    pub(super) fn triangle(self, t: Triangle) -> [DVec3; 3] {
        if self.corners.is_empty() {
            let point = self.points.at(Vertex::new(t.index()));
            return [point; 3];
        }
        let corner = |k| self.points.at(self.corners.at(HalfEdge::of(t, k)));
        [corner(0), corner(1), corner(2)]
    }
}
