//! Percent escapes of bytes in names: `%C3%A4` is one letter.

/// The bytes of `text`, with escapes (`%` and two hexadecimal digits) decoded if `is_meant` accepts the byte.
pub(crate) fn decode(text: &[u8], is_meant: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.first_chunk::<2>().filter(|_| byte == b'%');
        match digits
            .and_then(|&digits| byte_of(digits))
            .filter(|&code| is_meant(code))
        {
            Some(code) => {
                bytes.push(code);
                rest = &behind[2..];
            }
            None => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    bytes
}

fn byte_of([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(16 * digit(high)? + digit(low)?).ok()
}

/// The text, with escapes for the bytes that `is_meant` accepts.
pub(crate) fn encode(text: &str, is_meant: impl Fn(u8) -> bool) -> String {
    let mut encoded = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match is_meant(byte) {
            true => encoded.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            false => encoded.push(byte),
        }
    }
    String::from_utf8(encoded).expect("all bytes of a letter are escaped, or none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_two_digits_behind_a_percent_sign() {
        let decoded = |text: &str| String::from_utf8(decode(text.as_bytes(), |_| true)).unwrap();
        assert_eq!(decoded("%C3%A4%20b%2ebin"), "\u{e4} b.bin");
        for text in ["100%", "%", "%2", "%+5", "%g0", "a%zz"] {
            assert_eq!(decoded(text), text);
        }
        assert_eq!(encode("a \u{e4}%", |byte| byte >= 0x80), "a %C3%A4%");
    }
}
