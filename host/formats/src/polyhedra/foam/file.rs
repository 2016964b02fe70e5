//! A file of OpenFOAM: a header, then lists and dictionaries, as text or with the numbers of lists in binary.
//!
//! <https://doc.openfoam.com/2312/fundamentals/basic-file-format/>. Comments are as in C++. A list is its length and
//! its elements in parentheses, or, where all are equal, one of them in braces.

use std::borrow::Cow;

use glam::DVec3;
use trioxide_mesh::mesh::Polygons;
use trioxide_mesh::polyhedra::repeated_vertex;

use crate::text::{Fault, Parsed, check_vertex, parse_integer, show};
use crate::volume::bytes::{Bytes, Kind, Order};
use crate::volume::tokens::{Number, Text};

/// A file, read from `at` on.
pub(super) struct File<'a> {
    /// Its bytes; of a text without comments, at the same places.
    bytes: Cow<'a, [u8]>,
    at: usize,
    pub(super) is_binary: bool,
    class: String,
    label: Kind,
    scalar: Kind,
    order: Order,
}

/// A word, or one of `(){};`.
type Word = Vec<u8>;

/// Entries of a dictionary that are kept: a key, and the first words of its value.
pub(super) type Entry = (Word, Vec<Word>);

/// Most words of an entry that are kept.
const KEPT: usize = 4;

