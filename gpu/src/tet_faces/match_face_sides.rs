//! The sides of each face meet in a hash table.

use trioxide_kernel::{Atomic, In, PREFETCHED_AHEAD, kernel};

use super::{Face, corners_of, face_rule, face_vertices};
use crate::ids::{FaceSide, Tet, Vertex};

/// Slots beside the middle vertex's own that are tried first; a power of two.
const WINDOW: u32 = 16;
/// Slots that are tried at all.
const ATTEMPTS: u32 = 256;

/// Mixed as in MurmurHash3's finalizer, so that every bit moves every other.
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ x >> 33
}

/// Slot number `attempt` at which `face` is looked for in a table of `size` slots; `scale` is slots a vertex, times 2^32.
///
/// The first slots lie at a place in proportion to the vertex between the lowest and the highest: the faces of neighbouring
/// vertices lie side by side, and a mesh in a good order is met in that order. In a mesh in random order vertex x of V is the
/// lowest of 36 (1 - x/V)^2 faces and the middle one of 72 (x/V) (1 - x/V), 18 at most, of 12 on average: so the middle one spreads
/// the faces, and a table of 24 slots a vertex is nowhere full. Where a vertex has more faces than there is room for, the others
/// scatter.
#[inline(always)]
fn slot_of(face: Face, attempt: u32, size: u32, scale: u64) -> u32 {
    let ends = u64::from(face.low.index()) << 32 | u64::from(face.high.index());
    if attempt < WINDOW {
        let own = ((u64::from(face.middle.index()) * scale) >> 32) as u32;
        let first = (ends.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as u32;
        let slot = own + ((first + attempt) & (WINDOW - 1));
        return if slot < size { slot } else { slot - size };
    }
    let all = u64::from(face.middle.index()) << 32 | u64::from(attempt);
    let hash = mix(ends ^ mix(all));
    (((hash >> 32) * u64::from(size)) >> 32) as u32
}

/// Tries slot after slot for `face`: `visit` gets each, and says whether the search ends. Returns whether it did.
#[inline(always)]
pub(super) fn search_slots(
    face: Face,
    size: u32,
    scale: u64,
    mut visit: impl FnMut(u32) -> bool,
) -> bool {
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        if visit(slot_of(face, attempt, size, scale)) {
            return true;
        }
        attempt += 1;
    }
    false
}

/// Finds the twins of the sides of tetrahedron `t`: the first side of a face waits in `table`, the second writes the twins of both.
///
/// `table` and `twins` are `NONE` before; on the boundary `twins` stays so. Finds a side whose face has another side that sees it
/// in the same direction, and a tetrahedron for whose faces the table has no room. Where several take the same twin, one of them is
/// written: [`mark_boundary_sides()`](super::mark_boundary_sides()) finds the others.
///
/// The four sides take the first step together, so that their reads overlap: each may miss every cache.
#[kernel(
    requires(
        tetrahedra.len() == 4 * n,
        twins.len() == 4 * n,
        table.len() >= 16,
        found.len() == face_rule::COUNT
    ),
    // A face, two sides, has one slot: written, read.
    moves(2 * tetrahedra.bytes() + twins.bytes())
)]
pub fn match_face_sides(
    t: Tet,
    tetrahedra: In<Vertex>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide>,
    found: Atomic,
    scale: u64,
) {
    let size = table.len();
    let face_of = |q, k| Face::new(face_vertices(q, k));
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(t, tetrahedra, table, twins, scale);
    }
    let q = corners_of(tetrahedra, t);
    let look = |k| table.load(slot_of(face_of(q, k), 0, size, scale));
    let waiting = [look(0), look(1), look(2), look(3)];
    let meets = |k: usize| {
        waiting[k].is_some() && Face::of(tetrahedra, waiting[k]).is_behind(face_of(q, k as u32))
    };
    let met = [meets(0), meets(1), meets(2), meets(3)];
    let finish = |k: usize| {
        let side = FaceSide::of(t, k as u32);
        if met[k] {
            twins.store(side, waiting[k]);
            twins.store(waiting[k], side);
            return;
        }
        let face = face_of(q, k as u32);
        let ended = search_slots(face, size, scale, |slot| {
            let mut other = table.load(slot);
            if other.is_none() {
                other = table.compare_exchange(slot, FaceSide::NONE, side);
                if other.is_none() {
                    return true;
                }
            }
            let theirs = Face::of(tetrahedra, other);
            if !theirs.is_face(face) {
                return false;
            }
            if theirs.is_behind(face) {
                twins.store(side, other);
                twins.store(other, side);
            } else {
                found.min(face_rule::OVERLAP, side.index());
            }
            true
        });
        if !ended {
            found.min(face_rule::CROWDED, t.index());
        }
    };
    finish(0);
    finish(1);
    finish(2);
    finish(3);
}

/// Prefetches the slots of a later tetrahedron, and the sides that wait in the slots of a nearer one: on a CPU no later read begins
/// before an atomic exchange ends, so each read would be waited for alone.
#[inline(always)]
fn ask_ahead(
    t: Tet,
    tetrahedra: In<Vertex>,
    table: Atomic<FaceSide>,
    twins: Atomic<FaceSide>,
    scale: u64,
) {
    let count = tetrahedra.len() / 4;
    let later = |ahead: u32| Tet::new(t.index() + ahead);
    let home = |t, k| {
        let face = Face::new(face_vertices(corners_of(tetrahedra, t), k));
        slot_of(face, 0, table.len(), scale)
    };
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
