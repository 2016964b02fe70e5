//! Parsing of text formats: bytes of the mapped file, in chunks that run in parallel, without a string per line.
//!
//! A text file is a list of *rows*: lines with data, without blank lines and comments. [`TextRows`] cuts the file into
//! chunks at line ends and counts the rows of each. So a second pass can parse all chunks at once and still know the
//! number of each row: the counts of a header determine the content of each row. Faults carry a byte offset; the line
//! number is counted only to report a fault.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use trioxide_mesh::{Error, parallel, progress};

mod rows;

pub(crate) use rows::TextRows;

/// A fault in a file, and its place.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Offset of the offending byte.
    pub(crate) offset: usize,
    pub(crate) reason: String,
}

pub(crate) type Parsed<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(offset: usize, reason: impl Into<String>) -> Fault {
        Fault {
            offset,
            reason: reason.into(),
        }
    }

    /// The error of this fault in a text file at `path` with the content `file`.
    pub(crate) fn in_text(self, path: &Path, file: &[u8]) -> Error {
        let before = &file[..self.offset.min(file.len())];
        let end = if has_carriage_returns_only(file) {
            b'\r'
        } else {
            b'\n'
        };
        Error::Parse {
            path: path.to_owned(),
            line: 1 + memchr::memchr_iter(end, before).count(),
            reason: self.reason,
        }
    }
}

/// Whether lines end in carriage returns, as on old Macintoshs.
fn has_carriage_returns_only(file: &[u8]) -> bool {
    memchr::memchr(b'\n', file).is_none() && memchr::memchr(b'\r', file).is_some()
}

/// The text with line feeds as line ends, at the same offsets.
pub(crate) fn with_line_feeds(file: &[u8]) -> Cow<'_, [u8]> {
    match has_carriage_returns_only(file) {
        false => Cow::Borrowed(file),
        true => file
            .iter()
            .map(|&byte| if byte == b'\r' { b'\n' } else { byte })
            .collect(),
    }
}

/// Fewest bytes of a chunk: small in tests, so that every test has seams.
const CHUNK: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// Ranges that cover `file` from `start`, cut after line ends. With `continued`, a backslash before a line end
/// continues the line.
pub(crate) fn split_at_lines(file: &[u8], start: usize, continued: bool) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut from = start;
    while from < file.len() {
        let mut to = (from + CHUNK).min(file.len());
        while to < file.len() {
            match memchr::memchr(b'\n', &file[to..]) {
                None => to = file.len(),
                Some(length) => {
                    to += length + 1;
                    if !(continued && ends_with_backslash(&file[from..to - 1])) {
                        break;
                    }
                }
            }
        }
        chunks.push(from..to);
        from = to;
    }
    chunks
}

/// Whether `line`, without its line feed, continues in the next line.
fn ends_with_backslash(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line).last() == Some(&b'\\')
}

