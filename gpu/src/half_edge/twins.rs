//! Twins: the two half-edges of an edge meet in a hash table.

use trioxide_kernel::{Atomic, In, NONE, PREFETCHED_AHEAD, kernel};

use super::{rule, target};

/// Slots next to an edge's own that are tried before any other.
const WINDOW: u32 = 16;
/// Slots that are tried at all. Of a table with two thirds taken, so many are never taken all.
pub(crate) const ATTEMPTS: u32 = 256;

/// Slot number `attempt` at which the edge between `low` and `high` is looked for in a table of `size` slots.
///
/// The first slots follow each other from a place in proportion to the lower vertex (`scale` is slots a vertex, times
/// 2^32): an edge lies beside those of the vertices beside its own, and a mesh in a good order is met in that order. Where a
/// vertex has more edges than there is room for, the others scatter.
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

/// Meets the twins of the half-edges of triangle `t`: the first half-edge of an edge waits in `table`, the second tells
/// both.
///
/// `table` and `twins` are `NONE` before; along the boundary `twins` stays so. Finds a half-edge if its edge is taken by
/// another in the same direction, or if the mesh has more edges than the table has room for. Where several claim the same
/// twin, one of them is written: `mark_boundary` finds the others.
///
/// The three half-edges take each step together, so that their reads, each of which may miss every cache, overlap.
#[kernel]
pub fn match_twins(
    t: u32,
    origins: In<u32>,
    table: Atomic,
    twins: Atomic,
    found: Atomic,
    scale: u64,
) {
    let size = table.len();
    let corners = |t: u32| {
        [
            origins.at(3 * t),
            origins.at(3 * t + 1),
            origins.at(3 * t + 2),
        ]
    };
    let home = |v: [u32; 3], k: usize| {
        let (a, b) = (v[k], v[(k + 1) % 3]);
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
        waiting[k] != NONE
            && origins.at(waiting[k]) == to(k)
            && target(origins, waiting[k]) == from(k)
    };
    let met = [opposite(0), opposite(1), opposite(2)];
    let finish = |k: usize| {
        let h = 3 * t + k as u32;
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

/// Asks for the slots of a later triangle, and for what waits in those of one nearer: on a CPU an atomic exchange lets no
/// later read begin, so that every read would be waited for alone.
#[inline(always)]
fn ask_ahead(
    t: u32,
    origins: In<u32>,
    table: Atomic,
    twins: Atomic,
    home: impl Fn(u32, usize) -> u32,
) {
    let triangles = origins.len() / 3;
    let mut k = 0;
    while k < 3 {
        if t + PREFETCHED_AHEAD < triangles {
            table.prefetch(home(t + PREFETCHED_AHEAD, k));
        }
        if t + PREFETCHED_AHEAD / 2 < triangles {
            let waiting = table.load(home(t + PREFETCHED_AHEAD / 2, k));
            if waiting != NONE {
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
    h: u32,
    a: u32,
    b: u32,
    origins: In<u32>,
    table: Atomic,
    twins: Atomic,
    found: Atomic,
    scale: u64,
) {
    let (low, high) = (a.min(b), a.max(b));
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let slot = slot(low, high, attempt, table.len(), scale);
        let mut other = table.load(slot);
        if other == NONE {
            other = table.compare_exchange(slot, NONE, h);
            if other == NONE {
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
            found.min(rule::MANIFOLD, h);
            return;
        }
        attempt += 1;
    }
    found.min(rule::CROWDED, h);
}

/// Whether half-edge `h` lies on the boundary; finds it if its twin has another twin.
#[kernel]
pub fn mark_boundary(h: u32, twins: In<u32>, found: Atomic) -> bool {
    let twin = twins.at(h);
    if twin != NONE && twins.at(twin) != h {
        found.min(rule::MANIFOLD, h);
    }
    twin == NONE
}

/// Finds the smallest half-edge that starts at each vertex.
#[kernel]
pub fn find_half_edges_of_vertices(h: u32, origins: In<u32>, half_edge_of_vertex: Atomic) {
    half_edge_of_vertex.min(origins.at(h), h);
}
