//! Quality of the faces of a mesh in the plane, for the guard of smoothing, while one vertex moves.
//!
//! A triangle has Verdict's scaled Jacobian, as cells have ([`quality`](super::quality)): twice its area over the
//! largest product of two edges' lengths, scaled so that the equilateral one has 1. A polygon of more vertices need not
//! be convex, so it has the isoperimetric quotient: 4 pi times its area over the square of its perimeter, 1 for a
//! circle.
//!
//! A face is *positive* if it runs counter-clockwise, and the two edges at the moving vertex meet no other edge of it,
//! but at common vertices; both are exact. The other edges do not move. If all faces around a vertex are positive
//! before a move and after it, their areas have the same union, and none overlaps another: each is simple, runs the
//! same way, and all have the same outer edges.

use glam::{DVec2, DVec3};

use super::quality::{CellQuality, root};
use crate::orientation::turn;

/// 2 / sqrt(3).
const OF_TRIANGLE: f64 = 1.154_700_538_379_251_5;

/// Quality of a face of `size` vertices whose vertex number `moving` moves; `at` returns a vertex, in the plane of x
/// and y.
#[inline(always)]
pub fn polygon_quality(size: u32, moving: u32, at: impl Fn(u32) -> DVec3) -> CellQuality {
    // Few places call it, so that each has the code in line.
    let at = |k: u32| {
        let p = at(k);
        DVec2::new(p.x, p.y)
    };
    let (before, after) = (previous(moving, size), next(moving, size));
    let (p, here, q) = (at(before), at(moving), at(after));
    if size == 3 {
        return triangle_quality([p, here, q]);
    }
    let mut is_positive = !folds(p, here, q);
    let (mut area, mut perimeter) = (0.0, 0.0);
    // The first vertex by x, then y, between its neighbours.
    let (mut before_first, mut first, mut after_first) = (p, here, q);
    // From the moving vertex on: the edge from a to b, and the vertex before a.
    let (mut before_a, mut a, mut b) = (p, here, q);
    let mut k = after;
    loop {
        area += (a - here).perp_dot(b - here);
        perimeter += length(b - a);
        if a.x < first.x || a.x == first.x && a.y < first.y {
            (before_first, first, after_first) = (before_a, a, b);
        }
        if k == moving {
            break;
        }
        let from = k;
        k = next(k, size);
        (before_a, a, b) = (a, b, at(k));
        if k != moving {
            let of_next = if from == after {
                folds(here, q, b)
            } else {
                meet([here, q], [a, b])
            };
            let of_last = if k == before {
                folds(here, p, a)
            } else {
                meet([p, here], [a, b])
            };
            is_positive &= !of_next && !of_last;
        }
    }
    let square = perimeter * perimeter;
    CellQuality {
        jacobian: if square > 0.0 {
            core::f64::consts::TAU * area / square
        } else {
            0.0
        },
        // A polygon whose edges do not cross runs counter-clockwise if it turns left there.
        is_positive: is_positive && turn(before_first, first, after_first) > 0,
    }
}

#[inline(always)]
fn length(v: DVec2) -> f64 {
    root(v.x * v.x + v.y * v.y)
}

#[inline(always)]
fn triangle_quality([a, b, c]: [DVec2; 3]) -> CellQuality {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (ab, bc, ca) = (length(b - a), length(c - b), length(a - c));
    let lengths = larger(larger(ab * bc, bc * ca), ca * ab);
    let area = (b - a).perp_dot(c - a);
    CellQuality {
        jacobian: if lengths > 0.0 {
            area * OF_TRIANGLE / lengths
        } else {
            0.0
        },
        is_positive: turn(a, b, c) > 0,
    }
}

#[inline(always)]
fn next(k: u32, size: u32) -> u32 {
    if k + 1 == size { 0 } else { k + 1 }
}

#[inline(always)]
fn previous(k: u32, size: u32) -> u32 {
    if k == 0 { size - 1 } else { k - 1 }
}

/// Whether the edges from b to a and to c run along each other.
#[inline(always)]
fn folds(a: DVec2, b: DVec2, c: DVec2) -> bool {
    turn(a, b, c) == 0 && !is_between(a, b, c)
}

/// Whether b lies between a and c, or at one of them, on one line; not where all are one point.
#[inline(always)]
fn is_between(a: DVec2, b: DVec2, c: DVec2) -> bool {
    let within = |a: f64, b: f64, c: f64| a <= b && b <= c || c <= b && b <= a;
    within(a.x, b.x, c.x) && within(a.y, b.y, c.y) && !(a.x == c.x && a.y == c.y)
}

/// Whether two edges have a common point.
#[inline(always)]
fn meet([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let (of_c, of_d) = (turn(a, b, c), turn(a, b, d));
    if of_c == 0 && of_d == 0 {
        // On one line.
        return is_between(a, c, b) || is_between(a, d, b) || is_between(c, a, d);
    }
    of_c * of_d <= 0 && turn(c, d, a) * turn(c, d, b) <= 0
}
