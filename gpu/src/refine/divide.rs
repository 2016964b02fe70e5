//! Step 7: new points, edges and triangles.
//!
//! With the ranks of step 6, the n-th divided side of all divides into triangle T + n, and the m-th owned one gives vertex V + m.
//! A side takes a new edge for its triangle's interior, and one more if it is owned: the slots of the n-th side, if m owned ones
//! lie before it, start at E + n + m.

use crate::point::Planar;
use trioxide_kernel::{Block, In, NONE, Out, Shared, SharedMemory, kernel};

use super::{Counts, acting, pair, reverse};
use crate::point::Point2;

/// What dividing a side gives a triangle.
#[derive(Clone, Copy)]
struct Division {
    /// Edge from the midpoint of the divided edge to its end; the next is that from its start.
    slot: u32,
    midpoint: u32,
    /// Side from inside the triangle to the midpoint.
    interior: u32,
    is_owned: bool,
}

impl Division {
    /// Side from the start to the midpoint.
    #[inline(always)]
    fn first(&self) -> u32 {
        2 * self.slot + if self.is_owned { 2 } else { 1 }
    }

    /// Side from the midpoint to the end.
    #[inline(always)]
    fn second(&self) -> u32 {
        2 * self.slot + if self.is_owned { 0 } else { 3 }
    }
}

/// Counts before a round.
#[derive(Clone, Copy)]
struct Before {
    vertices: u32,
    edges: u32,
}

/// A triangle with a divided side: its vertices and sides, from the longest side on.
struct Divided {
    vertices: [u32; 3],
    sides: [u32; 3],
    /// Which of the sides are divided; the first is.
    flags: [bool; 3],
    /// What that gives.
    divisions: [Division; 3],
    /// Divided sides before the triangle.
    rank: u32,
}

/// What is known of a triangle from the flags alone.
#[derive(Clone, Copy)]
struct Flagged {
    flags: [bool; 3],
    longest: u32,
    /// Divided sides before the triangle, and owned ones.
    before: (u32, u32),
}

impl Flagged {
    /// Triangle `t`.
    #[inline(always)]
    fn new(t: u32, longest: In<u8>, counts: Counts) -> Self {
        let flag = |k| counts.flags.bit(3 * t + k);
        Self {
            flags: [flag(0), flag(1), flag(2)],
            longest: u32::from(longest.at(t)),
            before: counts.before(3 * t),
        }
    }

    #[inline(always)]
    fn any(&self) -> bool {
        self.flags[0] | self.flags[1] | self.flags[2]
    }
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

impl Divided {
    /// The triangle of these vertices and sides.
    #[inline(always)]
    fn new(
        flagged: Flagged,
        [a, b, c]: [u32; 3],
        [ab, bc, ca]: [u32; 3],
        halves: In<u32>,
        counts: Counts,
        before: Before,
    ) -> Self {
        let [f0, f1, f2] = flagged.flags;
        let is_owned = |side: u32| side.is_multiple_of(2);
        // Every read of one kind comes before what waits for it: so they overlap.
        let owner = |flag: bool, side: u32| {
            if flag && !is_owned(side) {
                halves.at(reverse(side))
            } else {
                NONE
            }
        };
        let owners = [owner(f0, ab), owner(f1, bc), owner(f2, ca)];
        let rank = |owner: u32| {
            if owner == NONE {
                (0, 0)
            } else {
                counts.before(owner)
            }
        };
        let ranks = [rank(owners[0]), rank(owners[1]), rank(owners[2])];
        let step = |(n, m): (u32, u32), flag: bool, side: u32| {
            (n + u32::from(flag), m + u32::from(flag & is_owned(side)))
        };
        let rank0 = flagged.before;
        let rank1 = step(rank0, f0, ab);
        let rank2 = step(rank1, f1, bc);
        let division = |side: u32, own: (u32, u32), owners: (u32, u32)| {
            let slot = |(n, m): (u32, u32)| before.edges + n + m;
            let is_owned = is_owned(side);
            let (n, m) = if is_owned { own } else { owners };
            Division {
                slot: slot((n, m)),
                midpoint: before.vertices + m,
                interior: if is_owned { side } else { 2 * slot(own) },
                is_owned,
            }
        };
        let d0 = division(ab, rank0, ranks[0]);
        let d1 = division(bc, rank1, ranks[1]);
        let d2 = division(ca, rank2, ranks[2]);
        let k = flagged.longest;
        Self {
            vertices: [pick(k, a, b, c), pick(k, b, c, a), pick(k, c, a, b)],
            sides: [
                pick(k, ab, bc, ca),
                pick(k, bc, ca, ab),
                pick(k, ca, ab, bc),
            ],
            flags: [
                pick(k, f0, f1, f2),
                pick(k, f1, f2, f0),
                pick(k, f2, f0, f1),
            ],
            divisions: [
                pick(k, d0, d1, d2),
                pick(k, d1, d2, d0),
                pick(k, d2, d0, d1),
            ],
            rank: rank0.0,
        }
    }

