//! Faces that no polyhedron may cross.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{FaceSide, Item, Tet};

/// Whether the tetrahedra on both sides of a face are of different regions of the input.
#[kernel(
    requires(twins.len() == n, 4 * regions.len() == n),
    moves(twins.bytes() + regions.bytes() + 4 * words(n))
)]
pub fn mark_region_faces(
    side: Own<FaceSide>,
    twins: In<FaceSide, FaceSide>,
    regions: In<i32, Tet>,
) -> bool {
    let twin = twins.at(side);
    if twin.is_none() {
        return false;
    }
    let [own, other] = regions.at_all([side.tet(), twin.tet()]);
    own != other
}

/// Marks both sides of the face of the `i`-th side in `sides`.
#[kernel(
    requires(sides.len() == n, constrained.len() == words(twins.len())),
    moves(sides.bytes())
)]
pub fn mark_constrained_faces(
    i: Own<Item>,
    sides: In<FaceSide, Item>,
    twins: In<FaceSide, FaceSide>,
    constrained: Atomic<Bits<FaceSide>>,
) {
    let side = sides.at(i);
    constrained.set_bit(side);
    let twin = twins.at(side);
    if twin.is_some() {
        constrained.set_bit(twin);
    }
}
