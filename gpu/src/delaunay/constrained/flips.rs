//! Rounds of flips: each triangle proposes an edge, proposals claim both triangles of their edge, and the proposals
//! that hold both are done.
//!
//! A flip moves the four outer sides of its triangles. Where the neighbour moves too, both flips write the same twins,
//! by the table of moved sides.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own, Scatter};
use trioxide_kernel::{Bits, Each, kernel};

use super::Mesh;
use super::walk::{Line, NO_SEGMENT};
use crate::delaunay::insert_points::mixed;
use crate::delaunay::predicates::{is_in_circle, orientation};
use crate::ids::{HalfEdge, Item, Place, Triangle};

/// No claim.
pub const FREE: u32 = u32::MAX;

/// The claim of a triangle in a round, as if at random: another of each triangle.
#[inline(always)]
fn claim_of(t: Triangle, round: u32) -> u32 {
    mixed(t.index() ^ round.wrapping_mul(0x9E37_79B9))
}

/// Proposes the flip of `h` for the triangle `own`.
#[inline(always)]
fn propose(
    own: Own<Item>,
    [h, twin]: [HalfEdge; 2],
    round: u32,
    claims: Atomic<u32, Triangle>,
    chosen: Out<[HalfEdge; 2], Item>,
) {
    chosen.set(own, [h, twin]);
    if h.is_some() {
        let claim = claim_of(h.triangle(), round);
        claims.min(h.triangle(), claim);
        claims.min(twin.triangle(), claim);
    }
}

/// Both half-edges of the first edge of triangle `t` that `is_chosen`, lies on no segment and has another triangle; or
/// none.
#[inline(always)]
fn find_edge(
    t: Triangle,
    mesh: &Mesh,
    lines: In<u32, HalfEdge>,
    is_chosen: impl Fn([HalfEdge; 2]) -> bool,
) -> [HalfEdge; 2] {
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(t, k);
        let twin = mesh.twins.at(h);
        if twin.is_some() && lines.at(h) == NO_SEGMENT && is_chosen([h, twin]) {
            return [h, twin];
        }
        k += 1;
    }
    [HalfEdge::NONE; 2]
}

/// Whether edge `h` crosses `line`, on which the segment of its triangles lies, and may be flipped for it by the rule
/// of [the module](super).
#[inline(always)]
fn helps(mesh: &Mesh, line: Line, [h, twin]: [HalfEdge; 2]) -> bool {
    let [p, q, r, d] = [
        mesh.origin(h),
        mesh.target(h),
        mesh.apex(h),
        mesh.apex(twin),
    ]
    .each(|place| mesh.point(place));
    let (of_p, of_q) = (line.side(p), line.side(q));
    if of_p * of_q >= 0 || orientation(r, p, d) <= 0 || orientation(d, q, r) <= 0 {
        return false;
    }
    let (of_r, of_d) = (line.side(r), line.side(d));
    if of_r * of_d >= 0 {
        return true;
    }
    let old = if of_p > 0 { p } else { q };
    let new = if of_r > 0 { r } else { d };
    line.is_lower(new, old)
}

/// Proposes a flip of triangle number `i` of `list` for its segment. Whether there is one.
#[kernel(requires(chosen.len() == n), moves(60 * n + chosen.bytes()))]
pub fn choose_crossing(
    i: Own<Item>,
    list: In<Triangle, Item>,
    mesh: Mesh,
    ends: In<[u32; 2]>,
    lines: In<u32, HalfEdge>,
    owners: In<u32, Triangle>,
    round: u32,
    claims: Atomic<u32, Triangle>,
    chosen: Out<[HalfEdge; 2], Item>,
) -> bool {
    let t = list.at(i);
    let segment = owners.at(t);
    let line = Line::of(ends.at(segment), &mesh);
    let found = find_edge(t, &mesh, lines, |edge| {
        owners.at(edge[1].triangle()) == segment && helps(&mesh, line, edge)
    });
    propose(i, found, round, claims, chosen);
    found[0].is_some()
}

/// Proposes a flip of triangle number `i` of `list` where an edge is not locally Delaunay, or takes the triangle from
/// the changed triangles.
#[kernel(requires(chosen.len() == n), moves(60 * n + chosen.bytes()))]
pub fn choose_illegal(
    i: Own<Item>,
    list: In<Triangle, Item>,
    mesh: Mesh,
    lines: In<u32, HalfEdge>,
    round: u32,
    changed: Atomic<Bits<Triangle>>,
    claims: Atomic<u32, Triangle>,
    chosen: Out<[HalfEdge; 2], Item>,
) {
    let t = list.at(i);
    let corners = mesh.corners.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k)));
    let [a, b, c] = mesh.sorted.at_all(corners);
    let found = find_edge(t, &mesh, lines, |[_, twin]| {
        is_in_circle(a, b, c, mesh.point(mesh.apex(twin)))
    });
    propose(i, found, round, claims, chosen);
    if found[0].is_none() {
        changed.clear_bit(t);
    }
}

