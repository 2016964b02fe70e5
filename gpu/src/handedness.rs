//! Orientation of four points, exact.
//!
//! Shewchuk, Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates (1997), as
//! [`orientation`](crate::orientation) has it for three points: a filter decides almost always, else the determinant is
//! summed without rounding. It does not decide for coordinates whose products overflow or underflow.

use glam::DVec3;

use crate::orientation::{grow, two_difference, two_product};

/// Bound of the filter's rounding error, relative to the sum of its products' magnitudes: (7 + 56u) u with u = 2^-53
/// (Shewchuk, figure 21).
const FILTER: f64 = 7.771_561_172_376_103e-16;

/// Room for the exact determinant: 6 products of three differences of two components each, 192 in all.
const COMPONENTS: usize = 256;

/// det(u, v, w), and a bound of its rounding error.
#[inline(always)]
pub fn determinant(u: DVec3, v: DVec3, w: DVec3) -> (f64, f64) {
    let products = [
        u.x * v.y,
        v.x * u.y,
        v.x * w.y,
        w.x * v.y,
        w.x * u.y,
        u.x * w.y,
    ];
    let value = w.z * (products[0] - products[1])
        + u.z * (products[2] - products[3])
        + v.z * (products[4] - products[5]);
    let magnitude = w.z.abs() * (products[0].abs() + products[1].abs())
        + u.z.abs() * (products[2].abs() + products[3].abs())
        + v.z.abs() * (products[4].abs() + products[5].abs());
    (value, FILTER * magnitude)
}

/// Whether det(b - a, c - a, d - a) is greater than zero: a right-handed tetrahedron.
#[inline(always)]
pub fn is_right_handed(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> bool {
    let (value, bound) = determinant(b - a, c - a, d - a);
    if value > bound {
        true
    } else if value < -bound {
        false
    } else {
        exact_volume(a, b, c, d) > 0.0
    }
}

/// The largest component of the exact determinant: it has the determinant's sign.
#[inline(never)]
fn exact_volume(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let mut expansion = [0.0; COMPONENTS];
    let mut count = 0;
    let mut add = |x: [f64; 2], y: [f64; 2], z: [f64; 2], sign: f64| {
        let mut k = 0;
        while k < 8 {
            let choose = |pair: [f64; 2], second: bool| if second { pair[1] } else { pair[0] };
            let x = choose(x, k & 1 != 0);
            let y = choose(y, k & 2 != 0);
            let z = sign * choose(z, k & 4 != 0);
            let [high, low] = two_product(x, y);
            let [low_high, low_low] = two_product(low, z);
            let [high_high, high_low] = two_product(high, z);
            // Most are zero: differences of near points are exact.
            let mut add = |term: f64| {
                if term != 0.0 {
                    grow(&mut expansion, &mut count, term);
                }
            };
            add(low_low);
            add(low_high);
            add(high_low);
            add(high_high);
            k += 1;
        }
    };
    let (ux, uy, uz) = differences(b, a);
    let (vx, vy, vz) = differences(c, a);
    let (wx, wy, wz) = differences(d, a);
    add(ux, vy, wz, 1.0);
    add(vx, uy, wz, -1.0);
    add(vx, wy, uz, 1.0);
    add(wx, vy, uz, -1.0);
    add(wx, uy, vz, 1.0);
    add(ux, wy, vz, -1.0);
    let mut sign = 0.0;
    let mut k = 0;
    while k < count {
        let component = expansion[k & (COMPONENTS - 1)];
        if component != 0.0 {
            sign = component;
        }
        k += 1;
    }
    sign
}

#[inline(always)]
fn differences(p: DVec3, q: DVec3) -> ([f64; 2], [f64; 2], [f64; 2]) {
    (
        two_difference(p.x, q.x),
        two_difference(p.y, q.y),
        two_difference(p.z, q.z),
    )
}
