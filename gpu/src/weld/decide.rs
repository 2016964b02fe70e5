//! Decisions: which vertices are representatives, and which representative each other vertex goes to.
//!
//! A vertex without lower neighbours is a representative. The others note their lower neighbours, once: from then on rounds
//! read states only. A vertex with a representative among its lower neighbours is a member, whatever the others become; one
//! whose lower neighbours are all members is a representative; any other waits. In the end each member takes the lowest
//! representative of its list.
//!
//! Rounds go through the list of undecided vertices in pieces, a block each. Where ids follow the lines of a scan, chains of
//! vertices that wait for each other run along the list: a block sweeps over its piece until that decides nothing more, and
//! a lane, over its entries in their order; and blocks that run at the same time wait for each other. So a chain takes a sweep
//! for each link, not a round.
//!
//! States are read while others write them. That does no harm: a state changes once, from undecided to what is right, and a
//! vertex that reads it too early only waits longer.
//!
//! A vertex with more lower neighbours than its list holds notes some of them. They mostly decide it: if one is a
//! representative. If all are members it searches again, and notes those that are undecided then. The first round does without:
//! mostly it decides nearly all, and a kernel that never searches runs more blocks at once. Where it does not, a device makes
//! complete lists ([`note_all_lower_neighbours()`]), if they fit its memory: a search takes it as long as many sweeps.

use super::near::Guarding;
use glam::{DVec2, DVec3};
use trioxide_kernel::{
    Atomic, Block, In, NONE, Out, PREFETCHED_AHEAD, Shared, SharedMemory, kernel,
};

#[cfg(doc)]
use super::complete::note_all_lower_neighbours;
use super::grid::{Grid, Search, Site, item};
use super::near::{Guard, Guards};

/// State of a representative. Undecided vertices have more: the number of their lower neighbours.
pub const REPRESENTATIVE: u32 = 0;
/// Bit of the state of a vertex that a lower one represents, beside the number of its lower neighbours.
pub const MEMBER: u32 = 1 << 31;

/// Places of a list of lower neighbours: two vectors of four.
pub const LISTED: u32 = 8;

/// Whether a state is neither that of a representative nor that of a member.
#[inline(always)]
pub(super) fn is_undecided(state: u32) -> bool {
    state != REPRESENTATIVE && state < MEMBER
}

/// Notes the vertex in `slot` with its later neighbours, or them with it: always the lower one with the higher. `states` are 0
/// before, and count the lower neighbours of each vertex: without one it is a representative.
///
/// In the order of slots, whatever rows are: neighbouring threads then go through the same buckets. Lists are in no order.
#[kernel(G in Guarding)]
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
    states: Atomic,
) {
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
        guards: Guards {
            limits,
            locked,
            normals,
            uvs,
            colors,
        },
    };
    search.prefetch(slot);
    let row = search.row(slot);
    let v = search.vertex(row);
    search.each_later_neighbour(slot, |other, id| {
        let (low, high) = if id < v { (other, row) } else { (row, other) };
        let place = states.add(high, 1);
        if place < LISTED {
            lower.set(high * LISTED + place, low);
        }
    });
}

/// What a list of lower neighbours says.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// Whether one of them is a representative.
    pub is_member: bool,
    /// Whether one is undecided.
    pub is_waiting: bool,
    /// Whether the list holds all, however many there are.
    pub is_all: bool,
    /// One that is undecided, for those who watch.
    pub waits_for: u32,
}

/// Looks at the listed ones of the `count` lower neighbours of `row`.
#[inline(always)]
fn look(row: u32, count: u32, lower: In<u32>, states: Atomic) -> Seen {
    let look = |first: u32| {
        let [a, b, c, d] = lower.quad(row * LISTED + first);
        // What is not there holds up nobody.
        let state = |place: u32, neighbour: u32| {
            if first + place < count {
                states.load(neighbour)
            } else {
                MEMBER
            }
        };
        let (a, b, c, d) = (state(0, a), state(1, b), state(2, c), state(3, d));
        let any = |is: fn(u32) -> bool| is(a) | is(b) | is(c) | is(d);
        (any(|state| state == REPRESENTATIVE), any(is_undecided))
    };
    let (is_member, is_waiting) = look(0);
    if is_member || count <= 4 {
        return Seen {
            is_member,
            is_waiting,
            is_all: false,
            waits_for: NONE,
        };
    }
    let (is_member, is_waiting_too) = look(4);
    Seen {
        is_member,
        is_waiting: is_waiting | is_waiting_too,
        is_all: false,
        waits_for: NONE,
    }
}

