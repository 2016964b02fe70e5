//! Frontier faces, seeds and parents.

use trioxide_kernel::{Bits, In, Out, kernel};

use crate::ids::{FaceSide, Tet};

/// Whether side `side` is of a frontier face, and whether it is a seed: the lower side of an inner terminal face, or the chosen
/// side of a tetrahedron if that lies on the boundary or is constrained.
///
/// `parents` gets the tetrahedron behind the chosen face of each, or the tetrahedron itself if it is a root. Constrained faces
/// (`constrained`: a bit for each side, or empty) count as boundary on both sides.
#[kernel(
    requires(
        twins.len() == n,
        largest.len() == words(n),
        constrained.is_empty() || constrained.len() == words(n),
        4 * parents.len() == n
    ),
    moves(twins.bytes() + largest.bytes() + constrained.bytes() + parents.bytes() + 8 * words(n))
)]
pub fn label_frontier_faces(
    side: FaceSide,
    twins: In<FaceSide>,
    largest: In<Bits<FaceSide>>,
    constrained: In<Bits<FaceSide>>,
    parents: Out<Tet>,
) -> (bool, bool) {
    let twin = twins.at(side);
    let is_outer = twin.is_none();
    let stops = is_outer || (!constrained.is_empty() && constrained.bit(side));
    let mine = largest.bit(side);
    // Read in any case: without a branch, a thread's reads for several sides overlap.
    let theirs = largest.bit(if is_outer { side } else { twin });
    let is_frontier = stops | !(mine | theirs);
    let is_seed = mine & (stops | (theirs & (side < twin)));
    if mine {
        parents.set(side.tet(), if is_seed { side.tet() } else { twin.tet() });
    }
    (is_frontier, is_seed)
}