/// The arrays that flips change, but for the twins.
#[derive(Group)]
pub struct Changes<'a> {
    /// Corners of the triangles.
    pub corners: Atomic<'a, Place, HalfEdge>,
    /// The segment on which each half-edge lies, or [`NO_SEGMENT`].
    pub lines: Atomic<'a, u32, HalfEdge>,
    /// The first segment that crosses each triangle, or [`NO_SEGMENT`].
    pub owners: Atomic<'a, u32, Triangle>,
    /// Triangles that have an owner.
    pub marked: Atomic<'a, Bits<Triangle>>,
    /// Triangles whose edges may not be locally Delaunay.
    pub changed: Atomic<'a, Bits<Triangle>>,
    /// New numbers of half-edges that moved.
    pub moved: Scatter<'a, HalfEdge, HalfEdge>,
}

/// The outer half-edges of the two triangles at an edge, and where its flip moves them.
#[inline(always)]
fn outer([h, twin]: [HalfEdge; 2]) -> [[HalfEdge; 2]; 4] {
    [
        [h.prev(), h.next()],
        [twin.next(), h.prev()],
        [twin.prev(), twin.next()],
        [h.next(), twin.prev()],
    ]
}

/// Flips the edge that proposal `i` of `chosen` holds. Whether it does.
///
/// `before` gets the twins of the four outer half-edges.
#[kernel(requires(chosen.len() == n, before.len() == n), moves(chosen.bytes() + 8 * n + before.bytes()))]
pub fn flip_edges(
    i: Own<Item>,
    chosen: In<[HalfEdge; 2], Item>,
    round: u32,
    claims: In<u32, Triangle>,
    twins: In<HalfEdge, HalfEdge>,
    sorted: In<DVec2, Place>,
    ends: In<[u32; 2]>,
    changes: Changes,
    before: Out<[HalfEdge; 4], Item>,
) -> bool {
    let [h, twin] = chosen.at(i);
    if h.is_none() {
        return false;
    }
    let triangles = [h.triangle(), twin.triangle()];
    let claim = claim_of(triangles[0], round);
    if claims.at_all(triangles) != [claim; 2] {
        return false;
    }
    let Changes { corners, lines, .. } = changes;
    let outer = outer([h, twin]);
    before.set(i, twins.at_all(outer.each(|[from, _]| from)));
    let places = [h, h.next(), h.prev(), twin.prev()].each(|h| corners.load(h));
    let of_outer = outer.each(|[from, _]| lines.load(from));
    let [a, b, c, d] = places;
    corners.store(h, d);
    corners.store(h.next(), c);
    corners.store(h.prev(), a);
    corners.store(twin, c);
    corners.store(twin.next(), d);
    corners.store(twin.prev(), b);
    let mut k = 0;
    while k < 4 {
        let [from, to] = outer[k];
        lines.store(to, of_outer[k]);
        changes.moved.set(from, to);
        k += 1;
    }
    let owner = changes.owners.load(triangles[0]);
    let mut of_new = NO_SEGMENT;
    if owner != NO_SEGMENT {
        let [from, to] = ends.at(owner);
        let line = Line::new(sorted.at(Place::new(from)), sorted.at(Place::new(to)));
        let [of_a, of_b, of_c, of_d] = places.each(|place| line.side(sorted.at(place)));
        if of_c == 0 && of_d == 0 {
            of_new = owner;
        }
        let crosses = |x: i32| of_c * of_d < 0 || of_c * x < 0 || of_d * x < 0;
        let mut k = 0;
        while k < 2 {
            if !crosses(if k == 0 { of_a } else { of_b }) {
                changes.owners.store(triangles[k], NO_SEGMENT);
                changes.marked.clear_bit(triangles[k]);
            }
            k += 1;
        }
    }
    lines.store(h, of_new);
    lines.store(twin, of_new);
    changes.changed.set_bit(triangles[0]);
    changes.changed.set_bit(triangles[1]);
    true
}

/// Links the outer sides of flip `i`, if it was done, and takes its claims back.
#[kernel(
    requires(chosen.len() == n, before.len() == n),
    moves(chosen.bytes() + 4 * words(n) + before.bytes() + 8 * n)
)]
pub fn relink_sides(
    i: Own<Item>,
    chosen: In<[HalfEdge; 2], Item>,
    done: In<Bits<Item>>,
    before: In<[HalfEdge; 4], Item>,
    moved: In<HalfEdge, HalfEdge>,
    twins: Atomic<HalfEdge, HalfEdge>,
    claims: Atomic<u32, Triangle>,
) {
    let [h, twin] = chosen.at(i);
    if h.is_none() {
        return;
    }
    claims.store(h.triangle(), FREE);
    claims.store(twin.triangle(), FREE);
    if !done.bit(i.get()) {
        return;
    }
    let before = before.at(i);
    let outer = outer([h, twin]);
    let mut k = 0;
    while k < 4 {
        let to = outer[k][1];
        let other = before[k];
        if other.is_none() {
            twins.store(to, HalfEdge::NONE);
        } else {
            let other = moved.at(other);
            twins.store(to, other);
            twins.store(other, to);
        }
        k += 1;
    }
}

/// Takes the moves of flip `i` back, if it was done.
#[kernel(requires(chosen.len() == n), moves(chosen.bytes() + 4 * words(n)))]
pub fn settle_sides(
    i: Own<Item>,
    chosen: In<[HalfEdge; 2], Item>,
    done: In<Bits<Item>>,
    moved: Scatter<HalfEdge, HalfEdge>,
) {
    if !done.bit(i.get()) {
        return;
    }
    let outer = outer(chosen.at(i));
    let mut k = 0;
    while k < 4 {
        let [from, _] = outer[k];
        moved.set(from, from);
        k += 1;
    }
}