/// Offset after a byte order mark, which some editors write before a text.
pub(crate) fn text_start(file: &[u8]) -> usize {
    if file.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// Runs `parse` on the chunks in parallel. Returns the first fault in the file.
pub(crate) fn parse_chunks<C: Sync, T: Send>(
    chunks: &[C],
    parse: impl Fn(&C) -> Parsed<T> + Sync,
) -> Parsed<Vec<T>> {
    let counted = progress::count("%", chunks.len() as u64);
    let parts = parallel::collect_tasks(chunks.len(), |k| {
        let part = parse(&chunks[k]);
        counted.advance(1);
        part
    });
    parts.into_iter().collect()
}

/// One line, read from left to right. A `#` ends it.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Line<'a> {
    /// Offset of the next token, or of the line's end.
    pub(crate) fn offset(&mut self) -> usize {
        self.skip_blanks();
        self.at
    }

    /// Advances by `length` bytes of the next token.
    pub(crate) fn skip(&mut self, length: usize) {
        self.skip_blanks();
        self.at = (self.at + length).min(self.end);
    }

    /// Whether no token remains.
    pub(crate) fn is_finished(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.end || self.file[self.at] == b'#'
    }

    /// The next token.
    pub(crate) fn token(&mut self) -> Option<&'a [u8]> {
        if self.is_finished() {
            return None;
        }
        let start = self.at;
        while self.at < self.end && !is_delimiter(self.file[self.at]) {
            self.at += 1;
        }
        // At least one byte: a lone backslash, for example.
        self.at = self.at.max(start + 1);
        Some(&self.file[start..self.at])
    }

    /// Number of the remaining tokens.
    pub(crate) fn tokens(mut self) -> usize {
        std::iter::from_fn(|| self.token()).count()
    }

    /// The bytes that were read since an earlier state of the line.
    pub(crate) fn since(&self, before: &Line<'a>) -> &'a [u8] {
        &self.file[before.at..self.at]
    }

    /// The offset of the bytes that are not read, and these bytes up to the line's end.
    pub(crate) fn rest(&self) -> (usize, &'a [u8]) {
        (self.at, &self.file[self.at..self.end])
    }

    /// A decimal number: also `1e3`, `+.5`, `nan`, `inf`.
    pub(crate) fn f64(&mut self, what: &str) -> Parsed<f64> {
        self.number(what).map(|(value, _)| value)
    }

    /// As [`Line::f64`], with the number's text.
    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Parsed<(f64, &'a [u8])> {
        self.skip_blanks();
        match fast_float2::parse_partial::<f64, _>(&self.file[self.at..self.end]) {
            Ok((value, length)) if self.is_delimited(self.at + length) => {
                let text = &self.file[self.at..self.at + length];
                self.at += length;
                Ok((value, text))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A whole number.
    pub(crate) fn integer(&mut self, what: &str) -> Parsed<i64> {
        self.skip_blanks();
        match parse_integer(&self.file[self.at..self.end]) {
            Some((value, length)) if self.is_delimited(self.at + length) => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number of at most seven digits exactly here, and the blank after it. `None` for anything else, and near the
    /// end of the file.
    pub(crate) fn short_integer(&mut self) -> Option<u32> {
        let (number, length) = self.short_digits()?;
        match self.file[self.at + length] {
            b' ' => self.at += length + 1,
            b'\n' | b'\r' => self.at += length,
            _ => return None,
        }
        Some(number)
    }

    /// The one to three numbers, from 1 on and of at most seven digits each, that are joined by `/` exactly here; 0 for
    /// one that is missing. `None`, and nothing is read, for anything else, and near the end of the file.
    pub(crate) fn short_corner(&mut self) -> Option<[u32; 3]> {
        let mut numbers = [0; 3];
        let mut next = self.clone();
        for (k, number) in numbers.iter_mut().enumerate() {
            if k != 1 || self.file.get(next.at) != Some(&b'/') {
                let length;
                (*number, length) = next.short_digits().filter(|&(number, _)| number > 0)?;
                next.at += length;
            }
            match self.file.get(next.at)? {
                b'/' if k < 2 => next.at += 1,
                b' ' | b'\n' | b'\r' => break,
                _ => return None,
            }
        }
        self.at = next.at;
        Some(numbers)
    }

    /// The value and the number of one to seven digits exactly here, before another byte of the file.
    ///
    /// Processes eight bytes at once: the bytes before the first non-digit are moved to the end, and summed in pairs of
    /// ones, twos and fours.
    #[inline]
    fn short_digits(&self) -> Option<(u32, usize)> {
        let bytes = *self.file[self.at..].first_chunk::<8>()?;
        let digits = u64::from_le_bytes(bytes) ^ u64::from_le_bytes([b'0'; 8]);
        // A byte over 9 carries only into later bytes.
        let over = digits.wrapping_add(u64::from_le_bytes([0x76; 8])) | digits;
        let bits = (over & u64::from_le_bytes([0x80; 8])).trailing_zeros() & !7;
        let length = bits as usize / 8;
        if !(1..8).contains(&length) || self.at + length > self.end {
            return None;
        }
        let ones = digits << (64 - bits);
        let twos = (ones & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8;
        let fours = (twos & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
        let all = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32;
        Some((all as u32, length))
    }

    /// A region or marker, called `what`, which `name` introduces.
    pub(crate) fn tag(&mut self, name: &str, what: &str) -> Parsed<i32> {
        let offset = self.offset();
        let tag = self.integer(name)?;
        check_tag(tag, what).map_err(|reason| Fault::new(offset, reason))
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&mut self, what: &str) -> Parsed<usize> {
        let before = self.clone();
        usize::try_from(self.integer(what)?).map_err(|_| before.clone().unexpected(what))
    }

    /// The index, from 0, of one of `count` vertices, which the file numbers from `base`.
    pub(crate) fn vertex(&mut self, base: u32, count: usize) -> Parsed<u32> {
        let offset = self.offset();
        let index = self.integer("a vertex index")?;
        check_vertex(index, base, count).map_err(|reason| Fault::new(offset, reason))
    }

    /// The text between a `[` here and the next `]`.
    pub(crate) fn bracketed(&mut self, what: &str) -> Parsed<Line<'a>> {
        self.skip_blanks();
        let rest = &self.file[self.at..self.end];
        match (rest.first(), memchr::memchr(b']', rest)) {
            (Some(b'['), Some(length)) => {
                let inside = Line {
                    file: self.file,
                    at: self.at + 1,
                    end: self.at + length,
                };
                self.at += length + 1;
                Ok(inside)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Checks that no token remains.
    pub(crate) fn expect_end(&mut self) -> Parsed<()> {
        match self.is_finished() {
            true => Ok(()),
            false => Err(self.unexpected("the end of the line")),
        }
    }

    /// A fault at the next token.
    pub(crate) fn unexpected(&mut self, what: &str) -> Fault {
        let offset = self.offset();
        match self.clone().token() {
            None => Fault::new(offset, format!("expected {what}, but the line ends")),
            Some(token) => Fault::new(offset, format!("expected {what}, found `{}`", show(token))),
        }
    }

    fn is_delimited(&self, at: usize) -> bool {
        at >= self.end || is_delimiter(self.file[at])
    }

    fn skip_blanks(&mut self) {
        while self.at < self.end {
            match self.file[self.at] {
                // A line feed here follows a backslash.
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | b'\n' => self.at += 1,
                b'\\'
                    if self.file[self.at + 1..self.end].starts_with(b"\n")
                        || self.file[self.at + 1..self.end].starts_with(b"\r\n") =>
                {
                    self.at += 1;
                }
                _ => break,
            }
        }
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' | b'\n' | b'#' | b'\\'
    )
}

/// The index from 0 of a vertex that a file numbers from `base`, or the reason why there is none.
pub(crate) fn check_vertex(index: i64, base: u32, count: usize) -> Result<u32, String> {
    let vertex = index.wrapping_sub(i64::from(base));
    match u32::try_from(vertex) {
        Ok(vertex) if (vertex as usize) < count => Ok(vertex),
        _ => Err(format!(
            "vertex {index} does not exist: {count} vertices are numbered from {base}"
        )),
    }
}

/// A region or marker, called `what`, or the reason why it is none.
pub(crate) fn check_tag(tag: i64, what: &str) -> Result<i32, String> {
    i32::try_from(tag).map_err(|_| format!("{what} {tag} has more than 32 bits"))
}

/// The whole number at the start of `text` and its length.
pub(crate) fn parse_integer(text: &[u8]) -> Option<(i64, usize)> {
    let negative = text.first() == Some(&b'-');
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    // Up to this number of digits no number can overflow.
    let mut small = 0_u64;
    let mut length = sign;
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
        && length < 18
    {
        small = 10 * small + u64::from(digit);
        length += 1;
    }
    let mut value = if negative {
        -(small as i64)
    } else {
        small as i64
    };
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        let (tens, digit) = (value.checked_mul(10)?, i64::from(digit));
        value = match negative {
            true => tens.checked_sub(digit)?,
            false => tens.checked_add(digit)?,
        };
        length += 1;
    }
    (length > sign).then_some((value, length))
}

/// `value` as an integer, if it is whole.
pub(crate) fn whole(value: f64) -> Option<i64> {
    // Up to 2^53 every whole number is exact.
    (value.trunc() == value && value.abs() <= 9e15).then_some(value as i64)
}

/// Items as a list for people: the first of them, and the number of the others.
pub(crate) fn listed(items: impl IntoIterator<Item = String>) -> String {
    const MOST: usize = 24;
    let mut items: Vec<String> = items.into_iter().collect();
    let more = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    if more > 0 {
        items.push(format!("and {more} more"));
    }
    items.join(", ")
}

/// Appends a word to others, after a blank.
pub(crate) fn push_word(words: &mut String, word: &[u8]) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&String::from_utf8_lossy(word));
}

/// `token` as shown in an error.
pub(crate) fn show(token: &[u8]) -> String {
    let text = String::from_utf8_lossy(&token[..token.len().min(40)]);
    text.escape_debug().to_string()
}

/// The lines of `file[range]`, including blank ones and comments.
pub(crate) fn lines(
    file: &[u8],
    range: Range<usize>,
    continued: bool,
) -> impl Iterator<Item = Line<'_>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let start = at;
        // In comments and names a backslash continues no line: paths may end in one.
        let mut goes_on = continued;
        loop {
            let piece = at;
            let end = memchr::memchr(b'\n', &file[at..range.end]).map(|length| at + length);
            at = end.map_or(range.end, |end| end + 1);
            let end = end.unwrap_or(range.end);
            let line = &file[piece..end];
            // Each piece is examined once: a line may be continued any number of times.
            goes_on = goes_on
                && at < range.end
                && ends_with_backslash(line)
                && (piece > start
                    || matches!(line.trim_ascii_start().first(), Some(b'v' | b'f' | b'l')))
                && memchr::memchr(b'#', line).is_none();
            if goes_on {
                continue;
            }
            return Some(Line {
                file,
                at: start,
                end,
            });
        }
    })
}

#[cfg(test)]
mod tests;
