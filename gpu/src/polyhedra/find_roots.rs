//! The root of each tetrahedron.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::link::{Link, walk};
use super::tally;
use crate::ids::Tet;

/// Steps of a walk in one round. Most walks have one or two.
const STEPS: u32 = 31;

/// Walks from tetrahedron `t` towards its root, `STEPS` + 1 steps or fewer, and gives a link to the place that it came
/// to. Whether `t` is a root.
///
/// `tally` gets [`tally::UNFINISHED`] if that place is no root: the next round goes on from the places of this one, so
/// that each of its steps is all steps of the first.
#[kernel(
    requires(links.len() == n, roots.len() == n, found.len() == tally::COUNT),
    moves(links.bytes() + roots.bytes() + 4 * words(n))
)]
pub fn find_roots(t: Own<Tet>, links: In<Link, Tet>, roots: Out<Link, Tet>, found: Atomic) -> bool {
    let own = links.at(t);
    let (root, is_finished) = walk(links, own.parent(), STEPS);
    roots.set(t, Link::to(root, own.place()));
    if !is_finished {
        found.store(tally::UNFINISHED, 1);
    }
    own.parent() == *t
}
