//! Groups and materials of an `.obj` file as fields of its faces: names are numbered in order of appearance.

use std::collections::HashMap;

use super::rows_out::push_integer;
use super::text::Line;
use trioxide_mesh::fields::{Field, Fields};
use trioxide_mesh::mesh::Mesh;

/// Keywords and the fields for them. An object is a group of groups.
const KINDS: [(&[u8], &str); 3] = [(b"o", "object"), (b"g", "group"), (b"usemtl", "material")];
/// Most names in a note.
const MOST_NAMES: usize = 20;

/// A line that names the group or material of the faces after it.
pub(super) struct Mark {
    kind: usize,
    /// Faces of its chunk before it.
    faces: usize,
    name: String,
}

impl Mark {
    /// The mark of a line, given after its keyword, if the keyword is one of a group or material.
    pub(super) fn new(keyword: &[u8], mut line: Line, faces: usize) -> Option<Mark> {
        let kind = KINDS.iter().position(|(name, _)| *name == keyword)?;
        let mut words = Vec::new();
        while let Some(word) = line.token() {
            words.push(String::from_utf8_lossy(word).into_owned());
        }
        Some(Mark {
            kind,
            faces,
            name: words.join(" "),
        })
    }
}

/// The fields of all faces, of chunks with these marks and numbers of faces, and a note on the names of each field.
pub(super) fn fields(parts: &[(Vec<Mark>, usize)]) -> (Fields, Vec<String>) {
    let mut all = Fields::default();
    let mut notes = Vec::new();
    if parts.iter().all(|(_, faces)| *faces == 0) {
        return (all, notes);
    }
    for (kind, (_, field)) in KINDS.iter().enumerate() {
        let mut marks = parts.iter().flat_map(|(marks, _)| marks);
        if !marks.any(|mark| mark.kind == kind) {
            continue;
        }
        let (mut numbers, mut names) = (HashMap::new(), Vec::new());
        // Faces before the first mark have no group.
        let mut current = -1;
        let mut values = Vec::new();
        for (marks, faces) in parts {
            let begin = values.len();
            for mark in marks.iter().filter(|mark| mark.kind == kind) {
                values.resize(begin + mark.faces, current);
                current = *numbers.entry(mark.name.as_str()).or_insert_with(|| {
                    names.push(mark.name.as_str());
                    names.len() as i32 - 1
                });
            }
            values.resize(begin + faces, current);
        }
        let mut list: Vec<String> = (names.iter().take(MOST_NAMES).enumerate())
            .map(|(number, name)| format!("{number} is `{name}`"))
            .collect();
        if names.len() > MOST_NAMES {
            list.push(format!("and {} more", names.len() - MOST_NAMES));
        }
        notes.push(format!(
            "the face field {field} has numbers: {}",
            list.join(", ")
        ));
        all.push(Field::scalars(*field, values));
    }
    (all, notes)
}

/// The fields of faces that a file holds, each with its keyword: whole numbers, -1 for none.
pub(super) fn held(mesh: &Mesh) -> Vec<(&'static str, &Field)> {
    let fields = KINDS.iter().filter_map(|(keyword, name)| {
        let field = mesh.fields.cells.get(name)?;
        let is_fine = field.components == 1 && !field.values.kind().is_float();
        is_fine.then(|| (std::str::from_utf8(keyword).expect("letters"), field))
    });
    fields.collect()
}

/// Names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let held = held(mesh);
    let fields = &mesh.fields;
    let lost = fields.cells.iter();
    let lost = lost.filter(|field| held.iter().all(|(_, other)| other.name != field.name));
    let all = fields.points.iter().chain(lost).chain(&fields.sides);
    all.map(|field| field.name.clone()).collect()
}

/// Appends the group lines that changed since the previous face.
pub(super) fn push_marks(buffer: &mut Vec<u8>, held: &[(&str, &Field)], i: usize) {
    for (keyword, field) in held {
        let value = field.values.i64(i);
        let before = i
            .checked_sub(1)
            .map_or(-1, |before| field.values.i64(before));
        if value != before {
            buffer.extend_from_slice(keyword.as_bytes());
            buffer.push(b' ');
            buffer.extend_from_slice(field.name.as_bytes());
            buffer.push(b'_');
            push_integer(buffer, value);
            buffer.push(b'\n');
        }
    }
}
