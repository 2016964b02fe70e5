//! The edges that are the cheapest of both of their ends.

use trioxide_kernel::safe::{self, Own};
use trioxide_kernel::{Atomic, In, kernel};

use super::cheapest::Choice;
use super::costs::NO_COST;
use crate::ids::{Item, Vertex};

/// Bits of a cost that its class drops: 16 classes for each power of two.
const CLASS_SHIFT: u32 = 19;
/// Number of classes of costs. [`NO_COST`] is in none.
pub const CLASSES: usize = (NO_COST.to_bits() >> CLASS_SHIFT) as usize;

/// The largest cost of a class.
pub const fn largest_of_class(class: usize) -> f32 {
    f32::from_bits((((class as u32) + 1) << CLASS_SHIFT) - 1)
}

/// Counts vertex `list[i]` in the class of its cheapest edge's cost.
#[kernel(
    requires(list.len() == n, counts.len() == CLASSES),
    moves(list.bytes() + 8 * n)
)]
pub fn count_costs(i: Item, list: In<Vertex>, choices: In<Choice>, counts: Atomic) {
    let cost = choices.at(list.at(i)).cost;
    if cost < NO_COST {
        counts.add(cost.to_bits() >> CLASS_SHIFT, 1);
    }
}

/// Whether vertex `v` with its `choice` is an end of a nominated edge: one that is the cheapest of both ends, and not
/// above the `limit`.
#[inline(always)]
pub(super) fn is_nominated(v: Vertex, choice: Choice, choices: In<Choice>, limit: f32) -> bool {
    choice.cost <= limit && choices.at(choice.other).other == v
}

/// Whether vertex `list[i]` is the lower end of a nominated edge.
#[kernel(requires(list.len() == n), moves(list.bytes() + 16 * n))]
pub fn nominate(i: Item, list: In<Vertex>, choices: In<Choice>, limit: f32) -> bool {
    let v = list.at(i);
    let choice = choices.at(v);
    choice.cost <= limit && v < choice.other && is_nominated(v, choice, choices, limit)
}

/// Writes vertex `list[places[i]]`.
#[kernel(
    requires(places.len() == n, gathered.len() == n),
    moves(places.bytes() + 2 * gathered.bytes())
)]
pub fn list_nominees(
    i: Own<Item>,
    places: safe::In<Item, Item>,
    list: safe::In<Vertex>,
    gathered: safe::Out<Vertex, Item>,
) {
    gathered.set(i, list.at(places.at(i).index()));
}