impl<'a> File<'a> {
    /// Reads the header.
    pub(super) fn new(bytes: &'a [u8]) -> Parsed<File<'a>> {
        let mut file = File {
            bytes: Cow::Borrowed(bytes),
            at: 0,
            is_binary: false,
            class: String::new(),
            label: Kind::I32,
            scalar: Kind::F64,
            order: Order::Little,
        };
        file.expect(b"FoamFile")?;
        file.expect(b"{")?;
        while let Some((key, value)) = file.entry()? {
            let text = show(value.first().map_or(&b""[..], |word| word));
            match key.as_slice() {
                b"format" => file.is_binary = text == "binary",
                b"class" => file.class = text,
                b"arch" => {
                    if text.contains("label=64") {
                        file.label = Kind::I64;
                    }
                    if text.contains("scalar=32") {
                        file.scalar = Kind::F32;
                    }
                    if text.contains("MSB") {
                        file.order = Order::Big;
                    }
                }
                _ => {}
            }
        }
        if !file.is_binary {
            blank_comments(file.bytes.to_mut(), file.at);
        }
        Ok(file)
    }

    /// Moves past blanks and comments. Returns the offset of the next word.
    pub(super) fn skip_blanks(&mut self) -> usize {
        while let Some(byte) = self.bytes.get(self.at) {
            let rest = &self.bytes[self.at..];
            self.at += match byte {
                byte if byte.is_ascii_whitespace() => 1,
                b'/' => match comment(rest) {
                    0 => break,
                    length => length,
                },
                _ => break,
            };
        }
        self.at
    }

    /// The next word, or one of `(){};`. Quotation marks hold a word together; they are left out.
    fn word(&mut self) -> Option<Word> {
        let begin = self.skip_blanks();
        let rest = &self.bytes[begin..];
        let (word, length) = match rest.first()? {
            b'"' => {
                let end = memchr::memchr(b'"', &rest[1..]).unwrap_or(rest.len() - 1);
                (&rest[1..=end], end + 2)
            }
            byte if is_mark(*byte) => (&rest[..1], 1),
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || is_mark(*byte);
                let end = rest.iter().position(is_end).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        let word = word.to_vec();
        self.at = (begin + length).min(self.bytes.len());
        Some(word)
    }

    /// The byte at which the next word begins.
    fn peek(&mut self) -> Option<u8> {
        let at = self.skip_blanks();
        self.bytes.get(at).copied()
    }

    /// A fault at the next word.
    fn unexpected(&mut self, what: &str) -> Fault {
        let begin = self.skip_blanks();
        let found = match self.word() {
            None => "but the file ends".to_owned(),
            Some(word) => format!("found `{}`", show(&word)),
        };
        Fault::new(begin, format!("expected {what}, {found}"))
    }

    fn expect(&mut self, wanted: &[u8]) -> Parsed<()> {
        let begin = self.skip_blanks();
        if self.word().as_deref() == Some(wanted) {
            return Ok(());
        }
        self.at = begin;
        Err(self.unexpected(&format!("`{}`", show(wanted))))
    }

    /// The next entry of a dictionary; `None` at its end, which is passed. Of a value the first words are kept.
    pub(super) fn entry(&mut self) -> Parsed<Option<Entry>> {
        match self.key()? {
            None => Ok(None),
            Some(key) => Ok(Some((key, self.value()?))),
        }
    }

    /// The key of the next entry; `None` at the end of the dictionary, which is passed.
    pub(super) fn key(&mut self) -> Parsed<Option<Word>> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                Ok(None)
            }
            Some(byte) if !is_mark(byte) => Ok(self.word()),
            _ => Err(self.unexpected("a key, or `}`")),
        }
    }

    /// The first words of an entry's value, whose end is passed.
    pub(super) fn value(&mut self) -> Parsed<Vec<Word>> {
        let (mut kept, mut depth) = (Vec::new(), 0usize);
        loop {
            let fault = self.at;
            let Some(word) = self.word() else {
                return Err(Fault::new(fault, "an entry has no end: its `;` is missing"));
            };
            match word.as_slice() {
                b";" if depth == 0 => return Ok(kept),
                b"(" | b"{" => depth += 1,
                b")" | b"}" => {
                    depth = depth.checked_sub(1).ok_or_else(|| {
                        Fault::new(fault, "an entry has no end: its `;` is missing")
                    })?;
                    // A dictionary in it has no semicolon.
                    let is_dictionary = kept.first().is_some_and(|first: &Word| first == b"{");
                    if depth == 0 && is_dictionary && self.peek() != Some(b';') {
                        return Ok(kept);
                    }
                }
                list if self.is_binary && list.starts_with(b"List<") => {
                    let size = match list {
                        b"List<bool>" => 1,
                        b"List<scalar>" => self.scalar.size(),
                        b"List<vector>" => 3 * self.scalar.size(),
                        _ => self.label.size(),
                    };
                    self.skip_binary(size)?;
                }
                _ => {}
            }
            if kept.len() < KEPT {
                kept.push(word);
            }
        }
    }

    /// Moves past a binary list, after its type.
    fn skip_binary(&mut self, size: usize) -> Parsed<()> {
        let count = self.count("the length of a list")?;
        if self.peek() == Some(b'(') {
            self.at += 1;
            let mut bytes = self.binary();
            bytes.take(count, size, "a list")?;
            self.at = bytes.at;
            self.expect(b")")?;
        }
        Ok(())
    }

    fn binary(&self) -> Bytes<'_> {
        Bytes {
            file: &self.bytes,
            at: self.at,
            order: self.order,
            part: self.at.saturating_sub(1),
        }
    }

    /// The number of elements of a list, which must follow.
    fn count(&mut self, what: &str) -> Parsed<usize> {
        let begin = self.skip_blanks();
        let found = parse_integer(&self.bytes[begin..]);
        match found.and_then(|(count, length)| Some((usize::try_from(count).ok()?, length))) {
            Some((count, length)) => {
                self.at += length;
                Ok(count)
            }
            None => Err(self.unexpected(what)),
        }
    }

    /// Moves to the elements of a list: past its type and its length, if they are there, and the mark before them.
    /// Returns the length, and the mark; no mark of an empty list.
    fn begin_list(&mut self) -> Parsed<(Option<usize>, Option<u8>)> {
        let at = self.skip_blanks();
        if self.bytes[at..].starts_with(b"List<") {
            self.word();
        }
        let count = match self.peek() {
            Some(b'(') => None,
            _ => Some(self.count("the length of a list")?),
        };
        match self.peek() {
            Some(mark @ (b'(' | b'{')) => {
                self.at += 1;
                Ok((count, Some(mark)))
            }
            _ if count == Some(0) => Ok((count, None)),
            _ => Err(self.unexpected("`(`")),
        }
    }

    /// The names of dictionaries in a list, each passed to `then` after its `{`; `then` reads up to its end.
    pub(super) fn dictionaries(
        &mut self,
        mut then: impl FnMut(&mut File<'a>, String, usize) -> Parsed<()>,
    ) -> Parsed<()> {
        let (_, mark) = self.begin_list()?;
        if mark.is_none() {
            return Ok(());
        }
        loop {
            let at = self.skip_blanks();
            match self.word() {
                Some(word) if word == b")" => return Ok(()),
                Some(name) if !is_mark(name.first().copied().unwrap_or(b'(')) => {
                    self.expect(b"{")?;
                    then(self, show(&name), at)?;
                }
                _ => {
                    self.at = at;
                    return Err(self.unexpected("a name, or `)`"));
                }
            }
        }
    }

    /// A list of at most `most` whole numbers.
    pub(super) fn labels(&mut self, most: usize, what: &str) -> Parsed<Vec<i64>> {
        let begin = self.skip_blanks();
        let (count, mark) = self.begin_list()?;
        if let Some(count) = count.filter(|&count| count > most) {
            let reason = format!("expected at most {most} numbers of {what}, found {count}");
            return Err(Fault::new(begin, reason));
        }
        match (mark, count) {
            (None, _) => Ok(Vec::new()),
            (Some(b'{'), Some(count)) => {
                let value: Vec<i64> = self.text_until(b'}')?;
                match value[..] {
                    [value] => Ok(vec![value; count]),
                    _ => Err(Fault::new(begin, format!("expected one number of {what}"))),
                }
            }
            (_, Some(count)) if self.is_binary => {
                let mut bytes = self.binary();
                let numbers = bytes.numbers(count, self.label, what)?;
                self.at = bytes.at;
                self.expect(b")")?;
                numbers
                    .into_integers()
                    .map_err(|x| Fault::new(begin, format!("found {x}")))
            }
            _ => {
                let numbers: Vec<i64> = self.text_until(b')')?;
                check_count(begin, count, numbers.len(), what)?;
                Ok(numbers)
            }
        }
    }

    /// All numbers up to a mark, which is passed.
    fn text_until<T: Number>(&mut self, mark: u8) -> Parsed<Vec<T>> {
        let end = memchr::memchr(mark, &self.bytes[self.at..]).map(|length| self.at + length);
        let end = end.ok_or_else(|| Fault::new(self.at, "the list has no end"))?;
        let numbers = Text::new(&self.bytes, self.at).numbers_until(end)?;
        self.at = end + 1;
        Ok(numbers)
    }

    /// All numbers of lists of lists, up to the end of the outer one, and the number of inner ones.
    fn nested<T: Number>(&mut self) -> Parsed<(Vec<T>, usize)> {
        let (mut depth, mut inner) = (1usize, 0);
        let mut marks = memchr::memchr2_iter(b'(', b')', &self.bytes[self.at..]);
        let end = marks.find(|&at| {
            match self.bytes[self.at + at] {
                b'(' => (depth, inner) = (depth + 1, inner + 1),
                _ => depth -= 1,
            }
            depth == 0
        });
        let end = self.at + end.ok_or_else(|| Fault::new(self.at, "the list has no end"))?;
        // Blanks in place of the marks, at the same places of the file.
        let mut plain = self.bytes[..end].to_vec();
        for byte in &mut plain[self.at..] {
            if matches!(byte, b'(' | b')') {
                *byte = b' ';
            }
        }
        let numbers = Text::new(&plain, self.at).numbers_until(end)?;
        self.at = end + 1;
        Ok((numbers, inner))
    }

    /// A list of points.
    pub(super) fn points(&mut self) -> Parsed<Vec<DVec3>> {
        let begin = self.skip_blanks();
        let (count, mark) = self.begin_list()?;
        let numbers = match (mark, count) {
            (None, _) => Vec::new(),
            (Some(b'('), Some(count)) if self.is_binary => {
                let mut bytes = self.binary();
                let numbers = bytes.numbers(count.saturating_mul(3), self.scalar, "points")?;
                self.at = bytes.at;
                self.expect(b")")?;
                numbers.into_floats()
            }
            (Some(b'('), _) => {
                let (numbers, points) = self.nested::<f64>()?;
                check_count(begin, count, points, "points")?;
                check_count(
                    begin,
                    Some(points.saturating_mul(3)),
                    numbers.len(),
                    "coordinates",
                )?;
                numbers
            }
            _ => return Err(Fault::new(begin, "expected a list of points")),
        };
        let points = numbers.as_chunks().0.iter();
        Ok(points.map(|p| DVec3::from_array(*p)).collect())
    }

    /// A list of faces of `points` points: of lists of vertices; or offsets and vertices, in the class of compact
    /// lists.
    pub(super) fn faces(&mut self, points: usize) -> Parsed<Polygons> {
        let begin = self.skip_blanks();
        let most = self.bytes.len();
        if self.class == "faceCompactList" {
            let ends = self.labels(most, "offsets")?;
            let vertices = self.labels(most, "vertices")?;
            return compact(&ends, &vertices, points).map_err(|reason| Fault::new(begin, reason));
        }
        let mut faces = Polygons::default();
        let mut push = |vertices: &[i64]| -> Result<(), String> {
            let face = faces.len();
            for &v in vertices {
                let v = check_vertex(v, 0, points);
                faces
                    .vertices
                    .push(v.map_err(|reason| format!("face {face}: {reason}"))?);
            }
            end_face(&mut faces)
        };
        let (count, mark) = self.begin_list()?;
        if mark.is_some() && self.is_binary {
            // The list itself is text; the vertices of each face are binary.
            for _ in 0..count.unwrap_or(0) {
                let at = self.skip_blanks();
                let vertices = self.labels(most, "vertices")?;
                push(&vertices).map_err(|reason| Fault::new(at, reason))?;
            }
            self.expect(b")")?;
        } else if mark.is_some() {
            let (numbers, found) = self.nested::<i64>()?;
            let mut rest = &numbers[..];
            let refuse = |reason: String| Fault::new(begin, reason);
            while let Some((&size, behind)) = rest.split_first() {
                let parts = usize::try_from(size)
                    .ok()
                    .and_then(|size| behind.split_at_checked(size));
                let (face, behind) = parts.ok_or_else(|| {
                    refuse(format!(
                        "a face is said to have {size} vertices, but the list ends after {}",
                        behind.len()
                    ))
                })?;
                push(face).map_err(refuse)?;
                rest = behind;
            }
            check_count(begin, Some(found), faces.len(), "faces")?;
        }
        check_count(begin, count, faces.len(), "faces")?;
        Ok(faces)
    }
}