const LANES: u32 = 256;
/// Neighbouring entries of a lane.
const OWN: u32 = 8;
/// Entries of a list that a block of [`decide_pieces()`] works on.
pub const PIECE: u32 = LANES * OWN;

/// Shared memory of a block that decides. `WATCHED` is [`PIECE`] for entries that watch, else 0.
#[derive(SharedMemory)]
pub struct Piece<const WATCHED: usize> {
    /// Rows of the entries.
    rows: Shared<u32, { PIECE as usize }>,
    /// Numbers of their lower neighbours up to one more than are listed: 0 of those that are decided.
    numbers: Shared<u8, { PIECE as usize }>,
    /// The bits of the entries that stay undecided, a byte a lane.
    undecided: Shared<u8, { LANES as usize }>,
    /// The rows that entries wait for.
    watched: Shared<u32, WATCHED>,
}

/// Decides vertices of a piece of `list`, rows (all of them in turn for an empty list), until the others wait for vertices of
/// other pieces, or have to search again. The bits of `undecided` say which entries these are.
///
/// On a device a block sweeps `patience` times in vain before it gives up: blocks start in their order, so what one waits for
/// is mostly under way, and chains of vertices go on from piece to piece within the launch. On a CPU a block that waits
/// would keep its thread from the others.
#[kernel]
pub fn decide_pieces(
    block: &Block<256, Piece<0>>,
    list: In<u32>,
    lower: In<u32>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    let look = |row: u32, number: u32| look(row, number, lower, states);
    decide::<0>(block, list, patience, states, undecided, look, |_| {
        Found::Nothing
    });
}

/// [`decide_pieces()`] with searches.
#[kernel(G in Guarding)]
pub fn decide_searching<G: Guard>(
    block: &Block<256, Piece<0>>,
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
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    let search = |row: u32| {
        let search = Search {
            grid: grid.at(0),
            offsets,
            sites,
            positions,
            by_slot: by_slot != 0,
            guards: Guards {
                limits,
                locked,
                normals,
                uvs,
                colors,
            },
        };
        let mut count = 0;
        let mut is_member = false;
        search.each_lower_neighbour(row, |neighbour, _| {
            let state = states.load(neighbour);
            is_member |= state == REPRESENTATIVE;
            if is_undecided(state) {
                if count < LISTED {
                    lower.set(row * LISTED + count, neighbour);
                }
                count += 1;
            }
            !is_member
        });
        if is_member {
            Found::Representative
        } else {
            Found::Undecided(count)
        }
    };
    let look = |row: u32, number: u32| look(row, number, lower.unwritten(), states);
    decide::<0>(block, list, patience, states, undecided, look, search);
}

/// What a new search found.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// Nothing: it was not made.
    Nothing,
    /// A representative among the lower neighbours.
    Representative,
    /// So many undecided ones, and no representative; the first are noted.
    Undecided(u32),
}

