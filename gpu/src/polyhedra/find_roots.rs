//! The root of each tetrahedron.

use trioxide_kernel::{In, Out, kernel};

use crate::ids::Tet;

/// Steps of a walk in one round. Most walks have one or two.
const STEPS: u32 = 32;

/// Walks from tetrahedron `t` towards its root, `STEPS` steps or fewer, and gives the place that it came to.
///
/// `unfinished[0]` becomes 1 if that is no root: the next round goes on from the places of this one, so that each of its steps is
/// [`STEPS`] steps of the first.
#[kernel(
    requires(parents.len() == n, roots.len() == n, unfinished.len() == 1),
    moves(2 * parents.bytes() + roots.bytes())
)]
pub fn find_roots(t: Tet, parents: In<Tet>, roots: Out<Tet>, unfinished: Out<u32>) {
    let mut place = parents.at(t);
    let mut next = parents.at(place);
    let mut steps = 1;
    while next != place && steps < STEPS {
        place = next;
        next = parents.at(place);
        steps += 1;
    }
    roots.set(t, place);
    if next != place {
        unfinished.set_same(0, 1);
    }
}
