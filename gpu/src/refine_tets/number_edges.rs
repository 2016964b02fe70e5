//! Edges of tetrahedra: ids, and the tetrahedra around each.
//!
//! Use 6t + k is edge k of tetrahedron t ([`EdgeUse`]). The uses of an edge meet in a hash table as half-edges do
//! ([`crate::half_edges::match_twins()`]); the smallest becomes the edge's first use, and first uses are numbered in
//! their order. So ids depend on the tetrahedra alone, not on which thread came first, and edges used by neighbouring
//! tetrahedra have neighbouring ids.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{PREFETCHED_AHEAD, kernel};

use super::check_tetrahedra::tet_rule;
use super::{edge_set, ends};
use crate::ids::{Edge, EdgeUse, Item, Vertex};
use crate::slots::{ATTEMPTS, Slots};

/// The lower and the higher end of the edge that `usage` uses.
#[inline(always)]
pub(super) fn ends_of_use(tetrahedra: In<Vertex>, usage: EdgeUse) -> (Vertex, Vertex) {
    let (a, b) = ends(edge_set(usage.place()));
    let first = 4 * usage.tet().index();
    let (a, b) = (tetrahedra.at(first + a), tetrahedra.at(first + b));
    (a.min(b), a.max(b))
}

/// Joins `usage` to the other uses of its edge: they share a slot in `table`, which `of_uses` gets; the slot gets the
/// smallest use.
///
/// `table` is `NONE` before the launch. Finds a use for which it has no room. `scale` is slots a vertex, times 2^32.
#[kernel(
    requires(2 * n == 3 * tetrahedra.len(), of_uses.len() == n, found.len() == tet_rule::COUNT),
    // The slots of the table that it reads and writes depend on the mesh.
    moves(tetrahedra.bytes() + of_uses.bytes()), trusted
)]
pub fn meet_tet_edges(
    usage: Own<EdgeUse>,
    tetrahedra: In<Vertex>,
    table: Atomic<EdgeUse>,
    of_uses: Out<u32, EdgeUse>,
    found: Atomic,
    scale: u64,
) {
    let ahead = usage.index() + PREFETCHED_AHEAD;
    // On a CPU no later read begins before an atomic exchange ends.
    if cfg!(not(target_arch = "nvptx64")) && ahead < of_uses.len() {
        let (low, high) = ends_of_use(tetrahedra, EdgeUse::new(ahead));
        table.prefetch(Slots::of_edge(low, high, scale, true).at(0, table.len()));
    }
    let ends = ends_of_use(tetrahedra, *usage);
    let slots = Slots::of_edge(ends.0, ends.1, scale, true);
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slots.at(attempt, table.len());
        let mut other = table.load(slot);
        if other.is_none() {
            other = table.compare_exchange(slot, EdgeUse::NONE, *usage);
            if other.is_none() {
                of_uses.set(usage, slot);
                return;
            }
        }
        // Another use waits there: the slot belongs to its edge from now on.
        if ends_of_use(tetrahedra, other) == ends {
            if *usage < other {
                table.min(slot, *usage);
            }
            of_uses.set(usage, slot);
            return;
        }
        attempt += 1;
    }
    found.min(tet_rule::CROWDED, usage.index());
}

/// Whether `usage` is the first use of its edge.
#[kernel(requires(slots.len() == n), moves(slots.bytes() + 4 * words(n)), trusted
)]
pub fn mark_first_tet_edges(
    usage: Own<EdgeUse>,
    slots: In<u32, EdgeUse>,
    table: In<EdgeUse>,
) -> bool {
    // Without a branch, so that a thread's reads for several uses overlap.
    let [first] = table.at_all([slots.at(usage)]);
    first == *usage
}

/// Puts the id of edge `e` into its slot; `first_uses` lists the first uses.
#[kernel(requires(first_uses.len() == n), moves(12 * n))]
pub fn number_tet_edges(
    e: Own<Edge>,
    first_uses: In<EdgeUse, Edge>,
    slots: In<u32, EdgeUse>,
    table: Scatter<Edge>,
) {
    table.set(slots.at(first_uses.at(e)), *e);
}

/// Replaces the slot of `usage` by the edge's id.
#[kernel(
    requires(edges.len() == n),
    moves(2 * edges.bytes())
)]
pub fn name_tet_edges(usage: Own<EdgeUse>, table: In<Edge>, edges: Out<u32, EdgeUse>) {
    edges.set(usage, table.at(edges.at(usage)).index());
}

/// Replaces the slot of `usage` by the edge's id, and links it to the other uses: `last_uses[e]` is one use of the
/// edge, and `links` leads from each use to another, and from the last one to `NONE`.
///
/// The order of the links depends on the threads. No result depends on it: they are followed to the end, to set bits.
#[kernel(
    requires(edges.len() == n, links.len() == n),
    moves(4 * last_uses.len() + 2 * (edges.bytes() + last_uses.bytes()) + links.bytes())
)]
pub fn link_tet_edges(
    usage: Own<EdgeUse>,
    table: In<Edge>,
    edges: Out<u32, EdgeUse>,
    last_uses: Atomic<EdgeUse, Edge>,
    links: Out<EdgeUse, EdgeUse>,
) {
    let e = table.at(edges.at(usage));
    edges.set(usage, e.index());
    links.set(usage, last_uses.swap(e, *usage));
}

/// The id of edge k of tagged triangle f, from its corners, for `i` = 3f + k: edges 01, 02, 12. Finds `i` if no
/// tetrahedron has such an edge.
#[kernel(requires(
    faces.len() == n,
    n.is_multiple_of(3),
    face_edges.len() == n,
    found.len() == tet_rule::COUNT
))]
pub fn find_face_edges(
    i: Own<Item>,
    faces: In<Vertex>,
    tetrahedra: In<Vertex>,
    first_uses: In<EdgeUse, Edge>,
    table: In<Edge>,
    vertices: u32,
    face_edges: Out<Edge, Item>,
    found: Atomic,
    scale: u64,
) {
    let k = i.index() % 3;
    let (a, b) = ends(edge_set(k + u32::from(k == 2)));
    let first = i.index() - k;
    let (a, b) = (faces.at(first + a), faces.at(first + b));
    let (low, high) = (a.min(b), a.max(b));
    let slots = Slots::of_edge(low, high, scale, true);
    let mut attempt = if high.index() < vertices { 0 } else { ATTEMPTS };
    while attempt < ATTEMPTS {
        let e = table.at(slots.at(attempt, table.len()));
        if e.is_none() {
            break;
        }
        if ends_of_use(tetrahedra, first_uses.at(e)) == (low, high) {
            face_edges.set(i, e);
            return;
        }
        attempt += 1;
    }
    found.min(tet_rule::FACE, i.index());
}
