//! Which triangles are bad, and which subsegments are encroached.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::{Bounds, FREE, STUCK, TO_SPLIT};
use crate::delaunay::constrained::Mesh;
use crate::ids::{HalfEdge, Place, Triangle};

/// The elements from number `k` on.
#[inline(always)]
pub(super) fn from<T: Copy>(k: u32, [a, b, c]: [T; 3]) -> [T; 3] {
    match k {
        0 => [a, b, c],
        1 => [b, c, a],
        _ => [c, a, b],
    }
}

/// The number of a triangle's shortest edge, the first one if several are, and its squared length.
#[inline(always)]
pub(super) fn shortest([a, b, c]: [DVec2; 3]) -> (u32, f64) {
    let lengths = [
        a.distance_squared(b),
        b.distance_squared(c),
        c.distance_squared(a),
    ];
    let mut found = (0, lengths[0]);
    if lengths[1] < found.1 {
        found = (1, lengths[1]);
    }
    if lengths[2] < found.1 {
        found = (2, lengths[2]);
    }
    found
}

/// Whether a point sees a subsegment from within its lens.
#[inline(always)]
pub(super) fn encroaches(lens: f64, [a, b]: [DVec2; 2], p: DVec2) -> bool {
    let (a, b) = (a - p, b - p);
    let dot = a.dot(b);
    dot < 0.0 && dot * dot >= lens * (a.length_squared() * b.length_squared())
}

/// The squared cosine of the angle at `apex`, or 0 if that is no acute angle.
#[inline(always)]
pub(super) fn squared_cosine([p, q, apex]: [DVec2; 3]) -> f64 {
    let (u, w) = (p - apex, q - apex);
    let dot = u.dot(w);
    if dot > 0.0 {
        dot * dot / (u.length_squared() * w.length_squared())
    } else {
        0.0
    }
}

/// The area of a triangle.
#[inline(always)]
pub(super) fn area([a, b, c]: [DVec2; 3]) -> f64 {
    (b - a).perp_dot(c - a) / 2.0
}

impl Bounds<'_> {
    /// The largest area in a region.
    #[inline(always)]
    pub(super) fn largest_area(&self, region: u32) -> f64 {
        let last = self.areas.len() - 1;
        self.areas.at(if region < last { region } else { last })
    }

    /// Whether a triangle's area is too large.
    #[inline(always)]
    pub(super) fn has_large_area(&self, points: [DVec2; 3], region: u32) -> bool {
        area(points) > self.largest_area(region)
    }

    /// Whether a triangle is too large.
    #[inline(always)]
    pub(super) fn is_large<const SIZED: bool>(&self, points: [DVec2; 3], region: u32) -> bool {
        self.has_large_area(points, region) || SIZED && self.background.squared_ratio(points) > 1.0
    }

    /// Whether a triangle is bad.
    #[inline(always)]
    pub(super) fn is_bad<const SIZED: bool>(
        &self,
        places: [Place; 3],
        sorted: In<DVec2, Place>,
        region: u32,
    ) -> bool {
        let points = sorted.at_all(places);
        if self.is_large::<SIZED>(points, region) {
            return true;
        }
        let (k, _) = shortest(points);
        let [p, q, _] = from(k, places);
        squared_cosine(from(k, points)) > self.goal.squared_cosine
            && !self.is_across_angle([p, q], sorted)
    }

    /// Whether an edge crosses a small angle between two wholes, and its ends are equally far from the corner.
    #[inline(always)]
    fn is_across_angle(&self, ends: [Place; 2], sorted: In<DVec2, Place>) -> bool {
        let [k, l] = self.kinds.at_all(ends);
        if k == l || k >= FREE || l >= FREE {
            return false;
        }
        let ends_of = |whole: u32| ends_of(self.wholes, whole);
        let ([a, b], l) = (ends_of(k), ends_of(l));
        let corner = if a == l[0] || a == l[1] {
            a
        } else if b == l[0] || b == l[1] {
            b
        } else {
            return false;
        };
        let [p, q] = sorted.at_all(ends);
        let corner = sorted.at(corner);
        let (d, e) = (p.distance_squared(corner), q.distance_squared(corner));
        d < 1.001 * e && e < 1.001 * d && p.distance_squared(q) < d
    }
}

/// The ends of a whole.
#[inline(always)]
pub(super) fn ends_of(wholes: In<Place>, whole: u32) -> [Place; 2] {
    wholes.at_all([whole, HalfEdge::new(whole).next().index()])
}

/// Whether triangle `t` is bad.
#[kernel(SIZED in [false, true], requires(regions.len() == n), moves(12 * n + regions.bytes()))]
pub fn judge_triangles<const SIZED: bool>(
    t: Own<Triangle>,
    corners: In<Place, HalfEdge>,
    sorted: In<DVec2, Place>,
    regions: In<u32, Triangle>,
    bounds: Bounds,
) -> bool {
    let places = corners.at_all([0, 1, 2].each(|k| HalfEdge::of(*t, k)));
    places[0].is_some() && bounds.is_bad::<SIZED>(places, sorted, regions.at(t))
}

/// Marks the subsegment of half-edge `h`, if `h` is on one that its triangle's far corner encroaches, and may be split.
#[kernel(requires(lines.len() == n), moves(2 * lines.bytes()))]
pub fn mark_encroached(
    h: Own<HalfEdge>,
    mesh: Mesh,
    lens: f64,
    lines: Atomic<u32, HalfEdge>,
    marked: Atomic<Bits<Triangle>>,
) {
    // Of no segment all bits are set.
    if lines.load(h) & STUCK != 0 {
        return;
    }
    let [a, b, apex] = [*h, h.next(), h.prev()].each(|h| mesh.sorted.at(mesh.corners.at(h)));
    if encroaches(lens, [a, b], apex) {
        mark([*h, mesh.twins.at(h)], lines, marked);
    }
}

/// Marks the subsegment of two half-edges, the second of which may be none: both, and their triangles.
#[inline(always)]
pub(super) fn mark(
    sides: [HalfEdge; 2],
    lines: Atomic<u32, HalfEdge>,
    marked: Atomic<Bits<Triangle>>,
) {
    let [h, twin] = sides;
    let mark = |h: HalfEdge| {
        lines.fetch_max(h, lines.load(h) | TO_SPLIT);
        marked.set_bit(h.triangle());
    };
    mark(h);
    if twin.is_some() {
        mark(twin);
    }
}
