//! Decisions: which vertices are representatives.
//!
//! A vertex without lower neighbours is a representative. The others have lists of their lower neighbours: rounds read
//! states only. A vertex with a representative among its lower neighbours is a member, whatever the others become. A
//! vertex whose lower neighbours are all members is a representative. Any other vertex waits.
//!
//! Rounds go through the list of undecided vertices in pieces, a block each. Where ids follow the lines of a scan,
//! chains of waiting vertices run along the list. So a block sweeps over its piece until a sweep decides nothing more,
//! a lane goes through its entries in their order, and running blocks wait for each other. A chain then takes a sweep
//! for each link, not a round.
//!
//! States are read while others write them. The result is the same: a state changes once, from undecided to its final
//! value, and a vertex that reads it too early only waits longer.
//!
//! A vertex with more lower neighbours than its list holds lists some of them. If one of these is a representative,
//! which is the usual case, the vertex is decided. If all are members it searches again, and lists its undecided
//! neighbours. The first round never searches: it decides nearly all vertices of most meshes, and a kernel without
//! searches runs more blocks at once. If it leaves many, a device continues along chains (`chains.rs`).

use trioxide_kernel::safe::{Own, Safe};
use trioxide_kernel::{Atomic, Block, In, NoCells, Out, Shared, SharedMemory, kernel, safe};

use super::grid::item;
use super::guards::{Guard, Guarding};
use super::ids::Row;
use super::search::Search;
use super::states::{LISTED, MEMBER, REPRESENTATIVE, is_undecided};
use crate::ids::Item;

/// The states of a row's listed lower neighbours.
#[derive(Clone, Copy)]
struct Seen {
    /// Whether one of them is a representative.
    is_member: bool,
    /// Whether one is undecided.
    is_waiting: bool,
}

/// Reads the states of the listed neighbours among the `count` lower neighbours of `row`.
#[inline(always)]
fn look(row: Row, count: u32, lower: In<Row>, states: Atomic) -> Seen {
    let look = |first: u32| {
        // Places from the count on hold nothing, and count as members: they decide nothing.
        let state = |place: u32| {
            if first + place < count {
                states.load(lower.at(row.index() * LISTED + first + place))
            } else {
                MEMBER
            }
        };
        let (a, b, c, d) = (state(0), state(1), state(2), state(3));
        let any = |is: fn(u32) -> bool| is(a) | is(b) | is(c) | is(d);
        (any(|state| state == REPRESENTATIVE), any(is_undecided))
    };
    let (is_member, is_waiting) = look(0);
    if is_member || count <= 4 {
        return Seen {
            is_member,
            is_waiting,
        };
    }
    let (is_member, is_waiting_too) = look(4);
    Seen {
        is_member,
        is_waiting: is_waiting | is_waiting_too,
    }
}

/// Lanes of a block that decides.
const LANES: usize = 256;
/// Consecutive entries of a lane.
const OWN: u32 = 8;
/// Entries of a list that a block of [`decide_pieces()`] works on.
pub const PIECE: u32 = LANES as u32 * OWN;

/// Shared memory of a block that decides.
#[derive(SharedMemory)]
pub struct Piece {
    /// Rows of the entries.
    rows: Shared<Row, { PIECE as usize }>,
    /// Numbers of their lower neighbours, at most one more than are listed; 0 for decided ones.
    numbers: Shared<u8, { PIECE as usize }>,
    /// The bits of the entries that stay undecided, a byte a lane.
    undecided: Shared<u8, LANES>,
}

/// Decides vertices of a piece of `list`, until the remaining ones wait for vertices of other pieces, or have to search
/// again. The bits of `undecided` mark the remaining entries. An empty list stands for all rows in ascending order.
///
/// On a device a block sweeps `patience` times in vain before it gives up: blocks start in their order, so other blocks
/// are deciding most of the vertices that it waits for, and chains of vertices continue from piece to piece within the
/// launch. On a CPU a waiting block would keep its thread from other blocks.
#[kernel(
    requires(
        n * PIECE as usize >= entries(list.len(), states.len()),
        lower.len() == LISTED as usize * states.len(),
        undecided.len() == words(entries(list.len(), states.len()))
    ),
    moves(list.bytes() + 2 * 4 * entries(list.len(), states.len()) + undecided.bytes())
)]
pub fn decide_pieces(
    block: &Block<LANES, Piece>,
    list: safe::In<Row>,
    lower: In<Row>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    let look = |row: Row, number: u32| look(row, number, lower, states);
    decide(block, list, patience, states, undecided, look, |_| {
        SearchResult::Nothing
    });
}

/// Entries of a list; an empty list stands for all rows.
#[inline(always)]
const fn entries(list: usize, rows: usize) -> usize {
    if list == 0 { rows } else { list }
}

