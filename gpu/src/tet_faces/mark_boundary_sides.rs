//! The boundary of a mesh of tetrahedra.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Own};

use super::face_rule;
use crate::ids::FaceSide;

/// Whether side `side` lies on the boundary; finds it if its twin has another twin.
#[kernel(
    requires(twins.len() == n, found.len() == face_rule::COUNT),
    moves(2 * twins.bytes() + 4 * words(n))
)]
pub fn mark_boundary_sides(
    side: Own<FaceSide>,
    twins: In<FaceSide, FaceSide>,
    found: Atomic,
) -> bool {
    let twin = twins.at(side);
    if twin.is_some() && twins.at(twin) != *side {
        found.min(face_rule::OVERLAP, side.index());
    }
    twin.is_none()
}
