//! Rows of numbers in single precision: a CPU computes with [`WIDTH`] of them at a time, a lane of a device with one.
//!
//! A body that computes with rows has the same results with rows of any width, if it does not depend on how its numbers
//! are divided into rows.
//!
//! ```
//! use trioxide_kernel::wide::{WIDTH, Wide};
//!
//! let ones = Wide::splat(1.0);
//! let (sum, product) = (ones + ones, ones * Wide::splat(3.0));
//! assert_eq!(sum.larger(product).to_array(), [3.0; WIDTH]);
//! assert_eq!(product.is_above(sum).select(ones, sum).largest(), 1.0);
//! ```

use core::ops::{Add, BitAnd, Div, Mul, Sub};

#[cfg(not(target_arch = "x86_64"))]
use portable as row;
#[cfg(target_arch = "x86_64")]
use x86_64 as row;

/// Numbers of a row: 1 on a device.
pub const WIDTH: usize = if cfg!(target_arch = "nvptx64") { 1 } else { 4 };

/// A row of numbers.
#[derive(Clone, Copy)]
pub struct Wide(row::Row);

/// A flag for each number of a row.
#[derive(Clone, Copy)]
pub struct Mask(row::Flags);

impl Wide {
    /// The same number, everywhere.
    #[inline(always)]
    pub fn splat(number: f32) -> Self {
        Self(row::splat(number))
    }

    /// The numbers, as a row.
    #[inline(always)]
    pub fn new(numbers: [f32; WIDTH]) -> Self {
        Self(row::new(numbers))
    }

    /// The first numbers of pairs, and the second ones.
    #[inline(always)]
    pub fn unzip(pairs: [[f32; 2]; WIDTH]) -> [Self; 2] {
        row::unzip(pairs).map(Self)
    }

    /// The numbers.
    #[inline(always)]
    pub fn to_array(self) -> [f32; WIDTH] {
        row::to_array(self.0)
    }

    /// Where a number is above another: not where one of them is no number.
    #[inline(always)]
    pub fn is_above(self, other: Self) -> Mask {
        Mask(row::is_above(self.0, other.0))
    }

    /// The larger of two numbers: this one, if one of them is no number.
    #[inline(always)]
    pub fn larger(self, other: Self) -> Self {
        Self(row::larger(self.0, other.0))
    }

    /// The smaller of two numbers: this one, if one of them is no number.
    #[inline(always)]
    pub fn smaller(self, other: Self) -> Self {
        Self(row::smaller(self.0, other.0))
    }

    /// Without its sign.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(row::abs(self.0))
    }

    /// With the lowest `count` bits replaced by those of `bits`.
    #[inline(always)]
    pub fn with_low_bits(self, count: u32, bits: u32) -> Self {
        let low = (1 << count) - 1;
        let set = |number: f32| f32::from_bits(number.to_bits() & !low | bits & low);
        Self::new(self.to_array().map(set))
    }

    /// The largest number of the row, all of which are numbers.
    #[inline(always)]
    pub fn largest(self) -> f32 {
        row::largest(self.0)
    }

    /// The smallest number of the row, all of which are numbers.
    #[inline(always)]
    pub fn smallest(self) -> f32 {
        row::smallest(self.0)
    }
}

impl Add for Wide {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(row::add(self.0, other.0))
    }
}

impl Sub for Wide {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(row::sub(self.0, other.0))
    }
}

impl Mul for Wide {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(row::mul(self.0, other.0))
    }
}

impl Div for Wide {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(row::div(self.0, other.0))
    }
}

impl BitAnd for Mask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(row::and(self.0, other.0))
    }
}

impl Mask {
    /// Of two rows the first where the flag is set, else the second.
    #[inline(always)]
    pub fn select(self, set: Wide, other: Wide) -> Wide {
        Wide(row::select(self.0, set.0, other.0))
    }

    /// The flags, the first as the lowest bit.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        row::bits(self.0)
    }
}

