//! Objects, groups and materials of an `.obj` file as fields of its faces and lines: names are numbered in order of
//! appearance.

use std::collections::{BTreeMap, HashMap};

use crate::rows_out::push_integer;
use crate::text::{Line, push_word};
use trioxide_mesh::about::About;
use trioxide_mesh::fields::{Field, Fields};
use trioxide_mesh::mesh::Mesh;

/// Keywords and the fields for them. An object is a group of groups.
const KINDS: [(&str, &str); 3] = [("o", "object"), ("g", "group"), ("usemtl", "material")];

/// The fields alone.
pub(crate) const NAMED: [&str; 3] = {
    let [(_, object), (_, group), (_, material)] = KINDS;
    [object, group, material]
};

/// A line that names the group or material of the faces and lines after it.
pub(super) struct Mark {
    kind: usize,
    /// Faces and segments of its chunk before it.
    before: [usize; 2],
    name: String,
}

impl Mark {
    /// Returns the mark of a line, given after its keyword, if the keyword is one of a group or material.
    pub(super) fn new(keyword: &[u8], line: Line, before: [usize; 2]) -> Option<Mark> {
        let kind = KINDS
            .iter()
            .position(|(name, _)| name.as_bytes() == keyword)?;
        let name = words(line);
        Some(Mark { kind, before, name })
    }
}

/// Returns the rest of a line, with a blank between words.
pub(super) fn words(mut line: Line) -> String {
    let mut words = String::new();
    while let Some(word) = line.token() {
        push_word(&mut words, word);
    }
    words
}

fn of_kind(marks: &[Mark], kind: usize) -> impl Iterator<Item = &Mark> {
    marks.iter().filter(move |mark| mark.kind == kind)
}

/// The marks of a chunk, and its numbers of faces and segments.
pub(super) type Marked = (Vec<Mark>, [usize; 2]);

/// Adds fields of the faces and of the segments, and the names of their values: -1 has none.
pub(super) fn add_fields(mesh: &mut Mesh, parts: &[Marked]) {
    let mut about = About::default();
    for (kind, (_, field)) in KINDS.iter().enumerate() {
        let (mut numbers, mut names) = (HashMap::from([("", -1)]), Vec::new());
        for mark in parts.iter().flat_map(|(marks, _)| of_kind(marks, kind)) {
            numbers.entry(mark.name.as_str()).or_insert_with(|| {
                names.push(mark.name.clone());
                names.len() as i32 - 1
            });
        }
        let mut is_used = false;
        let lists: [&mut Fields; 2] = [&mut mesh.fields.cells, &mut mesh.fields.sides];
        for (k, list) in lists.into_iter().enumerate() {
            // Elements before the first mark have no group.
            let mut current = -1;
            let mut values = Vec::new();
            for (marks, counts) in parts {
                let begin = values.len();
                for mark in of_kind(marks, kind) {
                    values.resize(begin + mark.before[k], current);
                    current = numbers[mark.name.as_str()];
                }
                values.resize(begin + counts[k], current);
            }
            if values.iter().any(|&value| value >= 0) {
                list.push(Field::scalars(*field, values));
                is_used = true;
            }
        }
        if is_used {
            about.names.insert((*field).to_owned(), names);
        }
    }
    if !about.names.is_empty() {
        mesh.about = about.into();
    }
}

/// A field of elements that a file holds.
pub(super) struct Held<'a> {
    keyword: &'static str,
    field: &'a Field,
    /// Names of its values, where they have any.
    names: &'a [String],
    /// Value of the element before the first one.
    pub(super) before: i64,
}

/// Returns the fields that a file holds: whole numbers, -1 for none.
pub(super) fn held<'a>(
    fields: &'a Fields,
    names: &'a BTreeMap<String, Vec<String>>,
) -> Vec<Held<'a>> {
    let held = KINDS.iter().filter_map(|&(keyword, name)| {
        let field = fields.get(name)?;
        let is_fine = field.components == 1 && !field.values.kind().is_float();
        is_fine.then(|| Held {
            keyword,
            field,
            names: names.get(name).map(Vec::as_slice).unwrap_or_default(),
            before: -1,
        })
    });
    held.collect()
}

impl Held<'_> {
    /// Returns the value of the last element, after those of `held`.
    pub(super) fn last(&self, held: &[Held]) -> i64 {
        let same = held.iter().find(|other| other.keyword == self.keyword);
        let last = |held: &Held| {
            held.field
                .len()
                .checked_sub(1)
                .map(|i| held.field.values.i64(i))
        };
        same.and_then(last).unwrap_or(-1)
    }
}

/// Returns the names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let names = BTreeMap::new();
    let lost = |fields| {
        let held: Vec<&str> = held(fields, &names)
            .iter()
            .map(|held| held.field.name.as_str())
            .collect();
        let lost = fields
            .iter()
            .filter(move |field| !held.contains(&field.name.as_str()));
        lost.map(|field| field.name.clone()).collect::<Vec<_>>()
    };
    let fields = &mesh.fields;
    let of_points = fields.points.iter().map(|field| field.name.clone());
    of_points
        .chain(lost(&fields.cells))
        .chain(lost(&fields.sides))
        .collect()
}

/// Appends the lines of groups that change at element `i`.
pub(super) fn push_marks(buffer: &mut Vec<u8>, held: &[Held], i: usize) {
    for Held {
        keyword,
        field,
        names,
        before,
    } in held
    {
        let value = field.values.i64(i);
        let before = i.checked_sub(1).map_or(*before, |i| field.values.i64(i));
        if value == before {
            continue;
        }
        buffer.extend_from_slice(keyword.as_bytes());
        let name = usize::try_from(value)
            .ok()
            .and_then(|value| names.get(value));
        match name.filter(|name| !name.is_empty()) {
            Some(name) => push_name(buffer, name),
            // A keyword alone ends a group.
            None if value == -1 => {}
            None => {
                push_name(buffer, &field.name);
                buffer.push(b'_');
                push_integer(buffer, value);
            }
        }
        buffer.push(b'\n');
    }
}

/// Appends a blank and a name: a `#` would end the line, and a backslash continue it.
pub(super) fn push_name(buffer: &mut Vec<u8>, name: &str) {
    buffer.push(b' ');
    let letter = |byte: u8| match byte {
        b'#' | b'\\' => b'_',
        byte if byte.is_ascii_control() => b'_',
        byte => byte,
    };
    buffer.extend(name.bytes().map(letter));
}
