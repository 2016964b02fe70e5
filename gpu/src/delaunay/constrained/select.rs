//! The triangles that segments enclose, less those of holes; and the regions.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};
use trioxide_kernel::{Each, kernel};

use super::Mesh;
use super::sides::spoke;
use super::walk::{Ahead, Line, NO_SEGMENT, ahead, other_end};
use crate::curve::{Frame, along_curve};
use crate::delaunay::join_parts::{join, root};
use crate::delaunay::order_triangles::write;
use crate::delaunay::predicates::orientation;
use crate::ids::{HalfEdge, Item, Place, Triangle};

/// The place of a point that no triangle contains.
pub const OUTSIDE: u32 = u32::MAX;
/// The place of a point on a segment.
pub const ON_SEGMENT: u32 = u32::MAX - 1;
/// No region.
pub const NO_REGION: u32 = u32::MAX;

/// Joins the triangles of half-edge `h`, if no segment parts them. `parents` leads from each triangle to a lower one of
/// its part, or to itself.
#[kernel(requires(twins.len() == n, lines.len() == n), moves(twins.bytes() + lines.bytes() + 4 * parents.bytes()))]
pub fn join_neighbours(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    lines: In<u32, HalfEdge>,
    parents: Atomic,
) {
    let twin = twins.at(h);
    // Of no twin the number is the highest.
    if twin < *h && lines.at(h) == NO_SEGMENT {
        join(parents, h.get().triangle().index(), twin.triangle().index());
    }
}

/// Marks the part of half-edge `h`, if `h` lies on the hull and on no segment.
#[kernel(requires(twins.len() == n, lines.len() == n), moves(twins.bytes()))]
pub fn mark_outside(
    h: Own<HalfEdge>,
    twins: In<HalfEdge, HalfEdge>,
    lines: In<u32, HalfEdge>,
    parents: Atomic,
    gone: Atomic<u32>,
) {
    if twins.at(h).is_none() && lines.at(h) == NO_SEGMENT {
        gone.store(root(parents, h.get().triangle().index()), 1);
    }
}

