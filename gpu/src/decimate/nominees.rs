//! The edges that are the cheapest of both of their ends.

use trioxide_kernel::{Atomic, Block, In, Shared, SharedMemory, kernel};

use super::cheapest::Choice;
use super::fans::NO_COST;
use crate::ids::Vertex;

/// Bits of a cost that its class drops: 16 classes for each power of two.
const CLASS_SHIFT: u32 = 19;
/// Number of classes of costs. [`NO_COST`] is in none.
pub const CLASSES: usize = (NO_COST.to_bits() >> CLASS_SHIFT) as usize;

/// The largest cost of a class.
pub const fn largest_of_class(class: usize) -> f32 {
    f32::from_bits((((class as u32) + 1) << CLASS_SHIFT) - 1)
}

/// Vertices ahead of which a CPU prefetches the choice of the other end.
const AHEAD: u32 = 8;

/// Vertices that a block counts.
pub const COUNTED: u32 = 1 << 14;
const LANES: usize = 256;

/// Counts of a block.
#[derive(SharedMemory)]
pub struct Classes {
    counts: Shared<u32, CLASSES>,
}

/// Counts vertices in the classes of their cheapest edges' costs, [`COUNTED`] a block.
#[kernel(
    requires(choices.len().div_ceil(COUNTED as usize) == n, counts.len() == CLASSES),
    moves(choices.bytes() + counts.bytes())
)]
pub fn count_costs(block: &Block<LANES, Classes>, choices: In<Choice>, counts: Atomic) {
    let own = &block.shared().counts;
    block.each(CLASSES as u32, |lane, class| own.set(lane, class, 0));
    let first = block.index() * COUNTED;
    let count = COUNTED.min(choices.len() - first);
    block.each(count, |lane, i| {
        let cost = choices.at(first + i).cost();
        if cost < NO_COST {
            own.add(lane, cost.to_bits() >> CLASS_SHIFT, 1);
        }
    });
    block.each(CLASSES as u32, |_, class| {
        let count = own.at(class);
        if count > 0 {
            counts.add(class, count);
        }
    });
}

/// Whether vertex `v` with its `choice` is an end of a nominated edge: one that is the cheapest of both ends, and not
/// above the `limit`.
#[inline(always)]
pub(super) fn is_nominated(v: Vertex, choice: Choice, choices: In<Choice>, limit: f32) -> bool {
    choice.cost() <= limit && choices.at(choice.other()).other() == v
}

/// Whether vertex `v` is the lower end of a nominated edge.
#[kernel(requires(choices.len() == n), moves(choices.bytes() + 4 * words(n)))]
pub fn nominate(v: Vertex, choices: In<Choice>, limit: f32) -> bool {
    if cfg!(not(target_arch = "nvptx64")) && v.index() + AHEAD < choices.len() {
        let ahead = choices.at(v.index() + AHEAD);
        if ahead.cost() <= limit {
            choices.prefetch(ahead.other());
        }
    }
    let choice = choices.at(v);
    choice.cost() <= limit && v < choice.other() && is_nominated(v, choice, choices, limit)
}
