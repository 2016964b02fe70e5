//! Pieces that are left over join pairs.

use trioxide_kernel::safe::{Atomic, In, Own, Scatter};
use trioxide_kernel::{Bits, kernel, safe};

use super::pieces::{Candidate, NEVER, Pieces};
use crate::ids::{Border, Item, Polygon};

/// Pieces that joined.
#[derive(safe::Group)]
pub struct Joined<'a> {
    /// The pair that each piece belongs to, by its lower piece; `NONE` for a piece alone.
    pub groups: In<'a, Polygon, Polygon>,
    /// The other piece of each pair.
    pub partners: In<'a, Polygon, Polygon>,
    /// The piece that joined each pair first, or `NONE`.
    pub thirds: In<'a, Polygon, Polygon>,
    /// The piece that joined each pair second, or `NONE`.
    pub fourths: In<'a, Polygon, Polygon>,
}

impl Joined<'_> {
    /// Piece `k` of the piece of the next level that has its id from piece `first`, or `NONE`; k is below 4.
    #[inline(always)]
    pub(super) fn piece(self, first: Polygon, k: u32) -> Polygon {
        if k == 0 {
            first
        } else if self.groups.at(first).is_none() {
            Polygon::NONE
        } else if k == 1 {
            self.partners.at(first)
        } else if k == 2 {
            self.thirds.at(first)
        } else {
            self.fourths.at(first)
        }
    }
}

/// The pair that `leftovers[i]` chooses, or `NONE`, and the length of their border.
#[kernel(
    SOLID in [false, true],
    requires(
        leftovers.len() == n,
        lengths.len() == choices.len(),
        chosen.len() == words(choices.len())
    ),
    moves(leftovers.bytes() + 12 * n)
)]
pub fn choose_groups<const SOLID: bool>(
    i: Own<Item>,
    leftovers: In<Polygon, Item>,
    pieces: Pieces,
    joined: Joined,
    choices: Scatter<Polygon, Polygon>,
    lengths: Scatter<f64, Polygon>,
    chosen: Atomic<Bits<Polygon>>,
) {
    let p = leftovers.at(i);
    let (mut border, end) = pieces.borders(p);
    let (mut best, mut choice, mut best_length) = (Candidate::LAST, Polygon::NONE, NEVER);
    while border < end {
        let q = pieces.neighbours.at(Border::new(border));
        let group = if q.is_none() { q } else { joined.groups.at(q) };
        if group.is_some() && group != choice && joined.fourths.at(group).is_none() {
            let union = [group, joined.partners.at(group), joined.thirds.at(group)];
            let (length, edges) = pieces.measure(p, union);
            let candidate = Candidate::new(length, p, group);
            if candidate.is_before(best) && pieces.may_join::<SOLID>(p, union, edges) {
                (best, choice, best_length) = (candidate, group, length);
            }
        }
        border += 1;
    }
    choices.set(p, choice);
    lengths.set(p, best_length);
    if choice.is_some() {
        chosen.set_bit(choice);
    }
}

/// The pair `chosen[i]` takes the first of the pieces that chose it.
#[kernel(
    requires(
        chosen.len() == n,
        lengths.len() == choices.len(),
        groups.len() == choices.len(),
        thirds.len() == choices.len(),
        fourths.len() == choices.len()
    ),
    moves(5 * chosen.bytes())
)]
pub fn take_leftovers(
    i: Own<Item>,
    chosen: In<Polygon, Item>,
    pieces: Pieces,
    choices: In<Polygon, Polygon>,
    lengths: In<f64, Polygon>,
    partners: In<Polygon, Polygon>,
    groups: Scatter<Polygon, Polygon>,
    thirds: Atomic<Polygon, Polygon>,
    fourths: Atomic<Polygon, Polygon>,
) {
    let group = chosen.at(i);
    let (partner, third) = (partners.at(group), thirds.load(group));
    let (mut best, mut taken) = (Candidate::LAST, Polygon::NONE);
    let mut member = group;
    while member.is_some() {
        let (mut border, end) = pieces.borders(member);
        while border < end {
            let p = pieces.neighbours.at(Border::new(border));
            // The third piece chose this pair too, in an earlier round.
            if p.is_some() && choices.at(p) == group && p != third {
                let candidate = Candidate::new(lengths.at(p), p, group);
                if candidate.is_before(best) {
                    (best, taken) = (candidate, p);
                }
            }
            border += 1;
        }
        member = if member == group {
            partner
        } else if member == partner {
            third
        } else {
            Polygon::NONE
        };
    }
    if taken.is_some() {
        groups.set(taken, group);
        if third.is_none() {
            thirds.store(group, taken);
        } else {
            fourths.store(group, taken);
        }
    }
}
