//! Step 7: new points, edges and triangles.
//!
//! With the ranks of step 6, the n-th divided side of all divides into triangle T + n, and the m-th owned one gives vertex V + m.
//! A side takes a new edge for its triangle's interior, and one more if it is owned: the slots of the n-th side, if m owned ones
//! lie before it, start at E + n + m.

use gpu_macros::kernel;

use super::{Counts, acting, pair, reverse, unpair};
use crate::block::Block;
use crate::point::Point2;
use crate::view::{In, Out};

/// Divides the owned edges of a triangle: first sub-step of section 4.4.
///
/// A divided edge e becomes edge n, from its midpoint to its end, and n + 1, from its start to its midpoint, vertex v;
/// `divisions[e]` is the pair of n and v. The new vertex's edge and its ends go to `parents` and `origins`, from `before` on.
/// `tags`, if not empty, pass to both parts.
///
/// The triangle is `i`, or that of half-edge `list[i]` if there is a list.
#[kernel(P(f32 = glam::Vec2, f64 = glam::DVec2))]
pub fn divide_edges<P: Point2>(
    i: u32,
    list: In<u32>,
    flags: In<u32>,
    owned: In<u32>,
    sums: In<u32>,
    corners: In<u32>,
    sides: In<u32>,
    points: Out<P>,
    ends: Out<u64>,
    divisions: Out<u64>,
    parents: Out<u32>,
    origins: Out<u64>,
    tags: Out<u32>,
    vertices: u32,
    edges: u32,
    before: u32,
) {
    let Some(t) = acting(i, list, flags) else {
        return;
    };
    let h = 3 * t;
    if list.is_empty() {
        points.unwritten().prefetch_corners(corners, t);
    }
    let is_owned = [owned.bit(h), owned.bit(h + 1), owned.bit(h + 2)];
    if !(is_owned[0] | is_owned[1] | is_owned[2]) {
        return;
    }
    // All reads come first: none waits for another.
    let counts = Counts::new(flags, owned, sums);
    let flag = [flags.bit(h), flags.bit(h + 1), flags.bit(h + 2)];
    let mut rank = counts.owned_before(h);
    let mut slot = edges + counts.flags_before(h) + rank;
    let v = [corners.at(h), corners.at(h + 1), corners.at(h + 2)];
    let p = [points.at(v[0]), points.at(v[1]), points.at(v[2])];
    let edge = [sides.at(h) / 2, sides.at(h + 1) / 2, sides.at(h + 2) / 2];
    let mut divide = |k: usize| {
        if !is_owned[k] {
            slot += u32::from(flag[k]);
            return;
        }
        let (a, b, e) = (v[k], v[(k + 1) % 3], edge[k]);
        let vertex = vertices + rank;
        points.set(vertex, p[k].midpoint(p[(k + 1) % 3]));
        divisions.set(e, pair(slot, vertex));
        ends.set(slot, pair(vertex, b));
        ends.set(slot + 1, pair(a, vertex));
        parents.set(before + rank, e);
        origins.set(before + rank, pair(a, b));
        if !tags.is_empty() {
            let tag = tags.at(e);
            tags.set(slot, tag);
            tags.set(slot + 1, tag);
        }
        slot += 2;
        rank += 1;
    };
    divide(0);
    divide(1);
    divide(2);
}

/// What dividing a side gives a triangle.
#[derive(Clone, Copy)]
struct Division {
    /// Side from the start to the midpoint.
    first: u32,
    /// Side from the midpoint to the end.
    second: u32,
    /// Side from inside the triangle to the midpoint.
    interior: u32,
    midpoint: u32,
}

/// A triangle with a divided side: its vertices and sides, from the longest side on.
struct Divided<'a> {
    vertices: [u32; 3],
    sides: [u32; 3],
    /// Which of the sides are divided; the first is.
    flags: [bool; 3],
    /// New edge for the interior of each side, if the side is not owned.
    slots: [u32; 3],
    divisions: In<'a, u64>,
}

/// `a`, `b` or `c`: an array with an index would lie in memory.
#[inline(always)]
fn pick<T>(k: u32, a: T, b: T, c: T) -> T {
    match k {
        0 => a,
        1 => b,
        _ => c,
    }
}

