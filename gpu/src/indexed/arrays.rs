//! The arrays as the kernels' arguments.

use trioxide_kernel::safe::{Group, In};
use trioxide_kernel::{Bits, Each};

use crate::ids::{HalfEdge, Polygon, Triangle};

/// The triangles across half-edges.
#[derive(Clone, Copy)]
pub(super) struct Adjacent<'a>(pub In<'a, Triangle, HalfEdge>);

impl Adjacent<'_> {
    /// The other half of half-edge `h`: the edge of the neighbour across it that leads back; `NONE` on the boundary.
    #[inline(always)]
    pub fn opposite(self, h: HalfEdge) -> HalfEdge {
        let neighbour = self.0.at(h);
        if neighbour.is_none() {
            return HalfEdge::NONE;
        }
        let [first, second, third] = [0, 1, 2].each(|k| HalfEdge::of(neighbour, k));
        if self.0.at(first) == h.triangle() {
            first
        } else if self.0.at(second) == h.triangle() {
            second
        } else {
            third
        }
    }

    /// The next half-edge clockwise with the same origin as `h`, which is not on the boundary.
    #[inline(always)]
    pub fn clockwise(self, h: HalfEdge) -> HalfEdge {
        self.opposite(h).next()
    }
}

/// Neighbours, and the frontier edges.
#[derive(Group)]
pub struct Labelled<'a> {
    /// The Neighbour array: the triangle across each half-edge, `NONE` on the boundary.
    pub neighbours: In<'a, Triangle, HalfEdge>,
    /// The frontier edges, both half-edges of each.
    pub frontier: In<'a, Bits<HalfEdge>>,
}

impl Labelled<'_> {
    /// The other half of half-edge `h`.
    #[inline(always)]
    pub(super) fn opposite(self, h: HalfEdge) -> HalfEdge {
        Adjacent(self.neighbours).opposite(h)
    }

    /// The next frontier half-edge after `h` around its polygon; `crossed` gets every half-edge on the way, in
    /// clockwise order around the vertex between the two.
    #[inline(always)]
    pub(super) fn successor(self, h: HalfEdge, mut crossed: impl FnMut(HalfEdge)) -> HalfEdge {
        let mut e = h.next();
        while !self.frontier.bit(e) {
            crossed(e);
            e = self.opposite(e).next();
        }
        e
    }

    /// Number of vertices of the polygon through the frontier half-edge `start`, and its smallest half-edge.
    #[inline(always)]
    pub(super) fn measure(self, start: HalfEdge) -> (u32, HalfEdge) {
        let (mut length, mut smallest) = (1, start);
        let mut h = self.successor(start, |_| {});
        while h != start {
            length += 1;
            smallest = smallest.min(h);
            h = self.successor(h, |_| {});
        }
        (length, smallest)
    }
}

/// Polygons in a Mesh array.
#[derive(Group)]
pub struct Polygons<'a> {
    /// Smallest half-edge of each polygon.
    pub starts: In<'a, HalfEdge, Polygon>,
    /// The Position array: where each polygon begins in `mesh`.
    pub positions: In<'a, u32, Polygon>,
    /// The Mesh array: the number of vertices of each polygon, followed by its vertices.
    pub mesh: In<'a, u32>,
}

/// The canonical order of all polygons.
#[derive(Group)]
pub struct Order<'a> {
    /// The half-edges that polygons start with.
    pub start_bits: In<'a, Bits<HalfEdge>>,
    /// Number of polygons that start in the words before each word of `start_bits`.
    pub ranks: In<'a, u32>,
}

impl Order<'_> {
    /// Place of the polygon whose smallest half-edge is `h`: the number of polygons before it.
    #[inline(always)]
    pub(super) fn rank(self, h: HalfEdge) -> u32 {
        let h = h.index();
        let before = self.start_bits.at(h / 32).word() & ((1 << (h % 32)) - 1);
        self.ranks.at(h / 32) + before.count_ones()
    }
}
