//! Signs of determinants, exact for all finite coordinates.
//!
//! A filter decides almost always: the determinant in double precision against a bound of its error. Else the products
//! of three coordinates are summed as integers, in units of the smallest product, 2^-3222: nothing is rounded, nothing
//! overflows, and the order of the sum does not matter.

use glam::DVec3;

/// Digits of 32 bits: the largest product is below 2^6294 units, and there are fewer than 2^33 of them.
const DIGITS: usize = 200;
/// Bound of the error of a determinant of differences, relative to the sum of its products' magnitudes: each product
/// has three rounded differences, two rounded products, and five rounded sums, of 2^-53 each.
const ERROR: f64 = 16.0 * f64::EPSILON;
/// Below it, products of the determinant may lose digits as denormal numbers.
const LEAST: f64 = 1e-280;

/// An exact sum of products of three numbers.
pub(super) struct Sum {
    /// In units of 2^-3222, from the lowest digit on; a digit may leave its 32 bits until the end.
    digits: [i64; DIGITS],
    /// Products since digits were last brought back to 32 bits.
    added: u32,
}

impl Sum {
    pub fn new() -> Self {
        Self {
            digits: [0; DIGITS],
            added: 0,
        }
    }

    /// Adds the determinant of three rows, `times` 1 or -1.
    pub fn add(&mut self, [a, b, c]: [DVec3; 3], times: f64) {
        let mut product = |x: f64, y: f64, z: f64| self.add_product(x, y, z);
        product(times * a.x, b.y, c.z);
        product(times * a.y, b.z, c.x);
        product(times * a.z, b.x, c.y);
        product(-times * a.z, b.y, c.x);
        product(-times * a.x, b.z, c.y);
        product(-times * a.y, b.x, c.z);
    }

    fn add_product(&mut self, x: f64, y: f64, z: f64) {
        let [(x, i, p), (y, j, q), (z, k, r)] = [x, y, z].map(parts);
        let (two, sign) = (u128::from(x) * u128::from(y), p * q * r);
        // The low and the high half of the product, 64 bits apart.
        let (low, high) = (two & u128::from(u64::MAX), two >> 64);
        self.add_shifted(low * u128::from(z), i + j + k, sign);
        self.add_shifted(high * u128::from(z), i + j + k + 64, sign);
        self.added += 1;
        // Each product adds less than 2^33 to a digit twice.
        if self.added == 1 << 28 {
            self.carry();
        }
    }

    /// Adds or subtracts an integer of at most 120 bits, times 2^`shift`.
    fn add_shifted(&mut self, value: u128, shift: usize, sign: i64) {
        let (first, by) = (shift / 32, shift % 32);
        let mut rest = value;
        let mut place = first;
        while rest > 0 {
            let part = (rest as u32 as u64) << by;
            self.digits[place] += sign * i64::from(part as u32);
            self.digits[place + 1] += sign * (part >> 32) as i64;
            rest >>= 32;
            place += 1;
        }
    }

    /// Brings the digits back to 32 bits, except the highest one, which has the sign.
    fn carry(&mut self) {
        self.added = 0;
        for place in 0..DIGITS - 1 {
            let over = self.digits[place] >> 32;
            self.digits[place] -= over << 32;
            self.digits[place + 1] += over;
        }
    }

    /// 1, 0 or -1.
    pub fn sign(mut self) -> i32 {
        self.carry();
        match self.digits[DIGITS - 1] {
            0 => i32::from(self.digits.iter().any(|&digit| digit != 0)),
            highest => highest.signum() as i32,
        }
    }
}

/// The magnitude's integer, the power of two by which it counts units of 2^-1074, and the sign.
fn parts(x: f64) -> (u64, usize, i64) {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7FF, bits & ((1 << 52) - 1));
    let sign = if bits >> 63 == 1 { -1 } else { 1 };
    match exponent {
        0 => (fraction, 0, sign),
        _ => (fraction | 1 << 52, exponent as usize - 1, sign),
    }
}

