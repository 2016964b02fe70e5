//! Triangles: their new vertices, without degenerate and repeated triangles.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, Each, PREFETCHED_AHEAD, kernel};

use super::grid::item;
use super::ids::Cluster;
use crate::ids::{Item, Triangle, Vertex};

/// Slots next to a face's own slot that are tried before any other.
const WINDOW: u32 = 16;
/// A triangle's own slot is chosen by the upper bits of a hash of 32; this many lower bits are dropped.
const CHOICE_SHIFT: u32 = 30;
/// Attempts after which the table is searched slot by slot.
const ATTEMPTS: u32 = 64;

/// New vertices of triangle `t`.
#[inline(always)]
fn remapped(
    faces: In<[Vertex; 3], Triangle>,
    map: In<Cluster, Vertex>,
    t: Triangle,
) -> [Cluster; 3] {
    map.at_all(faces.at(t))
}

/// Corners of a triangle, rotated so that the lowest is first: the same for the same oriented triangle.
#[inline(always)]
pub(super) fn rotated([a, b, c]: [Cluster; 3]) -> [Cluster; 3] {
    if a <= b && a <= c {
        [a, b, c]
    } else if b <= c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// The slot of attempt number `attempt` for a triangle in a table of `size` slots.
///
/// As with the twins of half-edges, the first attempts are near a place in proportion to the lowest vertex (`scale` is
/// slots a vertex, times 2^32), so that a mesh in a good order is met in that order; the next attempts are scattered,
/// and the last ones go slot by slot. The other vertices choose among the first places, since about two triangles have
/// a vertex as their lowest.
#[inline(always)]
fn slot(corners: [Cluster; 3], attempt: u32, size: u32, scale: u64) -> u32 {
    let [low, b, c] = corners.each(Cluster::index);
    if attempt < WINDOW {
        let choice = (b ^ c.rotate_left(16)).wrapping_mul(0x9E37_79B9) >> CHOICE_SHIFT;
        let slot = ((u64::from(low) * scale) >> 32) as u32 + choice + attempt;
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

/// Lets triangle `t` claim its slot in `table`. Returns whether it has three new vertices. Of equal triangles all but
/// the first get their bit in `repeated`.
///
/// A slot belongs to the triangles that are equal to the first that takes it, and holds the lowest of them in the end:
/// whenever two meet, the higher one is repeated. Finds a triangle in `found[0]` if it has an index out of range.
#[kernel(
    requires(
        faces.len() == n,
        table.len() > n,
        repeated.len() == words(n),
        !found.is_empty()
    ),
    moves(faces.bytes() + map.bytes() + 4 * words(n))
)]
pub fn claim_faces(
    t: Own<Triangle>,
    faces: In<[Vertex; 3], Triangle>,
    map: In<Cluster, Vertex>,
    table: Atomic<Triangle>,
    repeated: Atomic<Bits<Triangle>>,
    found: Atomic<Triangle>,
    scale: u64,
) -> bool {
    if cfg!(not(target_arch = "nvptx64")) {
        ask_ahead(*t, faces, map, table, scale);
    }
    if !is_in_range(faces.at(t), map.len()) {
        found.min(0, *t);
        return false;
    }
    let [a, b, c] = remapped(faces, map, *t);
    if a == b || b == c || c == a {
        return false;
    }
    let corners = |t: Triangle| rotated(remapped(faces, map, t));
    claim_slot(*t, rotated([a, b, c]), corners, table, repeated, scale);
    true
}

/// Lets triangle `t` claim its slot in `table`. `own` are its corners from the lowest on, and `corners` returns those
/// of another triangle.
#[inline(always)]
pub(super) fn claim_slot(
    t: Triangle,
    own: [Cluster; 3],
    corners: impl Fn(Triangle) -> [Cluster; 3],
    table: Atomic<Triangle>,
    repeated: Atomic<Bits<Triangle>>,
    scale: u64,
) {
    let mut attempt = 0;
    loop {
        let slot = slot(own, attempt, table.len(), scale);
        let other = table.compare_exchange(slot, Triangle::NONE, t);
        if other.is_none() {
            return;
        }
        if corners(other) == own {
            let before = table.fetch_min(slot, t);
            repeated.set_bit(before.max(t));
            return;
        }
        attempt += 1;
    }
}

#[inline(always)]
fn is_in_range(face: [Vertex; 3], vertices: u32) -> bool {
    let [a, b, c] = face.each(Vertex::index);
    a < vertices && b < vertices && c < vertices
}

/// Prefetches the vertices of a later triangle, and the slot of a nearer one.
#[inline(always)]
fn ask_ahead(
    t: Triangle,
    faces: In<[Vertex; 3], Triangle>,
    map: In<Cluster, Vertex>,
    table: Atomic<Triangle>,
    scale: u64,
) {
    let t = t.index();
    let Some(far) = faces.get(Triangle::new(t + 2 * PREFETCHED_AHEAD)) else {
        return;
    };
    for v in far {
        map.prefetch(v);
    }
    let nearer = Triangle::new(t + PREFETCHED_AHEAD);
    if is_in_range(faces.at(nearer), map.len()) {
        let corners = rotated(remapped(faces, map, nearer));
        table.prefetch(slot(corners, 0, table.len(), scale));
    }
}

/// Clears the bits of word `w` of `kept` that are set in `dropped`.
#[kernel(
    requires(dropped.len() == n, kept.len() == n),
    moves(dropped.bytes() + 2 * kept.bytes())
)]
pub fn drop_bits(w: Own, dropped: In<Bits<Triangle>>, kept: Out<Bits<Triangle>>) {
    kept.set(w, Bits::new(kept.at(w).word() & !dropped.at(w).word()));
}

/// Writes triangle `list[i]` with its new vertices to place `i`. An empty list stands for all triangles.
///
/// Finds a triangle in `found[0]` if it has an index out of range.
#[kernel(
    requires(
        list.is_empty() && faces.len() == n || list.len() == n,
        left.len() == n,
        !found.is_empty()
    ),
    moves(list.bytes() + map.bytes() + 2 * left.bytes())
)]
pub fn remap_faces(
    i: Own<Item>,
    list: In<Triangle>,
    faces: In<[Vertex; 3], Triangle>,
    map: In<Cluster, Vertex>,
    left: Out<[Cluster; 3], Item>,
    found: Atomic<Triangle>,
) {
    let t = item(list, i.index());
    let ahead = i.index() + PREFETCHED_AHEAD;
    if cfg!(not(target_arch = "nvptx64")) && ahead < left.len() {
        for v in faces.at(item(list, ahead)) {
            map.prefetch(v);
        }
    }
    if is_in_range(faces.at(t), map.len()) {
        left.set(i, remapped(faces, map, t));
    } else {
        found.min(0, t);
    }
}
