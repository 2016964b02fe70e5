//! The proposals of a round, with their claims on triangles.

use glam::DVec2;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::cavity::{claim_of, go_around};
use super::judge::{encroaches, from, mark, shortest};
use super::{Bounds, FREE, Goal, INSERT, NOTHING, Proposals, REMOVE, SPLIT, STUCK, TO_SPLIT};
use crate::delaunay::constrained::{Mesh, NO_SEGMENT};
use crate::delaunay::insert_points::mixed;
use crate::delaunay::predicates::{is_in_circle, orientation};
use crate::ids::{HalfEdge, Item, Place, Triangle};
use crate::smooth::root;

/// Coordinates nearer to zero become 0: 2^-142. Then no product of a judgement underflows.
pub const LEAST: f64 = f64::from_bits((1023 - 142) << 52);
/// No vertex is added beyond: 2^201. Then no product of a judgement overflows.
pub const LARGEST: f64 = f64::from_bits((1023 + 201) << 52);

#[inline(always)]
fn representable(p: DVec2) -> DVec2 {
    let of = |c: f64| if c.abs() < LEAST { 0.0 } else { c };
    DVec2::new(of(p.x), of(p.y))
}

/// Whether a point is in the circle of the triangle of `h`.
#[inline(always)]
fn is_in_circle_at(mesh: &Mesh, h: HalfEdge, p: DVec2) -> bool {
    let corners = [mesh.origin(h), mesh.target(h), mesh.apex(h)];
    let [a, b, c] = mesh.sorted.at_all(corners);
    is_in_circle(a, b, c, p)
}

/// The place of a vertex for a bad triangle: the circumcenter; or, unless the triangle is too large, a point nearer to
/// the shortest edge as far as the bound of the angles allows.
#[inline(always)]
fn center(goal: &Goal, points: [DVec2; 3], is_large: bool) -> DVec2 {
    let [o, d, a] = from(shortest(points).0, points);
    let (x, y) = (d - o, a - o);
    let scale = 0.5 / x.perp_dot(y);
    let center = (y.length_squared() * x.perp() - x.length_squared() * y.perp()) * scale;
    let off = 0.5 * x + goal.off_center * x.perp();
    let (of_off, of_center) = (off.length_squared(), center.length_squared());
    // A thin triangle may have no area in rounded numbers. Without a bound of the angles the off-center is no point.
    let is_far = !is_large && of_off < of_center || !of_center.is_finite();
    representable(o + if is_far { off } else { center })
}

/// Where a point lies.
enum Location {
    /// In a triangle or on its edge.
    In(Triangle),
    /// On or beyond this half-edge of a subsegment.
    Behind(HalfEdge),
    /// On a vertex.
    OnVertex,
}

/// Goes from a triangle towards a point, across no subsegment.
///
/// All edges on the way are locally Delaunay, so the point lies deeper in the circle of each next triangle: no triangle
/// comes twice.
#[inline(always)]
fn locate(mesh: &Mesh, lines: Atomic<u32, HalfEdge>, start: Triangle, p: DVec2) -> Location {
    let mut t = start;
    let mut entered = HalfEdge::NONE;
    loop {
        let mut behind = HalfEdge::NONE;
        let mut on = HalfEdge::NONE;
        let mut is_on_two = false;
        let mut next = HalfEdge::NONE;
        let mut k = 0;
        while k < 3 && next.is_none() {
            let h = HalfEdge::of(t, k);
            k += 1;
            if h == entered {
                continue;
            }
            let [a, b] = [mesh.origin(h), mesh.target(h)].each(|v| mesh.point(v));
            let side = orientation(a, b, p);
            if side > 0 {
                continue;
            }
            if side == 0 {
                is_on_two = on.is_some();
                on = h;
            } else if lines.load(h) == NO_SEGMENT {
                next = mesh.twins.at(h);
            } else if behind.is_none() {
                behind = h;
            }
        }
        if next.is_some() {
            (t, entered) = (next.triangle(), next);
            continue;
        }
        if behind.is_some() {
            return Location::Behind(behind);
        }
        if is_on_two {
            return Location::OnVertex;
        }
        if on.is_some() && lines.load(on) != NO_SEGMENT {
            return Location::Behind(on);
        }
        return Location::In(t);
    }
}

