//! The fans of vertices: for each vertex the list of its corners, linked from one to the next.
//!
//! A collapse joins two lists and rewrites the corners of one vertex; no other list changes. The corners of a triangle
//! that is gone hold no vertex, and stay in the list of its third vertex until
//! [`find_cheapest()`](super::find_cheapest()) walks it, before the next round. The order of a list is that of the
//! triangles at first; a joined list is that of the lower vertex and then that of the higher one. So sums over a fan
//! have one order.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::safe::{self, Own, Scatter};
use trioxide_kernel::{Group, In, Scalar, kernel};

use crate::ids::{HalfEdge, Vertex};

/// Bits of a vertex's marks.
pub mod mark {
    /// On the boundary: an edge of it has one triangle.
    pub const BORDER: u32 = 1;
    /// Stays where it is.
    pub const LOCKED: u32 = 2;
    /// An end of no collapse: its triangles are no single fan, or too many.
    pub const APART: u32 = 4;
}

/// Most triangles of a vertex that is an end of a collapse, or comes of one.
pub const MOST_IN_FAN: u32 = 64;

/// The cost of an edge that does not collapse: it fails a check, or its error is above the bound.
pub const NO_COST: f32 = f32::INFINITY;

/// Where a half-edge starts, and the cost of its edge.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Start {
    /// The vertex of the corner; none in triangles that are gone.
    pub vertex: Vertex,
    /// The cost, or [`NO_COST`].
    pub cost: f32,
}

impl Scalar for Start {}

impl Start {
    /// Of a triangle that is gone.
    pub(super) const GONE: Self = Self::without_cost(Vertex::NONE);

    /// At vertex `v`.
    #[inline(always)]
    pub(super) const fn without_cost(v: Vertex) -> Self {
        Self {
            vertex: v,
            cost: NO_COST,
        }
    }
}

/// The lists of corners.
#[derive(Group)]
pub struct Fans<'a> {
    /// The first corner of each vertex, or none; V.
    pub heads: In<'a, HalfEdge>,
    /// The next corner of the same vertex, or none; 3T.
    pub nexts: In<'a, HalfEdge>,
    /// The half-edges of triangles, by corners; 3T.
    pub starts: In<'a, Start>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl FansBuffers<'_> {
    /// Bytes of the lists.
    pub fn bytes(&self) -> usize {
        self.heads.bytes() + self.nexts.bytes() + self.starts.bytes()
    }
}

impl Fans<'_> {
    /// Calls `each` with the corners of vertex `v` in their order, and the two other vertices of the triangle, until it
    /// returns false. Returns whether it never did.
    #[inline(always)]
    pub(super) fn all(
        &self,
        v: Vertex,
        mut each: impl FnMut(HalfEdge, Vertex, Vertex) -> bool,
    ) -> bool {
        let mut h = self.heads.at(v);
        while h.is_some() {
            let after = self.starts.at(h.next()).vertex;
            if after.is_some() && !each(h, after, self.starts.at(h.prev()).vertex) {
                return false;
            }
            h = self.nexts.at(h);
        }
        true
    }
}

/// Links corner `items[i]` to the next one of the list, which ends where another vertex's begins.
#[kernel(
    requires(items.len() == n, corners.len() == n, nexts.len() == n),
    moves(items.bytes() + corners.bytes() + nexts.bytes() + heads.bytes())
)]
pub fn link_corners(
    i: Own,
    items: safe::In<HalfEdge>,
    corners: safe::In<Vertex, HalfEdge>,
    heads: Scatter<HalfEdge, Vertex>,
    nexts: Scatter<HalfEdge, HalfEdge>,
) {
    let h = items.at(i);
    let v = corners.at(h);
    let next = items.get(*i + 1).unwrap_or(HalfEdge::NONE);
    let continues = next.is_some() && corners.at(next) == v;
    nexts.set(h, if continues { next } else { HalfEdge::NONE });
    let begins = *i == 0 || corners.at(items.at(*i - 1)) != v;
    if begins {
        heads.set(v, h);
    }
}
