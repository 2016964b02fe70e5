//! The cheapest edge of each vertex.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::{In, Out, Scalar, kernel};

use super::fans::{NO_COST, Start};
use crate::ids::{HalfEdge, Item, Vertex};

/// Vertices ahead of which a CPU prefetches a list.
const AHEAD: u32 = 16;

/// The edge of a vertex that is first by cost, then by the lower and the higher vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Choice {
    /// Its cost; [`NO_COST`] for no edge.
    pub cost: f32,
    /// Its other end.
    pub other: Vertex,
}

impl Scalar for Choice {}

impl Choice {
    /// No edge.
    pub const NONE: Self = Self {
        cost: NO_COST,
        other: Vertex::NONE,
    };

    /// Whether this edge of vertex `v` is before another edge, of vertex `w`, in the order of keys.
    #[inline(always)]
    pub(super) fn is_before(self, v: Vertex, other: Self, w: Vertex) -> bool {
        if self.cost != other.cost {
            return self.cost < other.cost;
        }
        let (a, b) = ordered(v, self.other);
        let (c, d) = ordered(w, other.other);
        a < c || a == c && b < d
    }
}

#[inline(always)]
fn ordered(a: Vertex, b: Vertex) -> (Vertex, Vertex) {
    if a < b { (a, b) } else { (b, a) }
}

/// Writes the cheapest edge of vertex `list[i]`, and drops the corners of triangles that are gone from its list.
///
/// Of edges of one vertex with equal costs, that with the lower other end has the lower key.
#[kernel(
    requires(list.len() == n, nexts.len() == starts.len(), choices.len() == heads.len()),
    moves(list.bytes() + 36 * n + 8 * n)
)]
pub fn find_cheapest(
    i: Item,
    list: In<Vertex>,
    starts: In<Start>,
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    choices: Out<Choice>,
) {
    if cfg!(not(target_arch = "nvptx64")) && i.index() + AHEAD < list.len() {
        heads.unwritten().prefetch(list.at(i.index() + AHEAD));
    }
    let v = list.at(i);
    let mut choice = Choice::NONE;
    let mut last = HalfEdge::NONE;
    let mut is_linked = true;
    let mut h = heads.at(v);
    while h.is_some() {
        let next = nexts.at(h);
        let after = starts.at(h.next()).vertex;
        if after.is_none() {
            // The triangle is gone.
            is_linked = false;
        } else {
            if !is_linked {
                link(heads, nexts, v, last, h);
                is_linked = true;
            }
            let before = starts.at(h.prev());
            choice = cheaper(choice, starts.at(h).cost, after);
            choice = cheaper(choice, before.cost, before.vertex);
            last = h;
        }
        h = next;
    }
    if !is_linked {
        link(heads, nexts, v, last, HalfEdge::NONE);
    }
    choices.set(v, choice);
}

/// Lets corner `h` follow the `last` one in the list of vertex `v`, or be the first.
#[inline(always)]
pub(super) fn link(
    heads: Out<HalfEdge>,
    nexts: Out<HalfEdge>,
    v: Vertex,
    last: HalfEdge,
    h: HalfEdge,
) {
    if last.is_none() {
        heads.set(v, h);
    } else {
        nexts.set(last, h);
    }
}

#[inline(always)]
fn cheaper(choice: Choice, cost: f32, other: Vertex) -> Choice {
    if cost < choice.cost || cost == choice.cost && cost < NO_COST && other < choice.other {
        Choice { cost, other }
    } else {
        choice
    }
}
