//! The sides of each face meet in a hash table.

use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{PREFETCHED_AHEAD, kernel};

use super::{Face, corners_of, face_rule, face_vertices};
use crate::ids::{FaceSide, Tet, Vertex};
use crate::slots::{ATTEMPTS, Slots, take};

/// The slots in which `face` is searched; `scale` is slots a vertex, times 2^32.
#[inline(always)]
fn slots_of(face: Face, scale: u64, is_scattered: bool) -> Slots {
    Slots::of_face([face.low, face.middle, face.high], scale, is_scattered)
}

/// Tries slot after slot for `face`, from attempt number `first` on. `visit` gets each slot, and returns whether the
/// search ends. Returns whether it ended.
#[inline(always)]
pub(super) fn search_slots(
    face: Face,
    first: u32,
    size: u32,
    scale: u64,
    is_scattered: bool,
    mut visit: impl FnMut(u32) -> bool,
) -> bool {
    let slots = slots_of(face, scale, is_scattered);
    let mut attempt = first;
    while attempt < ATTEMPTS {
        if visit(slots.at(attempt, size)) {
            return true;
        }
        attempt += 1;
    }
    false
}

/// Finds the twins of the sides of tetrahedron `t`: the first side of a face waits in `table`, the second writes the
/// twins of both.
///
/// For meshes whose ids are local (`gpu::slots`); `scale` is slots a vertex, times 2^32.
/// `table` and `twins` are `NONE` before the launch; on the boundary `twins` stays `NONE`. Finds a side if another side
/// of its face sees it in the same direction, and a tetrahedron for whose faces the table has no room. Where several
/// take the same twin, one of them is written: [`mark_boundary_sides()`](super::mark_boundary_sides()) finds the
/// others.
#[kernel(
    requires(
        tetrahedra.len() == 4 * n,
        twins.len() == 4 * n,
        table.len() >= 16,
        found.len() == face_rule::COUNT
    ),
    // A face, two sides, has one slot: written, read.
    moves(2 * tetrahedra.bytes() + twins.bytes()))]
pub fn match_face_sides(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide, FaceSide>,
    found: Atomic,
    scale: u64,
) {
    match_in::<false>(t, tetrahedra, table, twins, found, scale);
}

/// As [`match_face_sides()`], for meshes whose ids are not local.
#[kernel(
    requires(
        tetrahedra.len() == 4 * n,
        twins.len() == 4 * n,
        table.len() >= 16,
        found.len() == face_rule::COUNT
    ),
    // As for `match_face_sides`; a slot is a sector of its own.
    moves(2 * tetrahedra.bytes() + twins.bytes()))]
pub fn match_scattered_face_sides(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide, FaceSide>,
    found: Atomic,
    scale: u64,
) {
    match_in::<true>(t, tetrahedra, table, twins, found, scale);
}

/// The body of both.
#[inline(always)]
fn match_in<const SCATTERED: bool>(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide, FaceSide>,
    found: Atomic,
    scale: u64,
) {
    let size = table.len();
    let face_of = |q, k| Face::new(face_vertices(q, k));
    let home = |q, k| slots_of(face_of(q, k), scale, SCATTERED).at(0, size);
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(t, tetrahedra, table, twins, home);
    }
    let q = corners_of(tetrahedra, *t);
    let write_twins = |side: FaceSide, other: FaceSide| {
        twins.store(side, other);
        twins.store(other, side);
    };
    // All four sides take the first step together, so that their reads overlap. Each may miss every cache.
    let look = |k| {
        if SCATTERED {
            take::<true, _>(table, home(q, k), FaceSide::NONE, FaceSide::of(*t, k))
        } else {
            table.load(home(q, k))
        }
    };
    let waiting = [look(0), look(1), look(2), look(3)];
    let is_twin = |k: usize| {
        waiting[k].is_some() && Face::of(tetrahedra, waiting[k]).is_behind(face_of(q, k as u32))
    };
    let met = [is_twin(0), is_twin(1), is_twin(2), is_twin(3)];
    let finish = |k: usize| {
        if met[k] {
            write_twins(FaceSide::of(*t, k as u32), waiting[k]);
        }
        // A scattered side that met none waits in its slot.
        let is_settled = SCATTERED && waiting[k].is_none();
        u32::from(!met[k] && !is_settled) << k
    };
    // Sides whose twins are still to be found, a bit each.
    let mut left = finish(0) | finish(1) | finish(2) | finish(3);
    let search = |k: u32| {
        let (side, face) = (FaceSide::of(*t, k), face_of(q, k));
        let meet = |other: FaceSide| {
            let theirs = Face::of(tetrahedra, other);
            if !theirs.is_face(face) {
                return false;
            }
            if theirs.is_behind(face) {
                write_twins(side, other);
            } else {
                found.min(face_rule::OVERLAP, side.index());
            }
            true
        };
        let visit = |slot| {
            let other = take::<SCATTERED, _>(table, slot, FaceSide::NONE, side);
            other.is_none() || meet(other)
        };
        let ended = SCATTERED && meet(pick(waiting, k))
            || search_slots(face, u32::from(SCATTERED), size, scale, SCATTERED, visit);
        if !ended {
            found.min(face_rule::CROWDED, t.index());
        }
    };
    // In one loop: unrolled, it takes so many registers that fewer blocks run at once.
    while left != 0 {
        search(left.trailing_zeros());
        left &= left - 1;
    }
}

/// Item `k`, without memory that is addressed.
#[inline(always)]
fn pick([a, b, c, d]: [FaceSide; 4], k: u32) -> FaceSide {
    match k {
        0 => a,
        1 => b,
        2 => c,
        _ => d,
    }
}

/// Prefetches the slots of a later tetrahedron, and the sides that wait in the slots of a nearer one: on a CPU no later
/// read begins before an atomic exchange ends, so each read would be waited for alone.
#[inline(always)]
fn ask_ahead(
    t: Own<Tet>,
    tetrahedra: In<Vertex, FaceSide>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide, FaceSide>,
    home: impl Fn([Vertex; 4], u32) -> u32,
) {
    let count = tetrahedra.len() / 4;
    let later = |ahead: u32| corners_of(tetrahedra, Tet::new(t.index() + ahead));
    let mut k = 0;
    while k < 4 {
        if t.index() + PREFETCHED_AHEAD < count {
            table.prefetch(home(later(PREFETCHED_AHEAD), k));
        }
        if t.index() + PREFETCHED_AHEAD / 2 < count {
            let waiting = table.load(home(later(PREFETCHED_AHEAD / 2), k));
            if waiting.is_some() {
                tetrahedra.prefetch(waiting);
                twins.prefetch(waiting);
            }
        }
        k += 1;
    }
}
