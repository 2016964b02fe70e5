//! Edges of tetrahedra: ids.
//!
//! Use 6t + k is edge k of tetrahedron t ([`EdgeUse`]). The uses of an edge meet in a hash table as half-edges do
//! ([`crate::half_edge::match_twins()`]); the smallest becomes the edge's first use, and first uses are numbered in their
//! order. So ids depend on the tetrahedra alone, not on which thread came first, and edges used by neighbouring tetrahedra
//! have neighbouring ids.

use trioxide_kernel::{Atomic, Block, In, NONE, Out, Shared, SharedMemory, kernel};

use super::check_tetrahedra::tet_rule;
use super::{corners, edge_set, ends};
use crate::ids::{Edge, EdgeUse, Vertex};
use crate::slots::{ATTEMPTS, Slots};

/// The lower and the higher end of edge `k` of a tetrahedron: 01, 02, 03, 12, 13, 23.
#[inline(always)]
fn ends_in([a, b, c, d]: [Vertex; 4], k: u32) -> (Vertex, Vertex) {
    let first = if k < 3 {
        a
    } else if k < 5 {
        b
    } else {
        c
    };
    let second = match k {
        0 => b,
        1 | 3 => c,
        _ => d,
    };
    (first.min(second), first.max(second))
}

/// The lower and the higher end of the edge that `usage` uses.
#[inline(always)]
pub(super) fn ends_of_use(tetrahedra: In<Vertex>, usage: EdgeUse) -> (Vertex, Vertex) {
    ends_in(corners(tetrahedra, usage.tet()), usage.place())
}

/// Tetrahedra of a block that meets edges.
pub const MEETING_TETS: usize = 128;
/// Lanes of such a block: three uses each.
const LANES: usize = 256;
/// Uses of its tetrahedra.
const USES: u32 = 6 * MEETING_TETS as u32;
/// Uses of a lane.
const OWN: u32 = USES / LANES as u32;
/// Slots of the block's table.
const LOCAL: u32 = 2048;

/// Shared memory of a block: its tetrahedra, and a table of their edges.
#[derive(SharedMemory)]
pub struct MeetingTile {
    corners: Shared<[Vertex; 4], MEETING_TETS>,
    /// The smallest use of each edge, counted from the block's first.
    uses: Shared<u32, { LOCAL as usize }>,
    /// The edge's slot in the table of all.
    slots: Shared<u32, { LOCAL as usize }>,
}

impl MeetingTile {
    /// The slot of `usage` in the block's table, which gets the smallest use of each edge.
    #[inline(always)]
    fn meet(&self, usage: u32) -> u32 {
        let ends = |usage| ends_in(self.corners.at(usage / 6), usage % 6);
        let own = ends(usage);
        let hash =
            own.0.index().wrapping_mul(0x9E37_79B9) ^ own.1.index().wrapping_mul(0x85EB_CA6B);
        let mut slot = hash.wrapping_mul(0x9E37_79B9) >> (32 - LOCAL.ilog2());
        loop {
            let other = self.uses.claim(slot, NONE, usage);
            if other == NONE {
                return slot;
            }
            if ends(other) == own {
                self.uses.min(slot, usage);
                return slot;
            }
            slot = (slot + 1) % LOCAL;
        }
    }
}

