//! Exact sums of products of coordinates, over the whole range of f64.
//!
//! A finite f64 is a whole number of at most 53 bits times a power of two from 2^-1074. So a product of `D` of them is
//! a whole multiple of 2^(-1074 D), and a fixed-point number with all its bits is their exact sum (Kulisch's long
//! accumulator). Nothing overflows or underflows.

/// Limbs of the sum of a determinant's products of four coordinates: 4 (1074 + 971) + 212 bits, its sign and carries.
const LIMBS: usize = 132;
/// Power of two of a lowest bit.
const LOWEST: u32 = 1074;

/// A whole number of 53 bits times 2^exponent, which counts from the lowest bit of a f64.
#[derive(Clone, Copy)]
pub struct Factor {
    whole: u64,
    exponent: u32,
    is_negative: bool,
}

impl Factor {
    /// The number `value`, which is finite.
    #[inline(always)]
    pub fn new(value: f64) -> Self {
        let bits = value.to_bits();
        let biased = (bits >> 52) as u32 & 0x7FF;
        let fraction = bits & ((1 << 52) - 1);
        // Numbers without a leading one have the exponent of the smallest with one.
        let (whole, exponent) = match biased {
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, biased - 1),
        };
        Self {
            whole,
            exponent,
            is_negative: bits >> 63 == 1,
        }
    }

    /// Powers of two of the lowest and above the highest bit; `None` of zero.
    #[inline(always)]
    pub fn span(self) -> Option<(u32, u32)> {
        if self.whole == 0 {
            return None;
        }
        let low = self.exponent + self.whole.trailing_zeros();
        Some((low, self.exponent + 64 - self.whole.leading_zeros()))
    }

    /// The number over 2^lowest, where it is a whole one below 2^62.
    #[inline(always)]
    pub fn over(self, lowest: u32) -> i64 {
        let whole = match self.whole {
            0 => 0,
            w if self.exponent >= lowest => w << ((self.exponent - lowest) & 63),
            w => w >> ((lowest - self.exponent) & 63),
        };
        if self.is_negative {
            -(whole as i64)
        } else {
            whole as i64
        }
    }
}

/// The 128 bits of a product of two words: low word, high word.
#[inline(always)]
pub fn multiply(a: u64, b: u64) -> [u64; 2] {
    let product = u128::from(a) * u128::from(b);
    [product as u64, (product >> 64) as u64]
}

/// Adds `term` to the word `at`. Returns whether the sum overflowed.
#[inline(always)]
pub fn add_to(at: &mut u64, term: u64) -> bool {
    *at = at.wrapping_add(term);
    *at < term
}

/// The 256 bits of a product of two numbers of 128 bits, lowest word first.
#[inline(always)]
pub fn multiply_wide(a: [u64; 2], b: [u64; 2]) -> [u64; 4] {
    let [r0, low_high] = multiply(a[0], b[0]);
    let [cross_low, cross_high] = multiply(a[0], b[1]);
    let [other_low, other_high] = multiply(a[1], b[0]);
    let [high_low, high_high] = multiply(a[1], b[1]);
    let mut r1 = low_high;
    let carry = u64::from(add_to(&mut r1, cross_low)) + u64::from(add_to(&mut r1, other_low));
    let mut r2 = high_low;
    let above = u64::from(add_to(&mut r2, cross_high))
        + u64::from(add_to(&mut r2, other_high))
        + u64::from(add_to(&mut r2, carry));
    [r0, r1, r2, high_high + above]
}

/// A sum of products, in two's complement.
pub struct Accumulator {
    limbs: [u64; LIMBS],
}

impl Accumulator {
    /// Zero.
    #[inline(always)]
    pub fn new() -> Self {
        Self { limbs: [0; LIMBS] }
    }

    /// Adds the product of four factors, negated if `is_negative`.
    #[inline(always)]
    pub fn add(&mut self, [a, b, c, d]: [Factor; 4], is_negative: bool) {
        let product = multiply_wide(multiply(a.whole, b.whole), multiply(c.whole, d.whole));
        let signs = a.is_negative ^ b.is_negative ^ c.is_negative ^ d.is_negative;
        let place = a.exponent + b.exponent + c.exponent + d.exponent;
        let (first, shift) = (place / 64, place % 64);
        let mut below = 0;
        let mut carry = 0;
        let mut k = 0;
        // The words of the product, shifted, then carries as far as they go.
        while k < 5 || carry != 0 {
            let word = match k {
                0 => product[0],
                1 => product[1],
                2 => product[2],
                3 => product[3],
                _ => 0,
            };
            // In two steps, since a word cannot be shifted by 64.
            let term = word << shift | below >> 1 >> (63 - shift);
            below = word;
            let at = (first + k) as usize;
            if at >= LIMBS {
                // The carry of a negative sum that became positive, or the borrow of the opposite.
                break;
            }
            let limb = &mut self.limbs[at];
            carry = if signs ^ is_negative {
                let (difference, borrowed) = limb.overflowing_sub(term);
                let (difference, again) = difference.overflowing_sub(carry);
                *limb = difference;
                u64::from(borrowed | again)
            } else {
                let (sum, over) = limb.overflowing_add(term);
                let (sum, again) = sum.overflowing_add(carry);
                *limb = sum;
                u64::from(over | again)
            };
            k += 1;
        }
    }

    /// -1, 0 or 1.
    #[inline(always)]
    pub fn sign(&self) -> i32 {
        if self.limbs[LIMBS - 1] >> 63 == 1 {
            return -1;
        }
        let mut any = 0;
        let mut k = 0;
        while k < LIMBS {
            any |= self.limbs[k];
            k += 1;
        }
        i32::from(any != 0)
    }
}

/// A factor of one.
#[inline(always)]
pub fn one() -> Factor {
    Factor {
        whole: 1,
        exponent: LOWEST,
        is_negative: false,
    }
}
