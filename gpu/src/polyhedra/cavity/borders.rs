//! Borders between the regions of owners.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use crate::ids::{FaceSide, Item, Polyhedron, Tet};
use crate::polyhedra::link::Link;
use crate::polyhedra::sides_of;

/// Whether each side of tetrahedron `t` lies on the boundary, is constrained, or has another owner on its other side.
#[kernel(
    members = FaceSide,
    requires(
        twins.len() == 4 * n,
        constrained.is_empty() || constrained.len() == words(4 * n),
        owners.len() == n
    ),
    moves(twins.bytes() + constrained.bytes() + owners.bytes() + 4 * words(4 * n))
)]
pub fn label_borders(
    t: Own<Tet>,
    twins: In<FaceSide, FaceSide>,
    constrained: In<Bits<FaceSide>>,
    owners: In<Tet, Tet>,
) -> [bool; 4] {
    let behind = twins.quad(FaceSide::of(*t, 0));
    let constrained = if constrained.is_empty() {
        0
    } else {
        sides_of(constrained, *t)
    };
    let owner = owners.at(t);
    let is_outer = [0, 1, 2, 3].each(|k| behind[k].is_none() | (constrained >> k & 1 != 0));
    let place = |k: usize| if is_outer[k] { *t } else { behind[k].tet() };
    let others = owners.at_all([0, 1, 2, 3].each(place));
    [0, 1, 2, 3].each(|k| is_outer[k] | (others[k] != owner))
}

/// Adds the number of sides of tetrahedron `t` that are in a surface to that of its polyhedron.
#[kernel(
    requires(polyhedra.len() == n, 8 * frontier.len() >= n),
    moves(polyhedra.bytes() + frontier.bytes() + counts.bytes())
)]
pub fn count_sides(
    t: Own<Tet>,
    polyhedra: In<Polyhedron, Tet>,
    frontier: In<Bits<FaceSide>>,
    counts: Atomic<u32, Polyhedron>,
) {
    counts.add(polyhedra.at(t), sides_of(frontier, *t).count_ones());
}

/// Marks the root of the region that has the `i`-th of these barrier faces.
#[kernel(
    requires(barriers.len() == n, regions.len() == words(roots.len())),
    moves(barriers.bytes())
)]
pub fn mark_barrier_regions(
    i: Own<Item>,
    barriers: In<FaceSide, Item>,
    roots: In<Link, Tet>,
    regions: Atomic<Bits<Tet>>,
) {
    regions.set_bit(roots.at(barriers.at(i).tet()).parent());
}
