//! Words and numbers of a legacy `.vtk` file.

use super::bytes::{Bytes, Kind, Numbers, Order};
use super::tokens::Text;
use crate::fields::type_named;
use crate::text::{Fault, Parsed, show};

/// A file with keywords as text, and numbers as text or binary.
pub(super) struct Reader<'a> {
    pub(super) text: Text<'a>,
    pub(super) is_binary: bool,
}

impl<'a> Reader<'a> {
    /// Moves past the next keyword. Returns its offset, and the keyword in upper case.
    pub(super) fn keyword(&mut self) -> Option<(usize, String)> {
        let begin = self.text.skip_blanks();
        let word = self.text.word()?;
        Some((begin, show(word).to_ascii_uppercase()))
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<&'a [u8]> {
        let fault = self.text.unexpected(what);
        self.text.word().ok_or(fault)
    }

    pub(super) fn kind(&mut self) -> Parsed<Kind> {
        let fault = self.text.unexpected("a type of numbers such as double");
        let name = self.text.word().unwrap_or_default().to_ascii_lowercase();
        let is_it = |other: &&str| other.as_bytes() == name;
        type_named(|names| names.legacy.iter().any(&is_it)).ok_or(fault)
    }

    /// The numbers after this line.
    pub(super) fn numbers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<Numbers> {
        if !self.is_binary {
            return Ok(match kind {
                Kind::F32 | Kind::F64 => Numbers::Floats(self.text.numbers(count, what)?),
                Kind::U64 => Numbers::of_bits(self.text.numbers(count, what)?),
                _ => Numbers::Integers(self.text.numbers(count, what)?),
            });
        }
        let part = self.text.at.saturating_sub(1);
        self.text.line();
        let mut bytes = Bytes {
            file: self.text.file,
            at: self.text.at,
            order: Order::Big,
            part,
        };
        let numbers = bytes.numbers(count, kind, what)?;
        self.text.at = bytes.at;
        Ok(numbers)
    }

    pub(super) fn integers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<Vec<i64>> {
        let begin = self.text.at;
        let numbers = self.numbers(count, kind, what)?.into_integers();
        numbers.map_err(|x| {
            Fault::new(
                begin,
                format!("expected whole numbers of {what}, found `{x}`"),
            )
        })
    }
}
