//! Short edges: edges of polygons of the plane collapse, where that keeps the polygons valid (the option `min_edge`).
//! No vertex moves.
//!
//! # Definition
//!
//! The polygons are simple, and none visits a vertex twice. A *side* of a polygon is one of its corners: it runs from
//! there to the next corner. The two sides of an edge are twins; an edge's id is its lower side in the lists of the
//! polygons before the first collapse. The *diameter* of a polygon is the greatest distance of two of its vertices. An
//! edge is *short* if its squared length is below the square of a ratio R times the squared diameter of a polygon
//! beside it, by products and sums of doubles.
//!
//! A *move* of vertex v takes it along an edge into the edge's other end u: u takes the place of v in all polygons
//! around v, and v is gone; the two polygons beside the edge have one vertex less. A move is *allowed* if
//!
//! - *v may leave*: it has no constrained edge; or it has two, both on one line and on two sides of v, and the move is
//!   along one of these. Constrained edges are the segments, those between two regions and those on the border. A
//!   vertex may be pinned besides: then it stays.
//! - *the polygons stay simple*: with u in place of v each polygon around v is simple and runs counter-clockwise. That
//!   is: two of its sides touch only if they are neighbours, and then only at their common corner. Of convex pieces
//!   each must stay convex.
//!
//! A short edge is *ready* if a move along it is allowed: that of its end with the higher id, or else that of the other
//! end. It changes the polygons around the vertex that goes. In a *round* a ready edge collapses if no ready edge with
//! a lower key changes one of the same polygons. The key is the squared length, rounded to single precision, and then
//! the edge's id. Rounds follow until no edge is ready.
//!
//! # Proofs
//!
//! *The result is a mesh of the same part of the plane.* Let w_0 = u, w_1, ... be the neighbours of v in order, F_i the
//! polygon around v between w_(i-1) and w_i, F_i' the polygon with u in its place, and T_i the closed walk w_i, u, v.
//! As chains of directed edges F_i' - F_i = T_i - T_(i-1), since the path w_i, u, w_(i-1) replaces w_i, v, w_(i-1). So
//! winding numbers fulfil the same, and over all polygons around v their sum changes by the last T less the first. In a
//! closed fan these are the same; in one between two constrained edges on a line, with u at one of them, both have no
//! area. So the sum stays 1 in the union of the old polygons and 0 beyond. Each F_i' is simple and runs
//! counter-clockwise: its winding number is 1 inside and 0 outside. Numbers that are 0 or 1 and have the sum 1 belong
//! to polygons that cover the union without an overlap.
//!
//! *No vertex lies within an edge.* Say that x does, on an edge of F_i'. Near x there is F_i' on one side of the edge,
//! and its neighbour along the edge on the other; on a border nothing changes its place. A polygon with the corner x
//! would overlap one of them, or be one of them, which then is not simple. For the same reason two polygons have no
//! edge twice and none collapses into two vertices: links need no condition of their own.
//!
//! *Constrained edges and regions keep their place*: a vertex with constrained edges goes only along a line of two of
//! them, and each side of the line is a fan of its own in the proof above.
//!
//! *Collapses of a round do not depend on each other.* Keys are distinct, so no polygon is changed by two collapses of
//! a round. A move is allowed or not by the polygons that it changes. Its vertex u is a corner of two of these, or of
//! one at the border, so it does not go in the same round.
//!
//! *Every order gives the same result, and it ends.* A round is a function of the state before it. The ready edge with
//! the least key of all collapses, so each round removes a vertex. At the end no move along a short edge is allowed.
//!
//! # Work
//!
//! An edge is judged again only if a polygon around one of its ends has changed, or it was ready and not the least.
//! Sides stay where they are; a removed one loses its vertex. The diameter of a polygon of m vertices takes up to m²
//! steps, and a change of it m.

mod collapse;
mod judge;
mod link;

pub use collapse::*;
pub use judge::*;
pub use link::*;

use trioxide_kernel::safe::{Group, In};

use crate::ids::{Corner, Polygon, Vertex};

/// The sides of polygons, each by the corner that it starts at, linked around polygons and across edges.
#[derive(Group)]
pub struct Sides<'a> {
    /// The vertex at which each starts; `NONE` for one that is removed.
    pub origins: In<'a, Vertex, Corner>,
    /// The next side around the polygon.
    pub nexts: In<'a, Corner, Corner>,
    /// The side before it.
    pub prevs: In<'a, Corner, Corner>,
    /// The other side of the edge; `NONE` on the border.
    pub twins: In<'a, Corner, Corner>,
    /// The polygon.
    pub owners: In<'a, Polygon, Corner>,
}

impl Sides<'_> {
    /// The vertex at which `side` ends.
    #[inline(always)]
    fn end(self, side: Corner) -> Vertex {
        self.origins.at(self.nexts.at(side))
    }

    /// The edge of `side`: its lower side.
    #[inline(always)]
    fn edge(self, side: Corner) -> Corner {
        let twin = self.twins.at(side);
        if twin < side { twin } else { side }
    }

    /// A side that starts at the end of `side`.
    #[inline(always)]
    fn leaving_end(self, side: Corner) -> Corner {
        let twin = self.twins.at(side);
        if twin.is_some() {
            twin
        } else {
            self.nexts.at(side)
        }
    }

    /// The first of the sides that start where `side` does, counter-clockwise: the one on the border, or `side`.
    #[inline(always)]
    fn first_around(self, side: Corner) -> Corner {
        let mut first = side;
        let mut is_done = false;
        while !is_done {
            let twin = self.twins.at(first);
            is_done = twin.is_none();
            if !is_done {
                first = self.nexts.at(twin);
                is_done = first == side;
            }
        }
        first
    }

    /// The side after `side` around the vertex that it starts at; `NONE` at the border and before `first`.
    #[inline(always)]
    fn after(self, side: Corner, first: Corner) -> Corner {
        let next = self.twins.at(self.prevs.at(side));
        if next == first { Corner::NONE } else { next }
    }
}
