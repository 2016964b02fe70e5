//! Walks along segments: which edges lie on them, which they cross.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::Mesh;
use super::sides::spoke;
use crate::delaunay::predicates::{cross, dot, orientation};
use crate::ids::{HalfEdge, Item, Place, Triangle, Vertex};

/// No segment.
pub const NO_SEGMENT: u32 = u32::MAX;

/// The directed line through two distinct points.
#[derive(Clone, Copy)]
pub(super) struct Line {
    from: DVec2,
    to: DVec2,
}

impl Line {
    #[inline(always)]
    pub(super) fn new(from: DVec2, to: DVec2) -> Self {
        Self { from, to }
    }

    /// The line through the ends of a segment.
    #[inline(always)]
    pub(super) fn of([a, b]: [u32; 2], mesh: &Mesh) -> Self {
        Self::new(mesh.point(Place::new(a)), mesh.point(Place::new(b)))
    }

    /// 1 if `p` is on the left, 0 on the line, -1 on the right.
    #[inline(always)]
    pub(super) fn side(self, p: DVec2) -> i32 {
        // The ends come often, and the filter does not decide there.
        if p == self.from || p == self.to {
            0
        } else {
            orientation(self.from, self.to, p)
        }
    }

    /// Whether `q` is after `p`, both on the line.
    #[inline(always)]
    pub(super) fn is_ahead(self, p: DVec2, q: DVec2) -> bool {
        if self.from.x == self.to.x {
            (p.y < q.y) == (self.from.y < self.to.y) && p.y != q.y
        } else {
            (p.x < q.x) == (self.from.x < self.to.x) && p.x != q.x
        }
    }

    /// Whether `p` is lower than `q`, both on the left: nearer to the line, or as near and before it.
    #[inline(always)]
    pub(super) fn is_lower(self, p: DVec2, q: DVec2) -> bool {
        match cross(self.from, self.to, p, q) {
            0 => dot(self.from, self.to, p, q) > 0,
            sign => sign > 0,
        }
    }
}

/// The way ahead of a point on a line.
pub(super) enum Ahead {
    /// An edge on the line, in either direction.
    Along(HalfEdge),
    /// An edge that starts on the right and ends on the left.
    Across(HalfEdge),
    /// No triangle.
    Outside,
}

/// The way ahead of the point at `v` on a line.
#[inline(always)]
pub(super) fn ahead(mesh: &Mesh, spokes: In<u32, Place>, v: Place, line: Line) -> Ahead {
    let origin = mesh.point(v);
    let first = spoke(spokes, v);
    let mut h = first;
    let mut right = mesh.point(mesh.target(h));
    let mut of_right = line.side(right);
    loop {
        if of_right == 0 && line.is_ahead(origin, right) {
            return Ahead::Along(h);
        }
        let left = mesh.point(mesh.apex(h));
        let of_left = line.side(left);
        if of_right < 0 && of_left > 0 {
            return Ahead::Across(h.next());
        }
        let back = h.prev();
        h = mesh.twins.at(back);
        if h.is_none() {
            let is_along = of_left == 0 && line.is_ahead(origin, left);
            return if is_along {
                Ahead::Along(back)
            } else {
                Ahead::Outside
            };
        }
        if h == first {
            return Ahead::Outside;
        }
        (right, of_right) = (left, of_left);
    }
}

/// The end of an edge that is not `v`.
#[inline(always)]
pub(super) fn other_end(mesh: &Mesh, h: HalfEdge, v: Place) -> Place {
    let origin = mesh.origin(h);
    if origin == v { mesh.target(h) } else { origin }
}

/// An edge that a segment meets.
pub(super) enum Met {
    /// On the segment, in either direction, with the point where the edge ends.
    Along(HalfEdge, Place),
    /// Across the segment.
    Across(HalfEdge),
}

