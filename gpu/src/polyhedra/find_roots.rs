//! The root of each tetrahedron.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::link::{Link, walk};
use super::tally;
use crate::ids::Tet;

/// Steps of a walk in one round. Most walks have one or two.
const STEPS: u32 = 31;

/// Walks from tetrahedron `t` towards its root, `STEPS` + 1 steps or fewer, and writes a link to the place that it
/// reached into `roots`. Returns whether `t` is a root.
///
/// `found` gets [`tally::UNFINISHED`] if that place is not a root: the next round walks along the links of this one, so
/// each of its steps covers all steps of this round's walks.
#[kernel(
    requires(links.len() == n, roots.len() == n, found.len() == tally::COUNT),
    moves(links.bytes() + roots.bytes() + 4 * words(n)), trusted
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