impl<'a> Divided<'a> {
    /// Triangle `t` of these vertices and sides, if it is to be divided. `edges` is E.
    #[inline(always)]
    fn new(
        t: u32,
        [a, b, c]: [u32; 3],
        [ab, bc, ca]: [u32; 3],
        longest: u32,
        counts: Counts,
        divisions: In<'a, u64>,
        edges: u32,
    ) -> Option<(Self, u32)> {
        let flag = |k| counts.flags.bit(3 * t + k);
        let (f0, f1, f2) = (flag(0), flag(1), flag(2));
        if !(f0 | f1 | f2) {
            return None;
        }
        let owned = |flag: bool, side: u32| u32::from(flag & side.is_multiple_of(2));
        let before = counts.flags_before(3 * t);
        let slot0 = edges + before + counts.owned_before(3 * t);
        let slot1 = slot0 + u32::from(f0) + owned(f0, ab);
        let slot2 = slot1 + u32::from(f1) + owned(f1, bc);
        let rotated = |x: u32, y: u32, z: u32| {
            [
                pick(longest, x, y, z),
                pick(longest, y, z, x),
                pick(longest, z, x, y),
            ]
        };
        let divided = Self {
            vertices: rotated(a, b, c),
            sides: rotated(ab, bc, ca),
            flags: [
                pick(longest, f0, f1, f2),
                pick(longest, f1, f2, f0),
                pick(longest, f2, f0, f1),
            ],
            slots: rotated(slot0, slot1, slot2),
            divisions,
        };
        Some((divided, before))
    }

    /// What dividing a side gives.
    #[inline(always)]
    fn division(&self, side: u32, slot: u32) -> Division {
        let (new, midpoint) = unpair(self.divisions.at(side / 2));
        let is_owned = side.is_multiple_of(2);
        Division {
            first: if is_owned { 2 * (new + 1) } else { 2 * new + 1 },
            second: if is_owned { 2 * new } else { 2 * (new + 1) + 1 },
            interior: if is_owned { side } else { 2 * slot },
            midpoint,
        }
    }

    /// Gives the pieces, vertices and sides each, to `write`, and the ends of the edges inside to `join`.
    ///
    /// ```text
    ///            C
    ///          / | \          A, B: ends of the longest side, M its midpoint. N: midpoint of another divided side.
    ///      N  /  |  \         The longest side is divided first (I, from C to M), then the halves that have a
    ///        /  I|   \        divided side (J, from M to N). Interior edges run towards the divided edge.
    ///       / J  |    \
    ///      A --- M --- B
    /// ```
    ///
    /// First the half of A, then that of B, if they have no divided side; then the two of A's half, then the two of B's.
    #[inline(always)]
    fn apply(
        &self,
        mut write: impl FnMut(u32, [u32; 3], [u32; 3]),
        mut join: impl FnMut(u32, u32, u32),
    ) {
        let [a, b, c] = self.vertices;
        let [ab, bc, ca] = self.sides;
        let halved = self.division(ab, self.slots[0]);
        let (m, to_m) = (halved.midpoint, halved.interior);
        join(to_m / 2, c, m);
        let mut piece = 0;
        if !self.flags[2] {
            write(piece, [m, c, a], [reverse(to_m), ca, halved.first]);
            piece += 1;
        }
        if !self.flags[1] {
            write(piece, [c, m, b], [to_m, halved.second, bc]);
            piece += 1;
        }
        if self.flags[2] {
            let d = self.division(ca, self.slots[2]);
            let (n, to_n) = (d.midpoint, d.interior);
            join(to_n / 2, m, n);
            write(piece, [m, n, a], [to_n, d.second, halved.first]);
            write(piece + 1, [n, m, c], [reverse(to_n), reverse(to_m), d.first]);
            piece += 2;
        }
        if self.flags[1] {
            let d = self.division(bc, self.slots[1]);
            let (n, to_n) = (d.midpoint, d.interior);
            join(to_n / 2, m, n);
            write(piece, [m, n, c], [to_n, d.second, to_m]);
            write(piece + 1, [n, m, b], [reverse(to_n), halved.second, d.first]);
        }
    }
}

/// Divides a triangle by the template for its divided sides (section 4.4, figure 4.4), in place: second and third sub-step. For few.
///
/// The first piece takes the triangle's place. `parents` gets the triangle that each new one is a part of, from `before` on; `ends`
/// those of the edges inside, which have no tag.
///
/// The triangle is that of half-edge `list[i]`.
#[kernel]
pub fn divide_listed_triangles(
    i: u32,
    list: In<u32>,
    flags: In<u32>,
    owned: In<u32>,
    sums: In<u32>,
    divisions: In<u64>,
    longest: In<u8>,
    corners: Out<u32>,
    sides: Out<u32>,
    ends: Out<u64>,
    parents: Out<u32>,
    tags: Out<u32>,
    triangles: u32,
    edges: u32,
    before: u32,
) {
    let Some(t) = acting(i, list, flags) else {
        return;
    };
    let all = |array: Out<u32>| [array.at(3 * t), array.at(3 * t + 1), array.at(3 * t + 2)];
    let counts = Counts::new(flags, owned, sums);
    let (vertices, borders) = (all(corners), all(sides));
    let k = u32::from(longest.at(t));
    let Some((divided, first)) = Divided::new(t, vertices, borders, k, counts, divisions, edges)
    else {
        return;
    };
    divided.apply(
        |piece, [a, b, c], [ab, bc, ca]| {
            let place = if piece == 0 {
                t
            } else {
                let new = first + piece - 1;
                parents.set(before + new, t);
                triangles + new
            };
            corners.set(3 * place, a);
            corners.set(3 * place + 1, b);
            corners.set(3 * place + 2, c);
            sides.set(3 * place, ab);
            sides.set(3 * place + 1, bc);
            sides.set(3 * place + 2, ca);
        },
        |edge, from, to| {
            ends.set(edge, pair(from, to));
            if !tags.is_empty() {
                tags.set(edge, 0);
            }
        },
    );
}

