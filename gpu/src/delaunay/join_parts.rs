//! The triangles between hard points: those of their own triangulation that the stars leave room for.
//!
//! A Delaunay triangle of all points whose corners are hard is one of the hard points alone, since its circle is as
//! empty. The reverse does not hold: a triangle of the hard points may lie where stars are. Call a side of an edge
//! between hard points *covered* if a star has a triangle there. Then for a triangle of the hard points and each of its
//! edges:
//!
//! | its own side | the other side | then the triangle |
//! | --- | --- | --- |
//! | covered | | is none: the star's triangle lies there |
//! | not covered | covered | is one: the edge is Delaunay, and beside it is a triangle without stars |
//! | not covered | not covered | is one if its neighbour is: of a Delaunay edge both sides are without stars, and a triangle that is one has Delaunay edges |
//!
//! So triangles that meet at edges without cover are one part, all or none of which is kept. Each part has a covered
//! side, if there are stars: it ends at the hull or at another part, and all points of the hull are hard.

use trioxide_kernel::safe::{Atomic, Group, In, Own};
use trioxide_kernel::{Bits, kernel};

use super::insert_points::Face;
use super::stars::RING;
use crate::ids::{Item, Place};
use crate::slots::slot_of;

/// A star's neighbours.
#[derive(Group)]
pub struct Stars<'a> {
    /// Number of neighbours; 0 of a hard point.
    pub degrees: In<'a, u32, Place>,
    /// Their places, [`RING`] for each point.
    pub stars: In<'a, Place>,
}

impl Stars<'_> {
    /// Neighbours k and k + 1 of the star at `p`, which has `degree`.
    #[inline(always)]
    pub(super) fn pair(&self, p: Place, degree: u32, k: u32) -> [Place; 2] {
        let next = if k + 1 == degree { 0 } else { k + 1 };
        let first = RING as u32 * p.index();
        self.stars.at_all([first + k, first + next])
    }

    /// The neighbours of the star at `p`, which has `degree`.
    #[inline(always)]
    pub(super) fn ring(&self, p: Place, degree: u32) -> In<'_, Place> {
        self.stars.run(RING as u32 * p.index(), degree)
    }

    /// Whether the point at `p` is hard.
    #[inline(always)]
    pub(super) fn is_hard(&self, p: Place) -> bool {
        self.degrees.at(p) == 0
    }
}

/// Number of a directed edge.
#[inline(always)]
fn key(from: Place, to: Place) -> u64 {
    u64::from(from.index()) << 32 | u64::from(to.index())
}

/// The ends of the directed edge with a number; `None` in a free slot.
#[inline(always)]
pub(super) fn ends_of(key: u64) -> Option<[Place; 2]> {
    match key {
        u64::MAX => None,
        key => Some([Place::new((key >> 32) as u32), Place::new(key as u32)]),
    }
}

/// Puts the covered sides between hard points into a table: for the star at `i` the side of each triangle that has two
/// hard corners. These edges are Delaunay, so the triangulation of the hard points has them. Touches the hard points of
/// the star.
#[kernel(moves(stars.degrees.bytes()))]
pub fn cover_sides(i: Own<Place>, stars: Stars, table: Atomic<u64>, touched: Atomic<Bits<Place>>) {
    let degree = stars.degrees.at(i);
    if degree == 0 {
        return;
    }
    let (first, size) = (RING as u32 * i.get().index(), table.len());
    let mut b = stars.stars.at(first + degree - 1);
    let mut is_b_hard = stars.is_hard(b);
    let mut k = 0;
    while k < degree {
        let (a, is_a_hard) = (b, is_b_hard);
        b = stars.stars.at(first + k);
        is_b_hard = stars.is_hard(b);
        k += 1;
        if is_b_hard {
            touched.set_bit(b);
        }
        if !(is_a_hard && is_b_hard) {
            continue;
        }
        let key = key(a, b);
        let mut at = slot_of(key, size);
        // Each directed edge has one triangle, so no key comes twice.
        while table.claim(at, u64::MAX, key) != u64::MAX {
            at = if at + 1 < size { at + 1 } else { 0 };
        }
    }
}

/// Whether the side of the edge on which a star would have `from`, `to` counter-clockwise is covered.
#[inline(always)]
pub(super) fn is_covered(table: In<u64>, from: Place, to: Place) -> bool {
    let (key, size) = (key(from, to), table.len());
    let mut at = slot_of(key, size);
    loop {
        let found = table.at(at);
        if found == key || found == u64::MAX {
            return found == key;
        }
        at = if at + 1 < size { at + 1 } else { 0 };
    }
}

/// The triangulation of the hard points.
#[derive(Group)]
pub struct HardTriangles<'a> {
    /// Corners, three each: numbers of hard points.
    pub corners: In<'a, u32>,
    /// Places of the hard points.
    pub places: In<'a, Place>,
    /// Covered sides.
    pub table: In<'a, u64>,
}

/// The triangle at the end of `t`'s links.
#[inline(always)]
pub(super) fn root(parents: Atomic, mut t: u32) -> u32 {
    loop {
        let parent = parents.load(t);
        if parent == t {
            return t;
        }
        t = parent;
    }
}

/// Joins the parts of two triangles.
#[inline(always)]
pub(super) fn join(parents: Atomic, a: u32, b: u32) {
    let (mut a, mut b) = (root(parents, a), root(parents, b));
    while a != b {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if parents.claim(high, high, low) == high {
            return;
        }
        (a, b) = (root(parents, low), root(parents, high));
    }
}

/// Joins the triangles of face `i`, if neither of its sides is covered. `parents` leads from each
/// triangle to a lower one of its part, or to itself.
#[kernel(moves(faces.bytes()))]
pub fn join_triangles(i: Own<Item>, faces: In<Face, Item>, hard: HardTriangles, parents: Atomic) {
    let [from, to, left, right] = faces.at(i);
    let is_ghost = |t: u32| hard.corners.at(3 * t + 2) == super::INFINITE;
    if is_ghost(left) || is_ghost(right) {
        return;
    }
    let [from, to] = hard.places.at_all([from, to]);
    if is_covered(hard.table, from, to) || is_covered(hard.table, to, from) {
        return;
    }
    join(parents, left, right);
}

/// Marks the part of triangle number `i` of `list` as kept, if one of its edges is covered on the other side alone.
#[kernel(moves(16 * n))]
pub fn keep_parts(
    i: Own<Item>,
    list: In<Item, Item>,
    hard: HardTriangles,
    parents: Atomic,
    kept: Atomic,
) {
    let t = list.at(i).index();
    let mut k = 0;
    while k < 3 {
        let next = if k == 2 { 0 } else { k + 1 };
        let [a, b] = hard.corners.at_all([3 * t + k, 3 * t + next]);
        let [a, b] = hard.places.at_all([a, b]);
        k += 1;
        if is_covered(hard.table, b, a) && !is_covered(hard.table, a, b) {
            kept.store(root(parents, t), 1);
        }
    }
}

/// Whether triangle number `i` of `list` is of a part that is kept.
#[kernel(moves(12 * n + 4 * words(n)))]
pub fn select_parts(i: Own<Item>, list: In<Item, Item>, parents: Atomic, kept: In<u32>) -> bool {
    kept.at(root(parents, list.at(i).index())) != 0
}
