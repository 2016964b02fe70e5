//! Orientation of three points, exact.
//!
//! Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates (1997): a filter decides
//! almost always; where it does not, the determinant is summed as an expansion without rounding. The crate `robust`
//! does the same with arrays whose bounds it checks, which costs a stack and a call on a device; the tests compare with
//! it. Neither decides for coordinates whose products overflow or underflow.

use glam::DVec2;

/// Bound of the rounding error of the filter's determinant, relative to the sum of its two products' magnitudes:
/// (3 + 16u) u with u = 2^-53 (Shewchuk, figure 21).
const FILTER: f64 = 3.330_669_073_875_471_6e-16;

/// Whether the signed area of a, b, c is surely greater than zero, surely smaller than zero, or neither.
#[inline(always)]
fn filter(a: DVec2, b: DVec2, c: DVec2) -> (bool, bool) {
    let left = (a.x - c.x) * (b.y - c.y);
    let right = (a.y - c.y) * (b.x - c.x);
    let determinant = left - right;
    let bound = FILTER * (left.abs() + right.abs());
    (determinant > bound, determinant < -bound)
}

/// Whether a, b, c run counter-clockwise, if the filter decides.
#[inline(always)]
pub fn is_surely_counter_clockwise(a: DVec2, b: DVec2, c: DVec2) -> Option<bool> {
    match filter(a, b, c) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Whether a, b, c run counter-clockwise: their signed area is greater than zero.
#[inline(always)]
pub fn is_counter_clockwise(a: DVec2, b: DVec2, c: DVec2) -> bool {
    match is_surely_counter_clockwise(a, b, c) {
        Some(known) => known,
        None => exact_sign(a, b, c) > 0.0,
    }
}

/// 1 where a, b, c run counter-clockwise, -1 where they run clockwise, 0 where they are on one line.
#[inline(always)]
pub fn turn(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    match filter(a, b, c) {
        (true, _) => 1,
        (_, true) => -1,
        _ => {
            let sign = exact_sign(a, b, c);
            i32::from(sign > 0.0) - i32::from(sign < 0.0)
        }
    }
}

/// Components of the exact determinant: two products of two differences of two components each.
const COMPONENTS: usize = 16;

/// The largest component of the exact determinant: it has the determinant's sign.
#[inline(never)]
fn exact_sign(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let mut expansion = [0.0; COMPONENTS];
    let mut count = 0;
    let mut add_product = |x: [f64; 2], y: [f64; 2], sign: f64| {
        let mut k = 0;
        while k < 4 {
            let [high, low] = two_product(x[k & 1], sign * y[k >> 1]);
            grow(&mut expansion, &mut count, low);
            grow(&mut expansion, &mut count, high);
            k += 1;
        }
    };
    add_product(two_difference(a.x, c.x), two_difference(b.y, c.y), 1.0);
    add_product(two_difference(a.y, c.y), two_difference(b.x, c.x), -1.0);
    let mut sign = 0.0;
    let mut k = 0;
    while k < COMPONENTS {
        if expansion[k] != 0.0 {
            sign = expansion[k];
        }
        k += 1;
    }
    sign
}

/// Adds `term` to an expansion of `count` components, in order of magnitude, without rounding (Shewchuk, Theorem 10).
/// `N` is a power of two.
#[inline(always)]
pub(crate) fn grow<const N: usize>(expansion: &mut [f64; N], count: &mut usize, term: f64) {
    let mut sum = term;
    let mut k = 0;
    while k < *count {
        // The mask keeps the index within the array for the compiler.
        let slot = &mut expansion[k & (N - 1)];
        let [high, low] = two_sum(sum, *slot);
        *slot = low;
        sum = high;
        k += 1;
    }
    expansion[*count & (N - 1)] = sum;
    *count += 1;
}

/// Sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let b_virtual = sum - a;
    let a_virtual = sum - b_virtual;
    [sum, (a - a_virtual) + (b - b_virtual)]
}

/// Difference and its rounding error.
#[inline(always)]
pub(crate) fn two_difference(a: f64, b: f64) -> [f64; 2] {
    two_sum(a, -b)
}

/// Product and its rounding error (Dekker; no fused operation exists here).
#[inline(always)]
pub(crate) fn two_product(a: f64, b: f64) -> [f64; 2] {
    let product = a * b;
    let [a_high, a_low] = split(a);
    let [b_high, b_low] = split(b);
    let error = product - a_high * b_high - a_low * b_high - a_high * b_low;
    [product, a_low * b_low - error]
}

#[inline(always)]
fn split(a: f64) -> [f64; 2] {
    let c = 134_217_729.0 * a; // 2^27 + 1
    let high = c - (c - a);
    [high, a - high]
}
