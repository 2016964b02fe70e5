//! Slabs: the additional kernels for a mesh that is larger than the device's memory.
//!
//! A slab is clustered with all vertices within epsilon of it, its halo. Local ids ascend as the mesh's ids do, so
//! "lower" means the same. The host holds the state of every vertex; a slab reads the states of its vertices, decides
//! its own vertices as far as it can, and returns the states.
//!
//! Where the cells of a slab are crowded, its buckets go through their vertices (`crowded.rs`): the known
//! representatives are the first entries, the known members are passed, and undecided vertices of the halo stop a
//! bucket.

use trioxide_kernel::safe::{In, Out, Own, Scatter};
use trioxide_kernel::{Bits, kernel, view};

use super::crowded::WAITS;
use super::ids::{Bucket, Row, Slot};
use super::rows::RowSites;
use super::states::{MEMBER, REPRESENTATIVE, is_undecided};
use crate::ids::{Item, Vertex};

/// The host's knowledge of a vertex.
pub mod known {
    /// Nothing yet.
    pub const UNDECIDED: u8 = 0;
    /// It is a representative.
    pub const REPRESENTATIVE: u8 = 1;
    /// It is a member.
    pub const MEMBER: u8 = 2;
    /// It is undecided and in the halo of the slab: its own slab decides it.
    pub const WAITING: u8 = 3;
}

/// Sets the state of `row` to the known state of its vertex; before, it is the number of the vertex's lower neighbours
/// here. Returns whether this slab has to decide it.
///
/// A vertex of the slab that has no lower neighbours here is a representative: its lower neighbours that are not here
/// are members. A vertex of the halo may have others, so having none here does not make it a representative.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n, states.len() == n),
    moves(known.bytes() + states.bytes() + 4 * words(n))
)]
pub fn impose_states(
    row: Own<Row>,
    rows: RowSites,
    known: In<u8, Vertex>,
    states: Out<u32, Row>,
) -> bool {
    let count = states.at(row);
    match known.at(rows.vertex(*row)) {
        known::REPRESENTATIVE => states.set(row, REPRESENTATIVE),
        known::MEMBER => states.set(row, MEMBER | count),
        known::WAITING => states.set(row, count.max(1)),
        _ => return is_undecided(count),
    }
    false
}

/// Writes the state of `row` to `known`, unless another slab has to decide its vertex.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n, states.len() == n),
    moves(known.bytes() + states.bytes())
)]
pub fn take_states(row: Row, rows: RowSites, states: In<u32, Row>, known: view::Out<u8>) {
    let v: Vertex = rows.vertex(row);
    if known.at(v) != known::WAITING {
        let state = match states.at(row) {
            REPRESENTATIVE => known::REPRESENTATIVE,
            state if is_undecided(state) => known::UNDECIDED,
            _ => known::MEMBER,
        };
        known.set(v, state);
    }
}

/// Whether the state of the vertex in `slot` is one of `states`, a bit each.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n),
    moves(rows.sites.bytes() + known.bytes() + 4 * words(n))
)]
pub fn mark_known(slot: Own<Slot>, rows: RowSites, known: In<u8, Vertex>, states: u32) -> bool {
    states >> known.at(rows.sites.at(slot).id) & 1 != 0
}

/// Writes the known representative in slot `list[i]` to its bucket, after those of the bucket that precede it in the
/// list. Slots ascend in the list.
#[kernel(requires(list.len() == n, rows.sites.len() == keys.len(), entries.len() == keys.len()))]
pub fn enter_known(
    i: Own<Item>,
    list: In<Slot, Item>,
    rows: RowSites,
    keys: In<Bucket, Vertex>,
    offsets: In<u32>,
    entries: Scatter<u32>,
) {
    let slot = list.at(i);
    let start = offsets.at(keys.at(rows.sites.at(slot).id).index());
    // The first of the list in this bucket.
    let (mut low, mut high) = (0, i.index());
    while low < high {
        let middle = low + (high - low) / 2;
        if list.at(Item::new(middle)).index() < start {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    entries.set(start + (i.index() - low), rows.row(slot).index());
}

/// Records that the vertex in `slot` is a member, if it was undecided and is `covered`: a representative is near it.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n, covered.len() == words(n)),
    moves(rows.sites.bytes() + known.bytes() + covered.bytes())
)]
pub fn note_members(slot: Slot, rows: RowSites, covered: In<Bits<Slot>>, known: view::Out<u8>) {
    let v: Vertex = rows.sites.at(slot).id;
    if covered.bit(slot) && known.at(v) == known::UNDECIDED {
        known.set(v, known::MEMBER);
    }
}

/// Records the representative in entry `place` of the buckets, if there is one. Representatives are covered too, by
/// themselves.
#[kernel(
    requires(entries.len() == n, rows.sites.len() == n, known.len() == n),
    moves(entries.bytes())
)]
pub fn note_representatives(place: u32, entries: In<u32>, rows: RowSites, known: view::Out<u8>) {
    let entry = entries.at(place);
    if entry & WAITS == 0 {
        known.set(rows.vertex(Row::new(entry)), known::REPRESENTATIVE);
    }
}
