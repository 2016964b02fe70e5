//! Triangulation of hard points: each round inserts all that depend on no other.
//!
//! Blelloch, Gu, Shun and Sun, Parallelism in Randomized Incremental Algorithms (2016), section 4. Points have random
//! numbers. Each triangle has the list of the points in its circle that are not inserted yet. Of the two triangles at a
//! face, an edge here, let the one with the lower first point w have it, and the other not: then every triangle of the
//! mesh into which w is inserted is known there, and the triangle of the face and w takes the place of the first. Its
//! list is the part of both lists that lies in its circle. Where both triangles have the same first point, the edge
//! goes.
//! One launch looks at all faces, since the decision at a face depends on no other face.
//!
//! The work is that of inserting one after the other, in expectation O(n log n) tests for any positions; the number of
//! rounds is O(log n) with high probability.
//!
//! The mesh begins with one triangle and a *ghost* across each of its edges: a triangle with the point at infinity,
//! [`INFINITE`], always last. The circle of a ghost (a, b, infinity) is the half-plane left of ab, and the edge ab.
//!
//! | deviation from the paper | reason |
//! | --- | --- |
//! | the two new edges of a triangle meet in a hash table that is made anew each round | the paper has a concurrent map of all faces; here the table holds only the waiting edges |
//! | lists are not sorted | an atomic minimum gives the first point |

use glam::DVec2;
use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_in;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};

use super::predicates::{filtered_circle, is_in_circle_exactly, orientation};
use crate::ids::{Item, Place};
use crate::slots::slot_of;

/// The point at infinity; also no point, and no triangle.
pub const INFINITE: u32 = u32::MAX;

/// An edge with its two triangles: from, to, left triangle, right triangle.
pub type Face = [u32; 4];

/// Whether `q` lies in the circle of a triangle.
#[inline(always)]
pub(super) fn conflicts([a, b, c]: [u32; 3], q: u32, sites: In<DVec2>) -> bool {
    let (a, b, q) = (sites.at(a), sites.at(b), sites.at(q));
    if c != INFINITE {
        let c = sites.at(c);
        return match filtered_circle(a, b, c, q) {
            0 => is_in_circle_exactly(a, b, c, q),
            sign => sign > 0,
        };
    }
    match orientation(a, b, q) {
        0 => is_before(a, q) == is_before(q, b),
        sign => sign > 0,
    }
}

/// Whether `a` is before `b` by x, then y.
#[inline(always)]
pub(super) fn is_before(a: DVec2, b: DVec2) -> bool {
    a.x < b.x || a.x == b.x && a.y < b.y
}

/// The triangles so far.
#[derive(Group)]
pub struct Triangles<'a> {
    /// Corners, three each.
    pub corners: In<'a, u32>,
    /// Start of each triangle's points among `points`, and the end of the last's.
    pub starts: In<'a, u32>,
    /// Points in the triangles' circles.
    pub points: In<'a, u32>,
    /// All points, in the order of insertion.
    pub sites: In<'a, DVec2>,
}

impl Triangles<'_> {
    #[inline(always)]
    fn corners(&self, t: u32) -> [u32; 3] {
        self.corners.at_all([3 * t, 3 * t + 1, 3 * t + 2])
    }

    #[inline(always)]
    fn start(&self, t: u32) -> [u32; 2] {
        self.starts.at_all([t, t + 1])
    }
}

/// Another number for each, as if at random: a bijection whose every bit depends on every bit (triple32, Wellons 2018).
#[inline(always)]
pub(super) fn mixed(mut x: u32) -> u32 {
    x = (x ^ x >> 17).wrapping_mul(0xED5A_D4BB);
    x = (x ^ x >> 11).wrapping_mul(0xAC4C_1B51);
    x = (x ^ x >> 15).wrapping_mul(0x3184_8BAB);
    x ^ x >> 14
}

/// A number for hard point `i`, as if at random: points are inserted in the order of these.
#[kernel(requires(numbers.len() == n), moves(numbers.bytes()))]
pub fn scatter_numbers(i: Own<Item>, numbers: Out<u32, Item>) {
    numbers.set(i, mixed(i.get().index()));
}

/// The number of the hard point that is inserted as number `i`, if the third and number `third` change places.
#[inline(always)]
fn swapped(i: u32, third: u32) -> u32 {
    if i == 2 {
        third
    } else if i == third {
        2
    } else {
        i
    }
}

/// The hard points in the order of their insertion, but for the third and number `third`, which change places.
#[kernel(
    requires(places.len() == n, sites.len() == n),
    moves(order.bytes() + hard.bytes() + places.bytes() + 2 * sites.bytes())
)]
pub fn take_sites(
    i: Own<Item>,
    third: u32,
    order: In<Item>,
    hard: In<Place>,
    sorted: In<DVec2, Place>,
    places: Out<Place, Item>,
    sites: Out<DVec2, Item>,
) {
    let place = hard.at(order.at(swapped(i.get().index(), third)).index());
    places.set(i, place);
    sites.set(i, sorted.at(place));
}

