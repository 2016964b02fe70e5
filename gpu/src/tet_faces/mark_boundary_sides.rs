//! The boundary of a mesh of tetrahedra.

use trioxide_kernel::{Atomic, In, kernel};

use super::face_rule;
use crate::ids::FaceSide;

/// Finds side `side` if its twin has another twin.
#[kernel(
    requires(twins.len() == n, found.len() == face_rule::COUNT),
    moves(twins.bytes())
)]
pub fn find_contested_sides(side: FaceSide, twins: In<FaceSide>, found: Atomic) {
    let twin = twins.at(side);
    if twin.is_some() && twins.at(twin) != side {
        found.min(face_rule::OVERLAP, side.index());
    }
}

/// Whether side `side` lies on the boundary.
#[kernel(
    requires(twins.len() == n),
    moves(twins.bytes() + 4 * words(n))
)]
pub fn mark_boundary_sides(side: FaceSide, twins: In<FaceSide>) -> bool {
    twins.at(side).is_none()
}
