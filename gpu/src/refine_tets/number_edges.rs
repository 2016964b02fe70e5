//! Edges of tetrahedra: ids, and the tetrahedra around each.
//!
//! Use 6t + k is edge k of tetrahedron t ([`EdgeUse`]). The uses of an edge meet in a hash table as half-edges do
//! ([`crate::half_edges::match_twins()`]); the smallest becomes the edge's first use, and first uses are numbered in
//! their order. So ids depend on the tetrahedra alone, not on which thread came first, and edges used by neighbouring
//! tetrahedra have neighbouring ids.
//!
//! If neighbouring tetrahedra share edges, the uses of a block meet in shared memory first. The smallest use of each of
//! the block's edges goes to the table, and gets its slot there. The other uses refer to this one: they have its number
//! in the block, counted from the length of the table on. In a mesh along a curve they are three of four uses, which
//! read nothing out of order.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Safe, Scatter};
use trioxide_kernel::view;
use trioxide_kernel::{Block, Each, Lane, NONE, PREFETCHED_AHEAD, Shared, SharedMemory, kernel};

use super::check_tetrahedra::tet_rule;
use super::{corners, edge_set, ends};
use crate::ids::{Edge, EdgeUse, Item, Tet, Vertex};
use crate::slots::{ATTEMPTS, Slots, take};

/// Tetrahedra of a block, a lane each.
pub const MEETING_TETS: usize = 256;
const TETS: u32 = MEETING_TETS as u32;
/// Uses of a block's tetrahedra. References to them have the numbers after the slots of the table of all edges.
pub const MEETING_USES: usize = 6 * MEETING_TETS;
const USES: u32 = MEETING_USES as u32;
/// Slots of a block's own table.
const SLOTS: u32 = 2048;

/// The lower and the higher end of the edge that `usage` uses.
#[inline(always)]
pub(super) fn ends_of_use(tetrahedra: In<Vertex>, usage: EdgeUse) -> (Vertex, Vertex) {
    let (a, b) = ends(edge_set(usage.place()));
    let first = 4 * usage.tet().index();
    let (a, b) = (tetrahedra.at(first + a), tetrahedra.at(first + b));
    (a.min(b), a.max(b))
}

/// Joins `usage` to the other uses of its edge: they share a slot in `table`, which `of_uses` gets; the slot gets the
/// smallest use. For tetrahedra in no order.
///
/// `table` is `NONE` before the launch. Finds a use for which it has no room. `scale` is slots a vertex, times 2^32.
#[kernel(
    requires(2 * n == 3 * tetrahedra.len(), of_uses.len() == n, found.len() == tet_rule::COUNT),
    // The slots of the table that it reads and writes depend on the mesh.
    moves(tetrahedra.bytes() + of_uses.bytes()), trusted
)]
pub fn meet_scattered_tet_edges(
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
    // Most uses find their slot taken.
    of_uses.set(
        usage,
        join::<false>(*usage, ends, tetrahedra, table, found, scale),
    );
}

/// The slot of `table` that `usage`, from `low` to `high`, shares with the other uses of its edge. `CLAIMS` if it
/// claims slots without a look.
#[inline(always)]
fn join<const CLAIMS: bool>(
    usage: EdgeUse,
    (low, high): (Vertex, Vertex),
    tetrahedra: In<Vertex>,
    table: Atomic<EdgeUse>,
    found: Atomic,
    scale: u64,
) -> u32 {
    let slots = Slots::of_edge(low, high, scale, true);
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slots.at(attempt, table.len());
        let other = take::<CLAIMS, _>(table, slot, EdgeUse::NONE, usage);
        if other.is_none() {
            return slot;
        }
        // Another use waits there: the slot belongs to its edge from now on.
        if ends_of_use(tetrahedra, other) == (low, high) {
            if usage < other {
                table.min(slot, usage);
            }
            return slot;
        }
        attempt += 1;
    }
    found.min(tet_rule::CROWDED, usage.index());
    0
}

/// Shared memory of a block whose uses meet.
#[derive(SharedMemory)]
pub struct MeetingTile {
    /// Vertices 0 of the tetrahedra, then vertices 1, 2 and 3.
    corners: Shared<Vertex, { 4 * MEETING_TETS }>,
    /// The smallest use of each edge, numbered in the block. Afterwards of each such use the slot in the table of all.
    table: Shared<u32, { SLOTS as usize }>,
    /// Of each use the slot in the block's table, then the smallest use of its edge.
    uses: Shared<u16, MEETING_USES>,
    /// The smallest use of each edge, ascending.
    firsts: Shared<u16, MEETING_USES>,
}