/// Whether point number `i` is not on a line with the first two.
#[kernel(moves(sites.bytes()))]
pub fn find_off_line(i: Own<Item>, sites: In<DVec2>) -> bool {
    i.get().index() > 1 && orientation(sites.at(0), sites.at(1), sites.at(i.get().index())) != 0
}

/// Whether point 3 + `i` is in the circle of triangle `t`, one of the first four.
#[kernel(requires(minima.len() == 4), moves(sites.bytes()))]
pub fn test_first(
    i: Own<Item>,
    t: u32,
    corners: In<u32>,
    sites: In<DVec2>,
    minima: Atomic,
) -> bool {
    let q = 3 + i.get().index();
    let holds = conflicts(corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]), q, sites);
    if holds && minima.load(t) > q {
        minima.min(t, q);
    }
    holds
}

/// Writes point `first` + i of the first triangles: flag number `i` of [`test_first()`].
#[kernel(moves(8 * n))]
pub fn take_first(i: Own<Item>, flags: In<Item, Item>, first: u32, points: Scatter<u32>) {
    points.set(first + i.get().index(), 3 + flags.at(i).index());
}

/// Whether the triangles of face `i` have different first points, so that one of them is replaced; and whether neither
/// has one, so that the face is part of the result.
#[kernel(moves(faces.bytes() + 8 * n + 8 * words(n)))]
pub fn compare_faces(i: Own<Item>, faces: In<Face, Item>, minima: In<u32>) -> (bool, bool) {
    let [_, _, left, right] = faces.at(i);
    let [a, b] = minima.at_all([left, right]);
    (a != b, a == INFINITE && b == INFINITE)
}

/// The faces of a list.
#[kernel(requires(taken.len() == n), moves(list.bytes() + 2 * taken.bytes()))]
pub fn take_faces(i: Own<Item>, list: In<Item, Item>, faces: In<Face>, taken: Out<Face, Item>) {
    taken.set(i, faces.at(list.at(i).index()));
}

/// Writes a face as four words.
#[inline(always)]
fn write_face(i: u32, face: Face, faces: Scatter<u32>) {
    let mut k = 0;
    while k < 4 {
        faces.set(4 * i + k, face[k as usize & 3]);
        k += 1;
    }
}

/// A triangle that takes the place of another at a face.
#[derive(Clone, Copy)]
pub(super) struct Replacement {
    /// The triangle whose place it takes.
    pub gone: u32,
    /// The other triangle of the face.
    pub kept: u32,
    /// The ends of the face as the new triangle has them.
    pub ends: [u32; 2],
    /// The new corner.
    pub w: u32,
    is_left: bool,
}

impl Replacement {
    /// At a face whose triangles have different first points.
    #[inline(always)]
    pub(super) fn at([from, to, left, right]: Face, [of_left, of_right]: [u32; 2]) -> Self {
        match of_left < of_right {
            true => Self {
                gone: left,
                kept: right,
                ends: [from, to],
                w: of_left,
                is_left: true,
            },
            false => Self {
                gone: right,
                kept: left,
                ends: [to, from],
                w: of_right,
                is_left: false,
            },
        }
    }

    /// The face with the new triangle, number `t`.
    #[inline(always)]
    pub(super) fn face(&self, [from, to, left, right]: Face, t: u32) -> Face {
        match self.is_left {
            true => [from, to, t, right],
            false => [from, to, left, t],
        }
    }
}

/// The corners of the triangle of a face's ends and a new corner: infinity is the last.
#[inline(always)]
pub(super) fn corners_of(a: u32, b: u32, w: u32) -> [u32; 3] {
    match (a, b) {
        (INFINITE, _) => [b, w, INFINITE],
        (_, INFINITE) => [w, a, INFINITE],
        _ => [a, b, w],
    }
}