/// The determinant of three vectors in double precision, and the sum of its products' magnitudes.
pub(super) fn rounded([a, b, c]: [DVec3; 3]) -> [f64; 2] {
    let minors = |x: f64, y: f64, z: f64, w: f64| (x * y - z * w, (x * y).abs() + (z * w).abs());
    let (x, size_x) = minors(b.y, c.z, b.z, c.y);
    let (y, size_y) = minors(b.z, c.x, b.x, c.z);
    let (z, size_z) = minors(b.x, c.y, b.y, c.x);
    [
        a.x * x + a.y * y + a.z * z,
        a.x.abs() * size_x + a.y.abs() * size_y + a.z.abs() * size_z,
    ]
}

/// The sign of a sum of `count` rounded determinants of differences, if it is certain.
pub(super) fn surely([value, size]: [f64; 2], count: usize) -> Option<i32> {
    let bound = (ERROR + count as f64 * f64::EPSILON) * size;
    let is_sure = value.abs() > bound && bound > LEAST && bound.is_finite();
    is_sure.then_some(if value > 0.0 { 1 } else { -1 })
}

/// The sign of the volume of a tetrahedron: 1 where a, b, c run counter-clockwise as seen from the side of their plane
/// that `d` is not on.
pub(super) fn side_of([a, b, c]: [DVec3; 3], d: DVec3) -> i32 {
    surely(rounded([a - d, b - d, c - d]), 1).unwrap_or_else(|| {
        let mut sum = Sum::new();
        sum.add([a, b, c], 1.0);
        sum.add([d, b, c], -1.0);
        sum.add([a, d, c], -1.0);
        sum.add([a, b, d], -1.0);
        sum.sign()
    })
}

/// Twice the area of a polygon, projected along z, as an exact sign: 1 where it runs counter-clockwise.
pub(super) fn turn(corners: &[DVec3]) -> i32 {
    let fan = || (1..corners.len().saturating_sub(1)).map(|i| [corners[i], corners[i + 1]]);
    let mut found = [0.0; 2];
    for [b, c] in fan() {
        let (b, c) = (b - corners[0], c - corners[0]);
        found[0] += b.x * c.y - b.y * c.x;
        found[1] += (b.x * c.y).abs() + (b.y * c.x).abs();
    }
    surely(found, corners.len()).unwrap_or_else(|| {
        let mut sum = Sum::new();
        for [b, c] in fan() {
            sum.add([corners[0], b, c].map(|p| DVec3::new(p.x, p.y, 1.0)), 1.0);
        }
        sum.sign()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_exact_at_every_scale() {
        let corners = [DVec3::X, DVec3::Y, DVec3::Z];
        for exponent in [-1000, -300, 0, 300, 1000] {
            let scale = 2f64.powi(exponent);
            let at = |x: f64| DVec3::splat(x) * scale;
            let scaled = corners.map(|p| p * scale);
            // The plane x + y + z = 1.
            assert_eq!(side_of(scaled, at(0.0)), 1);
            assert_eq!(side_of(scaled, at(1.0)), -1);
            let on = DVec3::new(0.5, 0.25, 0.25);
            let near = DVec3::new(0.5f64.next_down(), 0.25, 0.25);
            assert_eq!(side_of(scaled, on * scale), 0);
            assert_eq!(side_of(scaled, near * scale), 1);
            assert_eq!(turn(&[at(0.0), DVec3::X * scale, at(1.0)]), 1);
            assert_eq!(turn(&[at(0.0), at(0.1), at(0.7)]), 0);
        }
        let largest = DVec3::splat(f64::MAX);
        assert_eq!(side_of(corners, largest), -1);
        let tiny = corners.map(|p| p * f64::from_bits(1));
        assert_eq!(side_of(tiny, DVec3::ZERO), 1);
    }
}
