//! Frontier faces and links.

use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::link::Link;
use super::sides_of;
use crate::ids::{FaceSide, Tet};

/// Whether each side of tetrahedron `t` belongs to a frontier face.
///
/// `links` gets the tetrahedron across the chosen face, or `t` itself if it is a root: if that face lies on the
/// boundary, is constrained, or is an inner terminal face whose lower side is that of `t`. Constrained faces
/// (`constrained`: a bit for each side, or empty) count as boundary on both sides.
#[kernel(
    members = FaceSide,
    requires(
        twins.len() == 4 * n,
        largest.len() == words(4 * n),
        constrained.is_empty() || constrained.len() == words(4 * n),
        links.len() == n
    ),
    moves(twins.bytes() + largest.bytes() + constrained.bytes() + links.bytes() + 4 * words(4 * n)), trusted
)]
pub fn label_frontier_faces(
    t: Own<Tet>,
    twins: In<FaceSide, FaceSide>,
    largest: In<Bits<FaceSide>>,
    constrained: In<Bits<FaceSide>>,
    links: Out<Link, Tet>,
) -> [bool; 4] {
    let behind = twins.quad(FaceSide::of(*t, 0));
    let mine = sides_of(largest, *t);
    let constrained = if constrained.is_empty() {
        0
    } else {
        sides_of(constrained, *t)
    };
    let side = |k: usize| FaceSide::of(*t, k as u32);
    let has = |sides: u32, k: usize| sides >> k & 1 != 0;
    // Read unconditionally: without a branch, the four reads overlap.
    let seen_from = |k: usize| {
        let is_outer = behind[k].is_none();
        if is_outer { side(k) } else { behind[k] }
    };
    let theirs = largest.bit_all([0, 1, 2, 3].each(seen_from));
    let stops = |k: usize| behind[k].is_none() | has(constrained, k);
    let leaves = |k: usize| has(mine, k) & !stops(k) & !(theirs[k] & (side(k) < behind[k]));
    let mut parent = *t;
    if leaves(0) {
        parent = behind[0].tet();
    }
    if leaves(1) {
        parent = behind[1].tet();
    }
    if leaves(2) {
        parent = behind[2].tet();
    }
    if leaves(3) {
        parent = behind[3].tet();
    }
    links.set(t, Link::to(parent, mine.trailing_zeros()));
    let is_frontier = |k: usize| stops(k) | !(has(mine, k) | theirs[k]);
    [
        is_frontier(0),
        is_frontier(1),
        is_frontier(2),
        is_frontier(3),
    ]
}
