//! Twins: the two half-edges of an edge meet in a hash table.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Each, PREFETCHED_AHEAD, kernel};

use super::check::check;
use super::{prefetch_corners, rule, target};
use crate::ids::{HalfEdge, Triangle, Vertex};
use crate::point::{Anywhere, DoublePoint, MeshPoint};
use crate::slots::{ATTEMPTS, Slots, take};

/// Checks triangle `t` by rounded arithmetic, and finds the twins of its half-edges: the first half-edge of an edge
/// waits in `table`, the second writes the twins of both. The triangle is read once for both tasks; a triangle whose
/// ids are out of range has no twins.
///
/// For meshes whose ids are local (`gpu::slots`); `scale` is slots a vertex, times 2^32. `table` and `twins` are `NONE`
/// before the launch; along the boundary `twins` stays `NONE`. Finds a half-edge if another one runs along its edge in
/// the same direction, or if the mesh has more edges than the table has room for. Where several claim the same twin,
/// one of them is written: `mark_boundary` finds the others.
#[kernel(
    P in Anywhere,
    requires(origins.len() == 3 * n, twins.len() == 3 * n, !table.is_empty(), found.len() == rule::COUNT),
    // An edge, two half-edges, has one slot: written, read.
    moves(2 * origins.bytes() + points.bytes() + twins.bytes()), trusted
)]
pub fn match_twins<P: MeshPoint>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
    found: Atomic,
    scale: u64,
) {
    match_in::<false, P>(t, origins, points, table, twins, found, scale);
}

/// As [`match_twins()`], for meshes whose ids are not local.
#[kernel(
    P in Anywhere,
    requires(origins.len() == 3 * n, twins.len() == 3 * n, !table.is_empty(), found.len() == rule::COUNT),
    // As for `match_twins`; a slot is a sector of its own.
    moves(2 * origins.bytes() + points.bytes() + twins.bytes()), trusted
)]
pub fn match_scattered_twins<P: MeshPoint>(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
    found: Atomic,
    scale: u64,
) {
    match_in::<true, P>(t, origins, points, table, twins, found, scale);
}

/// The body of both.
#[inline(always)]
fn match_in<const SCATTERED: bool, P: MeshPoint>(
    own: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    points: In<P, Vertex>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
    found: Atomic,
    scale: u64,
) {
    let t = *own;
    let corners = |t: Triangle| origins.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k)));
    let slots = |(a, b): (Vertex, Vertex)| Slots::of_edge(a.min(b), a.max(b), scale, SCATTERED);
    let home = |v: [Vertex; 3], k| slots((v[k], v[(k + 1) % 3])).at(0, table.len());
    prefetch_corners(points, origins, t);
    if cfg!(not(target_arch = "nvptx64")) {
        // Later triangles are not checked yet.
        let last = Vertex::new(points.len().saturating_sub(1));
        let known = |v: Vertex| v.min(last);
        ask_ahead(t, origins, table, twins, |t, k| {
            home(corners(t).each(known), k)
        });
    }
    let v = origins.at_all([own.part(0), own.part(1), own.part(2)]);
    if !check(t, v, points, found, P::Double::is_surely_proper) {
        return;
    }
    let half_edge = |k: usize| HalfEdge::of(t, k as u32);
    // Half-edges whose twins are still to be found, a bit each.
    let mut left = 0b111;
    let mut waiting = [HalfEdge::NONE; 3];
    if SCATTERED {
        // All three claim their first slot together, so that their reads overlap: each may miss every cache.
        let claim = |k| take::<true, _>(table, home(v, k), HalfEdge::NONE, half_edge(k));
        waiting = [claim(0), claim(1), claim(2)];
        let is_twin = |k: usize| {
            waiting[k].is_some()
                && origins.at(waiting[k]) == v[(k + 1) % 3]
                && target(origins, waiting[k]) == v[k]
        };
        let met = [is_twin(0), is_twin(1), is_twin(2)];
        let finish = |k: usize| {
            if met[k] {
                twins.store(own.part(k as u32), waiting[k]);
                twins.store(waiting[k], half_edge(k));
            }
            // A half-edge that met none waits in its slot.
            u32::from(waiting[k].is_some() && !met[k]) << k
        };
        left = finish(0) | finish(1) | finish(2);
    }
    // In one loop: unrolled, it takes so many registers that fewer blocks run at once.
    while left != 0 {
        let k = left.trailing_zeros() as usize;
        let ends = (pick(v, k), pick(v, (k + 1) % 3));
        let next = |attempt| {
            if SCATTERED && attempt == 0 {
                return pick(waiting, k);
            }
            let slot = slots(ends).at(attempt, table.len());
            take::<SCATTERED, _>(table, slot, HalfEdge::NONE, half_edge(k))
        };
        search(half_edge(k), ends, next, origins, twins, found);
        left &= left - 1;
    }
}