/// Makes triangle `first` + i: of face number `i` of `ready`, and the first point of one of its triangles.
///
/// `replaced` gets the triangle whose place it takes, and the other; `lengths` how many points both have; `next` the
/// face with the new triangle.
#[kernel(
    requires(replaced.len() == n, lengths.len() == n + 1, next.len() >= 4 * n),
    moves(ready.bytes() + 24 * n + replaced.bytes() + lengths.bytes() + 28 * n)
)]
pub fn make_triangles(
    i: Own<Item>,
    ready: In<Face, Item>,
    minima: In<u32>,
    starts: In<u32>,
    first: u32,
    corners: Scatter<u32>,
    replaced: Out<[u32; 2], Item>,
    lengths: Scatter<u32, Item>,
    next: Scatter<u32>,
) {
    let face = ready.at(i);
    let [_, _, left, right] = face;
    let replacement = Replacement::at(face, minima.at_all([left, right]));
    let Replacement {
        gone,
        kept,
        ends: [a, b],
        w,
        ..
    } = replacement;
    let t = first + i.get().index();
    let triangle = corners_of(a, b, w);
    let mut k = 0;
    while k < 3 {
        corners.set(3 * t + k, triangle[k as usize & 3]);
        k += 1;
    }
    replaced.set(i, [gone, kept]);
    let length = |t: u32| {
        let [start, end] = starts.at_all([t, t + 1]);
        end - start
    };
    lengths.set(i, length(gone) + length(kept));
    write_face(i.get().index(), replacement.face(face, t), next);
}

/// The candidates of the new triangles: for each the points of the triangle that it replaces, then of the other.
#[derive(Group)]
pub struct Candidates<'a> {
    /// Start of each new triangle's candidates, and the end of the last's.
    pub offsets: In<'a, u32>,
    /// The triangle that each replaces, and the other.
    pub replaced: In<'a, [u32; 2]>,
    /// The first of the new triangles.
    pub first: u32,
    /// Number of new triangles.
    pub count: u32,
}

/// A point that may lie in the circle of a new triangle.
struct Candidate {
    /// Number of the new triangle.
    k: u32,
    /// Whether it is the first of that triangle.
    is_first: bool,
    point: u32,
    /// The triangle that goes.
    gone: u32,
    /// Whether it is of the other triangle.
    is_of_other: bool,
}

impl Candidates<'_> {
    /// Candidate number `i`.
    #[inline(always)]
    fn at(&self, i: u32, triangles: Triangles) -> Candidate {
        // The last triangle whose candidates start at `i` or before. Each has one at least: the inserted point.
        let (mut k, mut high) = (0, self.count);
        while high - k > 1 {
            let middle = k + (high - k) / 2;
            if self.offsets.at(middle) <= i {
                k = middle;
            } else {
                high = middle;
            }
        }
        let at = i - self.offsets.at(k);
        let [gone, other] = self.replaced.at(k);
        let [start, end] = triangles.start(gone);
        let is_of_other = at >= end - start;
        let place = match is_of_other {
            true => triangles.start(other)[0] + (at - (end - start)),
            false => start + at,
        };
        Candidate {
            k,
            is_first: at == 0,
            point: triangles.points.at(place),
            gone,
            is_of_other,
        }
    }
}

/// Whether candidate `i` lies in the circle of its new triangle; `minima` gets the triangles' first points.
#[kernel(
    requires(candidates.offsets.len() == candidates.count as usize + 1),
    moves(4 * n + 4 * words(n))
)]
pub fn test_candidates(
    i: Own<Item>,
    candidates: Candidates,
    triangles: Triangles,
    minima: Atomic,
) -> bool {
    let candidate = candidates.at(i.get().index(), triangles);
    let t = candidates.first + candidate.k;
    let (corners, q) = (triangles.corners(t), candidate.point);
    // The new corner itself is in the circle of the triangle that goes.
    let is_corner = q == corners[0] || q == corners[1] || q == corners[2];
    if is_corner || !conflicts(corners, q, triangles.sites) {
        return false;
    }
    // Points in both circles are candidates twice.
    let gone = candidate.gone;
    if candidate.is_of_other && conflicts(triangles.corners(gone), q, triangles.sites) {
        return false;
    }
    if minima.load(t) > q {
        minima.min(t, q);
    }
    true
}

/// Takes candidate `i`, if `ranks` has it: `kept` gets it at its rank; `new_starts` gets where each new triangle's
/// points start, after the `before` points of older triangles.
#[kernel(
    requires(candidates.offsets.len() == candidates.count as usize + 1),
    moves(4 * n + 8 * words(n) + kept.bytes() + 4 * candidates.count as usize)
)]
pub fn take_candidates(
    i: Own<Item>,
    candidates: Candidates,
    triangles: Triangles,
    ranks: In<u32>,
    before: u32,
    kept: Scatter<u32>,
    new_starts: Scatter<u32>,
) {
    let candidate = candidates.at(i.get().index(), triangles);
    let pair = ranks.pair(i.get().index() / 32 * 2);
    let rank = rank_in(pair, *i);
    if candidate.is_first {
        new_starts.set(candidate.k, before + rank);
    }
    if pair[0] >> (i.get().index() % 32) & 1 != 0 {
        kept.set(rank, candidate.point);
    }
}

