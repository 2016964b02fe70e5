//! Types of PTX ("PTX ISA", section 5.2).

/// A type of PTX: `u`, `s`, `b`, `f` or `p` with its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: char,
    pub bits: u32,
}

impl Type {
    pub fn parse(word: &str) -> Option<Self> {
        if word == "pred" {
            return Some(Self { kind: 'p', bits: 1 });
        }
        let (kind, bits) = (word.chars().next()?, word.get(1..)?.parse().ok()?);
        let is_known = match kind {
            'f' => matches!(bits, 32 | 64),
            _ => matches!(kind, 'u' | 's' | 'b') && matches!(bits, 8 | 16 | 32 | 64),
        };
        is_known.then_some(Self { kind, bits })
    }

    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// A slot's value as a number.
    pub fn signed(self, x: u64) -> i64 {
        let unused = 64 - self.bits;
        ((x << unused) as i64) >> unused
    }
}
