//! Complete lists of the lower neighbours of undecided vertices, one behind the other (CSR), for dense meshes in which lists of
//! [`LISTED`](super::LISTED) leave much to search.

use super::near::Guarding;
use glam::{DVec2, DVec3};
use trioxide_kernel::{Atomic, Block, In, NONE, Out, kernel};

use super::decide::{Found, Piece, Seen, decide, is_undecided};
use super::decide::{PIECE, REPRESENTATIVE};
use super::grid::{Grid, Search, Site};
use super::near::{Guard, Guards};

/// Number of lower neighbours of `row`, 0 for one that is decided.
#[kernel]
pub fn count_lower_neighbours(row: u32, states: In<u32>, counts: Out<u32>) {
    let state = states.at(row);
    counts.set(row, if is_undecided(state) { state } else { 0 });
}

/// Notes the vertex in `slot` with those of its later neighbours that are higher and undecided, or them with it if it is so.
/// `ends` are the starts of the lists before, and their ends afterwards.
#[kernel(G in Guarding)]
pub fn note_all_lower_neighbours<G: Guard>(
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
    states: In<u32>,
    ends: Atomic,
    lower: Out<u32>,
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
        if is_undecided(states.at(high)) {
            lower.set(ends.add(high, 1), low);
        }
    });
}

/// [`decide_pieces()`](super::decide_pieces()) with complete lists: that of a row is `lower[starts[row]..ends[row]]`.
#[kernel]
pub fn decide_completely(
    block: &Block<256, Piece<{ PIECE as usize }>>,
    list: In<u32>,
    starts: In<u32>,
    ends: In<u32>,
    lower: In<u32>,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    debug_assert!(block.index() * PIECE < list.len(), "a piece of the list");
    let look = |row: u32, _| {
        let (mut place, end) = (starts.at(row), ends.at(row));
        let mut waits_for = NONE;
        let mut is_member = false;
        while place < end && !is_member {
            // Four at a time: their loads do not wait for each other. Behind the end the last one again.
            let neighbours = [0, 1, 2, 3].map(|i| lower.at((place + i).min(end - 1)));
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
            is_waiting: waits_for != NONE,
            is_all: true,
            waits_for,
        }
    };
    decide::<{ PIECE as usize }>(block, list, patience, states, undecided, look, |_| {
        Found::Nothing
    });
}
