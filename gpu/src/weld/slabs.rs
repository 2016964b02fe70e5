//! Slabs: what a mesh that is larger than the device's memory needs beside the other kernels.
//!
//! A slab is clustered with all that is within epsilon of it, its halo. Local ids ascend as the mesh's ids do, so "lower" means
//! the same. The host holds the state of every vertex; a slab gets those of its vertices, decides its own as far as it can, and
//! gives them back.

use trioxide_kernel::{Atomic, In, Out, kernel};

use super::decide::{MEMBER, REPRESENTATIVE, is_undecided};
use super::faces::{claim_slot, rotated};
use super::grid::Site;

/// What is known of a vertex.
pub mod known {
    /// Nothing yet.
    pub const UNDECIDED: u8 = 0;
    /// It is a representative.
    pub const REPRESENTATIVE: u8 = 1;
    /// It is a member.
    pub const MEMBER: u8 = 2;
    /// In a slab: it is undecided, and of the halo: its own slab decides it.
    pub const WAITING: u8 = 3;
}

/// Vertex of a row.
#[inline(always)]
fn vertex(row: u32, sites: In<Site>, by_slot: u32) -> u32 {
    if by_slot != 0 { sites.at(row).id } else { row }
}

/// Gives `row`, whose state is the number of its lower neighbours here, the state that is known of its vertex; whether it is left
/// for this slab to decide.
///
/// A vertex of the slab that has no lower neighbours here is a representative: those that are not here are members. One of the
/// halo may have others, so that it is none for that.
#[kernel]
pub fn impose_states(
    row: u32,
    sites: In<Site>,
    by_slot: u32,
    known: In<u8>,
    states: Out<u32>,
) -> bool {
    let count = states.at(row);
    match known.at(vertex(row, sites, by_slot)) {
        known::REPRESENTATIVE => states.set(row, REPRESENTATIVE),
        known::MEMBER => states.set(row, MEMBER | count),
        known::WAITING => states.set(row, count.max(1)),
        _ => return is_undecided(count),
    }
    false
}

/// Notes the state of `row` for its vertex, unless it is another slab's to decide.
#[kernel]
pub fn take_states(row: u32, sites: In<Site>, by_slot: u32, states: In<u32>, known: Out<u8>) {
    let v = vertex(row, sites, by_slot);
    if known.at(v) != known::WAITING {
        let state = match states.at(row) {
            REPRESENTATIVE => known::REPRESENTATIVE,
            state if is_undecided(state) => known::UNDECIDED,
            _ => known::MEMBER,
        };
        known.set(v, state);
    }
}

/// Lets triangle `t`, of three different new vertices, claim its slot in `table`. Of equal triangles all but the first get
/// their bit in `repeated`.
#[kernel]
pub fn claim_welded_faces(
    t: u32,
    faces: In<[u32; 3]>,
    table: Atomic,
    repeated: Atomic,
    scale: u64,
) {
    let corners = |t| rotated(faces.at(t));
    claim_slot(t, corners(t), corners, table, repeated, scale);
}
