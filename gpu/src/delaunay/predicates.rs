//! Orientation and the circle test, exact for all finite f64, with the rule for four points on one circle.
//!
//! Four steps, each only where the one before does not decide:
//!
//! | step | decides |
//! | --- | --- |
//! | filter in f64 | where the determinant is larger than its rounding error (Shewchuk 1997, figure 25) |
//! | integers of 256 bits | where the coordinates are multiples below 2^60 of one power of two |
//! | sums of two f64 (`pairs`) | where the determinant is larger than 2^-95 of its products' sizes |
//! | accumulator of all bits | always |

use glam::DVec2;

use super::accumulator::{Accumulator, Factor, add_to, multiply_wide, one};
use super::pairs::{circle_of_pairs, cross_of_pairs};
use trioxide_kernel::Each;

/// Bound of the rounding error of the filter's determinant of a circle, relative to the sum of its products'
/// magnitudes: (10 + 96u) u with u = 2^-53 (Shewchuk, figure 25).
const CIRCLE: f64 = 1.110_223_024_625_157_7e-15;
/// The same of an orientation: (3 + 16u) u.
const LINE: f64 = 3.330_669_073_875_471_6e-16;
/// More than the products of a determinant lose by underflow, relative to the largest factor of such a product.
const UNDERFLOW: f64 = f64::from_bits(24 << 52);

/// The sign of the difference of two products of differences, if the filter decides it.
#[inline(always)]
fn filtered_sign(left: f64, right: f64) -> i32 {
    let determinant = left - right;
    // An overflow makes the bound infinite or the determinant no number: the filter does not decide.
    let bound = LINE * (left.abs() + right.abs()) + UNDERFLOW;
    i32::from(determinant > bound) - i32::from(determinant < -bound)
}

/// The sign of the signed area of a, b, c: 1 counter-clockwise, 0 on one line, -1 clockwise.
#[inline(always)]
pub fn orientation(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    let left = (a.x - c.x) * (b.y - c.y);
    let right = (a.y - c.y) * (b.x - c.x);
    match filtered_sign(left, right) {
        0 => exact_orientation(a, b, c),
        sign => sign,
    }
}

/// The sign of (q - p) x (s - r), exact: 1 if the second vector leads to the left of the first, -1 to its right.
#[inline(always)]
pub fn cross(p: DVec2, q: DVec2, r: DVec2, s: DVec2) -> i32 {
    let left = (q.x - p.x) * (s.y - r.y);
    let right = (q.y - p.y) * (s.x - r.x);
    match filtered_sign(left, right) {
        0 => exact_cross(p, q, r, s),
        sign => sign,
    }
}

/// The sign of (q - p) . (s - r), exact.
#[inline(always)]
pub fn dot(p: DVec2, q: DVec2, r: DVec2, s: DVec2) -> i32 {
    cross(p, q, r.perp(), s.perp())
}

/// Whether `q` is nearer to `p` than `r` is, exact.
#[inline(always)]
pub fn is_nearer(p: DVec2, q: DVec2, r: DVec2) -> bool {
    let (near, far) = (p.distance_squared(q), p.distance_squared(r));
    // Each square is rounded by some units of its last place.
    let bound = 1e-15 * (near + far) + UNDERFLOW;
    let apart = near - far;
    if apart < -bound || apart > bound {
        return apart < 0.0;
    }
    is_nearer_exactly(p, q, r)
}

/// As [`is_nearer`], without the filter.
#[inline(never)]
fn is_nearer_exactly(p: DVec2, q: DVec2, r: DVec2) -> bool {
    // q^2 - r^2 - 2 p (q - r), of x and of y.
    let mut sum = Accumulator::new();
    let mut add = |p: f64, q: f64, r: f64| {
        let [p, q, r] = [p, q, r].each(Factor::new);
        sum.add([q, q, one(), one()], false);
        sum.add([r, r, one(), one()], true);
        let mut k = 0;
        while k < 2 {
            sum.add([p, q, one(), one()], true);
            sum.add([p, r, one(), one()], false);
            k += 1;
        }
    };
    add(p.x, q.x, r.x);
    add(p.y, q.y, r.y);
    sum.sign() < 0
}

