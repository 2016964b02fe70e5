//! The lines before the points: comments, names of columns, the number of points.

use super::MOST_COLUMNS;
use super::cells::{Cells, Layout};
use super::names::{Column, Role};
use crate::text::{Fault, Line, Parsed, lines, text_start};

/// The lines before the points.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// Offset of the first point.
    pub(super) start: usize,
    /// The declared number of points.
    pub(super) count: Option<usize>,
    /// A line without numbers, or a comment after `//` that names coordinates.
    header: Option<Line<'a>>,
    /// The last other comment that names coordinates.
    comment: Option<Line<'a>>,
    /// The first line that is not a comment.
    first: Option<Line<'a>>,
}

/// The sign that begins a comment of a whole line.
pub(super) fn comment_sign(line: &[u8]) -> Option<&'static [u8]> {
    let mut signs = [&b"//"[..], b"#", b"%"].into_iter();
    signs.find(|sign| line.starts_with(sign))
}

impl<'a> Head<'a> {
    /// Reads the lines up to the first point.
    ///
    /// # Errors
    /// The file is a PTX file.
    pub(super) fn of(file: &'a [u8]) -> Parsed<Head<'a>> {
        let mut head = Head {
            start: file.len(),
            ..Head::default()
        };
        let mut has_row = false;
        for line in lines(file, text_start(file)..file.len(), false) {
            let (start, text) = line.rest();
            let text = text.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if let Some(sign) = comment_sign(text) {
                let mut words = line.clone();
                words.skip(sign.len());
                if Column::all(words_of(&words).iter().map(|word| &**word)).is_ok() {
                    match sign {
                        b"//" => head.header = Some(words),
                        _ => head.comment = Some(words),
                    }
                }
                continue;
            }
            head.first.get_or_insert(line.clone());
            if let Some(count) = lone_count(text) {
                if head.count.is_none() {
                    head.count = Some(count);
                    continue;
                }
                if head.header.is_none() {
                    return Err(Fault::new(start, PTX));
                }
            }
            // The cells of a point after a header may be empty.
            if has_row || is_point(&line) {
                head.start = start;
                return Ok(head);
            }
            has_row = true;
            head.header = Some(line);
        }
        Ok(head)
    }

    /// The columns by their names, for points of `count` cells; `None` without names.
    ///
    /// # Errors
    /// A header that does not fit the points.
    pub(super) fn columns(&self, layout: Layout, count: usize) -> Parsed<Option<Vec<Column>>> {
        let [header, comment] = [&self.header, &self.comment].map(|line| {
            let line = line.as_ref()?;
            let mut cells = Cells::of(line.clone(), layout);
            let names = std::iter::from_fn(|| cells.next()).take(MOST_COLUMNS + 1);
            let names: Vec<String> = names.map(word).collect();
            Some(match names.len() == count {
                true => names,
                false => words_of(line),
            })
        });
        let columns = |names: &[String]| Column::all(names.iter().map(|name| &**name));
        let Some(names) = header else {
            let named = comment.filter(|names| names.len() == count);
            return Ok(named.and_then(|names| columns(&names).ok()));
        };
        let at = self.header.clone().map_or(0, |mut line| line.offset());
        let is_point = |name: &String| matches!(Role::of(name), Role::Coordinate(_));
        if names.len() != count || count < 2 {
            // A title.
            if !names.iter().any(is_point) {
                return Ok(None);
            }
            let reason = format!(
                "the header names {} columns, but a point has {count} numbers: name all of them, in the file or by the option columns=x,y,z,…",
                names.len()
            );
            return Err(Fault::new(at, reason));
        }
        columns(&names).map(Some).map_err(|reason| {
            let names = names.join(",");
            let reason = format!(
                "{reason}: name the columns by the option columns=x,y,z,… in place of {names}"
            );
            Fault::new(at, reason)
        })
    }

    /// Checks that a file without points declares that it has none.
    pub(super) fn expect_none(&self) -> Parsed<()> {
        let names = self.header.as_ref().map(words_of).unwrap_or_default();
        let are_names = Column::all(names.iter().map(|name| &**name)).is_ok();
        match (&self.first, self.count == Some(0)) {
            (_, true) => Ok(()),
            (None, false) => Err(Fault::new(0, EMPTY)),
            (Some(_), false) if are_names => Err(Fault::new(0, EMPTY)),
            (Some(first), false) => Err(first
                .clone()
                .unexpected("three numbers between blanks (no point follows this line)")),
        }
    }
}

const EMPTY: &str = "the file has no points: it is empty, or has names and comments only";
const PTX: &str = "this is a PTX file, a grid of points with transformations, which is not read: save it as .pts, .ply or .las";

/// The words of a line between blanks, commas and semicolons, up to the most that a point has and one more.
fn words_of(line: &Line) -> Vec<String> {
    words(line).take(MOST_COLUMNS + 1).map(word).collect()
}

fn words<'a>(line: &Line<'a>) -> impl Iterator<Item = &'a [u8]> {
    let (_, text) = line.rest();
    let words = text.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b';'));
    words.filter(|word| !word.is_empty())
}

fn word(text: &[u8]) -> String {
    let text = text
        .strip_prefix(b"\"")
        .and_then(|text| text.strip_suffix(b"\""))
        .unwrap_or(text);
    String::from_utf8_lossy(text).into_owned()
}

/// The number that is alone in its line.
fn lone_count(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// Whether a line has numbers only, two at least, or three numbers.
fn is_point(line: &Line) -> bool {
    let is_number = |word: &&[u8]| fast_float2::parse::<f64, _>(word).is_ok();
    match words(line).filter(is_number).take(3).count() {
        3 => true,
        2 => words(line).nth(2).is_none(),
        _ => false,
    }
}