/// By the vectors of glam, which are SSE's there.
#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use glam::{BVec4A, Vec4};

    use super::WIDTH;

    pub type Row = Vec4;
    pub type Flags = BVec4A;

    #[inline(always)]
    pub fn splat(number: f32) -> Row {
        Vec4::splat(number)
    }

    #[inline(always)]
    pub fn new(numbers: [f32; WIDTH]) -> Row {
        Vec4::from_array(numbers)
    }

    #[inline(always)]
    pub fn to_array(row: Row) -> [f32; WIDTH] {
        row.to_array()
    }

    #[inline(always)]
    pub fn unzip([[a, b], [c, d], [e, f], [g, h]]: [[f32; 2]; WIDTH]) -> [Row; 2] {
        [Vec4::new(a, c, e, g), Vec4::new(b, d, f, h)]
    }

    #[inline(always)]
    pub fn add(a: Row, b: Row) -> Row {
        a + b
    }

    #[inline(always)]
    pub fn sub(a: Row, b: Row) -> Row {
        a - b
    }

    #[inline(always)]
    pub fn mul(a: Row, b: Row) -> Row {
        a * b
    }

    #[inline(always)]
    pub fn div(a: Row, b: Row) -> Row {
        a / b
    }

    #[inline(always)]
    pub fn is_above(a: Row, b: Row) -> Flags {
        a.cmpgt(b)
    }

    // Of numbers that do not compare, the instruction takes the second.
    #[inline(always)]
    pub fn larger(a: Row, b: Row) -> Row {
        b.max(a)
    }

    #[inline(always)]
    pub fn smaller(a: Row, b: Row) -> Row {
        b.min(a)
    }

    #[inline(always)]
    pub fn abs(row: Row) -> Row {
        row.abs()
    }

    #[inline(always)]
    pub fn largest(row: Row) -> f32 {
        row.max_element()
    }

    #[inline(always)]
    pub fn smallest(row: Row) -> f32 {
        row.min_element()
    }

    #[inline(always)]
    pub fn select(flags: Flags, a: Row, b: Row) -> Row {
        Vec4::select(flags, a, b)
    }

    #[inline(always)]
    pub fn and(a: Flags, b: Flags) -> Flags {
        a & b
    }

    #[inline(always)]
    pub fn bits(flags: Flags) -> u32 {
        flags.bitmask()
    }
}

/// Number by number: on a device, and on other CPUs.
#[cfg_attr(target_arch = "x86_64", cfg(test))]
mod portable {
    use super::WIDTH;

    pub type Row = [f32; WIDTH];
    pub type Flags = [bool; WIDTH];

    /// `f` of each two numbers.
    #[inline(always)]
    fn each<T: Copy>(a: Row, b: Row, first: T, f: impl Fn(f32, f32) -> T) -> [T; WIDTH] {
        let mut row = [first; WIDTH];
        let mut k = 0;
        while k < WIDTH {
            row[k] = f(a[k], b[k]);
            k += 1;
        }
        row
    }

    #[inline(always)]
    pub fn splat(number: f32) -> Row {
        [number; WIDTH]
    }

    #[inline(always)]
    pub fn new(numbers: [f32; WIDTH]) -> Row {
        numbers
    }

    #[inline(always)]
    pub fn to_array(row: Row) -> [f32; WIDTH] {
        row
    }

    #[inline(always)]
    pub fn unzip(pairs: [[f32; 2]; WIDTH]) -> [Row; 2] {
        [pairs.map(|pair| pair[0]), pairs.map(|pair| pair[1])]
    }

