//! The cheapest edge of each vertex.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::view::{AtomicElement, OrderedElement};
use trioxide_kernel::{In, Out, Scalar, kernel};

use super::fans::{Corners, Fans, NO_COST};
use crate::ids::{Item, Vertex};

/// Vertices ahead of which a CPU prefetches the places of a list, the list, and the triangles in it.
const FAR: u32 = 12;
const MIDDLE: u32 = 8;
const NEAR: u32 = 4;

/// The edge of a vertex that is first by cost, then by the lower and the higher vertex.
///
/// Of edges of one vertex with equal costs, that with the lower other end has the lower key. So the bits of the cost,
/// which is not negative, before the number of the other end have the order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub struct Choice(u64);

impl Scalar for Choice {}
// SAFETY: it has the layout of its bits.
unsafe impl AtomicElement for Choice {
    type Bits = u64;
}
impl OrderedElement for Choice {}

impl Choice {
    /// No edge. Its cost is no number.
    pub const NONE: Self = Self(u64::MAX);

    /// The edge to `other`; none if its `cost` is [`NO_COST`].
    #[inline(always)]
    pub(super) fn new(cost: f32, other: Vertex) -> Self {
        if cost < NO_COST {
            Self(u64::from(cost.to_bits()) << 32 | u64::from(other.index()))
        } else {
            Self::NONE
        }
    }

    /// The cost of the edge.
    #[inline(always)]
    pub(super) const fn cost(self) -> f32 {
        f32::from_bits((self.0 >> 32) as u32)
    }

    /// The other end of the edge.
    #[inline(always)]
    pub(super) fn other(self) -> Vertex {
        Vertex::new(self.0 as u32)
    }

    /// Whether this edge of vertex `v` is before another edge, of vertex `w`, in the order of keys.
    #[inline(always)]
    pub(super) fn is_before(self, v: Vertex, other: Self, w: Vertex) -> bool {
        let (own, its) = (self.0 >> 32, other.0 >> 32);
        if own != its {
            return own < its;
        }
        let (a, b) = ordered(v, self.other());
        let (c, d) = ordered(w, other.other());
        a < c || a == c && b < d
    }
}

#[inline(always)]
fn ordered(a: Vertex, b: Vertex) -> (Vertex, Vertex) {
    if a < b { (a, b) } else { (b, a) }
}

/// Writes the cheapest edge of vertex `list[i]`.
#[kernel(
    requires(list.len() == n, choices.len() == fans.spans.len()),
    moves(list.bytes() + 36 * n + 8 * n)
)]
pub fn find_cheapest(i: Item, list: In<Vertex>, fans: Fans, choices: Out<Choice>) {
    if cfg!(not(target_arch = "nvptx64")) && i.index() + FAR < list.len() {
        let ahead = |count: u32| list.at(i.index() + count);
        fans.spans.prefetch(ahead(FAR));
        fans.corners.prefetch(fans.span(ahead(MIDDLE)).start);
        fans.prefetch_triangles(fans.span(ahead(NEAR)));
    }
    let v = list.at(i);
    let mut choice = Choice::NONE;
    fans.all(v, |h, after, before| {
        choice = choice
            .min(Choice::new(fans.starts.at(h).cost, after))
            .min(Choice::new(fans.starts.at(h.prev()).cost, before));
        true
    });
    choices.set(v, choice);
}