/// Item `k`, without memory that is addressed.
#[inline(always)]
fn pick<T>([a, b, c]: [T; 3], k: usize) -> T {
    match k {
        0 => a,
        1 => b,
        _ => c,
    }
}

/// Prefetches the slots of a later triangle, and the half-edges that wait in the slots of a nearer one: on a CPU no
/// later read begins before an atomic exchange ends, so each read would be waited for alone.
#[inline(always)]
fn ask_ahead(
    t: Triangle,
    origins: In<Vertex, HalfEdge>,
    table: Atomic<HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
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
            // Without a branch, which would be unpredictable: where none waits, a half-edge of this triangle is read.
            let waiting = table.load(home(later(PREFETCHED_AHEAD / 2), k));
            let waiting = if waiting.is_some() {
                waiting
            } else {
                HalfEdge::of(t, k as u32)
            };
            origins.prefetch(waiting);
            twins.prefetch(waiting);
        }
        k += 1;
    }
}

/// Tries slot after slot for half-edge `h`, which runs from `a` to `b`. `next` returns the half-edge that waits in the
/// slot of an attempt, or `NONE` if `h` waits there now.
#[inline(always)]
fn search(
    h: HalfEdge,
    (a, b): (Vertex, Vertex),
    next: impl Fn(u32) -> HalfEdge,
    origins: In<Vertex, HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
    found: Atomic,
) {
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let other = next(attempt);
        if other.is_none() {
            return;
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

/// Whether each half-edge of triangle `t` lies on the boundary; finds it if its twin has another twin.
#[kernel(
    members = HalfEdge,
    requires(twins.len() == 3 * n, found.len() == rule::COUNT),
    moves(twins.bytes() + 4 * words(3 * n)), trusted
)]
pub fn mark_boundary(t: Own<Triangle>, twins: In<HalfEdge, HalfEdge>, found: Atomic) -> [bool; 3] {
    let half_edges = [0, 1, 2].each(|k| HalfEdge::of(*t, k));
    let own = twins.at_all([t.part(0), t.part(1), t.part(2)]);
    // No branch before the reads, so that they overlap: a half-edge of the boundary is its own twin here.
    let back = twins.at_all([0, 1, 2].each(|k| {
        if own[k].is_some() {
            own[k]
        } else {
            half_edges[k]
        }
    }));
    let mut k = 0;
    while k < 3 {
        if own[k].is_some() && back[k] != half_edges[k] {
            found.min(rule::MANIFOLD, half_edges[k].index());
        }
        k += 1;
    }
    own.each(HalfEdge::is_none)
}

/// Offers the half-edges of triangle `t` to the vertices that they start at; the smallest stays.
///
/// `twins` has the linked border: half-edges along the boundary have twins from 3T on. Two triangles beside `t` also
/// have a half-edge that starts at the vertex: the one across the half-edge, and the one across the previous half-edge.
/// If one of these triangles is lower, so is its half-edge, and `t` offers none: reads in order save two of three
/// atomic updates.
#[kernel(
    requires(origins.len() == 3 * n, twins.len() == 3 * n),
    moves(origins.bytes() + twins.bytes() + half_edge_of_vertex.bytes()), trusted
)]
pub fn find_half_edges_of_vertices(
    t: Own<Triangle>,
    origins: In<Vertex, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    half_edge_of_vertex: Atomic<HalfEdge, Vertex>,
) {
    let half_edge = |k: u32| HalfEdge::of(*t, k);
    // A CPU reads before it updates, which costs less than an unpredictable branch.
    let is_lowest =
        |k: u32| cfg!(not(target_arch = "nvptx64")) || twins.at(t.part(k)) > half_edge(0);
    let lowest = [is_lowest(0), is_lowest(1), is_lowest(2)];
    let vertices = origins.at_all([t.part(0), t.part(1), t.part(2)]);
    let offer = |k: u32| {
        let (h, v) = (half_edge(k), vertices[k as usize]);
        // `v` is always a vertex: the test makes its read happen before the branch, beside the others.
        if lowest[k as usize] & lowest[(k as usize + 2) % 3] & v.is_some() {
            if cfg!(target_arch = "nvptx64") {
                // Most of the remaining updates lower the value: a load before them would only be waited for.
                half_edge_of_vertex.fetch_min(v, h);
            } else {
                half_edge_of_vertex.min(v, h);
            }
        }
    };
    offer(0);
    offer(1);
    offer(2);
}
