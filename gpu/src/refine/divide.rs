//! Step 7: new points, edges and triangles.
//!
//! With the ranks of step 6, the n-th divided side of all divides into triangle T + n, and the m-th owned one gives vertex V + m.
//! A side takes a new edge for its triangle's interior, and one more if it is owned: the slots of the n-th side, if m owned ones
//! lie before it, start at E + n + m.

use gpu_macros::kernel;

use super::{Counts, acting, pair, reverse};
use crate::block::Block;
use crate::point::Point2;
use crate::view::{In, Out};

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

/// Counts before a round.
#[derive(Clone, Copy)]
struct Before {
    vertices: u32,
    edges: u32,
}

/// A triangle with a divided side: its vertices and sides, from the longest side on.
struct Divided<'a> {
    vertices: [u32; 3],
    sides: [u32; 3],
    /// Which of the sides are divided; the first is.
    flags: [bool; 3],
    /// Divided sides, and owned ones, before each side.
    ranks: [(u32, u32); 3],
    halves: In<'a, u32>,
    counts: Counts<'a>,
    before: Before,
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
    /// Triangle `t` of these vertices and sides, if it is to be divided; and the number of divided sides before it.
    #[inline(always)]
    fn new(
        t: u32,
        [a, b, c]: [u32; 3],
        [ab, bc, ca]: [u32; 3],
        longest: u32,
        halves: In<'a, u32>,
        counts: Counts<'a>,
        before: Before,
    ) -> Option<(Self, u32)> {
        let flag = |k| counts.flags.bit(3 * t + k);
        let (f0, f1, f2) = (flag(0), flag(1), flag(2));
        if !(f0 | f1 | f2) {
            return None;
        }
        let step = |(n, m): (u32, u32), flag: bool, side: u32| {
            let owned = flag & side.is_multiple_of(2);
            (n + u32::from(flag), m + u32::from(owned))
        };
        let rank0 = counts.before(3 * t);
        let rank1 = step(rank0, f0, ab);
        let rank2 = step(rank1, f1, bc);
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
            ranks: [
                pick(longest, rank0, rank1, rank2),
                pick(longest, rank1, rank2, rank0),
                pick(longest, rank2, rank0, rank1),
            ],
            halves,
            counts,
            before,
        };
        Some((divided, rank0.0))
    }

    /// What dividing side `k`, from the longest on, gives.
    #[inline(always)]
    fn division(&self, k: usize) -> Division {
        let side = self.sides[k];
        let (n, m) = self.ranks[k];
        let slot = self.before.edges + n + m;
        if side.is_multiple_of(2) {
            return Division {
                first: 2 * (slot + 1),
                second: 2 * slot,
                interior: side,
                midpoint: self.before.vertices + m,
            };
        }
        // Its owner's ranks tell which slots that takes.
        let (n, m) = self.counts.before(self.halves.at(reverse(side)));
        let new = self.before.edges + n + m;
        Division {
            first: 2 * new + 1,
            second: 2 * (new + 1) + 1,
            interior: 2 * slot,
            midpoint: self.before.vertices + m,
        }
    }

    /// Gives the pieces, vertices and sides each, to `write`, the ends of the edges inside to `join`, and what the divided edges that
    /// are the triangle's become to `own`.
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
        mut own: impl FnMut(u32, Division, u32, u32),
    ) {
        let [a, b, c] = self.vertices;
        let [ab, bc, ca] = self.sides;
        let is_owned = |side: u32| side.is_multiple_of(2);
        let halved = self.division(0);
        let (m, to_m) = (halved.midpoint, halved.interior);
        if is_owned(ab) {
            own(ab / 2, halved, a, b);
        }
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
            let d = self.division(2);
            let (n, to_n) = (d.midpoint, d.interior);
            if is_owned(ca) {
                own(ca / 2, d, c, a);
            }
            join(to_n / 2, m, n);
            write(piece, [m, n, a], [to_n, d.second, halved.first]);
            write(piece + 1, [n, m, c], [reverse(to_n), reverse(to_m), d.first]);
            piece += 2;
        }
        if self.flags[1] {
            let d = self.division(1);
            let (n, to_n) = (d.midpoint, d.interior);
            if is_owned(bc) {
                own(bc / 2, d, b, c);
            }
            join(to_n / 2, m, n);
            write(piece, [m, n, c], [to_n, d.second, to_m]);
            write(piece + 1, [n, m, b], [reverse(to_n), halved.second, d.first]);
        }
    }
}

/// Where the parts of an edge that a triangle owns go.
struct Parts<'a, P> {
    points: Out<'a, P>,
    ends: Out<'a, u64>,
    divided: Out<'a, u32>,
    origins: Out<'a, u64>,
    tags: Out<'a, u32>,
    /// Number of vertices minus that of new ones so far.
    input_vertices: u32,
}

