//! Twins: the two half-edges of an edge meet in a hash table.

use trioxide_kernel::{Atomic, In, PREFETCHED_AHEAD, kernel};

use super::{rule, target};
use crate::ids::{HalfEdge, Triangle, Vertex};

/// Slots beside an edge's own that are tried first.
const WINDOW: u32 = 16;
/// Slots that are tried at all. In a table with two thirds of its slots taken, some of these are free.
pub(crate) const ATTEMPTS: u32 = 256;

/// Slot number `attempt` at which the edge between `low` and `high` is looked for in a table of `size` slots.
///
/// The first slots follow each other from a place in proportion to the lower vertex (`scale` is slots a vertex, times 2^32): the
/// edges of neighbouring vertices lie side by side, and a mesh in a good order is met in that order. Where a vertex has more
/// edges than there is room for, the others scatter.
#[inline(always)]
pub(crate) fn slot(low: u32, high: u32, attempt: u32, size: u32, scale: u64) -> u32 {
    if attempt < WINDOW {
        let own = ((u64::from(low) * scale) >> 32) as u32;
        let slot = own + attempt;
        return if slot < size { slot } else { slot - size };
    }
    // Mixed as in MurmurHash3's finalizer, so that every bit of the edge moves the upper half.
    let mut x = (u64::from(low) << 32 | u64::from(high))
        .wrapping_add(u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^= x >> 33;
    (((x >> 32) * u64::from(size)) >> 32) as u32
}

/// Finds the twins of the half-edges of triangle `t`: the first half-edge of an edge waits in `table`, the second writes the
/// twins of both.
///
/// `table` and `twins` are `NONE` before; along the boundary `twins` stays so. Finds a half-edge if its edge is taken by
/// another in the same direction, or if the mesh has more edges than the table has room for. Where several claim the same
/// twin, one of them is written: `mark_boundary` finds the others.
///
/// The three half-edges take each step together, so that their reads overlap: each may miss every cache.
#[kernel(
    requires(origins.len() == 3 * n, twins.len() == 3 * n, !table.is_empty(), found.len() == rule::COUNT),
    // An edge, two half-edges, has one slot: written, read.
    moves(2 * origins.bytes() + twins.bytes())
)]
pub fn match_twins(
    t: Triangle,
    origins: In<Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge>,
    found: Atomic,
    scale: u64,
) {
    let size = table.len();
    let corners = |t: Triangle| {
        [
            origins.at(HalfEdge::of(t, 0)),
            origins.at(HalfEdge::of(t, 1)),
            origins.at(HalfEdge::of(t, 2)),
        ]
    };
    let home = |v: [Vertex; 3], k: usize| {
        let (a, b) = (v[k].index(), v[(k + 1) % 3].index());
        slot(a.min(b), a.max(b), 0, size, scale)
    };
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(t, origins, table, twins, |t, k| home(corners(t), k));
    }
    let v = corners(t);
    let from = |k: usize| v[k];
    let to = |k: usize| v[(k + 1) % 3];
    let look = |k: usize| table.load(home(v, k));
    let waiting = [look(0), look(1), look(2)];
    let opposite = |k: usize| {
        waiting[k].is_some()
            && origins.at(waiting[k]) == to(k)
            && target(origins, waiting[k]) == from(k)
    };
    let met = [opposite(0), opposite(1), opposite(2)];
    let finish = |k: usize| {
        let h = HalfEdge::of(t, k as u32);
        if met[k] {
            twins.store(h, waiting[k]);
            twins.store(waiting[k], h);
        } else {
            search(h, from(k), to(k), origins, table, twins, found, scale);
        }
    };
    finish(0);
    finish(1);
    finish(2);
}

/// Prefetches the slots of a later triangle, and the half-edges that wait in the slots of a nearer one: on a CPU no later read
/// begins before an atomic exchange ends, so each read would be waited for alone.
#[inline(always)]
fn ask_ahead(
    t: Triangle,
    origins: In<Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge>,
    home: impl Fn(Triangle, usize) -> u32,
) {
    let triangles = origins.len() / 3;
    let later = |ahead: u32| Triangle::new(t.index() + ahead);
    let mut k = 0;
    while k < 3 {
        if t.index() + PREFETCHED_AHEAD < triangles {
            table.prefetch(home(later(PREFETCHED_AHEAD), k));
        }
        if t.index() + PREFETCHED_AHEAD / 2 < triangles {
            let waiting = table.load(home(later(PREFETCHED_AHEAD / 2), k));
            if waiting.is_some() {
                origins.prefetch(waiting);
                twins.prefetch(waiting);
            }
        }
        k += 1;
    }
}

/// Tries slot after slot for half-edge `h` from `a` to `b`.
#[inline(always)]
fn search(
    h: HalfEdge,
    a: Vertex,
    b: Vertex,
    origins: In<Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge>,
    found: Atomic,
    scale: u64,
) {
    let (low, high) = (a.min(b).index(), a.max(b).index());
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slot(low, high, attempt, table.len(), scale);
        let mut other = table.load(slot);
        if other.is_none() {
            other = table.compare_exchange(slot, HalfEdge::NONE, h);
            if other.is_none() {
                return;
            }
        }
        let (c, d) = (origins.at(other), target(origins, other));
        if (c, d) == (b, a) {
            twins.store(h, other);
            twins.store(other, h);
            return;
        }
        if (c, d) == (a, b) {
            found.min(rule::MANIFOLD, h.index());
            return;
        }
        attempt += 1;
    }
    found.min(rule::CROWDED, h.index());
}

/// Whether half-edge `h` lies on the boundary; finds it if its twin has another twin.
#[kernel(
    requires(twins.len() == n, found.len() == rule::COUNT),
    moves(twins.bytes() + 4 * words(n))
)]
pub fn mark_boundary(h: HalfEdge, twins: In<HalfEdge>, found: Atomic) -> bool {
    let twin = twins.at(h);
    if twin.is_some() && twins.at(twin) != h {
        found.min(rule::MANIFOLD, h.index());
    }
    twin.is_none()
}

/// Offers half-edge `h` to the vertex that it starts at; the smallest stays.
#[kernel(
    requires(origins.len() == n),
    moves(origins.bytes() + 2 * half_edge_of_vertex.bytes())
)]
pub fn find_half_edges_of_vertices(
    h: HalfEdge,
    origins: In<Vertex>,
    half_edge_of_vertex: Atomic<HalfEdge>,
) {
    half_edge_of_vertex.min(origins.at(h), h);
}
