//! Decisions: which vertices are representatives, and which representative each other vertex goes to.
//!
//! A vertex without lower neighbours is a representative. The others note their lower neighbours, once: from then on rounds
//! read states only. A vertex with a representative among its lower neighbours is a member, whatever the others become; one
//! whose lower neighbours are all members is a representative; any other waits. In the end each member takes the lowest
//! representative of its list.
//!
//! States are read while others write them. That does no harm: a state changes once, from undecided to what is right, and a
//! vertex that reads it too early only waits longer.
//!
//! A vertex with more lower neighbours than its list holds notes some of them. They mostly decide it: if one is a
//! representative. If all are members it searches again, and notes those that are undecided then.

use glam::DVec3;
use gpu_macros::kernel;

use super::grid::{Grid, Search, Site, item};
use crate::view::{Atomic, In, NONE, Out, PREFETCHED_AHEAD};

/// State of a vertex of which nothing is known.
pub const UNDECIDED: u32 = 0;
/// State of a representative.
pub const REPRESENTATIVE: u32 = 1;
/// State of a vertex that a lower one represents.
pub const MEMBER: u32 = 2;

/// Places of a list of lower neighbours: two vectors of four.
pub const LISTED: u32 = 8;
/// Last in a list that does not hold all; `NONE` behind one that does.
const MORE: u32 = NONE - 1;

/// Ends the list of `row`, in which `count` were to be noted.
#[inline(always)]
fn end_list(row: u32, count: u32, lower: Out<u32>) {
    if count > LISTED {
        lower.set(row * LISTED + LISTED - 1, MORE);
    } else {
        // To the end of a vector: whoever reads stops at one that is not full.
        let mut place = count;
        while place < LISTED && (place == count || !place.is_multiple_of(4)) {
            lower.set(row * LISTED + place, NONE);
            place += 1;
        }
    }
}

/// Notes the lower neighbours of the vertex in `slot`, in any order; without one it is a representative.
///
/// In the order of slots, whatever rows are: neighbouring threads then go through the same buckets.
#[kernel]
pub fn note_lower_neighbours(
    slot: u32,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    lower: Out<u32>,
    states: Out<u32>,
) {
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
    };
    search.prefetch(slot);
    let row = search.row(slot);
    let mut count = 0;
    search.each_lower_neighbour(row, |neighbour, _| {
        if count < LISTED {
            lower.set(row * LISTED + count, neighbour);
        }
        count += 1;
        count <= LISTED
    });
    if count == 0 {
        states.set(row, REPRESENTATIVE);
    } else {
        end_list(row, count, lower);
        states.set(row, UNDECIDED);
    }
}

/// Searches anew for the vertex of row `rows[i]`: all that it noted are members.
#[kernel]
pub fn note_undecided_neighbours(
    i: u32,
    rows: In<u32>,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    lower: Out<u32>,
    states: Atomic,
) {
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
    };
    let row = rows.at(i);
    let mut count = 0;
    let mut is_member = false;
    search.each_lower_neighbour(row, |neighbour, _| {
        let state = states.load(neighbour);
        is_member |= state == REPRESENTATIVE;
        if state == UNDECIDED {
            if count < LISTED {
                lower.set(row * LISTED + count, neighbour);
            }
            count += 1;
        }
        !is_member
    });
    if is_member {
        // Which one it goes to the list does not say.
        end_list(row, LISTED + 1, lower);
        states.store(row, MEMBER);
    } else if count == 0 {
        states.store(row, REPRESENTATIVE);
    } else {
        end_list(row, count, lower);
    }
}

/// What a list of lower neighbours says.
#[derive(Clone, Copy)]
struct Seen {
    is_member: bool,
    is_waiting: bool,
    is_incomplete: bool,
}

/// Looks at the listed lower neighbours of `row`.
#[inline(always)]
fn look(row: u32, lower: In<u32>, states: Atomic) -> Seen {
    // What is not there holds up nobody.
    let state = |neighbour: u32| {
        if neighbour < MORE {
            states.load(neighbour)
        } else {
            MEMBER
        }
    };
    let look = |[a, b, c, d]: [u32; 4]| {
        let (a, b, c, d) = (state(a), state(b), state(c), state(d));
        let any = |of: u32| (a == of) | (b == of) | (c == of) | (d == of);
        (any(REPRESENTATIVE), any(UNDECIDED))
    };
    let first = lower.quad(row * LISTED);
    let (is_member, is_waiting) = look(first);
    if is_member || first[3] == NONE {
        return Seen {
            is_member,
            is_waiting,
            is_incomplete: false,
        };
    }
    let last = lower.quad(row * LISTED + 4);
    let (is_member, is_waiting_too) = look(last);
    Seen {
        is_member,
        is_waiting: is_waiting | is_waiting_too,
        is_incomplete: last[3] == MORE,
    }
}

/// Decides the vertex of row `list[i]` (of all rows in turn for an empty list), if its lower neighbours allow it; whether it
/// is left undecided, and whether because it has to search again.
///
/// A device's thread looks up to `polls` times: those that it waits for are at work in other threads. A CPU's looks once.
#[kernel(bits)]
pub fn decide_points(
    i: u32,
    list: In<u32>,
    lower: In<u32>,
    states: Atomic,
    polls: u32,
) -> (bool, bool) {
    let row = item(list, i);
    if states.load(row) != UNDECIDED {
        return (false, false);
    }
    let mut poll = 0;
    loop {
        let seen = look(row, lower, states);
        if seen.is_member {
            states.store(row, MEMBER);
            return (false, false);
        }
        if !seen.is_waiting {
            if seen.is_incomplete {
                return (true, true);
            }
            states.store(row, REPRESENTATIVE);
            return (false, false);
        }
        poll += 1;
        if poll >= polls || cfg!(not(target_arch = "nvptx64")) {
            return (true, false);
        }
    }
}

/// Takes the items of `list` (of all indices for an empty list) that `kept` names by their places.
#[kernel]
pub fn shorten_list(i: u32, list: In<u32>, kept: In<u32>, shorter: Out<u32>) {
    shorter.set(i, item(list, kept.at(i)));
}

/// Finds the representative of the vertex in `slot`: itself, or the lowest near.
#[kernel]
pub fn assign_points(
    slot: u32,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    lower: In<u32>,
    states: In<u32>,
    representatives: Out<u32>,
) {
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
    };
    let id = sites.at(slot).id;
    let row = if search.by_slot { slot } else { id };
    if cfg!(not(target_arch = "nvptx64")) && !search.by_slot {
        let ahead = slot + PREFETCHED_AHEAD;
        if ahead < sites.len() {
            let row = sites.at(ahead).id;
            states.prefetch(row);
            lower.prefetch(row * LISTED);
            representatives.unwritten().prefetch(row);
        }
    }
    if states.at(row) == REPRESENTATIVE {
        representatives.set(id, id);
        return;
    }
    let mut lowest = NONE;
    let mut place = row * LISTED;
    let end = place + LISTED;
    let mut is_incomplete = false;
    while place < end {
        let neighbour = lower.at(place);
        is_incomplete = neighbour == MORE;
        if neighbour >= MORE {
            break;
        }
        if states.at(neighbour) == REPRESENTATIVE {
            lowest = lowest.min(search.vertex(neighbour));
        }
        place += 1;
    }
    // The search finds those of the list too.
    if is_incomplete {
        search.each_lower_neighbour(row, |neighbour, id| {
            if states.at(neighbour) == REPRESENTATIVE {
                lowest = lowest.min(id);
            }
            true
        });
    }
    representatives.set(id, lowest);
}
