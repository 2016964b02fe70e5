//! Integers in the order of floats, for atomic minima and maxima, and for sorts.

/// A key whose order is that of the numbers.
#[inline(always)]
pub fn ordered_bits(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// The number of a key.
#[inline(always)]
pub fn from_ordered_bits(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 0 {
        !key
    } else {
        key & !(1 << 63)
    })
}