/// The faces of a compact list: the offset of each face, and of the end of the last.
fn compact(offsets: &[i64], vertices: &[i64], points: usize) -> Result<Polygons, String> {
    let mut faces = Polygons::default();
    for (i, pair) in offsets.windows(2).enumerate() {
        let range = usize::try_from(pair[0])
            .ok()
            .zip(usize::try_from(pair[1]).ok());
        // One after the other, so that no part of the list is there twice.
        let range = range.filter(|&(begin, _)| begin == faces.vertices.len());
        let face = range.and_then(|(begin, end)| vertices.get(begin..end));
        let face = face.ok_or_else(|| format!("face {i}: its offsets {pair:?} do not fit"))?;
        for &v in face {
            let v = check_vertex(v, 0, points).map_err(|reason| format!("face {i}: {reason}"))?;
            faces.vertices.push(v);
        }
        end_face(&mut faces)?;
    }
    match vertices.len() - faces.vertices.len() {
        0 => Ok(faces),
        left => Err(format!("{left} vertices are after those of the last face")),
    }
}

/// Ends a face, whose vertices are there.
fn end_face(faces: &mut Polygons) -> Result<(), String> {
    let (face, end) = (faces.len(), faces.vertices.len());
    let begin = faces.offsets.last().map_or(0, |&begin| begin as usize);
    if end - begin < 3 {
        return Err(format!("face {face} has {} vertices", end - begin));
    }
    if let Some(vertex) = repeated_vertex(&faces.vertices[begin..]) {
        return Err(format!("face {face} has vertex {vertex} twice"));
    }
    if end >= u32::MAX as usize {
        return Err(format!(
            "face {face} ends after {end} vertices of faces: too many"
        ));
    }
    faces.offsets.push(end as u32);
    Ok(())
}

