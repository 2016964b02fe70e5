//! The half-edges of each edge find each other, and each point finds one of its own.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use crate::ids::{HalfEdge, Place};
use crate::slots::slot_of;

/// Finds the twin of half-edge `h`: the first one of an edge waits in `table`, the second writes the twins of both.
/// `table` and `twins` are [`HalfEdge::NONE`] before the launch; the table has more slots than there are edges.
#[kernel(
    requires(corners.len() == n, twins.len() == n),
    moves(2 * corners.bytes() + twins.bytes())
)]
pub fn pair_sides(
    h: Own<HalfEdge>,
    corners: In<Place, HalfEdge>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
) {
    let ends = |h: HalfEdge| corners.at_all([h, h.next()]);
    let [a, b] = ends(*h);
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let key = u64::from(low.index()) << 32 | u64::from(high.index());
    let size = table.len();
    let mut at = slot_of(key, size);
    loop {
        let other = table.claim(at, HalfEdge::NONE, *h);
        if other == HalfEdge::NONE {
            return;
        }
        if ends(other) == [b, a] {
            twins.store(*h, other);
            twins.store(other, *h);
            return;
        }
        at = if at + 1 < size { at + 1 } else { 0 };
    }
}

/// Counts half-edge `h` at its origin.
#[kernel(requires(corners.len() == n), moves(corners.bytes() + degrees.bytes()))]
pub fn count_corners(h: Own<HalfEdge>, corners: In<Place, HalfEdge>, degrees: Atomic<u32, Place>) {
    degrees.add(corners.at(h), 1);
}

/// Flag of a spoke on the hull.
const ON_HULL: u32 = 1 << 31;

/// Finds a half-edge that starts at each point: the only one on the hull, or the last one by its number. `spokes` is 0
/// before the launch. There are fewer than 2^31 half-edges.
#[kernel(
    requires(corners.len() == n, twins.len() == n),
    moves(corners.bytes() + twins.bytes() + spokes.bytes())
)]
pub fn find_spokes(
    h: Own<HalfEdge>,
    corners: In<Place, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    spokes: Atomic<u32, Place>,
) {
    let flag = if twins.at(h).is_none() { ON_HULL } else { 0 };
    let (p, spoke) = (corners.at(h), h.index() | flag);
    if spokes.load(p) < spoke {
        spokes.fetch_max(p, spoke);
    }
}

/// The half-edge of `p` that [`find_spokes`] has found.
#[inline(always)]
pub(super) fn spoke(spokes: In<u32, Place>, p: Place) -> HalfEdge {
    HalfEdge::new(spokes.at(p) & !ON_HULL)
}