/// Goes along a segment, from its first end to its second.
#[inline(always)]
pub(super) fn follow(
    mesh: &Mesh,
    spokes: In<u32, Place>,
    [a, b]: [u32; 2],
    mut meet: impl FnMut(Met),
) {
    let line = Line::of([a, b], mesh);
    let mut v = Place::new(a);
    while v.index() != b {
        let mut h = match ahead(mesh, spokes, v, line) {
            Ahead::Along(h) => {
                v = other_end(mesh, h, v);
                meet(Met::Along(h, v));
                continue;
            }
            Ahead::Across(h) => h,
            // Not in a triangulation: it covers all lines between points.
            Ahead::Outside => return,
        };
        loop {
            meet(Met::Across(h));
            let twin = mesh.twins.at(h);
            let apex = mesh.apex(twin);
            h = match line.side(mesh.point(apex)) {
                0 => {
                    v = apex;
                    break;
                }
                1 => twin.next(),
                _ => twin.prev(),
            };
        }
    }
}

/// `found[0]` becomes the lowest segment without two different ends below `vertices`.
#[kernel(requires(segments.len() == n, found.len() == 1), moves(segments.bytes()))]
pub fn check_segments(i: Own<Item>, segments: In<[u32; 2], Item>, vertices: u32, found: Atomic) {
    let [a, b] = segments.at(i);
    if a == b || a >= vertices || b >= vertices {
        found.min(0u32, i.get().index());
    }
}

/// The places of the ends of segment number `i` in `order`, from the one with fewer triangles: the way around it is
/// shorter. Whether that is its second, and whether its ends are equal.
#[kernel(
    requires(order.len() == n, ends.len() == n),
    moves(order.bytes() + segments.bytes() + 16 * n + ends.bytes())
)]
pub fn direct_segments(
    i: Own<Item>,
    order: In<u32, Item>,
    segments: In<[u32; 2]>,
    places: In<Place, Vertex>,
    degrees: In<u32, Place>,
    ends: Out<[u32; 2], Item>,
) -> (bool, bool) {
    let [a, b] = places.at_all(segments.at(order.at(i)).each(Vertex::new));
    let is_reversed = degrees.at(b) < degrees.at(a);
    let [a, b] = [a, b].each(Place::index);
    ends.set(i, if is_reversed { [b, a] } else { [a, b] });
    (is_reversed, a == b)
}

/// Marks the edges on segment number `i` of `list` in `lines`: the first of several segments is theirs. Whether the
/// segment crosses edges.
///
/// Flips for another segment may have made edges on this one.
#[kernel(requires(list.len() == n), moves(12 * n))]
pub fn mark_edges(
    i: Own<Item>,
    list: In<Item, Item>,
    mesh: Mesh,
    spokes: In<u32, Place>,
    ends: In<[u32; 2]>,
    lines: Atomic<u32, HalfEdge>,
) -> bool {
    let segment = list.at(i).index();
    let mut crosses = false;
    follow(&mesh, spokes, ends.at(segment), |met| match met {
        Met::Along(h, _) => {
            lines.min(h, segment);
            let twin = mesh.twins.at(h);
            if twin.is_some() {
                lines.min(twin, segment);
            }
        }
        Met::Across(_) => crosses = true,
    });
    crosses
}

/// Gives the triangles that segment number `i` of `list` crosses to it, but for those of segments before it.
///
/// `crossing[0]` becomes the lowest pair of a segment and one that it crosses, in the high and the low word.
#[kernel(requires(list.len() == n), moves(12 * n))]
pub fn mark_crossed(
    i: Own<Item>,
    list: In<Item, Item>,
    mesh: Mesh,
    spokes: In<u32, Place>,
    ends: In<[u32; 2]>,
    lines: In<u32, HalfEdge>,
    owners: Atomic<u32, Triangle>,
    marked: Atomic<Bits<Triangle>>,
    crossing: Atomic<u64>,
) {
    let segment = list.at(i).index();
    follow(&mesh, spokes, ends.at(segment), |met| {
        if let Met::Across(h) = met {
            let other = lines.at(h);
            if other != NO_SEGMENT {
                crossing.min(0, u64::from(segment) << 32 | u64::from(other));
            }
            let mut k = 0;
            while k < 2 {
                let t = if k == 0 { h } else { mesh.twins.at(h) }.triangle();
                if owners.load(t) > segment {
                    owners.min(t, segment);
                    marked.set_bit(t);
                }
                k += 1;
            }
        }
    });
}