/// As [`orientation`], without the filter.
#[inline(never)]
fn exact_orientation(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    if let Some(sign) = orientation_of_integers(a, b, c) {
        return sign;
    }
    match cross_of_pairs(c, a, c, b) {
        0 => {}
        sign => return sign,
    }
    let mut sum = Accumulator::new();
    add_area(&mut sum, [one(), one()], false, [a, b, c]);
    sum.sign()
}

/// The sign of the signed area, where all coordinates are multiples below 2^60 of one power of two.
#[inline(always)]
fn orientation_of_integers(a: DVec2, b: DVec2, c: DVec2) -> Option<i32> {
    let lowest = common_factor([a, b, c])?;
    let whole = |value: f64| Factor::new(value).over(lowest);
    let (cx, cy) = (whole(c.x), whole(c.y));
    let product = |p: f64, from: i64, q: f64, to: i64| {
        i128::from(whole(p) - from) * i128::from(whole(q) - to)
    };
    let (left, right) = (product(a.x, cx, b.y, cy), product(a.y, cy, b.x, cx));
    Some(i32::from(left > right) - i32::from(left < right))
}

/// As [`cross`], without the filter.
#[inline(never)]
fn exact_cross(p: DVec2, q: DVec2, r: DVec2, s: DVec2) -> i32 {
    match cross_of_pairs(p, q, r, s) {
        0 => {}
        sign => return sign,
    }
    // It is twice the signed area of p, q, s less that of p, q, r.
    let mut sum = Accumulator::new();
    add_area(&mut sum, [one(), one()], false, [p, q, s]);
    add_area(&mut sum, [one(), one()], true, [p, q, r]);
    sum.sign()
}

/// Adds the signed area of three points, times two factors: six products.
#[inline(always)]
fn add_area(sum: &mut Accumulator, by: [Factor; 2], is_negative: bool, of: [DVec2; 3]) {
    let mut k = 0;
    while k < 3 {
        let (p, q, r) = match k {
            0 => (of[0], of[1], of[2]),
            1 => (of[1], of[2], of[0]),
            _ => (of[2], of[0], of[1]),
        };
        let x = Factor::new(p.x);
        sum.add([x, Factor::new(q.y), by[0], by[1]], is_negative);
        sum.add([x, Factor::new(r.y), by[0], by[1]], !is_negative);
        k += 1;
    }
}

/// 1 if `d` is within the circle of a, b, c, which run counter-clockwise; -1 if outside of it; 0 if the filter does not
/// decide.
#[inline(always)]
pub fn filtered_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> i32 {
    let (a, b, c) = (a - d, b - d, c - d);
    let (bc, cb) = (b.x * c.y, c.x * b.y);
    let (ca, ac) = (c.x * a.y, a.x * c.y);
    let (ab, ba) = (a.x * b.y, b.x * a.y);
    let square = |p: DVec2| p.x * p.x + p.y * p.y;
    let (a2, b2, c2) = (square(a), square(b), square(c));
    let determinant = a2 * (bc - cb) + b2 * (ca - ac) + c2 * (ab - ba);
    let size = a2 * (bc.abs() + cb.abs()) + b2 * (ca.abs() + ac.abs()) + c2 * (ab.abs() + ba.abs());
    let bound = CIRCLE * size + UNDERFLOW * (a2 + b2 + c2 + 1.0);
    i32::from(determinant > bound) - i32::from(determinant < -bound)
}

/// Whether `d` is within the circle of a, b, c, which run counter-clockwise. Four points on one circle are decided by
/// the rule of [the family](super).
#[inline(always)]
pub fn is_in_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    match filtered_circle(a, b, c, d) {
        0 => is_in_circle_exactly(a, b, c, d),
        sign => sign > 0,
    }
}

/// 1 if `d` is within the circle of a, b, c, which run counter-clockwise; 0 on it, -1 outside.
#[inline(always)]
pub fn circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> i32 {
    match filtered_circle(a, b, c, d) {
        0 => exact_circle(a, b, c, d),
        sign => sign,
    }
}

