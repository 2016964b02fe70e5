//! Text files that do not put one vertex, face or strip on each line.

use std::ops::Range;

use super::header::{Header, Kind};
use crate::text::parse_integer;
use crate::volume::tokens::Text;

/// The file with a line for each row of the header's elements, at the same offsets: only blanks, line ends and comments
/// differ. `None` if the number of its numbers does not fit the header.
pub(super) fn with_rows(file: &[u8], header: &Header) -> Option<Vec<u8>> {
    // First without a copy, because a file may only lack some lines.
    let end = walk(file, header, &mut |_, _| {})?;
    let mut laid = file[..end].to_vec();
    walk(file, header, &mut |gap, ends_row| {
        let first = gap.start;
        laid[gap].fill(b' ');
        if ends_row {
            laid[first] = b'\n';
        }
    });
    Some(laid)
}

/// Passes the text before each number, and whether the number ends a row, to `push`. Returns the end of the last
/// number.
fn walk(file: &[u8], header: &Header, push: &mut dyn FnMut(Range<usize>, bool)) -> Option<usize> {
    let mut body = Text::new(file, header.end);
    let mut end = header.end;
    let mut next = |is_first: bool| {
        let begin = body.skip_blanks();
        let word = body.word()?;
        if end < begin {
            push(end..begin, is_first && end > header.end);
        }
        end = begin + word.len();
        Some(word)
    };
    for element in &header.elements {
        for _ in 0..element.rows() {
            for (k, property) in element.properties.iter().enumerate() {
                let word = next(k == 0)?;
                if let Kind::List { .. } = property.kind {
                    let (count, length) = parse_integer(word)?;
                    let count = usize::try_from(count).ok()?;
                    for _ in 0..count {
                        next(false)?;
                    }
                    if length != word.len() {
                        return None;
                    }
                }
            }
        }
    }
    body.word().is_none().then_some(end)
}
