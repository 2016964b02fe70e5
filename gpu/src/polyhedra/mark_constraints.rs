//! Faces that no polyhedron may cross.

use trioxide_kernel::{Atomic, Bits, In, kernel};

use crate::ids::FaceSide;

/// Whether the tetrahedra on both sides of a face are of different regions of the input.
#[kernel(
    requires(twins.len() == n, 4 * regions.len() == n),
    moves(twins.bytes() + regions.bytes() + 4 * words(n))
)]
pub fn mark_region_faces(side: FaceSide, twins: In<FaceSide>, regions: In<i32>) -> bool {
    let twin = twins.at(side);
    twin.is_some() && regions.at(side.tet()) != regions.at(twin.tet())
}

/// Marks both sides of the face of the `i`-th side in `sides`.
#[kernel(
    requires(sides.len() == n, constrained.len() == words(twins.len())),
    moves(sides.bytes())
)]
pub fn mark_constrained_faces(
    i: u32,
    sides: In<FaceSide>,
    twins: In<FaceSide>,
    constrained: Atomic<Bits<FaceSide>>,
) {
    let side = sides.at(i);
    constrained.set_bit(side);
    let twin = twins.at(side);
    if twin.is_some() {
        constrained.set_bit(twin);
    }
}
