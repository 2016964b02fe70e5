//! Trees that leave a rank's part of the mesh, and tetrahedra that other ranks own.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, kernel};

use super::link::Link;
use crate::ids::{FaceSide, Item, Tet};

/// Whether the walk of tetrahedron `t` ends at a tetrahedron in `taken`.
#[kernel(
    requires(ends.len() == n, taken.len() == words(n)),
    moves(ends.bytes() + taken.bytes() + 4 * words(n))
)]
pub fn find_taken(t: Own<Tet>, ends: In<Link, Tet>, taken: In<Bits<Tet>>) -> bool {
    taken.bit(ends.at(t).parent())
}

/// Makes the `i`-th tetrahedron of `list` a tree of its own: each of its faces is a frontier face as seen from it.
///
/// Other tetrahedra of its tree may stay only if their walk is to end here.
#[kernel(
    requires(list.len() == n, 8 * frontier.len() >= links.len()),
    moves(list.bytes())
)]
pub fn set_apart(
    i: Own<Item>,
    list: In<Tet, Item>,
    frontier: Atomic<Bits<FaceSide>>,
    links: Atomic<Link, Tet>,
) {
    let t = list.at(i);
    frontier.set_bit(FaceSide::of(t, 0));
    frontier.set_bit(FaceSide::of(t, 1));
    frontier.set_bit(FaceSide::of(t, 2));
    frontier.set_bit(FaceSide::of(t, 3));
    links.store(t, Link::to(t, links.load(t).place()));
}
