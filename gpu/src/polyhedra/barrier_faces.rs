//! Barrier faces: the same region on both sides.

use trioxide_kernel::{Atomic, Bits, In, kernel};

use crate::ids::{FaceSide, Tet};

/// Whether `side` is the lower side of a barrier face.
#[kernel(
    requires(twins.len() == n, frontier.len() == words(n), 4 * roots.len() == n),
    moves(twins.bytes() + frontier.bytes() + 2 * roots.bytes() + 4 * words(n))
)]
pub fn find_barrier_faces(
    side: FaceSide,
    twins: In<FaceSide>,
    frontier: In<Bits<FaceSide>>,
    roots: In<Tet>,
) -> bool {
    let twin = twins.at(side);
    twin.is_some()
        && side < twin
        && frontier.bit(side)
        && roots.at(side.tet()) == roots.at(twin.tet())
}

/// Whether the `i`-th of these faces is a barrier face still; `regions` gets the root of its region.
#[kernel(
    requires(barriers.len() == n, 4 * roots.len() == twins.len(), regions.len() == words(roots.len())),
    moves(4 * barriers.bytes() + 4 * words(n))
)]
pub fn check_barrier_faces(
    i: u32,
    barriers: In<FaceSide>,
    twins: In<FaceSide>,
    roots: In<Tet>,
    regions: Atomic<Bits<Tet>>,
) -> bool {
    let side = barriers.at(i);
    let root = roots.at(side.tet());
    let is_barrier = root == roots.at(twins.at(side).tet());
    if is_barrier {
        regions.set_bit(root);
    }
    is_barrier
}
