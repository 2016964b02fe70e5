//! Complete lists of the lower neighbours of undecided vertices, one behind the other (CSR), for dense meshes in which lists of
//! [`LISTED`](super::LISTED) leave much to search.

use trioxide_kernel::{Atomic, Block, Group, In, Out, kernel};

use super::decide::{Found, LANES, PIECE, Piece, Seen, decide};
use super::guards::{Guard, Guarding};
use super::ids::{Row, Slot};
use super::search::Search;
use super::states::{REPRESENTATIVE, is_undecided};

/// Number of lower neighbours of `row`, 0 for one that is decided.
#[kernel(
    requires(states.len() == n, counts.len() == n),
    moves(states.bytes() + counts.bytes())
)]
pub fn count_lower_neighbours(row: Row, states: In<u32>, counts: Out<u32>) {
    let state = states.at(row);
    counts.set(row, if is_undecided(state) { state } else { 0 });
}

/// Notes each pair of the vertex in `slot` and a later neighbour whose higher vertex is undecided: the lower vertex in the list
/// of the higher. `ends` are the starts of the lists before, and their ends afterwards.
#[kernel(
    G in Guarding,
    requires(search.fits(n), states.len() == n, ends.len() == n),
    moves(search.positions.bytes() + search.rows.sites.bytes() + states.bytes() + lower.bytes())
)]
pub fn note_all_lower_neighbours<G: Guard>(
    slot: Slot,
    search: Search<G>,
    states: In<u32>,
    ends: Atomic,
    lower: Out<Row>,
) {
    search.prefetch(slot);
    let row = search.rows.row(slot);
    let v = search.rows.vertex(row);
    search.each_later_neighbour(slot, |other, id| {
        let (low, high) = if id < v { (other, row) } else { (row, other) };
        if is_undecided(states.at(high)) {
            lower.set(ends.add(high, 1), low);
        }
    });
}

/// The complete lists: that of a row is `lower[starts[row]..ends[row]]`.
#[derive(Group)]
pub struct CompleteLists<'a> {
    /// Start of each row's list.
    pub starts: In<'a, u32>,
    /// End of each row's list.
    pub ends: In<'a, u32>,
    /// Lower neighbours, list by list.
    pub lower: In<'a, Row>,
}

/// [`decide_pieces()`](super::decide_pieces()) with complete lists.
#[kernel(
    requires(
        !list.is_empty(),
        n * (PIECE as usize) < list.len() + PIECE as usize,
        lists.starts.len() == states.len(),
        lists.ends.len() == states.len(),
        undecided.len() == words(list.len())
    )
)]
pub fn decide_completely(
    block: &Block<LANES, Piece<{ PIECE as usize }>>,
    list: In<Row>,
    lists: CompleteLists,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    let look = |row: Row, _| {
        let (mut place, end) = (lists.starts.at(row), lists.ends.at(row));
        let mut waits_for = Row::NONE;
        let mut is_member = false;
        while place < end && !is_member {
            // Four at a time: their loads do not wait for each other. Behind the end the last one again.
            let neighbours = [0, 1, 2, 3].map(|i| lists.lower.at((place + i).min(end - 1)));
            let states = neighbours.map(|neighbour| states.load(neighbour));
            let mut i = 0;
            while i < 4 {
                is_member |= states[i] == REPRESENTATIVE;
                if is_undecided(states[i]) {
                    waits_for = neighbours[i];
                }
                i += 1;
            }
            place += 4;
        }
        Seen {
            is_member,
            is_waiting: waits_for.is_some(),
            is_all: true,
            waits_for,
        }
    };
    decide::<{ PIECE as usize }>(block, list, patience, states, undecided, look, |_| {
        Found::Nothing
    });
}