/// Copies words: to `first` + i.
#[kernel(moves(2 * words.bytes()))]
pub fn append_words(i: Own<Item>, words: In<u32, Item>, first: u32, all: Scatter<u32>) {
    all.set(first + i.get().index(), words.at(i));
}

/// An edge of a new triangle at its new corner: number 3t + k runs from corner k to the next of triangle t.
#[inline(always)]
fn ends(side: u32, corners: In<u32>) -> [u32; 2] {
    let (t, k) = (side / 3, side % 3);
    let next = if k == 2 { 0 } else { k + 1 };
    corners.at_all([3 * t + k, 3 * t + next])
}

/// The two edges of triangle `first` + i at its last inserted corner: they wait for their other triangles.
#[kernel(requires(waiting.len() == 2 * n), moves(12 * n + waiting.bytes()))]
pub fn list_sides(
    i: Own<Item>,
    first: u32,
    corners: In<u32>,
    waiting: Out<u32, trioxide_kernel::safe::Parts<Item, 2>>,
) {
    let t = first + i.get().index();
    let [a, b, c] = corners.at_all([3 * t, 3 * t + 1, 3 * t + 2]);
    // Infinity is no inserted point, though its number is the largest.
    let c = if c == INFINITE { 0 } else { c };
    let newest = if a > b && a > c {
        0
    } else if b > c {
        1
    } else {
        2
    };
    let before = if newest == 0 { 2 } else { newest - 1 };
    waiting.set(i.part(0), 3 * t + newest);
    waiting.set(i.part(1), 3 * t + before);
}

/// Number of an edge, whichever way it runs.
#[inline(always)]
fn key([a, b]: [u32; 2]) -> u64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    u64::from(low) << 32 | u64::from(high)
}

/// Puts waiting edge `i` into the table: `places` gets its place, `sides` the edge itself on its side of that.
#[kernel(
    requires(places.len() == n, sides.len() == 2 * keys.len(), keys.len() > n),
    moves(waiting.bytes() + 8 * n + 12 * n + places.bytes())
)]
pub fn claim_places(
    i: Own<Item>,
    waiting: In<u32, Item>,
    corners: In<u32>,
    keys: Atomic<u64>,
    sides: Scatter<u32>,
    places: Out<u32, Item>,
) {
    let side = waiting.at(i);
    let ends = ends(side, corners);
    let key = key(ends);
    let size = keys.len();
    let mut at = slot_of(key, size);
    loop {
        let before = keys.claim(at, u64::MAX, key);
        if before == u64::MAX || before == key {
            break;
        }
        at = if at + 1 < size { at + 1 } else { 0 };
    }
    sides.set(2 * at + u32::from(ends[0] > ends[1]), side);
    places.set(i, at);
}

/// Whether waiting edge `i` has met its other triangle, and this one gives the face; and whether it still waits.
#[kernel(
    requires(places.len() == n),
    moves(waiting.bytes() + places.bytes() + 12 * n + 8 * words(n))
)]
pub fn match_sides(
    i: Own<Item>,
    waiting: In<u32, Item>,
    corners: In<u32>,
    places: In<u32, Item>,
    sides: In<u32>,
) -> (bool, bool) {
    let [a, b] = ends(waiting.at(i), corners);
    let is_reverse = a > b;
    let other = sides.at(2 * places.at(i) + u32::from(!is_reverse));
    (other != INFINITE && !is_reverse, other == INFINITE)
}

/// Writes face number `first` + i: of the edge that is number i of `list` among the edges that waited.
#[kernel(moves(list.bytes() + 32 * n))]
pub fn write_faces(
    i: Own<Item>,
    list: In<Item, Item>,
    waiting: In<u32>,
    places: In<u32>,
    sides: In<u32>,
    corners: In<u32>,
    first: u32,
    faces: Scatter<u32>,
) {
    let edge = list.at(i).index();
    let side = waiting.at(edge);
    let [a, b] = ends(side, corners);
    let other = sides.at(2 * places.at(edge) + 1);
    write_face(first + i.get().index(), [a, b, side / 3, other / 3], faces);
}

/// The words of a list of places.
#[kernel(requires(taken.len() == n), moves(list.bytes() + 2 * taken.bytes()))]
pub fn take_words(i: Own<Item>, list: In<Item, Item>, words: In<u32>, taken: Out<u32, Item>) {
    taken.set(i, words.at(list.at(i).index()));
}

/// Whether triangle `i` is part of the result: no point is in its circle, and it has three points.
#[kernel(requires(minima.len() == n), moves(minima.bytes() + 4 * n + 4 * words(n)))]
pub fn find_final_triangles(i: Own<Item>, minima: In<u32, Item>, corners: In<u32>) -> bool {
    minima.at(i) == INFINITE && corners.at(3 * i.get().index() + 2) != INFINITE
}
