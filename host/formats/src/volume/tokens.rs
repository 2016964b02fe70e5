//! Numbers and words of text formats without significant line ends. Long lists of numbers are parsed in parallel.

use crate::text::{Fault, Parsed, parse_integer, show};
use trioxide_mesh::parallel;

/// Approximate bytes of a part of a list: small in tests, so that every test has seams.
const CHUNK: usize = if cfg!(test) { 48 } else { 1 << 19 };

/// A text, read from `at` on. A `#` begins a comment.
#[derive(Clone)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) at: usize,
}

/// A number of a text format.
pub(crate) trait Number: Copy + Send + Sync {
    /// Its name in errors.
    const NAME: &'static str;
    /// The number at the start of `text`, and its length.
    fn parse(text: &[u8]) -> Option<(Self, usize)>;
}

impl Number for f64 {
    const NAME: &'static str = "a number";

    fn parse(text: &[u8]) -> Option<(f64, usize)> {
        fast_float2::parse_partial(text).ok()
    }
}

impl Number for i64 {
    const NAME: &'static str = "a whole number";

    fn parse(text: &[u8]) -> Option<(i64, usize)> {
        parse_integer(text)
    }
}

/// Unsigned, 64 bits.
impl Number for u64 {
    const NAME: &'static str = "a whole number without a sign";