impl<P: Point2> Parts<'_, P> {
    /// Writes the midpoint and the halves of edge `e` from `a` to `b`, which have its tag.
    #[inline(always)]
    fn divide(&self, e: u32, division: Division, a: u32, b: u32) {
        let Division {
            first,
            second,
            midpoint,
            ..
        } = division;
        self.points.set(midpoint, self.points.at(a).midpoint(self.points.at(b)));
        self.ends.set(first / 2, pair(a, midpoint));
        self.ends.set(second / 2, pair(midpoint, b));
        let new = midpoint - self.input_vertices;
        self.divided.set(new, e);
        self.origins.set(new, pair(a, b));
        if !self.tags.is_empty() {
            let tag = self.tags.at(e);
            self.tags.set(first / 2, tag);
            self.tags.set(second / 2, tag);
        }
    }

    /// Writes an edge inside of a triangle: it has no tag.
    #[inline(always)]
    fn join(&self, e: u32, from: u32, to: u32) {
        self.ends.set(e, pair(from, to));
        if !self.tags.is_empty() {
            self.tags.set(e, 0);
        }
    }
}

/// Divides a triangle by the template for its divided sides (section 4.4, figure 4.4), in place, and the edges that it owns. For few.
///
/// A divided edge e becomes edges n, from its midpoint to its end, and n + 1, from its start to its midpoint, with n the first of its
/// owner's slots for it. The new vertex's edge and its ends go to `divided` and `origins`, `input_vertices` before its id; the triangle
/// that a new one is a part of goes to `parents`, `input_triangles` before.
///
/// The triangle is that of half-edge `list[i]`; its first piece takes its place.
#[kernel(P(f32 = glam::Vec2, f64 = glam::DVec2))]
pub fn divide_listed_triangles<P: Point2>(
    i: u32,
    list: In<u32>,
    flags: In<u32>,
    owned: In<u32>,
    sums: In<u32>,
    halves: In<u32>,
    longest: In<u8>,
    corners: Out<u32>,
    sides: Out<u32>,
    points: Out<P>,
    ends: Out<u64>,
    tags: Out<u32>,
    divided: Out<u32>,
    origins: Out<u64>,
    parents: Out<u32>,
    vertices: u32,
    edges: u32,
    triangles: u32,
    input_vertices: u32,
    input_triangles: u32,
) {
    let Some(t) = acting(i, list, flags) else {
        return;
    };
    let all = |array: Out<u32>| [array.at(3 * t), array.at(3 * t + 1), array.at(3 * t + 2)];
    let counts = Counts::new(flags, owned, sums);
    let k = u32::from(longest.at(t));
    let before = Before { vertices, edges };
    let Some((triangle, first)) =
        Divided::new(t, all(corners), all(sides), k, halves, counts, before)
    else {
        return;
    };
    let parts = Parts {
        points,
        ends,
        divided,
        origins,
        tags,
        input_vertices,
    };
    triangle.apply(
        |piece, [a, b, c], [ab, bc, ca]| {
            let place = if piece == 0 {
                t
            } else {
                let new = triangles + first + piece - 1;
                parents.set(new - input_triangles, t);
                new
            };
            corners.set(3 * place, a);
            corners.set(3 * place + 1, b);
            corners.set(3 * place + 2, c);
            sides.set(3 * place, ab);
            sides.set(3 * place + 1, bc);
            sides.set(3 * place + 2, ca);
        },
        |e, from, to| parts.join(e, from, to),
        |e, division, a, b| parts.divide(e, division, a, b),
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
#[kernel(block = 256, shared = 24576, P(f32 = glam::Vec2, f64 = glam::DVec2))]
pub fn divide_all_triangles<P: Point2>(
    block: &Block<256>,
    flags: In<u32>,
    owned: In<u32>,
    sums: In<u32>,
    halves: In<u32>,
    longest: In<u8>,
    old_corners: In<u32>,
    old_sides: In<u32>,
    corners: Out<u32>,
    sides: Out<u32>,
    points: Out<P>,
    ends: Out<u64>,
    tags: Out<u32>,
    divided: Out<u32>,
    origins: Out<u64>,
    parents: Out<u32>,
    vertices: u32,
    edges: u32,
    triangles: u32,
    input_vertices: u32,
    input_triangles: u32,
) {
    let counts = Counts::new(flags, owned, sums);
    let before = Before { vertices, edges };
    let parts = Parts {
        points,
        ends,
        divided,
        origins,
        tags,
        input_vertices,
    };
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
    let (first_new, _) = counts.before(3 * first);
    block.phase(|lane| {
        let t = first + lane;
        if t >= last {
            return;
        }
        let all = |at: u32| {
            let i = at + 3 * lane;
            [shared.at(i), shared.at(i + 1), shared.at(i + 2)]
        };
        let (v, s) = (all(0), all(WORDS));
        // Ends move too: those of owned edges that stay are the triangle's to write.
        let keep = |j: u32, side: u32, from: u32, to: u32| {
            if side.is_multiple_of(2) && !flags.bit(3 * t + j) {
                ends.set(side / 2, pair(from, to));
            }
        };
        keep(0, s[0], v[0], v[1]);
        keep(1, s[1], v[1], v[2]);
        keep(2, s[2], v[2], v[0]);
        let k = u32::from(longest.at(t));
        let Some((triangle, start)) = Divided::new(t, v, s, k, halves, counts, before) else {
            return;
        };
        triangle.apply(
            |piece, [a, b, c], [ab, bc, ca]| {
                let (i, j) = if piece == 0 {
                    (3 * lane, WORDS + 3 * lane)
                } else {
                    let new = start + piece - 1;
                    parents.set(triangles - input_triangles + new, t);
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
            |e, from, to| parts.join(e, from, to),
            |e, division, a, b| parts.divide(e, division, a, b),
        );
    });
    let new_words = 3 * (counts.before(3 * last).0 - first_new);
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