impl MeetingTile {
    /// The lower and the higher end of the edge that `usage` uses, which is numbered in the block.
    #[inline(always)]
    fn ends(&self, usage: EdgeUse) -> (Vertex, Vertex) {
        let (a, b) = ends(edge_set(usage.place()));
        let t = usage.tet().index();
        let (a, b) = (self.corners.at(a * TETS + t), self.corners.at(b * TETS + t));
        (a.min(b), a.max(b))
    }

    /// The slot in the block's table in which `usage` meets the block's other uses of its edge.
    #[inline(always)]
    fn meet(&self, lane: Lane<'_>, usage: u32) -> u32 {
        let own = self.ends(EdgeUse::new(usage));
        let hash = own.0.index().wrapping_mul(0x9E37_79B9) ^ own.1.index();
        let mut slot = hash.wrapping_mul(0x85EB_CA6B) >> (32 - SLOTS.ilog2());
        // The table has more slots than the block has uses.
        loop {
            let mut other = self.table.claim(lane, slot, NONE, usage);
            if other == NONE {
                return slot;
            }
            if self.ends(EdgeUse::new(other)) == own {
                while usage < other {
                    let now = self.table.claim(lane, slot, other, usage);
                    other = if now == other { usage } else { now };
                }
                return slot;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

/// As [`meet_scattered_tet_edges()`], where tetrahedra share edges with the next ones: the uses of [`MEETING_TETS`]
/// tetrahedra meet in shared memory first. `of_uses` gets slots, and references to uses of the block.
#[kernel(
    requires(
        n == tetrahedra.len().div_ceil(4 * MEETING_TETS),
        2 * of_uses.len() == 3 * tetrahedra.len(),
        table.len() <= u32::MAX as usize - MEETING_USES,
        found.len() == tet_rule::COUNT
    ),
    // The slots of the table that it reads and writes depend on the mesh.
    moves(tetrahedra.bytes() + of_uses.bytes())
)]
pub fn meet_tet_edges(
    block: &Block<MEETING_TETS, MeetingTile>,
    tetrahedra: In<Vertex>,
    table: Atomic<EdgeUse>,
    of_uses: view::Out<u32>,
    found: Atomic,
    scale: u64,
) {
    // SAFETY: the launch's promise: tetrahedra of a checked mesh, and slots in the table.
    let (tetrahedra, table) = unsafe { (tetrahedra.trusted(), table.trusted()) };
    let tile = block.shared();
    let first_tet = block.index() * TETS;
    let first = 6 * first_tet;
    let count = (of_uses.len() - first).min(USES);
    block.phase(|lane| {
        let mut slot = lane.index();
        while slot < SLOTS {
            tile.table.set(lane, slot, NONE);
            slot += TETS;
        }
        if 6 * lane.index() < count {
            let [a, b, c, d] = corners(tetrahedra, Tet::new(first_tet + lane.index()));
            tile.corners.set(lane, lane.index(), a);
            tile.corners.set(lane, TETS + lane.index(), b);
            tile.corners.set(lane, 2 * TETS + lane.index(), c);
            tile.corners.set(lane, 3 * TETS + lane.index(), d);
        }
    });
    block.each(count, |lane, usage| {
        tile.uses.set(lane, usage, tile.meet(lane, usage) as u16);
    });
    // The uses of a lane's tetrahedron that are the smallest of their edges, a bit each.
    let smallest = block.lanes(|lane| {
        let mut smallest = 0;
        let mut k = 0;
        while k < 6 {
            let usage = 6 * lane.index() + k;
            if usage < count {
                let met = tile.table.at(u32::from(tile.uses.at(usage)));
                tile.uses.set(lane, usage, met as u16);
                smallest |= u32::from(met == usage) << k;
            }
            k += 1;
        }
        smallest
    });
    let (before, edges) = block.exclusive_sum(&block.lanes(|lane| smallest.at(lane).count_ones()));
    block.phase(|lane| {
        let (mut left, mut place) = (smallest.at(lane), before.at(lane));
        while left != 0 {
            let usage = 6 * lane.index() + left.trailing_zeros();
            tile.firsts.set(lane, place, usage as u16);
            left &= left - 1;
            place += 1;
        }
    });
    block.each(edges, |lane, i| {
        let usage = u32::from(tile.firsts.at(i));
        let ends = tile.ends(EdgeUse::new(usage));
        // On a CPU no later read begins before an atomic exchange ends.
        if cfg!(not(target_arch = "nvptx64")) && i + PREFETCHED_AHEAD < edges {
            let later = u32::from(tile.firsts.at(i + PREFETCHED_AHEAD));
            let (low, high) = tile.ends(EdgeUse::new(later));
            table.prefetch(Slots::of_edge(low, high, scale, true).at(0, table.len()));
        }
        // Most edges are new to the table.
        let own = EdgeUse::new(first + usage);
        let slot = join::<true>(own, ends, tetrahedra, table, found, scale);
        tile.table.set(lane, usage, slot);
    });
    block.each(count, |_, usage| {
        let met = u32::from(tile.uses.at(usage));
        let slot = if met == usage {
            tile.table.at(usage)
        } else {
            table.len() + met
        };
        of_uses.set(first + usage, slot);
    });
}

/// Whether `usage` is the first use of its edge: one with a slot, which holds it.
#[kernel(requires(slots.len() == n), moves(slots.bytes() + 4 * words(n)), trusted
)]
pub fn mark_first_tet_edges(
    usage: Own<EdgeUse>,
    slots: In<u32, EdgeUse>,
    table: In<EdgeUse>,
) -> bool {
    let slot = slots.at(usage);
    let has_slot = slot < table.len();
    // Without a branch, so that a thread's reads for several uses overlap.
    let [first] = table.at_all([if has_slot { slot } else { 0 }]);
    has_slot & (first == *usage)
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

/// Shared memory of a block that names edges: the id of each use's edge, or its reference.
#[derive(SharedMemory)]
pub struct NamingTile {
    names: Shared<u32, MEETING_USES>,
}

/// Replaces the slot or the reference of each use in `edges` by the edge's id. If `links` is not empty, it links each
/// use to the other uses of its edge: `last_uses[e]` is one use of the edge, and `links` leads from each use to
/// another, and from the last one to `NONE`.
///
/// The order of the links depends on the threads. No result depends on it: they are followed to the end, to set bits.
#[kernel(
    requires(
        n == edges.len().div_ceil(MEETING_USES),
        links.is_empty() || links.len() == edges.len(),
        table.len() <= u32::MAX as usize - MEETING_USES
    ),
    moves(2 * (edges.bytes() + last_uses.bytes()) + links.bytes())
)]
pub fn name_tet_edges(
    block: &Block<MEETING_TETS, NamingTile>,
    table: In<Edge>,
    edges: view::Out<u32>,
    last_uses: Atomic<EdgeUse, Edge>,
    links: view::Out<EdgeUse>,
) {
    // SAFETY: the launch's promise: slots are in the table.
    let table = unsafe { table.trusted() };
    let names = &block.shared().names;
    let first = block.index() * USES;
    let count = (edges.len() - first).min(USES);
    block.phase(|lane| {
        let place = |k: u32| lane.index() + k * TETS;
        let read = |k: u32| {
            if place(k) < count {
                edges.at(first + place(k))
            } else {
                0
            }
        };
        // A reference reads slot 0: no branch, so that all reads overlap.
        let own = [read(0), read(1), read(2), read(3), read(4), read(5)];
        let named = table.at_all(own.each(|slot| if slot < table.len() { slot } else { 0 }));
        let name = |k: u32| {
            let slot = own[k as usize];
            let is_slot = slot < table.len();
            names.set(
                lane,
                place(k),
                if is_slot {
                    named[k as usize].index()
                } else {
                    slot
                },
            );
        };
        name(0);
        name(1);
        name(2);
        name(3);
        name(4);
        name(5);
    });
    block.each(count, |_, i| {
        let name = names.at(i);
        // There are fewer edges than slots.
        let edge = if name < table.len() {
            name
        } else {
            names.at(name - table.len())
        };
        edges.set(first + i, edge);
        if !links.is_empty() {
            let usage = EdgeUse::new(first + i);
            links.set(usage, last_uses.swap(Edge::new(edge), usage));
        }
    });
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
