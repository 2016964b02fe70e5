//! Predicates in sums of two f64, which have the precision of 106 bits.
//!
//! Between the filter and the exact steps: points of a circle's equation have determinants of some 2^-53 of their
//! products' sizes, which the filter does not decide, and these pairs do. The accumulator, which has thousands of bits,
//! is left for ties.
//!
//! **Error.** A difference of two f64 is a pair without an error (Knuth's sum of two). A product or a sum of pairs has
//! an error of at most 2^-101 of the product, or of the sum of both magnitudes (Dekker 1971; Joldes, Muller and Popescu
//! 2017, sections 3 and 5, have 2^-102 and less). A determinant has at most seven such operations above each other: its
//! error is below 2^-97 of its size, the sum of its products' magnitudes. A product whose low part underflows loses
//! some 2^-1073 more; factors below 2^300 and a size above 2^-600 keep that below 2^-97 of the size too.

use glam::DVec2;

/// Bound of an error, relative to the size.
const MARGIN: f64 = f64::from_bits((1023 - 95) << 52);
/// Bound of an area's factors, and of a circle's lifts.
const LARGEST: f64 = f64::from_bits((1023 + 300) << 52);
/// Bound of the size.
const LEAST: f64 = f64::from_bits((1023 - 600) << 52);

/// An unevaluated sum; the second number is at most half of the last place of the first.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

impl Pair {
    /// a - b, exact.
    #[inline(always)]
    fn difference(a: f64, b: f64) -> Self {
        let high = a - b;
        let of_b = a - high;
        Self(high, (a - (high + of_b)) + (of_b - b))
    }

    /// a + b, where |a| is not less than |b|.
    #[inline(always)]
    fn renormalized(a: f64, b: f64) -> Self {
        let high = a + b;
        Self(high, b - (high - a))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let high = self.0 + other.0;
        let of_other = high - self.0;
        let low = (self.0 - (high - of_other)) + (other.0 - of_other);
        Self::renormalized(high, low + (self.1 + other.1))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, -other.1))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let high = self.0 * other.0;
        let ([a, b], [c, d]) = (halves(self.0), halves(other.0));
        let low = b * d - (((high - a * c) - b * c) - a * d);
        Self::renormalized(high, low + (self.0 * other.1 + self.1 * other.0))
    }
}

/// A number as the sum of two of 26 bits (Dekker 1971).
#[inline(always)]
fn halves(a: f64) -> [f64; 2] {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    [high, a - high]
}

/// The sign of a determinant with this size; 0 if its error may be larger.
#[inline(always)]
fn sign(determinant: Pair, size: f64, is_in_range: bool) -> i32 {
    let bound = MARGIN * size;
    if is_in_range && size > LEAST {
        i32::from(determinant.0 > bound) - i32::from(determinant.0 < -bound)
    } else {
        0
    }
}

/// The sign of (q - p) x (s - r), if pairs decide it; else 0.
#[inline(always)]
pub fn cross_of_pairs(p: DVec2, q: DVec2, r: DVec2, s: DVec2) -> i32 {
    let (ax, ay) = (Pair::difference(q.x, p.x), Pair::difference(q.y, p.y));
    let (bx, by) = (Pair::difference(s.x, r.x), Pair::difference(s.y, r.y));
    let (left, right) = (ax.times(by), ay.times(bx));
    let largest = ax.0.abs() + ay.0.abs() + bx.0.abs() + by.0.abs();
    let size = left.0.abs() + right.0.abs();
    sign(left.minus(right), size, largest < LARGEST)
}

/// 1 if `d` is within the circle of a, b, c, which run counter-clockwise; -1 outside; 0 if pairs do not decide.
#[inline(always)]
pub fn circle_of_pairs(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> i32 {
    let of = |p: DVec2| (Pair::difference(p.x, d.x), Pair::difference(p.y, d.y));
    let ((ax, ay), (bx, by), (cx, cy)) = (of(a), of(b), of(c));
    let (mut determinant, mut size, mut largest) = (Pair(0.0, 0.0), 0.0, 0.0);
    let mut add = |lifted: (Pair, Pair), next: (Pair, Pair), last: (Pair, Pair)| {
        let lift = (lifted.0.times(lifted.0)).plus(lifted.1.times(lifted.1));
        let (left, right) = (next.0.times(last.1), last.0.times(next.1));
        determinant = determinant.plus(lift.times(left.minus(right)));
        size += lift.0 * (left.0.abs() + right.0.abs());
        largest += lift.0;
    };
    add((ax, ay), (bx, by), (cx, cy));
    add((bx, by), (cx, cy), (ax, ay));
    add((cx, cy), (ax, ay), (bx, by));
    sign(determinant, size, largest < LARGEST)
}
