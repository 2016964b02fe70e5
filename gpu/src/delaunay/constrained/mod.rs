//! Constrained Delaunay triangulations: segments between points are edges, whole or in pieces.
//!
//! # The triangulation
//!
//! Segments may meet at points, and points may lie on them: a point divides a segment into *pieces*. Two segments that
//! cross elsewhere are refused. Points are visible from each other if no segment lies between them. A triangle is part
//! of the constrained Delaunay triangulation if no point that is visible from its inside lies within its circle, by the
//! rule of [`delaunay`](super) for points on one circle; no segment crosses it (Lee and Lin 1986).
//!
//! - *It is unique.* An edge that is no piece of a segment is *locally Delaunay* if the far corner of one of its
//!   triangles is not within the circle of the other. A triangulation that has all pieces as edges is the constrained
//!   Delaunay triangulation exactly if all its other inner edges are locally Delaunay (Lee and Lin, theorem for points
//!   of which no four share a circle; with the rule no four do).
//! - *So any order of flips leads to it*, on any machine: a flip of an edge that is not locally Delaunay lowers the
//!   surface of the lifted triangles, as without segments, and there are finitely many triangulations.
//!
//! # How a segment becomes an edge
//!
//! An edge that crosses segment s is flipped if both of its triangles together are strictly convex, and if
//! the new edge does not cross s, or its end on the left of s is *lower* than the old edge's: nearer to the line, or as
//! near and before it along s.
//!
//! - *Some edge can be flipped.* Let w be the highest of the points on the left of s that edges across s have as ends.
//!   These edges of w, in order, lead to x1 .. xm on the right of s; let x0 and xm+1 be the corners before and after
//!   them. They are on the left of s or its ends, and lower than w, so the angle at w from x0 to xm+1 is less than that
//!   of a line. Of x1 .. xm take the farthest from the line through x0 and xm+1, the first one if several are: the
//!   triangles on both sides of its edge to w are strictly convex together. The flip's new edge does not end at w, so
//!   its left end, if it crosses s, is lower than w.
//! - *It ends.* Each flip removes an edge across s, or lowers the left end of one.
//! - *Others do not disturb it.* Each triangle is given to the first segment that crosses it, and an edge is flipped
//!   for s only if both of its triangles are given to s. No segment before s crosses these, so the number and the ends
//!   of their crossing edges stay. The first segment that is no edge has all of its triangles.
//!   Segments are numbered at random, so that few wait for many before them.
//!
//! This differs from Qi, Cao and Tan (Computing 2D Constrained Delaunay Triangulation Using the GPU, 2013), who give
//! triangles to segments in the same way, in the choice of the edges: they look one flip ahead.
//!
//! # Stages
//!
//! | stage | kernels |
//! | --- | --- |
//! | triangulate the points | [`check_segments()`], the kernels of [`delaunay`](super) |
//! | pair sides | [`pair_sides()`] |
//! | insert segments | [`scatter_numbers()`](super::scatter_numbers()), [`count_corners()`], [`direct_segments()`] |
//! | in each pass | [`find_spokes()`], [`mark_edges()`], [`mark_crossed()`] |
//! | in its rounds | [`choose_crossing()`], [`flip_edges()`], [`relink_sides()`], [`settle_sides()`] |
//! | restore Delaunay, in rounds | [`choose_illegal()`], [`flip_edges()`], [`relink_sides()`], [`settle_sides()`] |
//! | select triangles | [`join_neighbours()`], [`mark_outside()`], [`mark_holes()`], [`select_triangles()`] |
//! | of holes and regions | [`find_spokes()`], [`locate_points()`], [`claim_regions()`] |
//! | list pieces | [`find_spokes()`], [`count_pieces()`], [`write_pieces()`]; for users [`name_parents()`] |
//! | order triangles | [`take_triangles()`], the kernels of [`delaunay`](super), [`name_regions()`]; for users [`identify_regions()`] |

mod flips;
mod pieces;
mod select;
mod sides;
mod walk;

pub use flips::*;
pub use pieces::*;
pub use select::*;
pub use sides::*;
pub use walk::*;

use glam::DVec2;
use trioxide_kernel::safe::{Group, In};

use crate::ids::{HalfEdge, Place};

/// A triangulation with the neighbours of its triangles.
#[derive(Group)]
pub struct Mesh<'a> {
    /// Corners of triangles, three each, counter-clockwise: half-edge h starts at corner h.
    pub corners: In<'a, Place, HalfEdge>,
    /// The other half-edge of each edge; [`HalfEdge::NONE`] on the hull.
    pub twins: In<'a, HalfEdge, HalfEdge>,
    /// The points.
    pub sorted: In<'a, DVec2, Place>,
}

impl Mesh<'_> {
    #[inline(always)]
    pub(super) fn origin(&self, h: HalfEdge) -> Place {
        self.corners.at(h)
    }

    #[inline(always)]
    pub(super) fn target(&self, h: HalfEdge) -> Place {
        self.corners.at(h.next())
    }

    /// The corner opposite to `h`.
    #[inline(always)]
    pub(super) fn apex(&self, h: HalfEdge) -> Place {
        self.corners.at(h.prev())
    }

    #[inline(always)]
    pub(super) fn point(&self, p: Place) -> DVec2 {
        self.sorted.at(p)
    }
}