/// Joins the uses of the edges of [`MEETING_TETS`] tetrahedra to the other uses of their edges: `of_uses` gets their slots in
/// `table`, which gets the smallest use of each edge.
///
/// `table` is `NONE` before. Finds a use for which it has no room. `scale` is slots a vertex, times 2^32.
///
/// The uses of a block meet in shared memory first, so that it looks once for each edge: in a mesh in a good order that saves half or
/// more of the reads out of order.
#[kernel(
    requires(
        2 * of_uses.len() == 3 * tetrahedra.len(),
        n == (tetrahedra.len() / 4).div_ceil(MEETING_TETS),
        found.len() == tet_rule::COUNT
    ),
    // The slots of the table that it reads and writes depend on the mesh.
    moves(tetrahedra.bytes() + of_uses.bytes())
)]
pub fn meet_tet_edges(
    block: &Block<LANES, MeetingTile>,
    tetrahedra: In<Vertex>,
    table: Atomic<EdgeUse>,
    of_uses: Out<u32>,
    found: Atomic,
    scale: u64,
) {
    let tile = block.shared();
    let first = block.index() * USES;
    let count = (of_uses.len() - first).min(USES);
    block.phase(|lane| {
        let t = block.index() * MEETING_TETS as u32 + lane;
        if lane < MEETING_TETS as u32 {
            tile.corners.set(lane, tetrahedra.quad(4 * t));
        }
        let mut slot = lane;
        while slot < LOCAL {
            tile.uses.set(slot, NONE);
            slot += LANES as u32;
        }
    });
    let met = block.lanes(|lane| {
        let meet = |k: u32| {
            let usage = lane + k * LANES as u32;
            if usage < count {
                tile.meet(usage)
            } else {
                NONE
            }
        };
        const { assert!(OWN == 3) };
        [meet(0), meet(1), meet(2)]
    });
    // A barrier: the smallest uses are known.
    block.phase(|_| {});
    let slots_of = |usage: u32| {
        let (low, high) = ends_in(tile.corners.at(usage / 6), usage % 6);
        Slots::of_edge(low, high, table.len(), scale)
    };
    // On a CPU no later read begins before an atomic exchange ends.
    if cfg!(not(target_arch = "nvptx64")) {
        block.phase(|lane| {
            let mut slot = lane;
            while slot < LOCAL {
                if tile.uses.at(slot) != NONE {
                    table.prefetch(slots_of(tile.uses.at(slot)).at(0, table.len()));
                }
                slot += LANES as u32;
            }
        });
    }
    block.phase(|lane| {
        let mut slot = lane;
        while slot < LOCAL {
            let usage = tile.uses.at(slot);
            if usage != NONE {
                let own = EdgeUse::new(first + usage);
                let met = join(own, slots_of(usage), tetrahedra, table);
                if met == NONE {
                    found.min(tet_rule::CROWDED, own.index());
                }
                tile.slots.set(slot, met);
            }
            slot += LANES as u32;
        }
    });
    block.lanes(|lane| {
        let met = met.at(lane);
        let put = |k: u32| {
            let usage = lane + k * LANES as u32;
            if usage < count {
                of_uses.set(first + usage, tile.slots.at(met[k as usize]));
            }
        };
        put(0);
        put(1);
        put(2);
    });
}

/// The slot of `table` in which `usage` meets the other uses of its edge, or `NONE` if there is no room.
#[inline(always)]
fn join(usage: EdgeUse, slots: Slots, tetrahedra: In<Vertex>, table: Atomic<EdgeUse>) -> u32 {
    let ends = ends_of_use(tetrahedra, usage);
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slots.at(attempt, table.len());
        let other = table.claim(slot, EdgeUse::NONE, usage);
        if other.is_none() {
            return slot;
        }
        // Another use waits there: the slot belongs to its edge from now on.
        if ends_of_use(tetrahedra, other) == ends {
            if usage < other {
                table.min(slot, usage);
            }
            return slot;
        }
        attempt += 1;
    }
    NONE
}

/// Whether `usage` is the first use of its edge.
#[kernel(requires(slots.len() == n), moves(slots.bytes() + 4 * words(n)))]
pub fn mark_first_tet_edges(usage: EdgeUse, slots: In<u32>, table: In<EdgeUse>) -> bool {
    table.at(slots.at(usage)) == usage
}

/// Puts the id of edge `e` into its slot; `first_uses` lists the first uses.
#[kernel(requires(first_uses.len() == n), moves(12 * n))]
pub fn number_tet_edges(e: Edge, first_uses: In<EdgeUse>, slots: In<u32>, table: Out<Edge>) {
    table.set(slots.at(first_uses.at(e)), e);
}

/// Replaces the slot of `usage` by its edge.
#[kernel(
    requires(edges.len() == n),
    moves(2 * edges.bytes())
)]
pub fn name_tet_edges(usage: EdgeUse, table: In<Edge>, edges: Out<u32>) {
    edges.set(usage, table.at(edges.at(usage)).index());
}

/// The id of edge k of tagged triangle f, from its corners, for `i` = 3f + k: edges 01, 02, 12. Finds `i` if no tetrahedron
/// has such an edge.
#[kernel(requires(
    faces.len() == n,
    n.is_multiple_of(3),
    face_edges.len() == n,
    found.len() == tet_rule::COUNT
))]
pub fn find_face_edges(
    i: u32,
    faces: In<Vertex>,
    tetrahedra: In<Vertex>,
    first_uses: In<EdgeUse>,
    table: In<Edge>,
    vertices: u32,
    face_edges: Out<Edge>,
    found: Atomic,
    scale: u64,
) {
    let (a, b) = ends(edge_set(i % 3 + u32::from(i % 3 == 2)));
    let first = i - i % 3;
    let (a, b) = (faces.at(first + a), faces.at(first + b));
    let (low, high) = (a.min(b), a.max(b));
    let slots = Slots::of_edge(low, high, table.len(), scale);
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
    found.min(tet_rule::FACE, i);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_the_sets() {
        for k in 0..6 {
            let (a, b) = ends(edge_set(k));
            let corners = [7, 3, 9, 5].map(Vertex::new);
            let (a, b) = (corners[a as usize], corners[b as usize]);
            assert_eq!(ends_in(corners, k), (a.min(b), a.max(b)));
        }
    }
}