/// [`decide_pieces()`] with searches.
#[kernel(
    G in Guarding,
    requires(
        n * PIECE as usize >= list.len(),
        !list.is_empty(),
        search.fits(states.len()),
        lower.len() == LISTED as usize * states.len(),
        undecided.len() == words(list.len())
    )
)]
pub fn decide_searching<G: Guard>(
    block: &Block<LANES, Piece>,
    list: safe::In<Row>,
    search: Search<G>,
    lower: Out<Row>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    // SAFETY: the launch's promise: sites are vertices, and buckets are runs of slots.
    let search = unsafe { search.trusted() };
    let search_again = |row: Row| {
        let mut count = 0;
        let mut is_member = false;
        search.each_lower_neighbour(row, |neighbour, _| {
            let state = states.load(neighbour);
            is_member |= state == REPRESENTATIVE;
            if is_undecided(state) {
                if count < LISTED {
                    lower.set(row.index() * LISTED + count, neighbour);
                }
                count += 1;
            }
            !is_member
        });
        if is_member {
            SearchResult::Representative
        } else {
            SearchResult::Undecided(count)
        }
    };
    let look = |row: Row, number: u32| look(row, number, lower.unwritten(), states);
    decide(block, list, patience, states, undecided, look, search_again);
}

/// The result of a new search.
#[derive(Clone, Copy)]
enum SearchResult {
    /// None: there was no search.
    Nothing,
    /// A representative among the lower neighbours.
    Representative,
    /// The number of undecided ones; no representative. The first ones are listed.
    Undecided(u32),
}

/// Copies the entries of the piece that starts at `first` to shared memory.
#[inline(always)]
fn take_piece(
    block: &Block<LANES, Piece>,
    list: safe::In<Row>,
    first: u32,
    count: u32,
    states: Atomic,
) {
    let shared = block.shared();
    block.phase(|lane| {
        let mut place = lane.index();
        while place < PIECE {
            let mut number = 0;
            if first + place < count {
                let row = item(list, first + place);
                shared.rows.set(lane, place, row);
                let state = states.load(row);
                if is_undecided(state) {
                    number = state.min(LISTED + 1);
                }
            }
            shared.numbers.set(lane, place, number as u8);
            place += LANES as u32;
        }
    });
}

/// The body of the kernels that decide. `look` takes a row and the number of its lower neighbours, at most one more
/// than are listed. `search` takes a row whose listed neighbours are all members, but which has more.
#[inline(always)]
fn decide(
    block: &Block<LANES, Piece>,
    list: safe::In<Row>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
    look: impl Fn(Row, u32) -> Seen + NoCells,
    search: impl Fn(Row) -> SearchResult + NoCells,
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
    let shared = block.shared();
    let (rows, numbers) = (&shared.rows, &shared.numbers);
    let first = block.index() * PIECE;
    take_piece(block, list, first, count, states);
    // The undecided entries of a lane, a bit each.
    let mut waiting = block.lanes(|lane| {
        let mut waiting = 0;
        let mut k = 0;
        while k < OWN {
            waiting |= u32::from(numbers.at(lane.index() * OWN + k) != 0) << k;
            k += 1;
        }
        waiting
    });
    let mut vain = 0;
    // The condition is the same in all lanes, since the votes are: all reach the barriers.
    while vain <= patience && block.any(&block.lanes(|lane| waiting.at(lane) != 0)) {
        let before = waiting;
        waiting = block.lanes(|lane| {
            let mut left = before.at(lane);
            let mut todo = left;
            while todo != 0 {
                let entry = todo & todo.wrapping_neg();
                todo ^= entry;
                let place = lane.index() * OWN + entry.trailing_zeros();
                let row = rows.at(place);
                let number = u32::from(numbers.at(place));
                let seen = look(row, number);
                let found = if seen.is_member {
                    SearchResult::Representative
                } else if seen.is_waiting {
                    SearchResult::Nothing
                } else if number <= LISTED {
                    SearchResult::Undecided(0)
                } else {
                    search(row)
                };
                match found {
                    SearchResult::Nothing => {}
                    // A list that does not hold all does not show the lowest.
                    SearchResult::Representative => {
                        states.store(row, MEMBER | number);
                        left ^= entry;
                    }
                    SearchResult::Undecided(0) => {
                        states.store(row, REPRESENTATIVE);
                        left ^= entry;
                    }
                    SearchResult::Undecided(number) => {
                        states.store(row, number);
                        numbers.set(lane, place, number.min(LISTED + 1) as u8);
                    }
                }
            }
            left
        });
        let is_vain = !block.any(&block.lanes(|lane| waiting.at(lane) != before.at(lane)));
        vain = if is_vain { vain + 1 } else { 0 };
    }
    // A lane's entries are a byte of the bit set.
    block.phase(|lane| {
        shared
            .undecided
            .set(lane, lane.index(), waiting.at(lane) as u8)
    });
    block.lanes(|lane| {
        let word = first / 32 + lane.index();
        if lane.index() < PIECE / 32 && word < undecided.len() {
            undecided.set(word, shared.undecided.word(lane.index()));
        }
    });
}

/// Gathers the items of `list` at the places `kept`.
#[kernel(
    requires(kept.len() == n, shorter.len() == n),
    moves(2 * kept.bytes() + shorter.bytes())
)]
pub fn shorten_list(
    i: Own<Item>,
    list: safe::In<u32>,
    kept: safe::In<u32, Item>,
    shorter: safe::Out<u32, Item>,
) {
    shorter.set(i, list.at(kept.at(i)));
}