    fn parse(text: &[u8]) -> Option<(u64, usize)> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
        Some((number, digits))
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

impl<'a> Text<'a> {
    pub(crate) fn new(file: &'a [u8], at: usize) -> Text<'a> {
        Text { file, at }
    }

    /// Moves to the next token. Returns its offset, or the length of the file.
    pub(crate) fn skip_blanks(&mut self) -> usize {
        while let Some(&byte) = self.file.get(self.at) {
            if byte == b'#' {
                let rest = &self.file[self.at..];
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
        self.at
    }

    /// The next token; `None` at the end of the file.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        let start = self.skip_blanks();
        let length = self.file[start..]
            .iter()
            .position(|&byte| is_blank(byte) || byte == b'#')
            .unwrap_or(self.file.len() - start);
        self.at += length;
        (length > 0).then(|| &self.file[start..start + length])
    }

    /// A fault at the next token.
    pub(crate) fn unexpected(&self, what: &str) -> Fault {
        let mut ahead = self.clone();
        let offset = ahead.skip_blanks();
        let found = match ahead.word() {
            None => "but the file ends".to_owned(),
            Some(word) => format!("found `{}`", show(word)),
        };
        Fault::new(offset, format!("expected {what}, {found}"))
    }

    /// One number.
    pub(crate) fn number<T: Number>(&mut self, what: &str) -> Parsed<T> {
        let start = self.skip_blanks();
        match T::parse(&self.file[start..]) {
            Some((value, length)) if self.ends_at(start + length) => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// One number that is not negative.
    pub(crate) fn count(&mut self, what: &str) -> Parsed<usize> {
        let before = self.clone();
        let count = self.number::<i64>(what)?;
        usize::try_from(count).map_err(|_| before.unexpected(what))
    }

    fn ends_at(&self, at: usize) -> bool {
        self.file
            .get(at)
            .is_none_or(|&byte| is_blank(byte) || byte == b'#')
    }

    /// The next `count` numbers. Memory is not allocated beyond the numbers that the file holds.
    pub(crate) fn numbers<T: Number>(&mut self, count: usize, what: &str) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        while all.len() < count {
            let chunks = self.chunks(4 * rayon::current_num_threads());
            if chunks.is_empty() {
                let reason = format!(
                    "expected {count} numbers of {what}, but the file ends after {}",
                    all.len()
                );
                return Err(Fault::new(self.file.len(), reason));
            }
            // A chunk ends at a token that is no number: the list has ended there.
            let parts: Vec<(Vec<T>, usize)> = parallel::collect_tasks(chunks.len(), |k| {
                let (from, to) = chunks[k];
                let mut part = Vec::with_capacity((to - from) / 8);
                let mut text = Text::new(&self.file[..to], from);
                loop {
                    let before = text.skip_blanks();
                    if before == to || all.len() + part.len() == count {
                        return (part, before);
                    }
                    match text.number(T::NAME) {
                        Ok(value) => part.push(value),
                        Err(_) => return (part, before),
                    }
                }
            });
            for ((part, end), (from, to)) in parts.into_iter().zip(chunks) {
                let left = count - all.len();
                if part.len() > left {
                    all.extend_from_slice(&part[..left]);
                    self.at = nth_token(self.file, from, left);
                    return Ok(all);
                }
                all.extend(part);
                self.at = end;
                if all.len() == count {
                    return Ok(all);
                }
                if end < to {
                    return Err(self.unexpected(T::NAME));
                }
            }
        }
        Ok(all)
    }

    /// All numbers up to offset `end`.
    pub(crate) fn numbers_until<T: Number>(&mut self, end: usize) -> Parsed<Vec<T>> {
        let mut inside = Text::new(&self.file[..end], self.at);
        let mut all = Vec::new();
        loop {
            let chunks = inside.chunks(4 * rayon::current_num_threads());
            let Some(&(_, last)) = chunks.last() else {
                self.at = end;
                return Ok(all);
            };
            let parts: Vec<Parsed<Vec<T>>> = parallel::collect_tasks(chunks.len(), |k| {
                let (from, to) = chunks[k];
                let mut part = Vec::with_capacity((to - from) / 8);
                let mut text = Text::new(&self.file[..to], from);
                while text.skip_blanks() < to {
                    part.push(text.number(T::NAME)?);
                }
                Ok(part)
            });
            for part in parts {
                all.extend(part?);
            }
            inside.at = last;
        }
    }

    /// Ranges from here on, up to `most`, cut between tokens.
    fn chunks(&self, most: usize) -> Vec<(usize, usize)> {
        let mut chunks = Vec::new();
        let mut from = self.at;
        while chunks.len() < most && from < self.file.len() {
            let target = (from + CHUNK).min(self.file.len());
            let rest = &self.file[target..];
            let near = &rest[..rest.len().min(CHUNK)];
            let to = match memchr::memchr(b'\n', near) {
                Some(length) => target + length,
                // A very long line without a comment is cut between any two tokens.
                None if memchr::memchr(b'#', &self.file[from..target + near.len()]).is_none() => {
                    let length = rest.iter().position(|&byte| is_blank(byte));
                    target + length.unwrap_or(rest.len())
                }
                None => target + memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            };
            chunks.push((from, to));
            from = to;
        }
        chunks
    }

    /// Moves past the next line end. Only blanks may precede it.
    pub(crate) fn finish_line(&mut self) -> Parsed<()> {
        while let Some(&byte) = self.file.get(self.at) {
            if !is_blank(byte) {
                return Err(self.unexpected("the end of the line"));
            }
            self.at += 1;
            if byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    /// The rest of the line, without its end.
    pub(crate) fn line(&mut self) -> &'a [u8] {
        let rest = &self.file[self.at..];
        let length = memchr::memchr(b'\n', rest);
        self.at += length.map_or(rest.len(), |length| length + 1);
        let line = &rest[..length.unwrap_or(rest.len())];
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// Offset after token `n` (from 1) after `at`; `at` for 0.
pub(crate) fn nth_token(file: &[u8], at: usize, n: usize) -> usize {
    let mut text = Text::new(file, at);
    for _ in 0..n {
        text.word();
    }
    text.at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_the_same_for_any_seam() {
        let mut file = String::from("head ");
        for i in 0..1000 {
            file += &format!("{i} ");
            if i % 13 == 0 {
                file += "# comment 7 8\n";
            }
            if i % 31 == 0 {
                file += "\r\n\t";
            }
        }
        file += "tail";
        let bytes = file.as_bytes();
        for count in [0, 1, 2, 13, 14, 500, 999, 1000] {
            let mut text = Text::new(bytes, 4);
            let numbers = text.numbers::<i64>(count, "x").unwrap();
            assert_eq!(numbers, (0..count as i64).collect::<Vec<_>>());
            let next = text.word().unwrap();
            match count {
                1000 => assert_eq!(next, b"tail"),
                _ => assert_eq!(next, count.to_string().as_bytes()),
            }
        }
        let fault = Text::new(bytes, 4).numbers::<i64>(1001, "x").unwrap_err();
        assert_eq!(fault.reason, "expected a whole number, found `tail`");
        assert_eq!(fault.offset, bytes.len() - 4);
        let all = Text::new(bytes, 4).numbers_until::<f64>(bytes.len() - 4);
        assert_eq!(all.unwrap().len(), 1000);
        let fault = Text::new(b"1 2", 0)
            .numbers::<f64>(usize::MAX, "x")
            .unwrap_err();
        assert!(fault.reason.ends_with("the file ends after 2"));
    }

    #[test]
    fn one_long_line_has_seams_too() {
        let file: String = (0..1000).map(|i| format!("{i}.5 ")).collect();
        let numbers = Text::new(file.as_bytes(), 0).numbers::<f64>(1000, "x");
        let expected: Vec<f64> = (0..1000).map(|i| f64::from(i) + 0.5).collect();
        assert_eq!(numbers.unwrap(), expected);
    }
}