/// The body of the kernels that decide. `look` takes a row and the number of its lower neighbours, up to one more than are listed;
/// `search`, a row all of whose noted neighbours are members, but which has more.
///
/// With `WATCHED`, an entry that waits looks at one of those it waits for until that is decided: a sweep over a piece that waits
/// for another takes a load an entry. It may learn later that it is a member.
#[inline(always)]
pub(super) fn decide<const WATCHED: usize>(
    block: &Block<256, Piece<WATCHED>>,
    list: In<u32>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
    look: impl Fn(u32, u32) -> Seen,
    search: impl Fn(u32) -> Found,
) {
    let count = if list.is_empty() {
        states.len()
    } else {
        list.len()
    };
    let patience = if cfg!(target_arch = "nvptx64") {
        patience
    } else {
        0
    };
    let first = block.index() * PIECE;
    let shared = block.shared();
    let rows = &shared.rows;
    let numbers = &shared.numbers;
    block.phase(|lane| {
        let mut place = lane;
        while place < PIECE {
            let mut number = 0;
            if first + place < count {
                let row = item(list, first + place);
                rows.set(place, row);
                let state = states.load(row);
                if is_undecided(state) {
                    number = state.min(LISTED + 1);
                }
            }
            numbers.set(place, number as u8);
            if WATCHED > 0 {
                shared.watched.set(place, NONE);
            }
            place += LANES;
        }
    });
    // The entries of a lane, a bit each.
    let mut waiting = block.lanes(|lane| {
        let mut waiting = 0;
        let mut k = 0;
        while k < OWN {
            waiting |= u32::from(numbers.at(lane * OWN + k) != 0) << k;
            k += 1;
        }
        waiting
    });
    let mut vain = 0;
    // The same for all lanes, as the votes are: all reach the barriers.
    while vain <= patience && block.any(&block.lanes(|lane| waiting.at(lane) != 0)) {
        let before = waiting;
        waiting = block.lanes(|lane| {
            let mut left = before.at(lane);
            let mut todo = left;
            while todo != 0 {
                let entry = todo & todo.wrapping_neg();
                todo ^= entry;
                let place = lane * OWN + entry.trailing_zeros();
                if WATCHED > 0 {
                    let watched = shared.watched.at(place);
                    if watched != NONE && is_undecided(states.load(watched)) {
                        continue;
                    }
                }
                let row = rows.at(place);
                let number = u32::from(numbers.at(place));
                let seen = look(row, number);
                let found = if seen.is_member {
                    Found::Representative
                } else if seen.is_waiting {
                    Found::Nothing
                } else if number <= LISTED || seen.is_all {
                    Found::Undecided(0)
                } else {
                    search(row)
                };
                match found {
                    Found::Nothing if WATCHED > 0 => shared.watched.set(place, seen.waits_for),
                    Found::Nothing => {}
                    // Which one it goes to the list does not say, if it does not hold all.
                    Found::Representative => {
                        states.store(row, MEMBER | number);
                        left ^= entry;
                    }
                    Found::Undecided(0) => {
                        states.store(row, REPRESENTATIVE);
                        left ^= entry;
                    }
                    Found::Undecided(number) => {
                        states.store(row, number);
                        numbers.set(place, number.min(LISTED + 1) as u8);
                    }
                }
            }
            left
        });
        let is_vain = !block.any(&block.lanes(|lane| waiting.at(lane) != before.at(lane)));
        vain = if is_vain { vain + 1 } else { 0 };
    }
    // A lane's entries are a byte of the bit set.
    block.phase(|lane| shared.undecided.set(lane, waiting.at(lane) as u8));
    block.lanes(|lane| {
        let word = first / 32 + lane;
        if lane < PIECE / 32 && word < undecided.len() {
            undecided.set(word, shared.undecided.word(lane));
        }
    });
}

/// Takes the items of `list` that `kept` names by their places.
#[kernel]
pub fn shorten_list(i: u32, list: In<u32>, kept: In<u32>, shorter: Out<u32>) {
    shorter.set(i, list.at(kept.at(i)));
}

/// Finds the representative of the vertex in `slot`: itself, or the lowest near.
#[kernel(G in Guarding)]
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
    let search = Search {
        grid: grid.at(0),
        offsets,
        sites,
        positions,
        by_slot: by_slot != 0,
        guards: Guards {
            limits,
            locked,
            normals,
            uvs,
            colors,
        },
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
    let state = states.at(row);
    if state == REPRESENTATIVE {
        representatives.set(id, id);
        return;
    }
    let count = state & !MEMBER;
    let mut lowest = NONE;
    let mut take = |neighbour: u32, id: u32| {
        if states.at(neighbour) == REPRESENTATIVE {
            lowest = lowest.min(id);
        }
    };
    if count > LISTED {
        search.each_lower_neighbour(row, |neighbour, id| {
            take(neighbour, id);
            true
        });
    } else {
        let mut place = row * LISTED;
        let end = place + count;
        while place < end {
            let neighbour = lower.at(place);
            take(neighbour, search.vertex(neighbour));
            place += 1;
        }
    }
    representatives.set(id, lowest);
}
