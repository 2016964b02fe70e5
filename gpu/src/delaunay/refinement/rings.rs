//! New triangles around new vertices.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::cavity::go_around;
use super::confirm::inner_twin;
use super::judge::encroaches;
use super::{Bounds, FREE, Proposed, SPLIT, STUCK, TO_SPLIT};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::ids::{HalfEdge, Item, Place, Triangle};

/// Words of a side of a ring: its first corner, the half-edge beyond it, its line, the number of its new triangle, its
/// region, and the number of the vertex in its round.
pub const SIDE: u32 = 6;

/// Words of a new vertex: the ends of the subsegment on which it lies, [`Place::NONE`] for a free one; the whole; whether
/// its ring is open.
pub const ENDS: u32 = 4;

/// Lists the ring of vertex `w` of a round: the sides of its cavity, counter-clockwise. At the boundary the ring is open,
/// from the end of the subsegment to its start.
///
/// The triangles of a cavity are the new ones again; two more get the next numbers from `triangles` on.
#[kernel(requires(list.len() == n), moves(200 * n))]
pub fn list_rings(
    w: Own<Item>,
    list: In<Item, Item>,
    proposed: Proposed,
    x: In<f64, Item>,
    y: In<f64, Item>,
    corners: In<Place, HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    lines: In<u32, HalfEdge>,
    regions: In<u32, Triangle>,
    claims: In<u64, Triangle>,
    starts: In<u32, Item>,
    vertices: u32,
    triangles: u32,
    sides: Scatter<u32>,
    ends: Scatter<u32>,
    points: Scatter<f64>,
    kinds: Scatter<u32, Place>,
) {
    let i = list.at(w);
    let number = w.get().index();
    let (start, claim) = (proposed.starts.at(i), proposed.claims.at(i));
    let is_split = proposed.kinds.at(i) == SPLIT;
    let split = if is_split { start } else { HalfEdge::NONE };
    let first = starts.at(i);
    let (mut side, mut slot) = (first, first);
    go_around(start, |h| {
        if h.corner() == 0 {
            sides.set(SIDE * slot + 3, h.triangle().index());
            slot += 1;
        }
        let twin = inner_twin(h, split, claim, twins, lines, claims);
        if twin.is_none() && h != split {
            let at = SIDE * side;
            sides.set(at, corners.at(h).index());
            sides.set(at + 1, twins.at(h).index());
            sides.set(at + 2, lines.at(h));
            sides.set(at + 4, regions.at(h.triangle()));
            sides.set(at + 5, number);
            side += 1;
        }
        twin
    });
    let mut more = triangles + 2 * number;
    while slot < side {
        sides.set(SIDE * slot + 3, more);
        slot += 1;
        more += 1;
    }
    let (mut kind, mut of_ends) = (FREE, [Place::NONE; 2]);
    if is_split {
        kind = lines.at(start) & !TO_SPLIT;
        of_ends = corners.at_all([start, start.next()]);
    }
    let is_open = is_split && twins.at(start).is_none();
    let at = ENDS * number;
    ends.set(at, of_ends[0].index());
    ends.set(at + 1, of_ends[1].index());
    ends.set(at + 2, kind);
    ends.set(at + 3, u32::from(is_open));
    let p = vertices + number;
    points.set(2 * p, x.at(i));
    points.set(2 * p + 1, y.at(i));
    kinds.set(Place::new(p), kind);
}

/// The arrays that new triangles are written to.
#[derive(Group)]
pub struct Written<'a> {
    /// Corners, of removed triangles [`Place::NONE`].
    pub corners: Scatter<'a, Place, HalfEdge>,
    /// Twins.
    pub twins: Scatter<'a, HalfEdge, HalfEdge>,
    /// Wholes, with flags.
    pub lines: Scatter<'a, u32, HalfEdge>,
    /// Regions.
    pub regions: Scatter<'a, u32, Triangle>,
    /// Bad triangles.
    pub bad: Atomic<'a, Bits<Triangle>>,
    /// Triangles that may have marked subsegments.
    pub marked: Atomic<'a, Bits<Triangle>>,
}

