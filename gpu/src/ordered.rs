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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_bits_compare_as_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            -2.5,
            -1e-300,
            -0.0,
            0.0,
            1e-300,
            3.0,
            f64::INFINITY,
        ];
        assert!(numbers.map(ordered_bits).is_sorted());
        for x in numbers {
            assert_eq!(from_ordered_bits(ordered_bits(x)).to_bits(), x.to_bits());
        }
    }
}
