//! Costs of edges.
//!
//! An edge's cost is at its half-edge from the lower to the higher vertex. Its other half-edge, if there is one, has no
//! cost ([`NO_COST`]). An edge of the boundary has one half-edge, in either direction: between two vertices of the
//! boundary both half-edges have the cost.

use glam::DVec3;
use trioxide_kernel::{Group, In, Out, Scalar, kernel};

use super::fans::{Fans, mark};
use super::quadric::{Collapse, End, Place, Quadric, collapse_of};
use crate::ids::{HalfEdge, Item, Vertex};

/// The cost of an edge that does not collapse: it fails a check, or its error is above the bound.
pub const NO_COST: f32 = f32::INFINITY;

/// Collapses ahead of which vertices are prefetched, and their neighbours.
const FAR: u32 = 8;
const NEAR: u32 = 2;

/// The data that costs of edges are computed from.
#[derive(Group)]
pub struct Vertices<'a> {
    /// Positions; V.
    pub points: In<'a, DVec3>,
    /// Quadrics; V.
    pub quadrics: In<'a, Quadric>,
    /// Marks; V.
    pub marks: In<'a, u32>,
}

/// How edges collapse.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Rules {
    /// The square of the largest error.
    pub bound: f64,
    /// The number of the [`Place`].
    pub place: u32,
    /// No meaning.
    pub padding: u32,
}

impl Scalar for Rules {}

impl Rules {
    /// Places by `place`, with errors up to the root of `bound`.
    pub fn new(place: Place, bound: f64) -> Self {
        Self {
            bound,
            place: place as u32,
            padding: 0,
        }
    }

    #[inline(always)]
    fn place(self) -> Place {
        match self.place {
            0 => Place::Optimal,
            1 => Place::Midpoint,
            _ => Place::End,
        }
    }
}

impl Vertices<'_> {
    /// The collapse of the edge between two vertices, its ends, and whether it may be one: no end is apart, and not
    /// both are locked.
    #[inline(always)]
    pub(super) fn collapse(
        &self,
        u: Vertex,
        v: Vertex,
        rules: Rules,
    ) -> (Collapse, [End; 2], bool) {
        let (low, high) = if u < v { (u, v) } else { (v, u) };
        let (m, n) = (self.marks.at(low), self.marks.at(high));
        let may = (m | n) & mark::APART == 0 && m & n & mark::LOCKED == 0;
        // A locked end holds the position; if there is none, the only end that is on the boundary does.
        let holds = |own: u32, other: u32| {
            own & mark::LOCKED != 0
                || (own & mark::BORDER != 0 && other & (mark::BORDER | mark::LOCKED) == 0)
        };
        let end = |v: Vertex, holds: bool| End {
            at: self.points.at(v),
            quadric: self.quadrics.at(v),
            holds,
        };
        let ends = [end(low, holds(m, n)), end(high, holds(n, m))];
        (collapse_of(&ends[0], &ends[1], rules.place()), ends, may)
    }

    /// The cost at half-edge `from` to `to`.
    #[inline(always)]
    pub(super) fn cost(&self, from: Vertex, to: Vertex, rules: Rules) -> f32 {
        let is_twice = self.marks.at(from) & self.marks.at(to) & mark::BORDER != 0;
        if from > to && !is_twice {
            return NO_COST;
        }
        let (collapse, [low, high], may) = self.collapse(from, to, rules);
        let within = collapse.cost <= rules.bound * (low.quadric.area + high.quadric.area);
        // Not so for a cost that is no number.
        if may && within && collapse.key >= 0.0 {
            collapse.key as f32
        } else {
            NO_COST
        }
    }
}

/// Writes the costs of the edges at which corners of vertex `list[i]` are the lower end, or on the boundary.
///
/// So each cost is written once: half-edge `h` and the one before it in its triangle belong to the edges at their
/// vertex.
#[kernel(
    requires(list.len() == n, costs.len() == fans.corners.len()),
    moves(list.bytes() + fans.bytes() + vertices.quadrics.bytes() + vertices.points.bytes() + costs.bytes())
)]
pub fn price_edges(
    i: Item,
    list: In<Vertex>,
    fans: Fans,
    vertices: Vertices,
    rules: Rules,
    costs: Out<f32>,
) {
    let v = list.at(i);
    fans.all(v, |h, b, _| {
        costs.set(h, vertices.cost(v, b, rules));
        true
    });
}

/// Writes the costs of all edges at the vertex of a collapse, the lower end of nominee `chosen[i]`.
#[kernel(
    requires(chosen.len() == n, costs.len() == fans.corners.len()),
    moves(chosen.bytes())
)]
pub fn price_again(
    i: Item,
    chosen: In<Item>,
    lows: In<Vertex>,
    fans: Fans,
    vertices: Vertices,
    rules: Rules,
    costs: Out<f32>,
) {
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(i, chosen, lows, fans, vertices);
    }
    let v = lows.at(chosen.at(i));
    fans.all(v, |h: HalfEdge, b, c| {
        costs.set(h, vertices.cost(v, b, rules));
        costs.set(h.prev(), vertices.cost(c, v, rules));
        true
    });
}

/// Prefetches the vertex of a later collapse, and the neighbours of a nearer one.
#[inline(always)]
fn ask_ahead(i: Item, chosen: In<Item>, lows: In<Vertex>, fans: Fans, vertices: Vertices) {
    let far = i.index() + FAR;
    if far >= chosen.len() {
        return;
    }
    let v = lows.at(chosen.at(far));
    fans.heads.prefetch(v);
    vertices.quadrics.prefetch(v);
    vertices.points.prefetch(v);
    let v = lows.at(chosen.at(i.index() + NEAR));
    fans.all(v, |_, b, _| {
        vertices.quadrics.prefetch(b);
        vertices.points.prefetch(b);
        vertices.marks.prefetch(b);
        true
    });
}
