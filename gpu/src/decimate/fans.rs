//! The fans of vertices: for each vertex the list of its corners, in consecutive places.
//!
//! A collapse writes the list of its vertex to new places and rewrites the corners of one vertex; no other list
//! changes. The corners of a triangle that is gone hold no vertex, and stay in the list of its third vertex until the
//! vertex is an end of a collapse. When there is no room for new lists, [`move_fans()`] writes all to new memory. The
//! order of a list is that of the triangles at first; a joined list is that of the lower vertex and then that of the
//! higher one. So sums over a fan have one order.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::{Group, In, Out, Scalar, kernel};

use crate::ids::{HalfEdge, Vertex};

/// Bits of a vertex's marks. Of the ends of an edge the one with the highest of the first four holds its place.
pub mod mark {
    /// At an edge of a seam.
    pub const SEAM: u32 = 1;
    /// A seam passes: there are two copies, and two edges of seams.
    pub const LINE: u32 = 2;
    /// On the boundary: an edge of it has one triangle.
    pub const BORDER: u32 = 4;
    /// Stays where it is.
    pub const LOCKED: u32 = 8;
    /// An end of no collapse: its triangles are no single fan, or too many.
    pub const APART: u32 = 16;
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

/// The places of a vertex's corners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Span {
    /// The first place.
    pub start: u32,
    /// The number of corners.
    pub count: u32,
}

impl Scalar for Span {}

/// The lists of corners.
#[derive(Group)]
pub struct Fans<'a> {
    /// The places of each vertex; V.
    pub spans: In<'a, Span>,
    /// The corners in these places.
    pub corners: In<'a, HalfEdge>,
    /// The half-edges of triangles, by corners; 3T.
    pub starts: In<'a, Start>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl FansBuffers<'_> {
    /// Bytes of the lists.
    pub fn bytes(&self) -> usize {
        self.spans.bytes() + self.corners.bytes() + self.starts.bytes()
    }
}

/// The lists of corners, while they change.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub spans: Out<'a, Span>,
    pub corners: Out<'a, HalfEdge>,
    pub starts: Out<'a, Start>,
}

/// Reads of the lists of corners.
pub(super) trait Corners {
    /// The places of a vertex's corners.
    fn span(&self, v: Vertex) -> Span;
    /// The corner in a place.
    fn corner(&self, place: u32) -> HalfEdge;
    /// The vertex of a corner; none in triangles that are gone.
    fn vertex(&self, h: HalfEdge) -> Vertex;

    /// Calls `each` with the corners of vertex `v` in their order, and the two other vertices of the triangle, until it
    /// returns false. Returns whether it never did.
    #[inline(always)]
    fn all(&self, v: Vertex, mut each: impl FnMut(HalfEdge, Vertex, Vertex) -> bool) -> bool {
        let Span { start, count } = self.span(v);
        for place in start..start + count {
            let h = self.corner(place);
            let after = self.vertex(h.next());
            if after.is_some() && !each(h, after, self.vertex(h.prev())) {
                return false;
            }
        }
        true
    }
}

macro_rules! corners {
    ($lists:ident) => {
        impl Corners for $lists<'_> {
            #[inline(always)]
            fn span(&self, v: Vertex) -> Span {
                self.spans.at(v)
            }

            #[inline(always)]
            fn corner(&self, place: u32) -> HalfEdge {
                self.corners.at(place)
            }

            #[inline(always)]
            fn vertex(&self, h: HalfEdge) -> Vertex {
                self.starts.at(h).vertex
            }
        }
    };
}

corners!(Fans);
corners!(Lists);

impl Fans<'_> {
    /// Prefetches the triangles of these corners on a CPU.
    #[inline(always)]
    pub(super) fn prefetch_triangles(&self, span: Span) {
        for place in span.start..span.start + span.count {
            self.starts.prefetch(self.corner(place));
        }
    }
}

/// Writes the places of vertex `v`, whose list begins at `offsets[v]`.
#[kernel(
    requires(offsets.len() == n + 1, spans.len() == n),
    moves(offsets.bytes() + spans.bytes())
)]
pub fn place_fans(v: Vertex, offsets: In<u32>, spans: Out<Span>) {
    let i = v.index();
    let (start, end) = (offsets.at(i), offsets.at(i + 1));
    spans.set(
        v,
        Span {
            start,
            count: end - start,
        },
    );
}

/// Writes the number of corners of vertex `v` in triangles that are left.
#[kernel(
    requires(fans.spans.len() == n, counts.len() == n),
    moves(fans.bytes() + counts.bytes())
)]
pub fn count_live_corners(v: Vertex, fans: Fans, counts: Out<u32>) {
    let mut count = 0;
    fans.all(v, |_, _, _| {
        count += 1;
        true
    });
    counts.set(v, count);
}

/// Writes the corners of vertex `v` in triangles that are left to the places from `offsets[v]`.
#[kernel(
    requires(fans.spans.len() == n, offsets.len() == n, spans.len() == n),
    moves(fans.bytes() + offsets.bytes() + spans.bytes() + 4 * fans.starts.len())
)]
pub fn move_fans(
    v: Vertex,
    fans: Fans,
    offsets: In<u32>,
    spans: Out<Span>,
    corners: Out<HalfEdge>,
) {
    let start = offsets.at(v);
    let mut count = 0;
    fans.all(v, |h, _, _| {
        corners.set(start + count, h);
        count += 1;
        true
    });
    spans.set(v, Span { start, count });
}