/// Marks the subsegment of `h`, unless it is stuck. Returns whether it is.
#[inline(always)]
fn mark_unless_stuck(
    mesh: &Mesh,
    lines: Atomic<u32, HalfEdge>,
    marked: Atomic<Bits<Triangle>>,
    h: HalfEdge,
) -> bool {
    let is_stuck = lines.load(h) & STUCK != 0;
    if !is_stuck {
        mark([h, mesh.twins.at(h)], lines, marked);
    }
    is_stuck
}

/// A bad triangle, and its claim.
struct Bad {
    points: [DVec2; 3],
    is_large: bool,
    claim: u64,
}

impl Bad {
    /// Large ones come last, in any order: the shortest edge first would fill them from one side on, a few in a round.
    #[inline(always)]
    fn new<const SIZED: bool>(
        t: Triangle,
        round: u32,
        mesh: &Mesh,
        regions: In<u32, Triangle>,
        bounds: &Bounds,
    ) -> Self {
        let sides = [0, 1, 2].each(|k| HalfEdge::of(t, k));
        let points = mesh.sorted.at_all(mesh.corners.at_all(sides));
        let is_large = bounds.is_large::<SIZED>(points, regions.at(t));
        let length = if is_large {
            f64::INFINITY
        } else {
            shortest(points).1
        };
        Self {
            points,
            is_large,
            claim: claim_of(round, Some(length), t),
        }
    }
}

/// Proposes a vertex for one bad triangle of each `stride` of `list`, as number `first` and so on of the proposals; or
/// marks the subsegments that it would encroach. `bad` loses triangles that numbers allow no vertex for.
///
/// A triangle next to one of `were_bad` with a lower claim, or next but one, proposes nothing: it would lose, or be
/// done before a triangle with a shorter edge. The lowest claim of all is never held back.
#[kernel(SIZED in [false, true], moves(200 * n))]
pub fn propose_inserts<const SIZED: bool>(
    i: Own<Item>,
    list: In<Triangle>,
    stride: u32,
    first: u32,
    round: u32,
    mesh: Mesh,
    regions: In<u32, Triangle>,
    bounds: Bounds,
    were_bad: In<Bits<Triangle>>,
    lines: Atomic<u32, HalfEdge>,
    bad: Atomic<Bits<Triangle>>,
    marked: Atomic<Bits<Triangle>>,
    claims: Atomic<u64, Triangle>,
    proposals: Proposals,
) {
    let number = i.get().index();
    let random = mixed(number ^ round.wrapping_mul(0x9E37_79B9));
    let chosen = number * stride + ((u64::from(random) * u64::from(stride)) >> 32) as u32;
    let last = list.len() - 1;
    let t = list.at(if chosen < last { chosen } else { last });
    let at = Item::new(first + number);
    proposals.kinds.set(at, NOTHING);
    let Bad {
        points,
        is_large,
        claim,
    } = Bad::new::<SIZED>(t, round, &mesh, regions, &bounds);
    // Loads that do not wait for each other, then the claims of the few that are bad.
    let beyond = mesh.twins.at_all([0, 1, 2].each(|k| HalfEdge::of(t, k)));
    let mut near = [HalfEdge::NONE; 9];
    let mut k = 0;
    while k < 3 {
        let h = beyond[k];
        if h.is_some() {
            near[3 * k] = h;
            [near[3 * k + 1], near[3 * k + 2]] = mesh.twins.at_all([h.next(), h.prev()]);
        }
        k += 1;
    }
    let are_bad = near.each(|h| h.is_some() && were_bad.bit(h.triangle()));
    let mut k = 0;
    while k < 9 {
        if are_bad[k] {
            let other = near[k].triangle();
            // The claim of a large triangle is the highest that it can have.
            if claim_of(round, Some(f64::INFINITY), other) < claim
                || Bad::new::<SIZED>(other, round, &mesh, regions, &bounds).claim < claim
            {
                return;
            }
        }
        k += 1;
    }
    let mut p = center(&bounds.goal, points, is_large);
    let is_in_range = p.x.abs() <= LARGEST && p.y.abs() <= LARGEST;
    let mut location = if is_in_range {
        locate(&mesh, lines, t, p)
    } else {
        Location::OnVertex
    };
    let has_large_area = bounds.has_large_area(points, regions.at(t));
    if let Location::Behind(h) = location {
        if !mark_unless_stuck(&mesh, lines, marked, h) {
            return;
        }
        if has_large_area {
            p = representable((points[0] + points[1] + points[2]) / 3.0);
            location = locate(&mesh, lines, t, p);
        }
    }
    let Location::In(first) = location else {
        bad.clear_bit(t);
        return;
    };
    let start = HalfEdge::of(first, 0);
    let mut stuck = 0;
    let mut free = 0;
    go_around(start, |h| {
        if h.corner() == 0 {
            claims.min(h.triangle(), claim);
        }
        let twin = mesh.twins.at(h);
        if lines.load(h) != NO_SEGMENT {
            let ends = [mesh.origin(h), mesh.target(h)].each(|v| mesh.point(v));
            if encroaches(bounds.goal.lens, ends, p) {
                if mark_unless_stuck(&mesh, lines, marked, h) {
                    stuck += u32::from(!has_large_area);
                } else {
                    free += 1;
                }
            }
            HalfEdge::NONE
        } else if is_in_circle_at(&mesh, twin, p) {
            twin
        } else {
            HalfEdge::NONE
        }
    });
    if free > 0 {
        return;
    }
    if stuck > 0 {
        bad.clear_bit(t);
        return;
    }
    proposals.kinds.set(at, INSERT);
    proposals.starts.set(at, start);
    proposals.claims.set(at, claim);
    proposals.x.set(at, p.x);
    proposals.y.set(at, p.y);
}

