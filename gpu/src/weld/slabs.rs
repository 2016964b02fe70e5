//! Slabs: the additional kernels for a mesh that is larger than the device's memory.
//!
//! A slab is clustered with all vertices within epsilon of it, its halo. Local ids ascend as the mesh's ids do, so "lower" means
//! the same. The host holds the state of every vertex; a slab gets the states of its vertices, decides its own vertices as far as
//! it can, and gives the states back.

use trioxide_kernel::{Atomic, Bits, In, Out, kernel};

use super::faces::{claim_slot, rotated};
use super::ids::{Cluster, Row, Rows};
use super::states::{MEMBER, REPRESENTATIVE, is_undecided};
use crate::ids::{Triangle, Vertex};

/// What the host knows of a vertex.
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

/// Gives `row`, whose state is the number of its lower neighbours here, the known state of its vertex; whether this slab has to
/// decide it.
///
/// A vertex of the slab that has no lower neighbours here is a representative: its lower neighbours that are not here are
/// members. A vertex of the halo may have others, so the lack of lower neighbours here does not make it a representative.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n, states.len() == n),
    moves(known.bytes() + states.bytes() + 4 * words(n))
)]
pub fn impose_states(row: Row, rows: Rows, known: In<u8>, states: Out<u32>) -> bool {
    let count = states.at(row);
    match known.at(rows.vertex(row)) {
        known::REPRESENTATIVE => states.set(row, REPRESENTATIVE),
        known::MEMBER => states.set(row, MEMBER | count),
        known::WAITING => states.set(row, count.max(1)),
        _ => return is_undecided(count),
    }
    false
}

/// Notes the state of `row` for its vertex, unless another slab has to decide it.
#[kernel(
    requires(rows.sites.len() == n, known.len() == n, states.len() == n),
    moves(known.bytes() + states.bytes())
)]
pub fn take_states(row: Row, rows: Rows, states: In<u32>, known: Out<u8>) {
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

/// Lets triangle `t`, of three different new vertices, claim its slot in `table`. Of equal triangles all but the first get
/// their bit in `repeated`.
#[kernel(
    requires(faces.len() == n, table.len() > n, repeated.len() == words(n)),
    moves(faces.bytes() + 8 * n)
)]
pub fn claim_welded_faces(
    t: Triangle,
    faces: In<[Cluster; 3]>,
    table: Atomic<Triangle>,
    repeated: Atomic<Bits<Triangle>>,
    scale: u64,
) {
    let corners = |t: Triangle| rotated(faces.at(t));
    claim_slot(t, corners(t), corners, table, repeated, scale);
}
