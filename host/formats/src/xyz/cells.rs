//! Cells of a row: between blanks, tabs, commas or semicolons; with decimal points or commas; quoted or not.

use crate::text::{Fault, Line, Parsed, show};

/// The separator of a text's numbers, and their decimal mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// `,`, `;` or a tab; `None` for blanks of any number.
    pub(super) separator: Option<u8>,
    pub(super) has_decimal_commas: bool,
}

impl Layout {
    pub(super) const BLANKS: Layout = Layout {
        separator: None,
        has_decimal_commas: false,
    };

    /// The layout of a row of numbers.
    ///
    /// A comma is a decimal mark if something else separates the numbers: semicolons, tabs, or blanks that do not stand
    /// beside a comma.
    pub(super) fn of(row: &[u8]) -> Layout {
        let row = row.trim_ascii();
        let row = &without_quoted(row)[..];
        let is_blank = |at: usize| row.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        let commas = || memchr::memchr_iter(b',', row);
        let has_commas = commas().next().is_some();
        if row.contains(&b';') {
            return Layout {
                separator: Some(b';'),
                has_decimal_commas: has_commas,
            };
        }
        let beside_blanks = commas().any(|at| is_blank(at + 1) || at > 0 && is_blank(at - 1));
        let has_blanks = (0..row.len()).any(is_blank);
        if has_commas && (beside_blanks || !has_blanks) {
            return Layout {
                separator: Some(b','),
                has_decimal_commas: false,
            };
        }
        // Between tabs a cell may be empty, unless several tabs or blanks align the columns.
        let mut cells = row.split(|byte| *byte == b'\t').map(<[u8]>::trim_ascii);
        let are_tabs =
            row.contains(&b'\t') && cells.all(|cell| !cell.is_empty() && !cell.contains(&b' '));
        Layout {
            separator: are_tabs.then_some(b'\t'),
            has_decimal_commas: has_commas,
        }
    }
}

/// The row with a letter for each quoted cell.
fn without_quoted(row: &[u8]) -> Vec<u8> {
    let parts = row.split(|byte| *byte == b'"').enumerate();
    let parts = parts.map(|(i, part)| if i % 2 == 0 { part } else { b"q" });
    parts.flatten().copied().collect()
}

/// The cells of a row that are left.
pub(super) struct Cells<'a> {
    line: Line<'a>,
    layout: Layout,
    /// The bytes after the last separator, where one separates the cells; `None` after the last cell.
    rest: Option<&'a [u8]>,
    /// Offset of the row's end.
    end: usize,
}

impl<'a> Cells<'a> {
    pub(super) fn of(line: Line<'a>, layout: Layout) -> Cells<'a> {
        let (at, rest) = line.rest();
        Cells {
            line,
            layout,
            rest: Some(rest),
            end: at + rest.len(),
        }
    }

    /// The next cell without its blanks and quotes. An empty one follows a separator at the row's end.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let Some(separator) = self.layout.separator else {
            return self.line.token().map(unquoted);
        };
        let rest = self.rest?;
        // A separator within quotes separates nothing.
        let start = rest.len() - rest.trim_ascii_start().len();
        let quoted = match rest[start..].strip_prefix(b"\"") {
            Some(inner) => memchr::memchr(b'"', inner).map_or(0, |length| start + length + 2),
            None => 0,
        };
        let end = memchr::memchr(separator, &rest[quoted..]).map(|length| quoted + length);
        self.rest = end.map(|end| &rest[end + 1..]);
        Some(unquoted(rest[..end.unwrap_or(rest.len())].trim_ascii()))
    }

    /// The number in the next cell, called `what`, and its text. An empty cell is NaN.
    pub(super) fn number(&mut self, what: &str) -> Parsed<(f64, &'a [u8])> {
        if self.layout == Layout::BLANKS
            && let Ok(number) = self.line.number(what)
        {
            return Ok(number);
        }
        let at = self.offset();
        let fault = |found: &str| Fault::new(at, format!("expected {what}, {found}"));
        let cell = self.next().ok_or_else(|| fault("but the line ends"))?;
        match number(cell, self.layout) {
            Some(value) => Ok((value, cell)),
            None => Err(fault(&format!("found `{}`", show(cell)))),
        }
    }

    /// Passes over the next cell, called `what`.
    pub(super) fn skip(&mut self, what: &str) -> Parsed<()> {
        let at = self.offset();
        let fault = || Fault::new(at, format!("expected {what}, but the line ends"));
        self.next().map(drop).ok_or_else(fault)
    }

    /// Checks that no cell is left. A separator may end the row.
    pub(super) fn expect_end(&mut self) -> Parsed<()> {
        let is_over = match self.layout.separator {
            None => self.line.is_finished(),
            Some(_) => self.rest.is_none_or(|rest| rest.trim_ascii().is_empty()),
        };
        let at = self.offset();
        let fault = |found: &[u8]| {
            let found = show(found);
            let reason =
                format!("expected the end of the line, as in the first one, found `{found}`");
            Fault::new(at, reason)
        };
        match is_over {
            true => Ok(()),
            false => Err(fault(self.next().unwrap_or_default())),
        }
    }

    /// Offset of the next cell.
    fn offset(&mut self) -> usize {
        match self.layout.separator {
            None => self.line.offset(),
            Some(_) => self.end - self.rest.map_or(0, |rest| rest.trim_ascii_start().len()),
        }
    }
}

fn unquoted(cell: &[u8]) -> &[u8] {
    let inner = cell
        .strip_prefix(b"\"")
        .and_then(|cell| cell.strip_suffix(b"\""));
    inner.map_or(cell, <[u8]>::trim_ascii)
}

/// The number that is a cell's text; NaN for none.
pub(super) fn number(cell: &[u8], layout: Layout) -> Option<f64> {
    if cell.is_empty() || cell.eq_ignore_ascii_case(b"na") {
        return Some(f64::NAN);
    }
    let mut with_point = [0; 64];
    let cell = match memchr::memchr(b',', cell) {
        Some(comma) if layout.has_decimal_commas => {
            let copy = with_point.get_mut(..cell.len())?;
            copy.copy_from_slice(cell);
            copy[comma] = b'.';
            copy
        }
        _ => cell,
    };
    fast_float2::parse(cell).ok()
}
