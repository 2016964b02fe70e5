//! The place where two segments cross, in exact arithmetic.

use glam::DVec2;
use num_bigint::{BigInt, BigUint, Sign};

/// The place where segments cross, which do: each coordinate is rounded once, to the nearest number, of two the even
/// one. Rounding is monotone, so the place lies in the boxes of both, and places along a segment keep their order.
pub(super) fn crossing_place([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> DVec2 {
    let all = [a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y];
    let exponents = all.iter().filter(|c| **c != 0.0).map(|&c| parts(c).1);
    let least = exponents.min().unwrap_or(0);
    let [ax, ay, bx, by, cx, cy, dx, dy] = all.map(|c| integer(c, least));
    let (u, v) = ([&bx - &ax, &by - &ay], [&dx - &cx, &dy - &cy]);
    let below = &u[0] * &v[1] - &u[1] * &v[0];
    let above = (cx - &ax) * &v[1] - (cy - &ay) * &v[0];
    let coordinate =
        |start: &BigInt, way: &BigInt| rounded(start * &below + way * &above, &below, least);
    DVec2::new(coordinate(&ax, &u[0]), coordinate(&ay, &u[1]))
}

/// The integer and the exponent of two whose product is a finite number.
fn parts(c: f64) -> (i64, i32) {
    let bits = c.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 & 0x7FF, (bits & ((1 << 52) - 1)) as i64);
    let (integer, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    (if c < 0.0 { -integer } else { integer }, exponent)
}

/// A number in units of 2^`least`.
fn integer(c: f64, least: i32) -> BigInt {
    let (integer, exponent) = parts(c);
    match integer {
        0 => BigInt::ZERO,
        _ => BigInt::from(integer) << (exponent - least) as usize,
    }
}

/// The quotient of two integers times 2^`exponent`, rounded. Below 2^-1022 it may be rounded twice.
fn rounded(above: BigInt, below: &BigInt, exponent: i32) -> f64 {
    let is_negative = (above.sign() == Sign::Minus) != (below.sign() == Sign::Minus);
    let (above, below) = (above.into_parts().1, below.magnitude());
    if above == BigUint::ZERO {
        return 0.0;
    }
    // The quotient has 66 or 67 bits: rounding to 53 looks at the last one only as at any bit that is not 0.
    let shift = 66 + below.bits() as i64 - above.bits() as i64;
    let (above, below) = match shift >= 0 {
        true => (above << shift as usize, below.clone()),
        false => (above, below << -shift as usize),
    };
    let quotient = &above / &below;
    let rest = above - &quotient * below;
    let digits = quotient.iter_u64_digits().zip([0, 64]);
    let quotient = digits.fold(0u128, |sum, (digit, at)| sum | u128::from(digit) << at);
    let quotient = quotient | u128::from(rest != BigUint::ZERO);
    let value = libm::scalbn(quotient as f64, (i64::from(exponent) - shift) as i32);
    if is_negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(corners: [[f64; 2]; 4]) -> [f64; 2] {
        let [a, b, c, d] = corners.map(DVec2::from);
        let place = crossing_place([a, b], [c, d]);
        assert_eq!(crossing_place([d, c], [a, b]), place);
        place.into()
    }

    #[test]
    fn places_are_rounded_once() {
        assert_eq!(
            place([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
            [0.5, 0.5]
        );
        // By hand: x = 1/3 and y = 2/3, and a third of a number that is not exact.
        assert_eq!(
            place([[0.0, 0.0], [1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]),
            [1.0 / 3.0, 2.0 / 3.0]
        );
        let far = 2f64.powi(900);
        assert_eq!(
            place([[-far, 0.0], [far, 0.0], [0.0, -1.0], [0.0, 2.0]]),
            [0.0, 0.0]
        );
        let tiny = f64::from_bits(1);
        assert_eq!(
            place([
                [0.0, 0.0],
                [2.0 * tiny, 2.0 * tiny],
                [0.0, 2.0 * tiny],
                [2.0 * tiny, 0.0]
            ]),
            [tiny, tiny]
        );
        // One unit in the last place above 1 and the same below, crossed at a ratio of 1 to 3: rounds to the even 1.
        let (low, high) = (1.0 - f64::EPSILON, 1.0 + f64::EPSILON);
        assert_eq!(
            place([[0.0, low], [4.0, high], [0.0, high], [4.0, low]]),
            [2.0, 1.0]
        );
    }
}