/// Triangles that a block of [`divide_all_triangles()`] works on.
pub const TRIANGLES_OF_A_BLOCK: u32 = 256;
const WORDS: u32 = 3 * TRIANGLES_OF_A_BLOCK;

/// As [`divide_listed_triangles()`] for every triangle, but not in place: `corners`, `sides` and `ends` get those that stay as they
/// are too. For many.
///
/// The old triangles of a block, and the new ones that they give, are neighbours in memory: they pass through shared memory, so that
/// neighbouring lanes read and write neighbouring words.
#[kernel(block = 256, shared = 24576)]
pub fn divide_all_triangles(
    block: &Block<256>,
    flags: In<u32>,
    owned: In<u32>,
    sums: In<u32>,
    divisions: In<u64>,
    longest: In<u8>,
    old_corners: In<u32>,
    old_sides: In<u32>,
    corners: Out<u32>,
    sides: Out<u32>,
    ends: Out<u64>,
    parents: Out<u32>,
    tags: Out<u32>,
    triangles: u32,
    edges: u32,
    before: u32,
) {
    let counts = Counts::new(flags, owned, sums);
    let first = block.index() * TRIANGLES_OF_A_BLOCK;
    let last = if first + TRIANGLES_OF_A_BLOCK < triangles {
        first + TRIANGLES_OF_A_BLOCK
    } else {
        triangles
    };
    let words = 3 * (last - first);
    // Of the block: the triangles' places, then their new triangles; vertices, then sides.
    let shared = block.shared::<u32>();
    let new_corners = 2 * WORDS;
    let new_sides = new_corners + 3 * WORDS;
    block.phase(|lane| {
        let mut i = lane;
        while i < words {
            shared.set(i, old_corners.at(3 * first + i));
            shared.set(WORDS + i, old_sides.at(3 * first + i));
            i += TRIANGLES_OF_A_BLOCK;
        }
    });
    let first_new = counts.flags_before(3 * first);
    block.phase(|lane| {
        let t = first + lane;
        if t >= last {
            return;
        }
        let all = |at: u32| {
            let i = at + 3 * lane;
            [shared.at(i), shared.at(i + 1), shared.at(i + 2)]
        };
        let (vertices, borders) = (all(0), all(WORDS));
        let k = u32::from(longest.at(t));
        // Ends move too: those of owned edges that stay are the triangle's to write.
        let keep = |j: u32, side: u32, from: u32, to: u32| {
            if side.is_multiple_of(2) && !flags.bit(3 * t + j) {
                ends.set(side / 2, pair(from, to));
            }
        };
        keep(0, borders[0], vertices[0], vertices[1]);
        keep(1, borders[1], vertices[1], vertices[2]);
        keep(2, borders[2], vertices[2], vertices[0]);
        let Some((divided, start)) = Divided::new(t, vertices, borders, k, counts, divisions, edges)
        else {
            return;
        };
        divided.apply(
            |piece, [a, b, c], [ab, bc, ca]| {
                let (i, j) = if piece == 0 {
                    (3 * lane, WORDS + 3 * lane)
                } else {
                    let new = start + piece - 1;
                    parents.set(before + new, t);
                    let local = 3 * (new - first_new);
                    (new_corners + local, new_sides + local)
                };
                shared.set(i, a);
                shared.set(i + 1, b);
                shared.set(i + 2, c);
                shared.set(j, ab);
                shared.set(j + 1, bc);
                shared.set(j + 2, ca);
            },
            |edge, from, to| {
                ends.set(edge, pair(from, to));
                if !tags.is_empty() {
                    tags.set(edge, 0);
                }
            },
        );
    });
    let new_words = 3 * (counts.flags_before(3 * last) - first_new);
    block.phase(|lane| {
        let mut i = lane;
        while i < words {
            corners.set(3 * first + i, shared.at(i));
            sides.set(3 * first + i, shared.at(WORDS + i));
            i += TRIANGLES_OF_A_BLOCK;
        }
        let to = 3 * (triangles + first_new);
        i = lane;
        while i < new_words {
            corners.set(to + i, shared.at(new_corners + i));
            sides.set(to + i, shared.at(new_sides + i));
            i += TRIANGLES_OF_A_BLOCK;
        }
    });
}
