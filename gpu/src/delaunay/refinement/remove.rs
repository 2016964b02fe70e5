//! Removal of free vertices.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::cavity::go_around;
use super::judge::{encroaches, from, mark};
use super::{Bounds, Proposed, STUCK, TO_SPLIT};
use crate::delaunay::constrained::NO_SEGMENT;
use crate::delaunay::predicates::{is_in_circle, orientation};
use crate::ids::{HalfEdge, Item, Place, Triangle};

/// The arrays that a removal changes.
#[derive(Group)]
pub struct Changed<'a> {
    /// Corners, of removed triangles [`Place::NONE`].
    pub corners: Atomic<'a, Place, HalfEdge>,
    /// Twins.
    pub twins: Atomic<'a, HalfEdge, HalfEdge>,
    /// Wholes, with flags.
    pub lines: Atomic<'a, u32, HalfEdge>,
    /// Bad triangles.
    pub bad: Atomic<'a, Bits<Triangle>>,
    /// Triangles that may have marked subsegments.
    pub marked: Atomic<'a, Bits<Triangle>>,
    /// The removed vertices.
    pub gone: Atomic<'a, Bits<Place>>,
    /// The points.
    pub sorted: In<'a, DVec2, Place>,
}

/// The other side of a half-edge: its twin and its line.
type Beyond = (HalfEdge, u32);

