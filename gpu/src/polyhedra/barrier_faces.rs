//! Barrier faces: frontier faces with the same region on both sides.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::link::Link;
use super::{sides_of, tally};
use crate::ids::{FaceSide, Item, Polyhedron, Tet};

/// Whether each side of tetrahedron `t` is the lower side of a barrier face.
#[kernel(
    members = FaceSide,
    requires(twins.len() == 4 * n, frontier.len() == words(4 * n), roots.len() == n),
    moves(twins.bytes() + frontier.bytes() + roots.bytes() + 4 * words(4 * n))
)]
pub fn find_barrier_faces(
    t: Own<Tet>,
    twins: In<FaceSide, FaceSide>,
    frontier: In<Bits<FaceSide>>,
    roots: In<Link, Tet>,
) -> [bool; 4] {
    let behind = twins.quad(FaceSide::of(*t, 0));
    let frontier = sides_of(frontier, *t);
    let root = roots.at(t).parent();
    let asks = [0, 1, 2, 3].each(|k| {
        let other = behind[k];
        (frontier >> k & 1 != 0) & other.is_some() & (FaceSide::of(*t, k as u32) < other)
    });
    // Read unconditionally: without a branch, the four reads overlap.
    let place = |k: usize| if asks[k] { behind[k].tet() } else { *t };
    let others = roots.at_all([0, 1, 2, 3].each(place));
    [0, 1, 2, 3].each(|k| asks[k] & (others[k].parent() == root))
}

/// Counts the `i`-th of these faces if it has the same polyhedron on both sides.
#[kernel(
    requires(
        barriers.len() == n,
        4 * polyhedra.len() == twins.len(),
        found.len() == tally::COUNT
    ),
    moves(4 * barriers.bytes())
)]
pub fn check_barrier_faces(
    i: Own<Item>,
    barriers: In<FaceSide, Item>,
    twins: In<FaceSide, FaceSide>,
    polyhedra: In<Polyhedron, Tet>,
    found: Atomic,
) {
    let side = barriers.at(i);
    if polyhedra.at(side.tet()) == polyhedra.at(twins.at(side).tet()) {
        found.add(tally::BARRIERS_LEFT, 1);
    }
}