/// Whether two subsegments meet at less than 60 degrees in the triangle of a half-edge, at its target.
#[inline(always)]
fn is_acute(mesh: &Mesh, lines: Atomic<u32, HalfEdge>, h: HalfEdge) -> bool {
    if lines.load(h) == NO_SEGMENT || lines.load(h.next()) == NO_SEGMENT {
        return false;
    }
    let [a, b, c] = [mesh.origin(h), mesh.target(h), mesh.apex(h)].each(|v| mesh.point(v));
    let (u, w) = (a - b, c - b);
    let dot = u.dot(w);
    dot > 0.0 && 4.0 * dot * dot > u.length_squared() * w.length_squared()
}

/// The product of two numbers, rounded, and the rest (Dekker 1971).
#[inline(always)]
fn two_product(a: f64, b: f64) -> [f64; 2] {
    let halves = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        [high, x - high]
    };
    let product = a * b;
    let ([p, q], [r, s]) = (halves(a), halves(b));
    [product, q * s - (product - p * r - q * r - p * s)]
}

/// The cross product, without the rounding of its two products: of nearly parallel vectors they are nearly equal.
#[inline(always)]
fn cross(u: DVec2, w: DVec2) -> f64 {
    let ([p, p_rest], [q, q_rest]) = (two_product(u.x, w.y), two_product(u.y, w.x));
    (p - q) + (p_rest - q_rest)
}

/// The place where a subsegment is split: the middle, or at a power of two from its end at a small angle.
#[inline(always)]
fn split_place([from, to]: [DVec2; 2], is_acute: [bool; 2]) -> DVec2 {
    let direction = to - from;
    let part = if is_acute[0] == is_acute[1] {
        0.5
    } else {
        let length = root(direction.length_squared());
        // From a third to two thirds of the length.
        let exponent = (length / 1.5).to_bits() & !((1 << 52) - 1);
        let part = f64::from_bits(exponent) / length;
        if is_acute[0] { part } else { 1.0 - part }
    };
    let p = from + direction * part;
    // Back to the line, which rounding has left.
    let aside = cross(direction, p - from) / direction.length_squared();
    representable(p - direction.perp() * aside)
}

/// The next number after a coordinate in the direction of `sign`, which is not 0.
#[inline(always)]
fn next_towards(c: f64, sign: f64) -> f64 {
    if c == 0.0 {
        return if sign > 0.0 { LEAST } else { -LEAST };
    }
    let bits = c.to_bits();
    let next = if (c > 0.0) == (sign > 0.0) {
        bits + 1
    } else {
        bits - 1
    };
    f64::from_bits(next)
}

