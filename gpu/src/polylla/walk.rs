//! Walks from frontier edge to frontier edge around a vertex.

use trioxide_kernel::Bits;
use trioxide_kernel::safe::{Group, In};

use crate::ids::{HalfEdge, Polygon};

/// Half-edges, and the frontier edges among them.
#[derive(Group)]
pub struct Labelled<'a> {
    /// The other half-edge of each edge; along the boundary an id above the half-edges of all triangles.
    pub twins: In<'a, HalfEdge, HalfEdge>,
    /// The frontier edges, both half-edges of each.
    pub frontier: In<'a, Bits<HalfEdge>>,
}

impl Labelled<'_> {
    /// The next frontier half-edge after `h` around its polygon: the first, clockwise around the vertex that `h` ends
    /// at.
    #[inline(always)]
    pub(super) fn successor(self, h: HalfEdge) -> HalfEdge {
        let mut e = h.next();
        while !self.frontier.bit(e) {
            e = self.twins.at(e).next();
        }
        e
    }

    /// The previous frontier half-edge before `h` around its polygon: the first, counter-clockwise around the vertex
    /// that `h` starts at.
    #[inline(always)]
    pub(super) fn predecessor(self, h: HalfEdge) -> HalfEdge {
        let mut e = h.prev();
        while !self.frontier.bit(e) {
            e = self.twins.at(e).prev();
        }
        e
    }
}

/// Polygons as cycles of half-edges.
#[derive(Group)]
pub struct Cycles<'a> {
    /// The smallest half-edge of each polygon.
    pub half_edges: In<'a, HalfEdge, Polygon>,
    /// The next half-edge around the polygon of each frontier half-edge.
    pub next: In<'a, HalfEdge, HalfEdge>,
}
