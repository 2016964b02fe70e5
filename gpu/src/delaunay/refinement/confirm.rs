//! Which proposals have the lowest claims.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::cavity::go_around;
use super::{NOTHING, Proposed, REMOVE, SPLIT};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::ids::{HalfEdge, Item, Triangle};

/// The twin of `h`, if it is of the same cavity: of a triangle with this claim, and not across a segment, but for the
/// one that is split.
#[inline(always)]
pub(super) fn inner_twin(
    h: HalfEdge,
    split: HalfEdge,
    claim: u64,
    twins: In<HalfEdge, HalfEdge>,
    lines: In<u32, HalfEdge>,
    claims: In<u64, Triangle>,
) -> HalfEdge {
    let twin = twins.at(h);
    let is_open = twin.is_some() && (lines.at(h) == NO_SEGMENT || h == split || twin == split);
    if is_open && claims.at(twin.triangle()) == claim {
        twin
    } else {
        HalfEdge::NONE
    }
}

/// Whether proposal `i` for a vertex is done; `sizes` gets the number of its new triangles, `lost` the number of
/// proposals that are not done.
#[kernel(requires(sizes.len() > n, proposed.kinds.len() == n), moves(60 * n))]
pub fn confirm_rings(
    i: Own<Item>,
    proposed: Proposed,
    twins: In<HalfEdge, HalfEdge>,
    lines: In<u32, HalfEdge>,
    claims: In<u64, Triangle>,
    sizes: Out<u32, Item>,
    lost: Atomic,
) -> bool {
    sizes.set(i, 0);
    let kind = proposed.kinds.at(i);
    if kind == NOTHING || kind == REMOVE {
        return false;
    }
    let (start, claim) = (proposed.starts.at(i), proposed.claims.at(i));
    if claims.at(start.triangle()) != claim {
        lost.add(0, 1);
        return false;
    }
    let split = if kind == SPLIT { start } else { HalfEdge::NONE };
    let mut size = 0;
    let mut is_lowest = true;
    go_around(start, |h| {
        let twin = inner_twin(h, split, claim, twins, lines, claims);
        if twin.is_none() {
            let beyond = twins.at(h);
            is_lowest &= beyond.is_none() || claims.at(beyond.triangle()) >= claim;
            size += u32::from(h != split);
        }
        twin
    });
    if is_lowest {
        sizes.set(i, size);
    } else {
        lost.add(0, 1);
    }
    is_lowest
}

/// Whether proposal `i` is a removal and is done.
#[kernel(requires(proposed.kinds.len() >= n), moves(60 * n))]
pub fn confirm_removals(
    i: Own<Item>,
    proposed: Proposed,
    twins: In<HalfEdge, HalfEdge>,
    claims: In<u64, Triangle>,
) -> bool {
    if proposed.kinds.at(i) != REMOVE {
        return false;
    }
    let (start, claim) = (proposed.starts.at(i), proposed.claims.at(i));
    let mut spoke = start;
    loop {
        let beyond = twins.at(spoke.next());
        if claims.at(spoke.triangle()) != claim
            || beyond.is_some() && claims.at(beyond.triangle()) < claim
        {
            return false;
        }
        spoke = twins.at(spoke.prev());
        if spoke == start {
            return true;
        }
    }
}
