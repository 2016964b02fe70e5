//! New triangles around new vertices.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Own, Scatter};
use trioxide_kernel::{Bits, Each, kernel};

use super::cavity::go_around;
use super::confirm::inner_twin;
use super::judge::{encroaches, mark};
use super::{Bounds, FREE, Proposed, SPLIT, STUCK, TO_SPLIT};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::ids::{HalfEdge, Item, Place, Triangle};

/// Words of a side of a ring: its first corner, the half-edge beyond it, its line, the number of its new triangle, its
/// region, and the number of the vertex in its round.
pub const SIDE: u32 = 6;

/// Words of a new vertex: the ends of the subsegment on which it lies, [`Place::NONE`] for a free one; the whole; 1 if
/// its ring is open.
pub const ENDS: u32 = 4;

/// Lists the ring of vertex `w` of a round: the sides of its cavity, counter-clockwise. At the boundary the ring is
/// open, from the end of the subsegment to its start.
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
    pub lines: Atomic<'a, u32, HalfEdge>,
    /// Regions.
    pub regions: Scatter<'a, u32, Triangle>,
    /// Bad triangles.
    pub bad: Atomic<'a, Bits<Triangle>>,
    /// Triangles that may have marked subsegments.
    pub marked: Atomic<'a, Bits<Triangle>>,
}

/// Writes the new triangle of side `j` of the rings, and judges it.
///
/// Subsegments are marked that the new vertex encroaches, and parts of the split one that a corner beside them does.
#[kernel(SIZED in [false, true], requires(sides.len() == 6 * n), moves(sides.bytes() + 45 * n))]
pub fn write_rings<const SIZED: bool>(
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
    let [from, to, whole, is_open] = [0, 1, 2, 3].each(|k| ends.at(ENDS * number + k));
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
    let [h, spoke_b, spoke_a] = [0, 1, 2].each(|k| HalfEdge::of(t, k));
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
    let lens = bounds.goal.lens;
    let [pa, pb, pp] = sorted.at_all([a, b, p]);
    // The part of the split subsegment from p to an end, and the corners beside it: both triangles find the same.
    let part_to = |v: Place, beside: [Place; 2]| {
        if from.is_none() || v != from && v != to {
            return NO_SEGMENT;
        }
        let end = sorted.at(v);
        let is_encroached = |v: Place| v.is_some() && encroaches(lens, [end, pp], sorted.at(v));
        if is_encroached(beside[0]) || is_encroached(beside[1]) {
            whole | TO_SPLIT
        } else {
            whole
        }
    };
    let corner = |j: u32| Place::new(word(j, 0));
    let before_a = if is_at_start {
        Place::NONE
    } else {
        corner(before)
    };
    let after_b = if is_at_end {
        Place::NONE
    } else if after + 1 < end {
        corner(after + 1)
    } else if is_open {
        from
    } else {
        corner(first)
    };
    let (of_a, of_b) = (part_to(a, [b, before_a]), part_to(b, [a, after_b]));
    lines.store(h, line);
    lines.store(spoke_b, of_b);
    lines.store(spoke_a, of_a);
    let is_marked = |line: u32| line != NO_SEGMENT && line & TO_SPLIT != 0;
    if is_marked(of_a) || is_marked(of_b) {
        written.marked.set_bit(t);
    }
    // A mark may come from the old triangle of this side.
    let is_free = line != NO_SEGMENT && line & STUCK == 0;
    if is_marked(line) || is_free && encroaches(lens, [pa, pb], pp) {
        mark([h, beyond], lines, written.marked);
    }
    if bounds.is_bad::<SIZED>([a, b, p], sorted, region) {
        written.bad.set_bit(t);
    } else {
        written.bad.clear_bit(t);
    }
    if is_at_start {
        // Such a ring takes one new number only.
        let unused = Triangle::new(triangles + 2 * number + 1);
        let mut k = 0;
        while k < 3 {
            let h = HalfEdge::of(unused, k);
            corners.set(h, Place::NONE);
            twins.set(h, HalfEdge::NONE);
            lines.store(h, NO_SEGMENT);
            k += 1;
        }
        written.regions.set(unused, region);
    }
}