    /// Gives the pieces, vertices and sides each, to `write`, the edges inside to `join`, and what the divided edges that are the
    /// triangle's become to `own`.
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
        mut join: impl FnMut(u32),
        mut own: impl FnMut(u32, Division, u32, u32),
    ) {
        let [a, b, c] = self.vertices;
        let [ab, bc, ca] = self.sides;
        let [halved, of_bc, of_ca] = self.divisions;
        if halved.is_owned {
            own(ab / 2, halved, a, b);
        }
        if self.flags[1] && of_bc.is_owned {
            own(bc / 2, of_bc, b, c);
        }
        if self.flags[2] && of_ca.is_owned {
            own(ca / 2, of_ca, c, a);
        }
        let (m, to_m) = (halved.midpoint, halved.interior);
        join(to_m / 2);
        let mut piece = 0;
        if !self.flags[2] {
            write(piece, [m, c, a], [reverse(to_m), ca, halved.first()]);
            piece += 1;
        }
        if !self.flags[1] {
            write(piece, [c, m, b], [to_m, halved.second(), bc]);
            piece += 1;
        }
        if self.flags[2] {
            let (n, to_n) = (of_ca.midpoint, of_ca.interior);
            join(to_n / 2);
            write(piece, [m, n, a], [to_n, of_ca.second(), halved.first()]);
            let borders = [reverse(to_n), reverse(to_m), of_ca.first()];
            write(piece + 1, [n, m, c], borders);
            piece += 2;
        }
        if self.flags[1] {
            let (n, to_n) = (of_bc.midpoint, of_bc.interior);
            join(to_n / 2);
            write(piece, [m, n, c], [to_n, of_bc.second(), to_m]);
            let borders = [reverse(to_n), halved.second(), of_bc.first()];
            write(piece + 1, [n, m, b], borders);
        }
    }
}

/// Where the parts of an edge that a triangle owns go.
struct Parts<'a, P> {
    points: Out<'a, P>,
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
        let midpoint = division.midpoint;
        self.points
            .set(midpoint, self.points.at(a).midpoint(self.points.at(b)));
        let new = midpoint - self.input_vertices;
        self.divided.set(new, e);
        self.origins.set(new, pair(a, b));
        if !self.tags.is_empty() {
            let tag = self.tags.at(e);
            self.tags.set(division.slot, tag);
            self.tags.set(division.slot + 1, tag);
        }
    }

    /// Takes the tag of the edge that had the slot of one inside of a triangle.
    #[inline(always)]
    fn untag(&self, e: u32) {
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
#[kernel(P in Planar)]
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
    let counts = Counts { flags, owned, sums };
    let all = |array: Out<u32>| [array.at(3 * t), array.at(3 * t + 1), array.at(3 * t + 2)];
    let flagged = Flagged::new(t, longest, counts);
    let before = Before { vertices, edges };
    let triangle = Divided::new(flagged, all(corners), all(sides), halves, counts, before);
    let parts = Parts {
        points,
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
                let new = triangles + triangle.rank + piece - 1;
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
        |e| parts.untag(e),
        |e, division, a, b| parts.divide(e, division, a, b),
    );
}

/// Triangles that a block of [`divide_all_triangles()`] works on.
pub const TRIANGLES_OF_A_BLOCK: u32 = 256;
const WORDS: u32 = 3 * TRIANGLES_OF_A_BLOCK;

/// Shared memory of a block: the triangles' vertices, their sides, the new triangles' vertices, their sides.
#[derive(SharedMemory)]
pub struct Pieces {
    words: Shared<u32, { 8 * WORDS as usize }>,
}

/// As [`divide_listed_triangles()`] for every triangle, but not in place: `corners` and `sides` get those that stay as they are too. For
/// many.
///
/// The old triangles of a block, and the new ones that they give, are neighbours in memory: they pass through shared memory, so that
/// neighbouring lanes read and write neighbouring words.
#[kernel(P in Planar)]
pub fn divide_all_triangles<P: Point2>(
    block: &Block<256, Pieces>,
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
    let counts = Counts { flags, owned, sums };
    let before = Before { vertices, edges };
    let parts = Parts {
        points,
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
    let shared = &block.shared().words;
    let new_corners = 2 * WORDS;
    let new_sides = new_corners + 3 * WORDS;
    // Asked for before the barrier, so that these reads overlap with those of the phase.
    let flagged = block.lanes(|lane| {
        let t = first + lane;
        Flagged::new(if t < last { t } else { first }, longest, counts)
    });
    let (first_new, _) = counts.before(3 * first);
    block.phase(|lane| {
        let mut i = lane;
        while i < words {
            let (corner, side) = (old_corners.at(3 * first + i), old_sides.at(3 * first + i));
            shared.set(i, corner);
            shared.set(WORDS + i, side);
            points.unwritten().prefetch(corner);
            halves.prefetch(reverse(side));
            i += TRIANGLES_OF_A_BLOCK;
        }
    });
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
        let flagged = flagged.at(lane);
        if !flagged.any() {
            return;
        }
        let triangle = Divided::new(flagged, v, s, halves, counts, before);
        triangle.apply(
            |piece, [a, b, c], [ab, bc, ca]| {
                let (i, j) = if piece == 0 {
                    (3 * lane, WORDS + 3 * lane)
                } else {
                    let new = triangle.rank + piece - 1;
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
            |e| parts.untag(e),
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
