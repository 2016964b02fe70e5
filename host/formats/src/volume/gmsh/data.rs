//! Sections of numbers, as text or binary.

use super::super::bytes::{Bytes, Kind, Numbers};
use super::super::tokens::{Text, nth_token};
use crate::text::{Fault, Parsed, show};

/// A position in a file, and the file's form.
#[derive(Clone)]
pub(super) enum Data<'a> {
    Text(Text<'a>),
    /// A binary file, with the type of sizes.
    Binary(Bytes<'a>, Kind),
}

/// The start of a list of numbers.
#[derive(Clone)]
pub(super) enum Start<'a> {
    Text(Text<'a>),
    /// In a binary file, with the bytes of a number.
    Binary(Bytes<'a>, usize),
}

/// The version of a file of version 4.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Version {
    /// Each node's coordinates follow its tag, headers have no bounds of tags, and an element's tag has 32 bits.
    V40,
    V41,
}

impl Version {
    pub(super) fn of(number: f64) -> Version {
        if number == 4.0 {
            Version::V40
        } else {
            Version::V41
        }
    }
}

/// The word that ends a section. Version 1.0 uses capitals.
fn end_of(name: &str) -> String {
    match name.bytes().all(|letter| letter.is_ascii_uppercase()) {
        true => format!("$END{name}"),
        false => format!("$End{name}"),
    }
}

impl Start<'_> {
    /// A fault at number `i`.
    pub(super) fn fault(&self, i: usize, reason: String) -> Fault {
        match self {
            Start::Text(text) => {
                let before = nth_token(text.file, text.at, i);
                Fault::new(Text::new(text.file, before).skip_blanks(), reason)
            }
            Start::Binary(bytes, size) => bytes.fault(bytes.at + i * size, reason),
        }
    }
}

impl<'a> Data<'a> {
    pub(super) fn file(&self) -> &'a [u8] {
        match self {
            Data::Text(text) => text.file,
            Data::Binary(bytes, _) => bytes.file,
        }
    }

    fn at(&mut self) -> &mut usize {
        match self {
            Data::Text(text) => &mut text.at,
            Data::Binary(bytes, _) => &mut bytes.at,
        }
    }

    /// The text from here on.
    pub(super) fn text(&mut self) -> Text<'a> {
        Text::new(self.file(), *self.at())
    }

    /// Continues after a text that was read.
    pub(super) fn go_on(&mut self, text: &Text) {
        *self.at() = text.at;
    }

    /// The name of the next section, and its place; moves past its line. `None` at the end of the file.
    pub(super) fn section(&mut self) -> Parsed<Option<(&'a str, usize)>> {
        let mut text = self.text();
        let begin = text.skip_blanks();
        let Some(word) = text.word() else {
            return Ok(None);
        };
        let name = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.strip_prefix('$'))
            .ok_or_else(|| {
                let reason = format!("expected a section such as $Nodes, found `{}`", show(word));
                Fault::new(begin, reason)
            })?;
        if let Data::Binary(bytes, _) = self {
            text.finish_line()?;
            // The section begins after this line.
            bytes.part = begin;
        }
        self.go_on(&text);
        Ok(Some((name, begin)))
    }

    /// Moves past the end of this section.
    pub(super) fn end_section(&mut self, name: &str) -> Parsed<()> {
        let mut text = self.text();
        let begin = text.skip_blanks();
        let word = text.word().unwrap_or_default();
        let end = end_of(name);
        if word != end.as_bytes() {
            let reason = format!("expected {end}, found `{}`", show(word));
            return Err(match self {
                Data::Text(_) => Fault::new(begin, reason),
                Data::Binary(bytes, _) => bytes.fault(begin, reason),
            });
        }
        self.go_on(&text);
        Ok(())
    }

    /// Moves past the end of a section that is not read.
    pub(super) fn skip_section(&mut self, name: &str) -> Parsed<()> {
        let end = end_of(name);
        let mut text = self.text();
        let found = memchr::memmem::find(&text.file[text.at..], end.as_bytes());
        let Some(length) = found else {
            return Err(Fault::new(text.at, format!("there is no {end}")));
        };
        text.at += length + end.len();
        self.go_on(&text);
        Ok(())
    }

    /// The start of the numbers here.
    fn start(&self, size: usize) -> Start<'a> {
        match self {
            Data::Text(text) => Start::Text(text.clone()),
            Data::Binary(bytes, _) => Start::Binary(bytes.clone(), size),
        }
    }

    /// `count` whole numbers of 32 bits, and their start.
    pub(super) fn ints(&mut self, count: usize, what: &str) -> Parsed<(Vec<i64>, Start<'a>)> {
        self.integers(count, Kind::I32, what)
    }

    /// `count` whole numbers of the size of sizes, and their start.
    pub(super) fn sizes(&mut self, count: usize, what: &str) -> Parsed<(Vec<i64>, Start<'a>)> {
        let kind = match self {
            Data::Binary(_, size) => *size,
            Data::Text(_) => Kind::U64,
        };
        self.integers(count, kind, what)
    }

    fn integers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<(Vec<i64>, Start<'a>)> {
        let start = self.start(kind.size());
        let values = match self {
            Data::Text(text) => text.numbers(count, what)?,
            Data::Binary(bytes, _) => match bytes.numbers(count, kind, what)? {
                Numbers::Integers(integers) => integers,
                Numbers::Floats(_) => unreachable!("integers are asked for"),
            },
        };
        Ok((values, start))
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Data::Text(_))
    }

    /// Moves past `count` lines that are not empty.
    pub(super) fn skip_lines(&mut self, count: usize) {
        let mut text = self.text();
        for _ in 0..count {
            if text.skip_blanks() == text.file.len() {
                break;
            }
            text.line();
        }
        self.go_on(&text);
    }

    /// Moves past `count` whole numbers of 32 bits of a binary file.
    pub(super) fn skip_ints(&mut self, count: usize) -> Parsed<()> {
        self.skip_numbers(count, Kind::I32)
    }

    /// Moves past `count` whole numbers of the size of sizes of a binary file.
    pub(super) fn skip_sizes(&mut self, count: usize) -> Parsed<()> {
        match self {
            Data::Binary(_, size) => {
                let size = *size;
                self.skip_numbers(count, size)
            }
            Data::Text(_) => Ok(()),
        }
    }

    fn skip_numbers(&mut self, count: usize, kind: Kind) -> Parsed<()> {
        match self {
            Data::Binary(bytes, _) => bytes.take(count, kind.size(), "numbers").map(|_| ()),
            Data::Text(_) => Ok(()),
        }
    }

    /// `count` doubles.
    pub(super) fn floats(&mut self, count: usize, what: &str) -> Parsed<Vec<f64>> {
        match self {
            Data::Text(text) => text.numbers(count, what),
            Data::Binary(bytes, _) => Ok(bytes.numbers(count, Kind::F64, what)?.into_floats()),
        }
    }

    /// One whole number of 32 bits.
    pub(super) fn int(&mut self, what: &str) -> Parsed<i64> {
        Ok(self.ints(1, what)?.0[0])
    }

    /// One count of the size of sizes.
    pub(super) fn count(&mut self, what: &str) -> Parsed<usize> {
        let (values, start) = self.sizes(1, what)?;
        usize::try_from(values[0])
            .map_err(|_| start.fault(0, format!("expected {what}, found {}", values[0])))
    }
}
