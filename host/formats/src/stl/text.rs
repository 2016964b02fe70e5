//! The text form: `solid`, then facets, then `endsolid`, once or several times.
//!
//! Words may be in any case and on any lines; `end solid`, `end facet` and `end loop` may have a blank. A facet is
//! its three vertices; its normal is not read.

use glam::DVec3;

use crate::off::parse_point;
use crate::text::{
    Fault, Line, Parsed, lines, parse_chunks, push_word, split_at_lines, text_start,
    with_line_feeds,
};
use trioxide_mesh::parallel;

/// The content of a piece of the file.
#[derive(Default)]
struct Part {
    /// Corners of facets.
    points: Vec<DVec3>,
    /// Names of solids, and the number of corners of the piece before each.
    solids: Vec<(usize, String)>,
    /// For each remainder by three of the number of corners, the first place that ends or begins a facet.
    ends: [Option<usize>; 3],
}

/// A file's corners, and its solids: the facet that each begins at, and its name.
pub(super) struct Text {
    pub(super) points: Vec<DVec3>,
    pub(super) solids: Vec<(usize, String)>,
}

pub(super) fn parse(file: &[u8]) -> Parsed<Text> {
    let file = &*with_line_feeds(file);
    let ranges = split_at_lines(file, text_start(file), false);
    let mut parts = parse_chunks(&ranges, |range| {
        let mut part = Part::default();
        lines(file, range.clone(), false).try_for_each(|line| part.push(line))?;
        Ok(part)
    })?;
    let mut solids = Vec::new();
    // A facet may begin in one piece and end in the next.
    let mut before = 0;
    for part in &mut parts {
        let is_whole = |remainder: usize| (before + remainder).is_multiple_of(3);
        let ends = part.ends.iter().enumerate();
        let broken = ends.filter(|(remainder, _)| !is_whole(*remainder));
        if let Some(offset) = broken.filter_map(|(_, end)| *end).min() {
            let reason = "the facet before here has not three vertices";
            return Err(Fault::new(offset, reason));
        }
        let named = std::mem::take(&mut part.solids).into_iter();
        solids.extend(named.map(|(at, name)| ((before + at) / 3, name)));
        before += part.points.len();
    }
    if before % 3 != 0 {
        let reason = "the last facet has not three vertices";
        return Err(Fault::new(file.len(), reason));
    }
    Ok(Text {
        points: parallel::concat_lists(&mut parts, |part| &mut part.points),
        solids,
    })
}

fn is(token: Option<&[u8]>, word: &str) -> bool {
    token.is_some_and(|token| token.eq_ignore_ascii_case(word.as_bytes()))
}

impl Part {
    /// Reads the words of a line.
    fn push(&mut self, mut line: Line) -> Parsed<()> {
        loop {
            let mut start: Line = line.clone();
            let token = line.token();
            match token {
                None => return Ok(()),
                token if is(token, "vertex") => self.points.push(parse_point(&mut line)?),
                token if is(token, "facet") => skip_normal(&mut line),
                token if is(token, "outer") => {
                    self.end(start.offset());
                    skip(&mut line, "loop");
                }
                token if is(token, "endloop") => self.end(start.offset()),
                token if is(token, "endfacet") => {}
                token if is(token, "end") => match line.token() {
                    next if is(next, "loop") => self.end(start.offset()),
                    next if is(next, "facet") => {}
                    next if is(next, "solid") => skip_to_solid(&mut line),
                    _ => return Err(start.unexpected(WORDS)),
                },
                token if is(token, "endsolid") => skip_to_solid(&mut line),
                token if is(token, "solid") => {
                    self.end(start.offset());
                    let name = name(&mut line);
                    self.solids.push((self.points.len(), name));
                }
                Some(_) => return Err(start.unexpected(WORDS)),
            }
        }
    }

    /// Notes that a facet begins or ends here.
    fn end(&mut self, offset: usize) {
        self.ends[self.points.len() % 3].get_or_insert(offset);
    }
}

const WORDS: &str = "facet, outer, vertex, endloop or endfacet";

/// Skips the next token if it is `word`.
fn skip(line: &mut Line, word: &str) -> bool {
    let mut next: Line = line.clone();
    let is_there = is(next.token(), word);
    if is_there {
        *line = next;
    }
    is_there
}

/// Skips `normal` and its numbers, whatever they are: some programs write none.
fn skip_normal(line: &mut Line) {
    if skip(line, "normal") {
        for _ in 0..3 {
            line.token();
        }
    }
}

/// Skips the name of a solid that ends, up to one that begins in the same line.
fn skip_to_solid(line: &mut Line) {
    let mut next = line.clone();
    while !is(next.token(), "solid") {
        *line = next.clone();
        if next.is_finished() {
            return;
        }
    }
}

/// Reads the name of a solid, which ends where a facet begins in the same line.
fn name(line: &mut Line) -> String {
    let mut name = String::new();
    loop {
        let mut next: Line = line.clone();
        let token = next.token();
        let begins_facet = is(token, "facet") && is(next.clone().token(), "normal");
        match token {
            Some(word) if !begins_facet => push_word(&mut name, word),
            _ => return name,
        }
        *line = next;
    }
}