/// Writes the new triangle of side `j` of the rings, and judges it.
///
/// Sides on segments are marked where the new vertex, or a corner beside a part of the split subsegment, encroaches them.
#[kernel(requires(sides.len() == 6 * n), moves(sides.bytes() + 45 * n))]
pub fn write_rings(
    j: Own<Item>,
    sides: In<u32>,
    list: In<Item>,
    starts: In<u32>,
    ends: In<u32>,
    vertices: u32,
    triangles: u32,
    sorted: In<DVec2, Place>,
    bounds: Bounds,
    written: Written,
) {
    let j = j.get().index();
    let word = |j: u32, k: u32| sides.at(SIDE * j + k);
    let number = word(j, 5);
    let i = list.at(number).index();
    let [first, end] = starts.at_all([i, i + 1]);
    let [from, to, whole, is_open] = [0, 1, 2, 3].map(|k| ends.at(ENDS * number + k));
    let (from, to, is_open) = (Place::new(from), Place::new(to), is_open != 0);
    let p = Place::new(vertices + number);
    let t = Triangle::new(word(j, 3));
    let (a, line, region) = (Place::new(word(j, 0)), word(j, 2), word(j, 4));
    let beyond = HalfEdge::new(word(j, 1));
    let (is_first, is_last) = (j == first, j + 1 == end);
    let before = if is_first { end - 1 } else { j - 1 };
    let after = if is_last { first } else { j + 1 };
    let is_at_start = is_open && is_first;
    let is_at_end = is_open && is_last;
    let b = if is_at_end {
        from
    } else {
        Place::new(word(after, 0))
    };
    let [h, spoke_b, spoke_a] = [0, 1, 2].map(|k| HalfEdge::of(t, k));
    let Written {
        corners,
        twins,
        lines,
        ..
    } = written;
    corners.set(h, a);
    corners.set(spoke_b, b);
    corners.set(spoke_a, p);
    twins.set(h, beyond);
    if beyond.is_some() {
        twins.set(beyond, h);
    }
    let of_slot = |j: u32, k: u32| HalfEdge::of(Triangle::new(word(j, 3)), k);
    twins.set(
        spoke_a,
        if is_at_start {
            HalfEdge::NONE
        } else {
            of_slot(before, 1)
        },
    );
    twins.set(
        spoke_b,
        if is_at_end {
            HalfEdge::NONE
        } else {
            of_slot(after, 2)
        },
    );
    written.regions.set(t, region);
    let points = sorted.at_all([a, b, p]);
    let on_segment = |v: Place| from.is_some() && (v == from || v == to);
    // Each half-edge gets the mark of its own far corner.
    let line_of = |line: u32, [a, b, apex]: [DVec2; 3]| {
        let is_marked =
            line != NO_SEGMENT && line & STUCK == 0 && encroaches(bounds.goal.lens, [a, b], apex);
        if is_marked { line | TO_SPLIT } else { line }
    };
    let of_spoke = |v: Place| if on_segment(v) { whole } else { NO_SEGMENT };
    let [pa, pb, pp] = points;
    let of_h = line_of(line, points);
    let of_b = line_of(of_spoke(b), [pb, pp, pa]);
    let of_a = line_of(of_spoke(a), [pp, pa, pb]);
    lines.set(h, of_h);
    lines.set(spoke_b, of_b);
    lines.set(spoke_a, of_a);
    let is_marked = |line: u32| line != NO_SEGMENT && line & TO_SPLIT != 0;
    if is_marked(of_h) || is_marked(of_b) || is_marked(of_a) {
        written.marked.set_bit(t);
    }
    if is_marked(of_h) && beyond.is_some() {
        written.marked.set_bit(beyond.triangle());
    }
    if is_marked(of_b) && !is_at_end {
        written.marked.set_bit(Triangle::new(word(after, 3)));
    }
    if is_marked(of_a) && !is_at_start {
        written.marked.set_bit(Triangle::new(word(before, 3)));
    }
    if bounds.is_bad([a, b, p], sorted, region) {
        written.bad.set_bit(t);
    } else {
        written.bad.clear_bit(t);
    }
    if is_at_start {
        // Such a ring takes one new number only.
        let unused = Triangle::new(triangles + 2 * number + 1);
        let mut k = 0;
        while k < 3 {
            corners.set(HalfEdge::of(unused, k), Place::NONE);
            k += 1;
        }
    }
}
