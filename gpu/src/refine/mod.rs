//! Longest-edge bisection of triangulations (gpu-longest-edge-bisection-2011, chapters 3 and 4).
//!
//! A marked triangle is bisected at its longest edge. So that no vertex lands inside of another triangle's edge, the
//! triangle on the other side divides its own longest edge too, and so on. First all edges to divide are found, then
//! every triangle applies the template for its divided edges.
//!
//! Each edge is *owned* by the triangle that runs along it in the edge's direction (section 3.1). A *side* is an edge
//! and a direction along it: 2e forward, 2e + 1 in reverse. A mesh of V points, T triangles and E edges is
//!
//! | array | length | holds |
//! | --- | --- | --- |
//! | `points` | V | coordinates |
//! | `corners` | 3T | vertex at which half-edge 3t + k, side k of triangle t, starts |
//! | `sides` | 3T | side of each half-edge |
//! | `halves` | 2E | half-edge of each side, `NONE` beyond the boundary: the inverse of `sides` |
//! | `longest` | T | the longest side: 0, 1 or 2 |
//!
//! `halves` and `longest` are updated at the beginning of a round, for the triangles that the previous round changed.
//!
//! | step of the paper | stage |
//! | --- | --- |
//! | edges, given there | [`number_edges`], [`tag_segments`] |
//! | 1 edge lengths, 2 longest edges | [`find_longest_edges`] |
//! | 3 dependency forest | [`link_sides`] |
//! | 2 marks | [`mark_triangles`], [`mark_divided_edges`] |
//! | 4 propagation | [`propagate_divisions`] |
//! | 5 counts of divided edges | [`flag_divided_sides`] |
//! | 6 prefix sums | [`prefix_sums`] |
//! | 7 new edges, divided edges, triangles | [`divide_edges_and_triangles`], by the [`template`] |
//! | none | [`check_parts`], [`coarsen`], [`maps`], [`find_twins`] |
//!
//! # How this differs from the paper
//!
//! - **Less is stored.** The paper keeps length, midpoint, marks, link and three new edges for each edge: 44 bytes,
//!   which each step reads and writes. Here lengths are compared where they are computed; a midpoint is computed once,
//!   where it becomes a vertex; marks are bits. The ends of an edge are corners of its owner:
//!   [`maps::find_edge_ends()`] gives them when a user asks.
//! - **The forest is implicit.** The link of edge e (step 3) is the longest edge of the triangle across it. `halves`
//!   leads to that triangle, so the walk of step 4 reads the link where it needs it. The walk stops at an edge whose
//!   bit was set before: the thread that set it goes on.
//! - **Lengths are exact in their order.** Squared lengths, rounded the same way from both sides, and of equal ones the
//!   smaller edge id: a strict order of all edges. A walk goes from each edge to a longer one, so it ends, and the
//!   longest edge of a triangle with a divided edge is divided too.
//! - **One sub-step.** The paper needs three: neighbours still read edges that a triangle overwrites, and a triangle
//!   reads its neighbour's slots from the edge. Here triangles know their corners, so no thread reads the ends of an
//!   edge; and the slots of a neighbour follow from its ranks. So one launch writes points, edges and triangles.
//! - **Counts are population counts.** A triangle's f and r (step 5) are bits of its sides; a prefix sum (step 6) is a
//!   rank in the bit set. 8 bytes for 128 sides instead of 8 for each triangle.
//! - **The cost follows the marked part.** Few marked triangles are walked from a list, many by a pass over all edges;
//!   both give the same bits.
//!
//! - **Surfaces in space.** The bodies are generic over points of the plane and of space. The order of edges is that of
//!   lengths in either case, so the proofs hold. In space a triangle has no side from which it runs clockwise, so
//!   [`check_parts`] only checks there whether a part has an area.
//!
//! Slots, pieces and directions agree with the paper's worked example (section 4.5), template by template.

pub mod check_parts;
pub mod coarsen;
pub mod divide_edges_and_triangles;
pub mod find_longest_edges;
pub mod find_twins;
pub mod flag_divided_sides;
pub mod link_sides;
pub mod maps;
pub mod mark_divided_edges;
pub mod mark_triangles;
pub mod number_edges;
pub mod prefix_sums;
pub mod propagate_divisions;
pub mod tag_segments;
pub mod template;

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::safe::{Group, In, Own, Place};
use trioxide_kernel::view::AtomicElement;
use trioxide_kernel::{Bits, Each};

use crate::half_edges::prefetch_corners;
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::MeshPoint;
use flag_divided_sides::acting;

/// Start and end of an edge in one word, so that they are read and written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Ends(u64);

// SAFETY: a transparent `u64`.
unsafe impl AtomicElement for Ends {
    type Bits = u64;
}

impl Ends {
    /// The edge from `start` to `end`.
    #[inline(always)]
    pub fn new(start: Vertex, end: Vertex) -> Self {
        Self(u64::from(end.index()) << 32 | u64::from(start.index()))
    }

    /// Start of the edge.
    #[inline(always)]
    pub fn start(self) -> Vertex {
        Vertex::new(self.0 as u32)
    }

    /// End of the edge.
    #[inline(always)]
    pub fn end(self) -> Vertex {
        Vertex::new((self.0 >> 32) as u32)
    }
}

/// Triangles by their corners.
#[derive(Group)]
pub struct Corners<'a, P: MeshPoint> {
    /// Vertex at which each half-edge of a triangle starts; 3T.
    pub corners: In<'a, Vertex, HalfEdge>,
    /// Coordinates; V.
    pub points: In<'a, P, Vertex>,
}

impl<P: MeshPoint> Corners<'_, P> {
    /// Prefetches, on a CPU, the points of a triangle some way after `t`.
    #[inline(always)]
    fn prefetch(self, t: Triangle) {
        prefetch_corners(self.points, self.corners, t);
    }

    /// The points of triangle `t`.
    #[inline(always)]
    fn points_of(self, t: Own<Triangle>) -> [P::Double; 3] {
        self.prefetch(*t);
        self.points_at([t.part(0), t.part(1), t.part(2)])
            .each(P::to_f64)
    }

    /// The points at which a triangle's half-edges start.
    #[inline(always)]
    fn points_at(self, half_edges: [impl Place<HalfEdge>; 3]) -> [P; 3] {
        self.points.at_all(self.corners.at_all(half_edges))
    }
}

/// The triangles of a launch: those of the half-edges in a list, or all triangles from an id on if the list is empty.
#[derive(Group)]
pub struct Selected<'a> {
    /// Half-edges, or `NONE`.
    pub list: In<'a, HalfEdge>,
    /// The half-edges that are in the list.
    pub flags: In<'a, Bits<HalfEdge>>,
    /// The first triangle, where there is no list.
    pub first: u32,
}

impl Selected<'_> {
    /// The triangle of index `i`, or `None`. No two indices have the same triangle.
    #[inline(always)]
    fn triangle(self, i: u32) -> Option<Triangle> {
        if self.list.is_empty() {
            return Some(Triangle::new(self.first + i));
        }
        acting(i, self.list, self.flags)
    }
}
