//! Step 7 of the paper: the children of each divided tetrahedron are written.

use trioxide_kernel::{Block, In, Out, Shared, SharedMemory, kernel};

use super::{LEAVES, each_leaf, edge_set};
use crate::ids::{Edge, Tet, Vertex};

/// Divided tetrahedra of a block.
pub const FAMILIES: usize = 128;
/// Most new tetrahedra of a block.
const NEW: usize = (LEAVES - 1) * FAMILIES;

/// Shared memory of a block: its new tetrahedra and their parents.
#[derive(SharedMemory)]
pub struct NewTets {
    corners: Shared<[Vertex; 4], NEW>,
    parents: Shared<Tet, NEW>,
}

/// Writes the children of [`FAMILIES`] tetrahedra in `touched`: the first child of each into its place, the others from
/// `first` on, by the scanned counts in `added`, whose sum is `all_added`. They inherit its entry of `parents`.
///
/// The new tetrahedra of a block lie side by side: they are gathered in shared memory and written whole.
#[kernel(
    requires(
        n == touched.len().div_ceil(FAMILIES),
        divisions.len() == touched.len(),
        added.len() == touched.len(),
        edges.len() == 6 * first as usize,
        parents.len() == first as usize + all_added as usize,
        tetrahedra.len() == 4 * parents.len()
    ),
    // Each tetrahedron of the list is read and written in place; the new ones are written.
    moves(72 * touched.len() + 20 * all_added as usize)
)]
pub fn write_tet_children(
    block: &Block<FAMILIES, NewTets>,
    touched: In<Tet>,
    divisions: In<u32>,
    added: In<u32>,
    edges: In<Edge>,
    midpoints: In<Vertex>,
    tetrahedra: Out<Vertex>,
    parents: Out<Tet>,
    first: u32,
    all_added: u32,
) {
    let new = block.shared();
    let list = block.index() * FAMILIES as u32;
    let start = added.at(list);
    let behind = list + FAMILIES as u32;
    let end = if behind < added.len() {
        added.at(behind)
    } else {
        all_added
    };
    block.phase(|lane| {
        let i = list + lane.index();
        if i >= touched.len() {
            return;
        }
        let (t, division) = (touched.at(i), divisions.at(i));
        let parent = parents.at(t);
        let ids = [
            edges.pair(6 * t.index()),
            edges.pair(6 * t.index() + 2),
            edges.pair(6 * t.index() + 4),
        ];
        // All are read together; an edge without a mark has no midpoint.
        let middle = |k: usize| {
            if is_marked(division, edge_set(k as u32)) {
                midpoints.at(ids[k / 2][k % 2])
            } else {
                Vertex::NONE
            }
        };
        let middles = [
            middle(0),
            middle(1),
            middle(2),
            middle(3),
            middle(4),
            middle(5),
        ];
        let midpoint = |edge: u32| {
            let mut m = middles[0];
            m = if edge == edge_set(1) { middles[1] } else { m };
            m = if edge == edge_set(2) { middles[2] } else { m };
            m = if edge == edge_set(3) { middles[3] } else { m };
            m = if edge == edge_set(4) { middles[4] } else { m };
            if edge == edge_set(5) { middles[5] } else { m }
        };
        let mut slot = added.at(i) - start;
        let mut is_first = true;
        let corners = tetrahedra.quad(4 * t.index());
        each_leaf(division, corners, midpoint, |child| {
            if is_first {
                tetrahedra.set_quad(4 * t.index(), child);
                is_first = false;
            } else {
                new.corners.set(lane, slot, child);
                new.parents.set(lane, slot, parent);
                slot += 1;
            }
        });
    });
    block.lanes(|lane| {
        let mut slot = lane.index();
        while slot < end - start {
            let t = first + start + slot;
            tetrahedra.set_quad(4 * t, new.corners.at(slot));
            parents.set(t, new.parents.at(slot));
            slot += FAMILIES as u32;
        }
    });
}

/// Whether the edge with the vertices `set` is one of the marked edges in `division`.
#[inline(always)]
fn is_marked(division: u32, set: u32) -> bool {
    // Nibbles that differ from the set are not 0.
    let other = division ^ set.wrapping_mul(0x11_1111);
    let mut is_marked = false;
    let mut k = 0;
    while k < 6 {
        is_marked |= other >> (4 * k) & 15 == 0;
        k += 1;
    }
    is_marked
}