/// A point near another along the curve.
#[inline(always)]
fn near(p: DVec2, frame: Frame, sorted: In<DVec2, Place>) -> Place {
    let key = |p: DVec2| along_curve(frame.cell(p));
    let of_p = key(p);
    let (mut low, mut high) = (0, sorted.len() - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if key(sorted.at(Place::new(middle))) < of_p {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Place::new(low)
}

/// The triangle with edge `h`, if it lies on no segment.
#[inline(always)]
fn at_edge(h: HalfEdge, lines: In<u32, HalfEdge>) -> u32 {
    if lines.at(h) == NO_SEGMENT {
        h.triangle().index()
    } else {
        ON_SEGMENT
    }
}

/// A triangle at `v`, if `v` lies on no segment.
#[inline(always)]
fn at_point(v: Place, mesh: &Mesh, spokes: In<u32, Place>, lines: In<u32, HalfEdge>) -> u32 {
    let first = spoke(spokes, v);
    let mut h = first;
    loop {
        let back = h.prev();
        if lines.at(h) != NO_SEGMENT || lines.at(back) != NO_SEGMENT {
            return ON_SEGMENT;
        }
        h = mesh.twins.at(back);
        if h.is_none() || h == first {
            return first.triangle().index();
        }
    }
}

/// The triangle that contains point `i`, or [`OUTSIDE`], or [`ON_SEGMENT`].
#[kernel(requires(points.len() == n, found.len() == n), moves(points.bytes() + found.bytes()))]
pub fn locate_points(
    i: Own<Item>,
    points: In<DVec2, Item>,
    frame: Frame,
    mesh: Mesh,
    spokes: In<u32, Place>,
    lines: In<u32, HalfEdge>,
    found: Out<u32, Item>,
) {
    let p = points.at(i);
    let mut v = near(p, frame, mesh.sorted);
    let line = Line::new(mesh.point(v), p);
    let place = loop {
        if mesh.point(v) == p {
            break at_point(v, &mesh, spokes, lines);
        }
        let mut h = match ahead(&mesh, spokes, v, line) {
            Ahead::Along(h) => {
                v = other_end(&mesh, h, v);
                if line.is_ahead(p, mesh.point(v)) {
                    break at_edge(h, lines);
                }
                continue;
            }
            Ahead::Across(h) => h,
            Ahead::Outside => break OUTSIDE,
        };
        // The triangle, or none where the way goes through another point.
        let place = loop {
            let [from, to] = [mesh.origin(h), mesh.target(h)].each(|v| mesh.point(v));
            let side = orientation(from, to, p);
            if side == 0 {
                break Some(at_edge(h, lines));
            }
            if side > 0 {
                break Some(h.triangle().index());
            }
            let twin = mesh.twins.at(h);
            if twin.is_none() {
                break Some(OUTSIDE);
            }
            let apex = mesh.apex(twin);
            let end = mesh.point(apex);
            h = match line.side(end) {
                0 if line.is_ahead(p, end) => break Some(twin.triangle().index()),
                0 => {
                    v = apex;
                    break None;
                }
                1 => twin.next(),
                _ => twin.prev(),
            };
        };
        if let Some(place) = place {
            break place;
        }
    };
    found.set(i, place);
}

/// Marks the part of triangle `i` of a list.
#[kernel(requires(triangles.len() == n), moves(triangles.bytes()))]
pub fn mark_holes(i: Own<Item>, triangles: In<u32, Item>, parents: Atomic, gone: Atomic<u32>) {
    gone.store(root(parents, triangles.at(i)), 1);
}

/// Gives the part of triangle `i` of a list to region `i`, but for those of regions before it. Whether the part is
/// marked.
#[kernel(requires(triangles.len() == n), moves(triangles.bytes()))]
pub fn claim_regions(
    i: Own<Item>,
    triangles: In<u32, Item>,
    parents: Atomic,
    gone: In<u32>,
    regions: Atomic<u32>,
) -> bool {
    let root = root(parents, triangles.at(i));
    regions.min(root, i.get().index());
    gone.at(root) != 0
}

/// Whether the part of triangle `t` is not marked.
#[kernel(requires(gone.len() == n), moves(parents.bytes() + gone.bytes()))]
pub fn select_triangles(t: Own<Triangle>, parents: Atomic, gone: In<u32>) -> bool {
    gone.at(root(parents, t.get().index())) == 0
}

/// Takes triangle number `i` of `list`, from its corner of the lowest rank on.
#[kernel(requires(taken.len() == 3 * n), moves(16 * n + taken.bytes()))]
pub fn take_triangles(
    i: Own<Item>,
    list: In<Triangle, Item>,
    corners: In<Place, HalfEdge>,
    taken: Scatter<Place>,
) {
    let sides = [0, 1, 2].each(|k| HalfEdge::of(list.at(i), k));
    write(i.get().index(), corners.at_all(sides), taken);
}

/// The region of ordered triangle `i`: that of `list` at `first`, at `second`.
#[kernel(
    requires(second.len() == n, named.len() == n),
    moves(first.bytes() + second.bytes() + list.bytes() + 4 * n + named.bytes())
)]
pub fn name_regions(
    i: Own<Item>,
    first: In<u32>,
    second: In<u32, Item>,
    list: In<Triangle>,
    parents: Atomic,
    regions: In<u32>,
    named: Out<u32, Item>,
) {
    let t = list.at(first.at(second.at(i)));
    named.set(i, regions.at(root(parents, t.index())));
}

/// The id of triangle `t`'s region: that of `of_regions`, or 0 without a region.
#[kernel(
    requires(regions.len() == n, ids.len() == n),
    moves(regions.bytes() + of_regions.bytes() + ids.bytes())
)]
pub fn identify_regions(
    t: Own<Triangle>,
    regions: In<u32, Triangle>,
    of_regions: In<i32>,
    ids: Out<i32, Triangle>,
) {
    let region = regions.at(t);
    ids.set(
        t,
        if region == NO_REGION {
            0
        } else {
            of_regions.at(region)
        },
    );
}