impl Changed<'_> {
    #[inline(always)]
    fn points(&self, places: [Place; 3]) -> [DVec2; 3] {
        self.sorted.at_all(places)
    }

    /// The corners of the triangle of a half-edge, from its origin on.
    #[inline(always)]
    fn places(&self, h: HalfEdge) -> [Place; 3] {
        [h, h.next(), h.prev()].each(|h| self.corners.load(h))
    }

    #[inline(always)]
    fn beyond(&self, h: HalfEdge) -> Beyond {
        (self.twins.load(h), self.lines.load(h))
    }

    #[inline(always)]
    fn write(&self, h: HalfEdge, corner: Place, (twin, line): Beyond) {
        self.corners.store(h, corner);
        self.twins.store(h, twin);
        self.lines.store(h, line);
        if twin.is_some() {
            self.twins.store(twin, h);
        }
    }

    /// Flips the edge between triangles (a, b, c) of `h` and (b, a, d), to (c, a, d) and (d, b, c).
    #[inline(always)]
    fn flip(&self, h: HalfEdge) {
        let g = self.twins.load(h);
        let ([a, b, c], d) = (self.places(h), self.corners.load(g.prev()));
        let [bc, ca, ad, db] = [h.next(), h.prev(), g.next(), g.prev()].each(|h| self.beyond(h));
        // The new edge is h.prev() from d to c and g.prev() from c to d.
        self.write(h, c, ca);
        self.write(h.next(), a, ad);
        self.write(g, d, db);
        self.write(g.next(), b, bc);
        self.write(h.prev(), d, (g.prev(), NO_SEGMENT));
        self.write(g.prev(), c, (h.prev(), NO_SEGMENT));
    }

    /// The half-edge after `spoke` around its origin, counter-clockwise.
    #[inline(always)]
    fn turn(&self, spoke: HalfEdge) -> HalfEdge {
        self.twins.load(spoke.prev())
    }

    /// Number of triangles around the origin of `spoke`, an inner vertex.
    #[inline(always)]
    fn degree(&self, spoke: HalfEdge) -> u32 {
        let mut degree = 1;
        let mut h = self.turn(spoke);
        while h != spoke {
            degree += 1;
            h = self.turn(h);
        }
        degree
    }

    /// Whether the corner at the end of `spoke` can be cut from the polygon around its origin: the rest is still around
    /// the origin. Of four corners the origin may lie on the line that remains.
    #[inline(always)]
    fn is_ear(&self, spoke: HalfEdge, degree: u32) -> bool {
        let [v, b, c] = self.places(spoke);
        let a = self.corners.load(self.twins.load(spoke).prev());
        let [a, b, c] = self.points([a, b, c]);
        let v = self.sorted.at(v);
        let remains = orientation(c, v, a);
        orientation(a, b, c) > 0 && (remains > 0 || remains == 0 && degree == 4)
    }

    /// Removes the origin of `spoke`, without regard to circles. Returns one of the triangles that remain.
    #[inline(always)]
    fn cut(&self, spoke: HalfEdge) -> Triangle {
        let mut spoke = spoke;
        let mut degree = self.degree(spoke);
        while degree > 3 {
            // A polygon has two ears that do not overlap.
            while !self.is_ear(spoke, degree) {
                spoke = self.turn(spoke);
            }
            self.flip(spoke);
            // It starts at the origin now.
            spoke = spoke.next();
            degree -= 1;
        }
        let second = self.turn(spoke);
        let third = self.turn(second);
        let corner = |spoke: HalfEdge| self.corners.load(spoke.next());
        let beyond = |spoke: HalfEdge| self.beyond(spoke.next());
        let [a, b, c] = [spoke, second, third].each(corner);
        let [ab, bc, ca] = [spoke, second, third].each(beyond);
        let t = spoke.triangle();
        let first = HalfEdge::of(t, 0);
        self.write(first, a, ab);
        self.write(first.next(), b, bc);
        self.write(first.prev(), c, ca);
        self.drop(second.triangle());
        self.drop(third.triangle());
        t
    }

    /// Drops a triangle.
    #[inline(always)]
    fn drop(&self, t: Triangle) {
        let mut k = 0;
        while k < 3 {
            self.corners.store(HalfEdge::of(t, k), Place::NONE);
            k += 1;
        }
        self.bad.clear_bit(t);
        self.marked.clear_bit(t);
    }

    /// The twin of `h`, if both are of triangles with this claim, and on no subsegment.
    #[inline(always)]
    fn inner_twin(&self, h: HalfEdge, claim: u64, claims: In<u64, Triangle>) -> HalfEdge {
        let twin = self.twins.load(h);
        let is_inner = twin.is_some()
            && self.lines.load(h) == NO_SEGMENT
            && claims.at(twin.triangle()) == claim;
        if is_inner { twin } else { HalfEdge::NONE }
    }

    /// Flips edges between triangles with this claim until all are locally Delaunay: goes around them until no edge has
    /// been flipped on the way once around.
    #[inline(always)]
    fn restore(&self, mut start: HalfEdge, claim: u64, claims: In<u64, Triangle>) {
        let mut h = start;
        loop {
            let twin = self.inner_twin(h, claim, claims);
            if twin.is_some() {
                let [a, b, c] = self.points(self.places(h));
                if is_in_circle(a, b, c, self.sorted.at(self.corners.load(twin.prev()))) {
                    self.flip(h);
                    start = h;
                    continue;
                }
            }
            h = if twin.is_some() {
                twin.next()
            } else {
                h.next()
            };
            if h == start {
                return;
            }
        }
    }

    /// Judges the triangle of half-edge `h`, its first, and marks its subsegments that its corners encroach.
    #[inline(always)]
    fn judge<const SIZED: bool>(&self, h: HalfEdge, bounds: &Bounds, regions: In<u32, Triangle>) {
        let t = h.triangle();
        let places = self.places(h);
        if bounds.is_bad::<SIZED>(places, self.sorted, regions.at(t)) {
            self.bad.set_bit(t);
        } else {
            self.bad.clear_bit(t);
        }
        let points = self.points(places);
        let mut k = 0;
        while k < 3 {
            let side = HalfEdge::of(t, k);
            let line = self.lines.load(side);
            let [a, b, apex] = from(k, points);
            // A mark may come from another triangle, with its side.
            let is_marked = line & STUCK == 0
                && (line & TO_SPLIT != 0 || encroaches(bounds.goal.lens, [a, b], apex));
            if line != NO_SEGMENT && is_marked {
                mark([side, self.twins.load(side)], self.lines, self.marked);
            }
            k += 1;
        }
    }
}

/// Removes the vertex of proposal number `i` of `list`, and judges the triangles that take its place.
#[kernel(SIZED in [false, true], requires(list.len() == n), moves(1000 * n))]
pub fn remove_vertices<const SIZED: bool>(
    i: Own<Item>,
    list: In<Item, Item>,
    proposed: Proposed,
    claims: In<u64, Triangle>,
    regions: In<u32, Triangle>,
    bounds: Bounds,
    changed: Changed,
) {
    let i = list.at(i);
    let (spoke, claim) = (proposed.starts.at(i), proposed.claims.at(i));
    changed.gone.set_bit(changed.corners.load(spoke));
    let start = HalfEdge::of(changed.cut(spoke), 0);
    changed.restore(start, claim, claims);
    go_around(start, |h| {
        if h.corner() == 0 {
            changed.judge::<SIZED>(h, &bounds, regions);
        }
        changed.inner_twin(h, claim, claims)
    });
}