/// A place of a split that is not outside of the boundary edge `ends`, if one is found: `p`, or one or two numbers from
/// it. The mesh does not know what lies outside, so a vertex there might cross it.
#[inline(always)]
fn inside([from, to]: [DVec2; 2], p: DVec2) -> DVec2 {
    let inward = (to - from).perp();
    let mut p = p;
    let mut k = 0;
    while k < 2 && orientation(from, to, p) < 0 {
        if inward.x.abs() > inward.y.abs() {
            p.x = next_towards(p.x, inward.x);
        } else {
            p.y = next_towards(p.y, inward.y);
        }
        k += 1;
    }
    p
}

/// Whether the vertex `p` splits the triangle of `h` at that edge into two, each of which is a part of its cavity.
#[inline(always)]
fn is_split_by(mesh: &Mesh, h: HalfEdge, p: DVec2) -> bool {
    let [a, b, c] = [mesh.origin(h), mesh.target(h), mesh.apex(h)].each(|v| mesh.point(v));
    orientation(b, c, p) > 0 && orientation(c, a, p) > 0 && is_in_circle(a, b, c, p)
}

/// Proposes to split a marked subsegment of triangle number `i` of `list`, or to remove a free vertex from its circle.
/// `marked` loses triangles that have none to split.
#[kernel(requires(list.len() == n), moves(200 * n))]
pub fn propose_splits(
    i: Own<Item>,
    list: In<Triangle, Item>,
    round: u32,
    mesh: Mesh,
    kinds: In<u32, Place>,
    lines: Atomic<u32, HalfEdge>,
    marked: Atomic<Bits<Triangle>>,
    claims: Atomic<u64, Triangle>,
    proposals: Proposals,
) {
    let t = list.at(i);
    let at = i.get();
    let mut k = 0;
    while k < 3 {
        let h = HalfEdge::of(t, k);
        k += 1;
        let twin = mesh.twins.at(h);
        let line = lines.load(h);
        // One side of each acts for both.
        if line == NO_SEGMENT || line & TO_SPLIT == 0 || twin < h {
            continue;
        }
        let ends = [mesh.origin(h), mesh.target(h)].each(|v| mesh.point(v));
        let claim = claim_of(round, None, t);
        let mut acute = [false; 2];
        let mut spoke = HalfEdge::NONE;
        let mut side = h;
        while side.is_some() && spoke.is_none() {
            let at_start = is_acute(&mesh, lines, side.prev());
            let at_end = is_acute(&mesh, lines, side);
            let of_side = if side == h {
                [at_start, at_end]
            } else {
                [at_end, at_start]
            };
            acute = [acute[0] || of_side[0], acute[1] || of_side[1]];
            let apex = mesh.apex(side);
            let p = mesh.point(apex);
            let is_in_circle = (ends[0] - p).dot(ends[1] - p) < 0.0;
            if !at_start && !at_end && kinds.at(apex) == FREE && is_in_circle {
                spoke = side.prev();
            }
            side = if side == h { twin } else { HalfEdge::NONE };
        }
        if spoke.is_some() {
            let mut around = spoke;
            loop {
                claims.min(around.triangle(), claim);
                around = mesh.twins.at(around.prev());
                if around == spoke {
                    break;
                }
            }
            proposals.kinds.set(at, REMOVE);
            proposals.starts.set(at, spoke);
            proposals.claims.set(at, claim);
            return;
        }
        let mut p = split_place(ends, acute);
        if twin.is_none() {
            p = inside(ends, p);
        }
        let is_possible = is_split_by(&mesh, h, p)
            && if twin.is_none() {
                orientation(ends[0], ends[1], p) >= 0
            } else {
                is_split_by(&mesh, twin, p)
            };
        if !is_possible {
            let line = line & !TO_SPLIT | STUCK;
            lines.store(h, line);
            if twin.is_some() {
                lines.store(twin, line);
            }
            continue;
        }
        go_around(h, |side| {
            if side.corner() == 0 {
                claims.min(side.triangle(), claim);
            }
            let beyond = mesh.twins.at(side);
            let is_open = side == h || side == twin || lines.load(side) == NO_SEGMENT;
            if beyond.is_some() && is_open && is_in_circle_at(&mesh, beyond, p) {
                beyond
            } else {
                HalfEdge::NONE
            }
        });
        proposals.kinds.set(at, SPLIT);
        proposals.starts.set(at, h);
        proposals.claims.set(at, claim);
        proposals.x.set(at, p.x);
        proposals.y.set(at, p.y);
        return;
    }
    marked.clear_bit(t);
    proposals.kinds.set(at, NOTHING);
}