/// As [`circle`], without the filter.
#[inline(always)]
fn exact_circle(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> i32 {
    match circle_of_integers(a, b, c, d) {
        Some(sign) => sign,
        None => match circle_of_pairs(a, b, c, d) {
            0 => circle_of_all_bits(a, b, c, d),
            sign => sign,
        },
    }
}

/// As [`is_in_circle`], without the filter.
#[inline(never)]
pub fn is_in_circle_exactly(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    let sign = exact_circle(a, b, c, d);
    if sign != 0 {
        return sign > 0;
    }
    // The first point is lifted. The plane of a, b, c rises at `d` if `d` lies on the first point's side of the other
    // two.
    let abc = first(first(a, b), c);
    if abc == first(abc, d) && abc != d {
        let other = if abc == a {
            [d, b, c]
        } else if abc == b {
            [a, d, c]
        } else {
            [a, b, d]
        };
        return orientation(other[0], other[1], other[2]) > 0;
    }
    false
}

/// The first of two points by x, then y.
#[inline(always)]
fn first(a: DVec2, b: DVec2) -> DVec2 {
    if b.x < a.x || b.x == a.x && b.y < a.y {
        b
    } else {
        a
    }
}

/// Largest power of two of a coordinate, over that of the lowest bit of all.
const SPAN: u32 = 60;

/// The largest power of two of which all coordinates are multiples, if they are below 2^60 times that.
#[inline(always)]
fn common_factor<const N: usize>(points: [DVec2; N]) -> Option<u32> {
    let mut lowest = u32::MAX;
    let mut highest = 0;
    let mut note = |value: f64| {
        if let Some((low, high)) = Factor::new(value).span() {
            lowest = if low < lowest { low } else { lowest };
            highest = if high > highest { high } else { highest };
        }
    };
    let mut k = 0;
    while k < N {
        let p = points[k];
        note(p.x);
        note(p.y);
        k += 1;
    }
    (highest <= lowest.saturating_add(SPAN)).then_some(lowest)
}

/// The sign of the circle's determinant, where all coordinates are multiples below 2^60 of one power of two: products
/// of four differences have 248 bits.
#[inline(always)]
fn circle_of_integers(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> Option<i32> {
    let lowest = common_factor([a, b, c, d])?;
    let whole = |value: f64| Factor::new(value).over(lowest);
    let (dx, dy) = (whole(d.x), whole(d.y));
    let apart = |p: DVec2| [whole(p.x) - dx, whole(p.y) - dy];
    let (a, b, c) = (apart(a), apart(b), apart(c));
    let mut sum = [0; 4];
    add_lifted(&mut sum, a, b, c);
    add_lifted(&mut sum, b, c, a);
    add_lifted(&mut sum, c, a, b);
    let is_zero = sum[0] | sum[1] | sum[2] | sum[3] == 0;
    Some(if sum[3] >> 63 == 1 {
        -1
    } else {
        i32::from(!is_zero)
    })
}

/// Adds |p|^2 (q x r) to a sum in two's complement.
#[inline(always)]
fn add_lifted(sum: &mut [u64; 4], p: [i64; 2], q: [i64; 2], r: [i64; 2]) {
    let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
    let lift = (product(p[0], p[0]) + product(p[1], p[1])) as u128;
    let area = product(q[0], r[1]) - product(q[1], r[0]);
    let size = area.unsigned_abs();
    let term = multiply_wide(
        [lift as u64, (lift >> 64) as u64],
        [size as u64, (size >> 64) as u64],
    );
    // The negative of a number is its complement and one.
    let flip = 0u64.wrapping_sub(u64::from(area < 0));
    let mut carry = flip & 1;
    let mut k = 0;
    while k < 4 {
        let limb = &mut sum[k & 3];
        let over = add_to(limb, term[k & 3] ^ flip);
        let again = add_to(limb, carry);
        carry = u64::from(over | again);
        k += 1;
    }
}

/// The sign of the circle's determinant from all its products: |p|^2 times the area of the others.
#[inline(never)]
pub fn circle_of_all_bits(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> i32 {
    let mut sum = Accumulator::new();
    let mut add = |p: DVec2, others: [DVec2; 3], is_negative: bool| {
        let (x, y) = (Factor::new(p.x), Factor::new(p.y));
        add_area(&mut sum, [x, x], is_negative, others);
        add_area(&mut sum, [y, y], is_negative, others);
    };
    add(a, [b, c, d], false);
    add(b, [a, c, d], true);
    add(c, [a, b, d], false);
    add(d, [a, b, c], true);
    sum.sign()
}
