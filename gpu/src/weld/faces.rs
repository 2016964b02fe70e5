//! Faces: new vertices, without degenerate and repeated ones.

use gpu_macros::kernel;

use crate::view::{Atomic, In, NONE, Out, PREFETCHED_AHEAD};

/// Slots next to a face's own that are tried before any other.
const WINDOW: u32 = 16;
/// Attempts after which the table is searched slot by slot.
const ATTEMPTS: u32 = 64;

/// Gives triangle `t` its new vertices; whether they are three.
///
/// Finds a triangle in `found[0]` if it has an index out of range.
#[kernel(bits)]
pub fn remap_faces(
    t: u32,
    faces: In<[u32; 3]>,
    map: In<u32>,
    remapped: Out<[u32; 3]>,
    found: Atomic,
) -> bool {
    if cfg!(not(target_arch = "nvptx64")) && t + PREFETCHED_AHEAD < faces.len() {
        let [a, b, c] = faces.at(t + PREFETCHED_AHEAD);
        map.prefetch(a);
        map.prefetch(b);
        map.prefetch(c);
    }
    let [a, b, c] = faces.at(t);
    let n = map.len();
    if a >= n || b >= n || c >= n {
        found.min(0, t);
        return false;
    }
    let (a, b, c) = (map.at(a), map.at(b), map.at(c));
    remapped.set(t, [a, b, c]);
    a != b && b != c && c != a
}

/// Corners of triangle `t` from the lowest on: the same for the same oriented triangle.
#[inline(always)]
fn rotated(remapped: In<[u32; 3]>, t: u32) -> (u32, u32, u32) {
    let [a, b, c] = remapped.at(t);
    if a <= b && a <= c {
        (a, b, c)
    } else if b <= c {
        (b, c, a)
    } else {
        (c, a, b)
    }
}

/// Slot number `attempt` at which a triangle is looked for in a table of `size` slots.
///
/// As with the twins of half-edges: first near a place in proportion to the lowest vertex (`scale` is slots a vertex, times
/// 2^32), so that a mesh in a good order is met in that order; then scattered; in the end one slot after the other.
#[inline(always)]
fn slot(corners: (u32, u32, u32), attempt: u32, size: u32, scale: u64) -> u32 {
    let (low, b, c) = corners;
    if attempt < WINDOW {
        let slot = ((u64::from(low) * scale) >> 32) as u32 + attempt;
        return if slot < size { slot } else { slot - size };
    }
    let scattered = attempt.min(ATTEMPTS);
    let mut x = (u64::from(low) << 32 | u64::from(b))
        ^ (u64::from(c) << 16 | u64::from(scattered)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^= x >> 33;
    let slot = (((x >> 32) * u64::from(size)) >> 32) + u64::from(attempt - scattered);
    (if slot < u64::from(size) {
        slot
    } else {
        slot - u64::from(size)
    }) as u32
}

/// Lets triangle `t` claim its slot in `table`, if it is `kept`; of equal triangles all but the first lose their bit.
///
/// A slot belongs to the triangles that are equal to the first that takes it, and ends with the lowest of them: whenever two
/// meet, the higher one is dropped.
#[kernel]
pub fn drop_repeated(t: u32, remapped: In<[u32; 3]>, kept: Atomic, table: Atomic, scale: u64) {
    let size = table.len();
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(t, remapped, table, scale);
    }
    if !kept.bit(t) {
        return;
    }
    let corners = rotated(remapped, t);
    let mut attempt = 0;
    loop {
        let slot = slot(corners, attempt, size, scale);
        let mut other = table.load(slot);
        if other == NONE {
            other = table.compare_exchange(slot, NONE, t);
            if other == NONE {
                return;
            }
        }
        if rotated(remapped, other) == corners {
            let before = table.fetch_min(slot, t);
            kept.clear_bit(before.max(t));
            return;
        }
        attempt += 1;
    }
}

/// Asks for the slot of a later triangle, and for what waits in that of one nearer.
#[inline(always)]
fn ask_ahead(t: u32, remapped: In<[u32; 3]>, table: Atomic, scale: u64) {
    let triangles = remapped.len();
    if t + PREFETCHED_AHEAD < triangles {
        table.prefetch(slot(
            rotated(remapped, t + PREFETCHED_AHEAD),
            0,
            table.len(),
            scale,
        ));
    }
    if t + PREFETCHED_AHEAD / 2 < triangles {
        let corners = rotated(remapped, t + PREFETCHED_AHEAD / 2);
        let other = table.load(slot(corners, 0, table.len(), scale));
        if other != NONE {
            remapped.prefetch(other);
        }
    }
}

/// Copies triangle `list[i]` to its place.
#[kernel]
pub fn gather_faces(i: u32, list: In<u32>, remapped: In<[u32; 3]>, faces: Out<[u32; 3]>) {
    faces.set(i, remapped.at(list.at(i)));
}
