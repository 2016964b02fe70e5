//! Claims of tetrahedra on their owners, in rounds.

use trioxide_kernel::safe::{Atomic, Group, In, Out, Own};
use trioxide_kernel::{Bits, Each, NONE, kernel};

use super::spheres::{Spheres, is_inside};
use crate::ids::{FaceSide, Tet};
use crate::polyhedra::link::Link;
use crate::polyhedra::sides_of;

/// The claims of tetrahedra.
#[derive(Group)]
pub struct Claims<'a> {
    /// Owner of each; T.
    pub owners: In<'a, Tet, Tet>,
    /// The tetrahedron that gave it, itself for one that owns itself; the place is that of the side between them; T.
    pub links: In<'a, Link, Tet>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl ClaimsBuffers<'_> {
    /// Whether there are as many of both.
    pub fn fit(&self, tetrahedra: usize) -> bool {
        self.owners.len() == tetrahedra && self.links.len() == tetrahedra
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.owners.bytes() + self.links.bytes()
    }
}

impl Claims<'_> {
    /// The depth of the claim of `t`, or `NONE` if it does not hold.
    #[inline(always)]
    fn depth(self, t: Tet) -> u32 {
        let owner = self.owners.at(t);
        let mut place = t;
        let mut depth = 0;
        // Links of one owner make no cycle.
        loop {
            let next = self.links.at(place).parent();
            if next == place {
                return if place == owner { depth } else { NONE };
            }
            if self.owners.at(next) != owner {
                return NONE;
            }
            place = next;
            depth += 1;
        }
    }
}

/// Whether the claim of tetrahedron `t` has another owner than in the round before, whose owners are `before`, or
/// another depth; `depths` has that of the round before and gets the new one, `NONE` if the claim does not hold. In the
/// first round every claim is new.
#[kernel(
    requires(claims.fit(n), before.len() == n, depths.len() == n),
    moves(claims.bytes() + before.bytes() + 2 * depths.bytes() + 4 * words(n))
)]
pub fn check_claims(
    t: Own<Tet>,
    claims: Claims,
    before: In<Tet, Tet>,
    is_first: bool,
    depths: Out<u32, Tet>,
) -> bool {
    let depth = claims.depth(*t);
    let is_new = is_first || depth != depths.at(t) || claims.owners.at(t) != before.at(t);
    depths.set(t, depth);
    is_new
}

/// The claim of tetrahedron `t` in the next round: `owners` and `links` get it. `changed[round]` becomes 1 if it is
/// another one.
///
/// It follows from the owners and depths of joined tetrahedra: if none of theirs is `new`, it stays.
///
/// Constrained faces (`constrained`: a bit for each side, or empty) join nothing.
#[kernel(
    requires(
        twins.len() == 4 * n,
        constrained.is_empty() || constrained.len() == words(4 * n),
        spheres.fit(n),
        claims.fit(n),
        depths.len() == n,
        new.len() == words(n),
        owners.len() == n,
        links.len() == n
    ),
    moves(twins.bytes() + constrained.bytes() + 2 * claims.bytes() + new.bytes())
)]
pub fn absorb_tetrahedra(
    t: Own<Tet>,
    twins: In<FaceSide, FaceSide>,
    constrained: In<Bits<FaceSide>>,
    spheres: Spheres,
    claims: Claims,
    depths: In<u32, Tet>,
    new: In<Bits<Tet>>,
    round: u32,
    owners: Out<Tet, Tet>,
    links: Out<Link, Tet>,
    changed: Atomic,
) {
    let behind = twins.quad(FaceSide::of(*t, 0));
    let constrained = if constrained.is_empty() {
        0
    } else {
        sides_of(constrained, *t)
    };
    let is_joint = |k: usize| behind[k].is_some() & (constrained >> k & 1 == 0);
    // Read unconditionally: without a branch, the four reads overlap.
    let others = [0, 1, 2, 3].each(|k| if is_joint(k) { behind[k].tet() } else { *t });
    let is_new = new.bit_all(others);
    let may_change = |k: usize| is_joint(k) & is_new[k];
    if !(may_change(0) | may_change(1) | may_change(2) | may_change(3)) {
        owners.set(t, claims.owners.at(t));
        links.set(t, claims.links.at(t));
        return;
    }
    let seeds = claims.owners.at_all(others);
    let above = depths.at_all(others);
    let centre = spheres.centres.at(t);
    let (mut owner, mut radius) = (*t, spheres.radii.at(t));
    let (mut link, mut depth) = (Link::to(*t, 0), 0);
    let mut offer = |k: usize| {
        let seed = seeds[k];
        if !is_joint(k) | (above[k] == NONE) | (seed == *t) {
            return;
        }
        if seed == owner {
            if above[k] < depth {
                (link, depth) = (Link::to(others[k], k as u32), above[k]);
            }
            return;
        }
        let other = spheres.radii.at(seed);
        let is_before = (other < radius) | ((other == radius) & (seed < owner));
        if is_before && is_inside(spheres.centres.at(seed), other, centre) {
            (owner, radius) = (seed, other);
            (link, depth) = (Link::to(others[k], k as u32), above[k]);
        }
    };
    offer(0);
    offer(1);
    offer(2);
    offer(3);
    owners.set(t, owner);
    links.set(t, link);
    if (owner != claims.owners.at(t)) | (link != claims.links.at(t)) {
        changed.store(round, 1);
    }
}