    #[inline(always)]
    pub fn add(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| a + b)
    }

    #[inline(always)]
    pub fn sub(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| a - b)
    }

    #[inline(always)]
    pub fn mul(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| a * b)
    }

    #[inline(always)]
    pub fn div(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| a / b)
    }

    #[inline(always)]
    pub fn is_above(a: Row, b: Row) -> Flags {
        each(a, b, false, |a, b| a > b)
    }

    #[inline(always)]
    pub fn larger(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| if b > a { b } else { a })
    }

    #[inline(always)]
    pub fn smaller(a: Row, b: Row) -> Row {
        each(a, b, 0.0, |a, b| if b < a { b } else { a })
    }

    #[inline(always)]
    pub fn abs(row: Row) -> Row {
        row.map(f32::abs)
    }

    #[inline(always)]
    pub fn largest(row: Row) -> f32 {
        let mut largest = row[0];
        let mut k = 1;
        while k < WIDTH {
            largest = if row[k] > largest { row[k] } else { largest };
            k += 1;
        }
        largest
    }

    #[inline(always)]
    pub fn smallest(row: Row) -> f32 {
        let mut smallest = row[0];
        let mut k = 1;
        while k < WIDTH {
            smallest = if row[k] < smallest { row[k] } else { smallest };
            k += 1;
        }
        smallest
    }

    #[inline(always)]
    pub fn select(flags: Flags, a: Row, b: Row) -> Row {
        let mut row = b;
        let mut k = 0;
        while k < WIDTH {
            row[k] = if flags[k] { a[k] } else { b[k] };
            k += 1;
        }
        row
    }

    #[inline(always)]
    pub fn and(a: Flags, b: Flags) -> Flags {
        let mut flags = a;
        let mut k = 0;
        while k < WIDTH {
            flags[k] &= b[k];
            k += 1;
        }
        flags
    }

    #[inline(always)]
    pub fn bits(flags: Flags) -> u32 {
        let mut bits = 0;
        let mut k = 0;
        while k < WIDTH {
            bits |= u32::from(flags[k]) << k;
            k += 1;
        }
        bits
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{WIDTH, portable, x86_64};

    /// The same bits of both, also where a value is no number.
    #[test]
    fn vectors_compute_as_numbers_do() {
        let some = [
            0.0,
            -0.0,
            1.5,
            -2.25,
            1e-40,
            f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
        ];
        let row = |k: usize| core::array::from_fn::<f32, WIDTH, _>(|l| some[(k >> l) % some.len()]);
        let bits = |row: [f32; WIDTH]| row.map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() });
        for (j, k) in (0..72).flat_map(|j| (0..72).map(move |k| (j, k))) {
            let (a, b) = (row(j), row(k));
            let (v, w) = (x86_64::new(a), x86_64::new(b));
            let (a, b) = (portable::new(a), portable::new(b));
            type Two = (
                fn(x86_64::Row, x86_64::Row) -> x86_64::Row,
                fn(portable::Row, portable::Row) -> portable::Row,
            );
            let two: [Two; 6] = [
                (x86_64::add, portable::add),
                (x86_64::sub, portable::sub),
                (x86_64::mul, portable::mul),
                (x86_64::div, portable::div),
                (x86_64::larger, portable::larger),
                (x86_64::smaller, portable::smaller),
            ];
            for (vector, number) in two {
                assert_eq!(
                    bits(x86_64::to_array(vector(v, w))),
                    bits(portable::to_array(number(a, b)))
                );
            }
            let (flags, above) = (x86_64::is_above(v, w), portable::is_above(a, b));
            assert_eq!(x86_64::bits(flags), portable::bits(above));
            let (twice, both) = (x86_64::and(flags, flags), portable::and(above, above));
            assert_eq!(x86_64::bits(twice), portable::bits(both));
            let selected = x86_64::to_array(x86_64::select(flags, v, w));
            assert_eq!(bits(selected), bits(portable::select(above, a, b)));
            assert_eq!(
                bits(x86_64::to_array(x86_64::abs(v))),
                bits(portable::abs(a))
            );
            let pairs = [[a[0], b[0]], [a[1], b[1]], [a[2], b[2]], [a[3], b[3]]];
            let unzipped = x86_64::unzip(pairs).map(x86_64::to_array);
            assert_eq!(unzipped.map(bits), portable::unzip(pairs).map(bits));
            let same = x86_64::to_array(x86_64::splat(a[0]));
            assert_eq!(bits(same), bits(portable::splat(a[0])));
            if !a.iter().any(|x| x.is_nan()) {
                assert_eq!(x86_64::largest(v), portable::largest(a));
                assert_eq!(x86_64::smallest(v), portable::smallest(a));
            }
        }
    }
}
