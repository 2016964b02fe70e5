//! The unit of coordinates that are text: that of their last digit.
//!
//! It is the coarsest decimal unit of which every coordinate is a multiple. A format of whole numbers ([`super::las`])
//! writes positions that a command computed in it.

use trioxide_mesh::about::Unit;

/// The most digits after the point of any number, without zeros at the end.
#[derive(Clone, Default)]
pub(crate) struct Decimals {
    most: usize,
    /// Whether a number has an exponent, so that its last digit has another place, or was computed.
    has_exponents: bool,
}

impl Decimals {
    /// Adds a number's text. Bytes that cannot change the result are not read.
    #[inline]
    pub(crate) fn add(&mut self, text: &[u8]) {
        let before = text.len().saturating_sub(self.most + 1);
        let mut bytes = text[..before].iter();
        if let Some(point) = bytes.position(|byte| matches!(byte, b'.' | b',')) {
            let last = text[point + 1..].iter().rposition(|byte| *byte != b'0');
            self.most = self.most.max(last.map_or(0, |last| last + 1));
        }
        let last = &text[text.len().saturating_sub(5)..];
        self.has_exponents |= last.iter().any(|byte| byte | 0x20 == b'e');
    }

    /// Adds a number without a text of its own.
    pub(crate) fn add_computed(&mut self) {
        self.has_exponents = true;
    }

    /// The digits of all of several parts; `None` if a number has an exponent, or was computed.
    pub(crate) fn most<'a>(mut parts: impl Iterator<Item = &'a Decimals>) -> Option<u32> {
        parts.try_fold(0, |most, part| {
            (!part.has_exponents).then(|| most.max(part.most as u32))
        })
    }
}

/// The unit of this many digits after the point. Whole numbers have none: they do not show how exact they are.
pub(crate) fn unit(decimals: Option<u32>) -> Option<Unit> {
    let digits = decimals.filter(|digits| (1..=22).contains(digits))?;
    Some(Unit {
        // Powers of ten up to this one are exact, so that the quotient is the decimal number's double.
        scale: [1.0 / 10f64.powi(digits as i32); 3],
        offset: [0.0; 3],
    })
}
