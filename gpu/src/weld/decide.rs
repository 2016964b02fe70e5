//! Decisions: which vertices are representatives, and which representative each other vertex goes to.
//!
//! A state is [`UNDECIDED`], [`MEMBER`] (some representative is near, but not all lower neighbours are decided yet), or the
//! final one: the id of the lowest representative near, its own for a representative. States are read while others write
//! them. That does no harm: a state changes from undecided over member to final and never back, what a vertex decides from
//! lower neighbours that are decided stays right, and a vertex that reads an older state only waits longer.

use gpu_macros::kernel;

use super::grid::{Grid, Site, each_lower_neighbour};
use crate::view::{Atomic, In, NONE, Out};

/// State of a vertex of which nothing is known.
pub const UNDECIDED: u32 = NONE;
/// State of a vertex that is no representative, while a lower one than those known may still be near.
pub const MEMBER: u32 = NONE - 1;

/// What the lower neighbours of a site say.
#[derive(Clone, Copy)]
struct Neighbours {
    /// Lowest representative, or `NONE`.
    representative: u32,
    /// Lowest that is undecided, or `NONE`.
    undecided: u32,
    /// Its slot.
    undecided_slot: u32,
}

#[inline(always)]
fn look(own: Site, grid: &Grid, offsets: In<u32>, sites: In<Site>, states: Atomic) -> Neighbours {
    let mut found = Neighbours {
        representative: NONE,
        undecided: NONE,
        undecided_slot: NONE,
    };
    each_lower_neighbour(own.point, own.id, grid, offsets, sites, |slot, id| {
        let state = states.load(slot);
        if state == id && id < found.representative {
            found.representative = id;
        }
        if state == UNDECIDED && id < found.undecided {
            (found.undecided, found.undecided_slot) = (id, slot);
        }
    });
    found
}

/// Decides the site in `slot` if its lower neighbours allow it; whether it is left without a final state.
///
/// Where an undecided neighbour is in the way, that one is tried, and what is in its way, for `steps` sites in all: a chain
/// of sites that wait for each other is followed downwards instead of waiting a round for each.
#[inline(always)]
fn decide(
    slot: u32,
    grid: &Grid,
    offsets: In<u32>,
    sites: In<Site>,
    states: Atomic,
    steps: u32,
) -> bool {
    let is_final = |state: u32| state < MEMBER;
    let mut at = slot;
    let mut step = 0;
    loop {
        let own = sites.at(at);
        let near = look(own, grid, offsets, sites, states);
        let state = if near.undecided < near.representative {
            if near.representative == NONE {
                UNDECIDED
            } else {
                MEMBER
            }
        } else {
            near.representative.min(own.id)
        };
        if is_final(state) {
            states.store(at, state);
        } else if state == MEMBER {
            // Another thread may have found the final state meanwhile.
            states.compare_exchange(at, UNDECIDED, MEMBER);
        }
        if at == slot && is_final(state) {
            return false;
        }
        step += 1;
        if step >= steps {
            return true;
        }
        // Down to what is in the way; once that is decided, back.
        at = if state == UNDECIDED || at == slot {
            near.undecided_slot
        } else {
            slot
        };
    }
}

/// Decides every site for which that is possible; which are left.
#[kernel(bits)]
pub fn decide_points(
    slot: u32,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    states: Atomic,
    steps: u32,
) -> bool {
    states.load(slot) >= MEMBER && decide(slot, &grid.at(0), offsets, sites, states, steps)
}

/// As [`decide_points()`], for the sites of a list.
#[kernel(bits)]
pub fn decide_listed(
    i: u32,
    list: In<u32>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    states: Atomic,
    steps: u32,
) -> bool {
    let slot = list.at(i);
    states.load(slot) >= MEMBER && decide(slot, &grid.at(0), offsets, sites, states, steps)
}

/// Takes the items of `list` that `kept` names by their places.
#[kernel]
pub fn shorten_list(i: u32, list: In<u32>, kept: In<u32>, shorter: Out<u32>) {
    shorter.set(i, list.at(kept.at(i)));
}
