//! Costs of edges.
//!
//! An edge's cost is at its half-edge from the lower to the higher vertex, or after a collapse at that from the vertex
//! that moved. Its other half-edge, if there is one, has no cost ([`NO_COST`]), or the same. An edge of the boundary
//! has one half-edge, in either direction: at a vertex of the boundary both half-edges of an edge have the cost.

use trioxide_kernel::{Each, In, Out, Scalar, kernel};

use super::fans::{NO_COST, Start, mark};
use super::quadric::{Collapse, End, Place, collapse_of};
use super::sites::Site;
use crate::ids::{HalfEdge, Triangle, Vertex};

/// How edges collapse.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Rules {
    /// The square of the largest error.
    pub bound: f64,
    /// The number of the [`Place`].
    pub place: u32,
    /// 1 if only edges between vertices of the boundary have a cost, else 0.
    pub at_border: u32,
    /// 1 if numbers of the vertices count in the quadrics, else 0.
    pub counts: u32,
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
            at_border: 0,
            counts: 0,
            padding: 0,
        }
    }

    /// Gives a cost only to edges between vertices of the boundary, or to all.
    pub fn set_at_border(&mut self, at_border: bool) {
        self.at_border = at_border.into();
    }

    #[inline(always)]
    pub(super) fn place(self) -> Place {
        match self.place {
            0 => Place::Optimal,
            1 => Place::Midpoint,
            _ => Place::End,
        }
    }
}

/// A vertex, with its data.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub id: Vertex,
    pub site: Site,
}

impl Known {
    #[inline(always)]
    pub(super) fn of(sites: In<Site>, v: Vertex) -> Self {
        Self {
            id: v,
            site: sites.at(v),
        }
    }

    #[inline(always)]
    pub(super) fn is(&self, bits: u32) -> bool {
        self.site.marks & bits != 0
    }

    /// This end of an edge to `other`. A locked end holds the position, else the end of the higher rank: on the
    /// boundary, on a line of a seam, at the end of a seam, free.
    #[inline(always)]
    pub(super) fn end(&self, other: &Self) -> End {
        const RANKS: u32 = mark::SEAM | mark::LINE | mark::BORDER | mark::LOCKED;
        let holds = self.is(mark::LOCKED) || self.site.marks & RANKS > other.site.marks & RANKS;
        End {
            at: self.site.at,
            quadric: self.site.quadric,
            holds,
        }
    }
}

/// The ends of the edge between two vertices, the lower one first.
#[inline(always)]
pub(super) fn ends_of(u: &Known, v: &Known) -> [End; 2] {
    if u.id < v.id {
        [u.end(v), v.end(u)]
    } else {
        [v.end(u), u.end(v)]
    }
}

/// The collapse of the edge between two vertices.
#[inline(always)]
pub(super) fn collapse_between(u: &Known, v: &Known, rules: Rules) -> Collapse {
    let [low, high] = ends_of(u, v);
    collapse_of(&low, &high, rules.place())
}

/// The cost of the edge between vertex `v` and the vertex `other`, at a half-edge that has it. Others have it only
/// between two vertices of the boundary.
#[inline(always)]
pub(super) fn cost(v: &Known, other: Vertex, has_it: bool, sites: In<Site>, rules: Rules) -> f32 {
    let collapse = |v: &Known, other: &Known| collapse_between(v, other, rules);
    cost_by(v, other, has_it, sites, rules, collapse)
}

/// As [`cost`], with the collapse of an edge.
#[inline(always)]
pub(super) fn cost_by(
    v: &Known,
    other: Vertex,
    has_it: bool,
    sites: In<Site>,
    rules: Rules,
    collapse: impl Fn(&Known, &Known) -> Collapse,
) -> f32 {
    let is_one_way = !has_it || rules.at_border != 0;
    if is_one_way && !v.is(mark::BORDER) {
        return NO_COST;
    }
    let other = Known::of(sites, other);
    let is_here = !is_one_way || other.is(mark::BORDER);
    // No end is apart, and not both are locked.
    let are_whole = !v.is(mark::APART) && !other.is(mark::APART);
    let are_locked = v.is(mark::LOCKED) && other.is(mark::LOCKED);
    let may = are_whole && !are_locked;
    if !is_here || !may {
        return NO_COST;
    }
    let collapse = collapse(v, &other);
    let within = collapse.cost <= rules.bound * (v.site.quadric.area + other.site.quadric.area);
    // Not so for a cost that is no number.
    if within && collapse.key >= 0.0 {
        collapse.key as f32
    } else {
        NO_COST
    }
}

/// Writes the costs at the half-edges of triangle `t`, unless it is gone.
#[kernel(
    requires(starts.len() == 3 * n),
    moves(sites.bytes() + 2 * starts.bytes()),
    registers = 128,
)]
pub fn price_triangles(t: Triangle, sites: In<Site>, rules: Rules, starts: Out<Start>) {
    let [h, i, j] = [0, 1, 2].each(|k| HalfEdge::of(t, k));
    let a = starts.at(h).vertex;
    if a.is_none() {
        return;
    }
    let (b, c) = (starts.at(i).vertex, starts.at(j).vertex);
    let price = |h: HalfEdge, from: Vertex, to: Vertex| {
        let cost = cost(&Known::of(sites, from), to, from < to, sites, rules);
        starts.set(h, Start { vertex: from, cost });
    };
    price(h, a, b);
    price(i, b, c);
    price(j, c, a);
}
