//! Decisions: which vertices are representatives, and which representative each other vertex goes to.
//!
//! A vertex without lower neighbours is a representative. The others note their lower neighbours, once: from then on rounds
//! read states only. A vertex with a representative among its lower neighbours is a member, whatever the others become; one
//! whose lower neighbours are all members is a representative; any other waits. In the end each member takes the lowest
//! representative of its list.
//!
//! Rounds go through the list of undecided vertices in pieces, a block each. Where ids follow the lines of a scan, chains of
//! vertices that wait for each other run along the list: a block sweeps over its piece until that decides nothing more, and
//! a lane, over its entries in their order. So a chain takes a round for each piece that it crosses, not for each link.
//!
//! States are read while others write them. That does no harm: a state changes once, from undecided to what is right, and a
//! vertex that reads it too early only waits longer.
//!
//! A vertex with more lower neighbours than its list holds notes some of them. They mostly decide it: if one is a
//! representative. If all are members it searches again, and notes those that are undecided then.

use glam::{DVec2, DVec3};
use gpu_macros::kernel;

use super::grid::{Grid, Search, Site, item};
use super::near::{Guard, Guards};
use crate::block::Block;
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
#[kernel(G(plain = crate::weld::Unguarded, guarded = crate::weld::Limits))]
pub fn note_lower_neighbours<G: Guard>(
    slot: u32,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    limits: In<G>,
    locked: In<u32>,
    normals: In<DVec3>,
    uvs: In<DVec2>,
    colors: In<u32>,
    lower: Out<u32>,
    states: Out<u32>,
) {
    let guards = Guards {
        limits,
        locked,
        normals,
        uvs,
        colors,
    };
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
        guards,
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

/// Searches anew for the vertex of `row`, all of whose noted neighbours are members, and decides it or notes the undecided;
/// whether it is decided.
#[inline(always)]
fn search_again<G: Guard>(search: &Search<G>, row: u32, lower: Out<u32>, states: Atomic) -> bool {
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
    is_member | (count == 0)
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
fn look(row: u32, lower: Out<u32>, states: Atomic) -> Seen {
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

const LANES: u32 = 256;
/// Neighbouring entries of a lane.
const OWN: u32 = 8;
/// Entries of a list that a block of [`decide_pieces()`] works on.
pub const PIECE: u32 = LANES * OWN;

/// The entries of a lane, a bit each.
#[derive(Clone, Copy)]
struct Entries {
    undecided: u32,
    /// Those of them that have to search again.
    searching: u32,
}

impl Entries {
    /// What the sums over a block are made of: a piece has less than 2^16 entries.
    #[inline(always)]
    fn counts(self) -> u32 {
        self.undecided.count_ones() | self.searching.count_ones() << 16
    }
}

/// Decides vertices of a piece of `list`, rows (all of them in turn for an empty list), until the others wait for vertices of
/// other pieces. The bits of `undecided` say which entries these are.
///
/// It searches again only when nothing else can be decided. Each sweep but the last decides a vertex or is followed by one that
/// does: so there are at most two for each entry.
#[kernel(block = 256, shared = 8192, G(plain = crate::weld::Unguarded, guarded = crate::weld::Limits))]
pub fn decide_pieces<G: Guard>(
    block: &Block<256>,
    list: In<u32>,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    limits: In<G>,
    locked: In<u32>,
    normals: In<DVec3>,
    uvs: In<DVec2>,
    colors: In<u32>,
    lower: Out<u32>,
    states: Atomic,
    undecided: Out<u32>,
) {
    let guards = Guards {
        limits,
        locked,
        normals,
        uvs,
        colors,
    };
    let count = if list.is_empty() {
        states.len()
    } else {
        list.len()
    };
    let first = block.index() * PIECE;
    // Rows that are undecided at first, `NONE` in the places of the others: neighbouring lanes read neighbours.
    let rows = block.shared::<u32>();
    block.phase(|lane| {
        let mut place = lane;
        while place < PIECE {
            let mut row = NONE;
            if first + place < count {
                row = item(list, first + place);
                if states.load(row) != UNDECIDED {
                    row = NONE;
                }
            }
            rows.set(place, row);
            place += LANES;
        }
    });
    let mut entries = block.lanes(|lane| {
        let mut undecided = 0;
        let mut k = 0;
        while k < OWN {
            undecided |= u32::from(rows.at(lane * OWN + k) != NONE) << k;
            k += 1;
        }
        Entries {
            undecided,
            searching: 0,
        }
    });
    let (_, mut left) = block.exclusive_sum(&block.lanes(|lane| entries.at(lane).counts()));
    let mut searches = false;
    // The same for all lanes, as the sums are: all reach the barriers.
    while left != 0 {
        entries = block.lanes(|lane| {
            let Entries {
                mut undecided,
                mut searching,
            } = entries.at(lane);
            let mut todo = if searches {
                searching
            } else {
                undecided & !searching
            };
            while todo != 0 {
                let entry = todo & todo.wrapping_neg();
                todo ^= entry;
                let row = rows.at(lane * OWN + entry.trailing_zeros());
                if searches {
                    let search = Search {
                        grid: grid.at(0),
                        offsets,
                        sites,
                        positions,
                        by_slot: by_slot != 0,
                        guards,
                    };
                    searching ^= entry;
                    if search_again(&search, row, lower, states) {
                        undecided ^= entry;
                    }
                    continue;
                }
                let seen = look(row, lower, states);
                if seen.is_member {
                    states.store(row, MEMBER);
                    undecided ^= entry;
                } else if !seen.is_waiting {
                    if seen.is_incomplete {
                        searching |= entry;
                    } else {
                        states.store(row, REPRESENTATIVE);
                        undecided ^= entry;
                    }
                }
            }
            Entries {
                undecided,
                searching,
            }
        });
        let (_, counts) = block.exclusive_sum(&block.lanes(|lane| entries.at(lane).counts()));
        let (before, searching) = (left, counts >> 16);
        left = counts & 0xFFFF;
        if left < before {
            searches = false;
        } else if searches || searching == 0 {
            break;
        } else {
            searches = true;
        }
    }
    // A lane's entries are a byte of the bit set.
    let bytes = block.shared::<u8>();
    block.phase(|lane| bytes.set(lane, entries.at(lane).undecided as u8));
    block.lanes(|lane| {
        let word = first / 32 + lane;
        if lane < PIECE / 32 && word < undecided.len() {
            undecided.set(word, rows.at(lane));
        }
    });
}

/// Takes the items of `list` that `kept` names by their places.
#[kernel]
pub fn shorten_list(i: u32, list: In<u32>, kept: In<u32>, shorter: Out<u32>) {
    shorter.set(i, list.at(kept.at(i)));
}

/// Finds the representative of the vertex in `slot`: itself, or the lowest near.
#[kernel(G(plain = crate::weld::Unguarded, guarded = crate::weld::Limits))]
pub fn assign_points<G: Guard>(
    slot: u32,
    positions: In<DVec3>,
    grid: In<Grid>,
    offsets: In<u32>,
    sites: In<Site>,
    by_slot: u32,
    limits: In<G>,
    locked: In<u32>,
    normals: In<DVec3>,
    uvs: In<DVec2>,
    colors: In<u32>,
    lower: In<u32>,
    states: In<u32>,
    representatives: Out<u32>,
) {
    let guards = Guards {
        limits,
        locked,
        normals,
        uvs,
        colors,
    };
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
        guards,
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
