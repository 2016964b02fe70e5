//! Slabs: what a mesh that is larger than the device's memory needs beside the other kernels.
//!
//! A slab is clustered with all that is within epsilon of it, its halo. Local ids ascend as the mesh's ids do, so "lower" means
//! the same. The host holds the state of every vertex; a slab gets those of its vertices, decides its own as far as it can, and
//! gives them back.

use gpu_macros::kernel;

use super::decide::UNDECIDED;
use super::faces::{claim_slot, rotated};
use super::grid::Site;
use crate::view::{Atomic, In, Out};

/// State of a vertex of the halo that is not decided: its own slab decides it.
pub const WAITING: u8 = 3;

/// Vertex of a row.
#[inline(always)]
fn vertex(row: u32, sites: In<Site>, by_slot: u32) -> u32 {
    if by_slot != 0 { sites.at(row).id } else { row }
}

/// Gives `row` the state that is known of its vertex; whether it is left for this slab to decide.
///
/// A vertex of the halo may have lower neighbours that are not here, so what was found for it from those that are does not
/// count.
#[kernel(bits)]
pub fn impose_states(
    row: u32,
    sites: In<Site>,
    by_slot: u32,
    known: In<u8>,
    states: Out<u32>,
) -> bool {
    let state = known.at(vertex(row, sites, by_slot));
    if u32::from(state) == UNDECIDED {
        return states.at(row) == UNDECIDED;
    }
    let state = if state == WAITING {
        UNDECIDED
    } else {
        state.into()
    };
    states.set(row, state);
    false
}

/// Notes the state of `row` for its vertex, unless it is another slab's to decide.
#[kernel]
pub fn take_states(row: u32, sites: In<Site>, by_slot: u32, states: In<u32>, known: Out<u8>) {
    let v = vertex(row, sites, by_slot);
    if known.at(v) != WAITING {
        known.set(v, states.at(row) as u8);
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
