//! Texts of numbers: the shortest text that reads back as the number.

/// Bytes of one store: longer texts take several.
pub(crate) const STORE: usize = 16;
/// Most bytes of a number of 32 bits and the character after it.
pub(crate) const NUMBER: usize = 11;

/// Appends the shortest text that reads back as `value`.
pub(crate) fn push_f64(buffer: &mut Vec<u8>, value: f64) {
    let mut text = zmij::Buffer::new();
    let text = text.format(value);
    buffer.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Appends the shortest text that reads back as `value` in 32 bits.
pub(crate) fn push_f32(buffer: &mut Vec<u8>, value: f32) {
    let mut text = zmij::Buffer::new();
    let text = text.format(value);
    buffer.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// Appends `value`.
#[inline]
pub(crate) fn push_integer(buffer: &mut Vec<u8>, value: impl itoa::Integer + TryInto<u32> + Copy) {
    match value.try_into() {
        Ok(small) if small < 100_000_000 => push_digits(buffer, small),
        _ => buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}

/// Appends numbers, each after a blank.
pub(crate) fn push_after_blanks<I: itoa::Integer + TryInto<u32> + Copy>(
    buffer: &mut Vec<u8>,
    numbers: impl IntoIterator<Item = I>,
) {
    for number in numbers {
        buffer.push(b' ');
        push_integer(buffer, number);
    }
}

/// Appends a number of at most eight digits, in one store.
fn push_digits(buffer: &mut Vec<u8>, value: u32) {
    let (text, length) = text_of_digits(digits(value));
    let text = text.to_le_bytes();
    buffer.reserve(text.len());
    buffer.spare_capacity_mut()[..text.len()].write_copy_of_slice(&text);
    // SAFETY: at least this many bytes have been written.
    unsafe { buffer.set_len(buffer.len() + length) };
}

/// The texts of 0 to 9999, four digits each, the first in the lowest byte: 40 KB, which fit in a core's cache.
static FOURS: [u32; 10_000] = {
    let mut fours = [0; 10_000];
    let mut value = 0;
    while value < fours.len() as u32 {
        let digits = [value / 1000, value / 100 % 10, value / 10 % 10, value % 10];
        let text = digits[0] | (digits[1] << 8) | (digits[2] << 16) | (digits[3] << 24);
        fours[value as usize] = text | u32::from_le_bytes([b'0'; 4]);
        value += 1;
    }
    fours
};

/// The text of a number of at most eight digits, with leading zeros, the first digit in the lowest byte.
#[inline]
fn digits(value: u32) -> u64 {
    let four = |value: u32| u64::from(FOURS[value as usize]);
    four(value / 10_000) | (four(value % 10_000) << 32)
}

/// The text without leading zeros, padded by 0 bytes, and its length.
#[inline]
fn text_of_digits(digits: u64) -> (u64, usize) {
    // Leading zeros; for 0 all digits but one.
    let ones = digits ^ u64::from_le_bytes([b'0'; 8]);
    let zeros = (ones | (1 << 56)).trailing_zeros() & !7;
    (digits >> zeros, 8 - zeros as usize / 8)
}

/// The text of a number and the character after it, and its length. It is computed in registers: a load of bytes that
/// several stores have just written would wait for them.
#[inline]
pub(crate) fn number(value: u32, end: u8) -> ([u8; STORE], usize) {
    const EIGHT: u32 = 100_000_000;
    let (mut text, mut length) = match value.checked_sub(EIGHT) {
        None => {
            let (text, length) = text_of_digits(digits(value));
            (u128::from(text), length)
        }
        Some(_) => {
            let (first, count) = text_of_digits(digits(value / EIGHT));
            let rest = digits(value % EIGHT);
            (
                u128::from(first) | (u128::from(rest) << (8 * count)),
                count + 8,
            )
        }
    };
    text |= u128::from(end) << (8 * length);
    length += 1;
    (text.to_le_bytes(), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_standard_library() {
        let text = |value: i64| {
            let mut buffer = Vec::new();
            push_integer(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        let powers = (0..=18).map(|k| 10_i64.pow(k));
        let near = powers.flat_map(|power| [power - 1, power, power + 1, 9 * power, -power]);
        let others = (0..100_000).map(|i| i * 7919 % 100_000_000);
        for value in near.chain(0..20_000).chain(others) {
            assert_eq!(text(value), value.to_string());
        }
        for value in [i64::MIN, i64::MAX] {
            assert_eq!(text(value), value.to_string());
        }
    }

    #[test]
    fn numbers_read_back() {
        let text = |value: f64| {
            let mut buffer = Vec::new();
            push_f64(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(text(3.0), "3");
        assert_eq!(text(-0.0), "-0");
        assert_eq!(text(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(text(f64::INFINITY), "inf");
        for value in [
            5e-324,
            f64::MAX,
            1e21,
            1.5e-7,
            123456789.125,
            f64::MIN_POSITIVE,
        ] {
            let read: f64 = fast_float2::parse(text(value)).unwrap();
            assert_eq!(read.to_bits(), value.to_bits());
        }
        assert!(
            fast_float2::parse::<f64, _>(text(f64::NAN))
                .unwrap()
                .is_nan()
        );
    }
}
