//! Decisions: which vertices are representatives, and which representative each other vertex goes to.
//!
//! A state is [`UNDECIDED`], [`MEMBER`] (some representative is near, but not all lower neighbours are decided yet), or the
//! final one: the id of the lowest representative near, its own for a representative. States are read while others write
//! them. That does no harm: a state changes from undecided over member to final and never back, what a vertex decides from
//! lower neighbours that are decided stays right, and a vertex that reads an older state only waits longer.

use glam::DVec3;
use gpu_macros::kernel;

use super::grid::{Grid, Search, Site, item};
use crate::view::{Atomic, In, NONE, Out};

/// State of a vertex of which nothing is known.
pub const UNDECIDED: u32 = NONE;
/// State of a vertex that is no representative, while a lower one than those known may still be near.
pub const MEMBER: u32 = NONE - 1;

/// What the lower neighbours of a vertex say.
#[derive(Clone, Copy)]
struct Neighbours {
    /// Lowest representative, or `NONE`.
    representative: u32,
    /// Lowest that is undecided, or `NONE`.
    undecided: u32,
    /// Row of that.
    undecided_row: u32,
}

#[inline(always)]
fn look(row: u32, search: &Search, states: Atomic) -> Neighbours {
    let mut found = Neighbours {
        representative: NONE,
        undecided: NONE,
        undecided_row: NONE,
    };
    search.each_lower_neighbour(row, |row, id| {
        let state = states.load(row);
        if state == id {
            found.representative = found.representative.min(id);
        }
        if state == UNDECIDED && id < found.undecided {
            (found.undecided, found.undecided_row) = (id, row);
        }
    });
    found
}

/// Decides the vertex of row `list[i]` (of all rows in turn for an empty list), if its lower neighbours allow it; whether it
/// is left without a final state.
///
/// Where an undecided neighbour is in the way, that one is tried, and what is in its way, for `steps` vertices in all: a
/// chain of vertices that wait for each other is followed downwards instead of waiting a round for each.
#[kernel(bits)]
pub fn decide_points(
    i: u32,
    list: In<u32>,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    states: Atomic,
    steps: u32,
) -> bool {
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
    };
    let is_final = |state: u32| state < MEMBER;
    let row = item(list, i);
    if is_final(states.load(row)) {
        return false;
    }
    let mut at = row;
    let mut step = 0;
    loop {
        let near = look(at, &search, states);
        let state = if near.undecided < near.representative {
            if near.representative == NONE {
                UNDECIDED
            } else {
                MEMBER
            }
        } else {
            near.representative.min(search.vertex(at))
        };
        if is_final(state) {
            states.store(at, state);
        } else if state == MEMBER {
            // Another thread may have found the final state meanwhile.
            states.compare_exchange(at, UNDECIDED, MEMBER);
        }
        if at == row && is_final(state) {
            return false;
        }
        step += 1;
        if step >= steps {
            return true;
        }
        // Down to what is in the way; once that is decided, back.
        at = if state == UNDECIDED || at == row {
            near.undecided_row
        } else {
            row
        };
    }
}

/// Takes the items of `list` that `kept` names by their places.
#[kernel]
pub fn shorten_list(i: u32, list: In<u32>, kept: In<u32>, shorter: Out<u32>) {
    shorter.set(i, list.at(kept.at(i)));
}

/// Writes the final state of the vertex in `slot` to the vertex.
#[kernel]
pub fn give_back_states(slot: u32, sites: In<Site>, states: In<u32>, representatives: Out<u32>) {
    representatives.set(sites.at(slot).id, states.at(slot));
}