fn check_count(begin: usize, count: Option<usize>, found: usize, what: &str) -> Parsed<()> {
    match count {
        Some(count) if count != found => Err(Fault::new(
            begin,
            format!("expected {count} {what}, found {found}"),
        )),
        _ => Ok(()),
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'{' | b'}' | b';')
}

/// Length of the comment at the start of `rest`; 0 if there is none.
fn comment(rest: &[u8]) -> usize {
    let end = |mark: &[u8]| {
        let end = memchr::memmem::find(&rest[2..], mark);
        end.map_or(rest.len(), |length| 2 + length + mark.len())
    };
    match rest {
        [b'/', b'/', ..] => end(b"\n"),
        [b'/', b'*', ..] => end(b"*/"),
        _ => 0,
    }
}

/// Puts blanks in place of comments, from `at` on.
fn blank_comments(bytes: &mut [u8], mut at: usize) {
    while let Some(length) = memchr::memchr2(b'/', b'"', &bytes[at..]) {
        at += length;
        if bytes[at] == b'"' {
            let end = memchr::memchr(b'"', &bytes[at + 1..]);
            at = end.map_or(bytes.len(), |length| at + 1 + length + 1);
            continue;
        }
        let length = comment(&bytes[at..]);
        let end = at + length.max(1);
        if length > 0 {
            let blank = |byte: &mut u8| *byte = if *byte == b'\n' { b'\n' } else { b' ' };
            bytes[at..end].iter_mut().for_each(blank);
        }
        at = end;
    }
}
