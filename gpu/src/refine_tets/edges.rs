//! Edges of tetrahedra: ids, and the tetrahedra around each.
//!
//! Use 6t + k is edge k of tetrahedron t. The uses of an edge meet in a hash table as half-edges do
//! ([`crate::half_edge::match_twins()`]); the smallest becomes the edge's first use, and first uses are numbered in their
//! order. So ids depend on the tetrahedra alone, not on which thread came first, and edges used by neighbouring tetrahedra
//! have neighbouring ids.

use trioxide_kernel::{Atomic, In, NONE, Out, PREFETCHED_AHEAD, kernel};

use super::{edge_set, ends, tet_rule};
use crate::half_edge::{ATTEMPTS, slot};

/// Vertices of tetrahedron `t`.
#[inline(always)]
pub(super) fn corners(tetrahedra: In<u32>, t: u32) -> [u32; 4] {
    tetrahedra.quad(4 * t)
}

/// The lower and the higher end of the edge that `usage` uses.
#[inline(always)]
pub(super) fn ends_of_use(tetrahedra: In<u32>, usage: u32) -> (u32, u32) {
    let (a, b) = ends(edge_set(usage % 6));
    let first = 4 * (usage / 6);
    let (a, b) = (tetrahedra.at(first + a), tetrahedra.at(first + b));
    (a.min(b), a.max(b))
}

/// Brings the use `i` to the others of its edge: `slots[i]` gets their slot in `table`, which gets the smallest of them.
///
/// `table` is `NONE` before. Finds a use for which it has no room. `scale` is slots a vertex, times 2^32.
#[kernel]
pub fn meet_tet_edges(
    i: u32,
    tetrahedra: In<u32>,
    table: Atomic,
    slots: Out<u32>,
    found: Atomic,
    scale: u64,
) {
    // On a CPU an atomic exchange lets no later read begin.
    if cfg!(not(target_arch = "nvptx64")) && i + PREFETCHED_AHEAD < slots.len() {
        let (low, high) = ends_of_use(tetrahedra, i + PREFETCHED_AHEAD);
        table.prefetch(slot(low, high, 0, table.len(), scale));
    }
    let (low, high) = ends_of_use(tetrahedra, i);
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slot(low, high, attempt, table.len(), scale);
        let mut other = table.load(slot);
        if other == NONE {
            other = table.compare_exchange(slot, NONE, i);
            if other == NONE {
                slots.set(i, slot);
                return;
            }
        }
        // Whichever use waits there: it is of the same edge from now on.
        if ends_of_use(tetrahedra, other) == (low, high) {
            table.min(slot, i);
            slots.set(i, slot);
            return;
        }
        attempt += 1;
    }
    found.min(tet_rule::CROWDED, i);
}

/// Whether `i` is the first use of its edge.
#[kernel]
pub fn mark_first_tet_edges(i: u32, slots: In<u32>, table: In<u32>) -> bool {
    table.at(slots.at(i)) == i
}

/// Puts the id of edge `e` into its slot; `first_uses` lists the first uses.
#[kernel]
pub fn number_tet_edges(e: u32, first_uses: In<u32>, slots: In<u32>, table: Out<u32>) {
    table.set(slots.at(first_uses.at(e)), e);
}

/// Replaces the slot of the use `i` by its edge, and links it to the others: `last_uses[e]` is one use of the edge, and
/// `links` leads from each to another, at last to `NONE`.
///
/// The order of the links is that of the threads. Nothing that follows them depends on it: they are followed to the end,
/// to set bits.
#[kernel]
pub fn link_tet_edges(i: u32, table: In<u32>, edges: Out<u32>, last_uses: Atomic, links: Out<u32>) {
    let e = table.at(edges.at(i));
    edges.set(i, e);
    links.set(i, last_uses.swap(e, i));
}

/// The id of edge k of tagged triangle f, from its corners, for `i` = 3f + k: edges 01, 02, 12. Finds `i` if no tetrahedron
/// has such an edge.
#[kernel]
pub fn find_face_edges(
    i: u32,
    faces: In<u32>,
    tetrahedra: In<u32>,
    first_uses: In<u32>,
    table: In<u32>,
    vertices: u32,
    face_edges: Out<u32>,
    found: Atomic,
    scale: u64,
) {
    let (a, b) = ends(edge_set(i % 3 + u32::from(i % 3 == 2)));
    let first = i - i % 3;
    let (a, b) = (faces.at(first + a), faces.at(first + b));
    let (low, high) = (a.min(b), a.max(b));
    let mut attempt = if high < vertices { 0 } else { ATTEMPTS };
    while attempt < ATTEMPTS {
        let e = table.at(slot(low, high, attempt, table.len(), scale));
        if e == NONE {
            break;
        }
        if ends_of_use(tetrahedra, first_uses.at(e)) == (low, high) {
            face_edges.set(i, e);
            return;
        }
        attempt += 1;
    }
    found.min(tet_rule::FACE, i);
}
