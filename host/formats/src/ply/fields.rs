//! Scalars of vertices and faces without a special role, as fields.
//!
//! PLY has scalars only: a field `v` of three components is `v_0`, `v_1` and `v_2` in the file. Consecutive properties
//! with such names and one type are a field of several components.
//!
//! A header is ASCII: other letters become percent escapes of their bytes, which are read back. The properties of an
//! element get distinct names, because programs that read into a table refuse equal ones.

use std::collections::HashSet;
use std::ops::Range;

use super::header::{Element, Header, Kind, Order, Role};
use super::vertices::bytes_of;
use crate::colors::{face_color, is_face_color};
use crate::fields::{Number, joined, names_of};
use crate::percent;
use crate::volume::bytes::read_f64;
use trioxide_mesh::fields::{Field, Fields, NumberType, Values};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel;

/// The scalars of an element that are fields.
fn properties(element: &Element) -> Vec<(&str, NumberType)> {
    let properties = element.properties.iter();
    let fields = properties.filter(|property| property.role == Role::Field);
    fields
        .filter_map(|property| match property.kind {
            Kind::Scalar(scalar) => Some((property.name.as_str(), scalar)),
            Kind::List { .. } => None,
        })
        .collect()
}

/// The fields of an element from the numbers of these properties, row by row, in chunks.
pub(super) fn of_rows(element: Option<&Element>, chunks: &[Vec<f64>]) -> Fields {
    let Some(element) = element else {
        return Fields::default();
    };
    let properties = properties(element);
    let width = properties.len();
    group(&properties, |first, count| {
        let rows = chunks.iter().flat_map(|chunk| chunk.chunks_exact(width));
        rows.flat_map(|row| row[first..first + count].iter().copied())
            .collect()
    })
}

/// The fields of an element from records of equal size, with the properties' offsets in a record.
pub(super) fn of_records(
    element: &Element,
    records: &[u8],
    size: usize,
    offsets: &[usize],
    endian: Order,
) -> Fields {
    let properties = properties(element);
    group(&properties, |first, count| {
        let columns = &offsets[first..first + count];
        let scalar = properties[first].1;
        let number = |row: &[u8], at: usize| read_f64(scalar, &row[at..], endian);
        let mut numbers = vec![0.0; records.len() / size * columns.len()];
        parallel::for_chunks_mut(&mut numbers, columns.len(), |i, element| {
            let row = &records[i * size..(i + 1) * size];
            for (value, &at) in element.iter_mut().zip(columns) {
                *value = number(row, at);
            }
        });
        numbers
    })
}

/// Joins properties to fields. `numbers` gives the numbers of `count` properties from the `first` one on, element by
/// element.
fn group(properties: &[(&str, NumberType)], numbers: impl Fn(usize, usize) -> Vec<f64>) -> Fields {
    let field = |(name, columns): (&str, Range<usize>)| Field {
        name: name_in_mesh(name),
        components: columns.len(),
        values: Values::of_floats(
            properties[columns.start].1,
            numbers(columns.start, columns.len()),
        ),
    };
    joined(properties).into_iter().map(field).collect()
}

/// Names of the properties that are the colours of faces; the last may be missing.
const CHANNELS: [&str; 4] = ["red", "green", "blue", "alpha"];

/// Makes one field of the channels of faces' colours. Returns notes.
pub(super) fn join_colors(fields: &mut Fields) -> Vec<String> {
    let channels = CHANNELS.map(|name| fields.take(name));
    let values = channels
        .each_ref()
        .map(|field| field.as_ref().map(|field| &field.values));
    let count = values[0].map_or(0, Values::len);
    let kinds = values.map(|values| values.map(Values::kind));
    let colors = bytes_of(kinds, count, |i| {
        values.map(|values| values.map_or(0.0, |values| values.f64(i) as f32))
    });
    let components = values.iter().flatten().count();
    fields.push(face_color(&colors.bytes, components));
    colors.notes
}

/// The name of a field in a mesh: escapes of bytes beyond ASCII become letters, other escapes stay.
fn name_in_mesh(name: &str) -> String {
    let bytes = percent::decode(name.as_bytes(), |byte| byte >= 0x80);
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

/// The name of a field in a file: one word of ASCII.
fn name_in_file(name: &str) -> String {
    // A backslash continues a header's line, and a `#` ends it.
    let letter = |c: char| match c {
        '#' | '\\' => '_',
        c if c.is_whitespace() || c.is_control() => '_',
        c => c,
    };
    let word: String = name.chars().map(letter).collect();
    percent::encode(&word, |byte| byte >= 0x80)
}

/// The names of a field's components.
fn component_names(name: &str, components: usize) -> Vec<String> {
    match components {
        1 => vec![name.to_owned()],
        count => (0..count).map(|k| format!("{name}_{k}")).collect(),
    }
}

/// Notes on the file's elements and properties that are not read.
pub(super) fn notes(header: &Header) -> Vec<String> {
    let mut notes = Vec::new();
    for element in header.elements.iter().filter(|e| e.count > 0) {
        let Element { name, count, .. } = element;
        let is_read = match name.as_str() {
            "vertex" | "face" => true,
            "edge" => element.holds_segments(),
            "tristrips" => element.holds_strips(),
            _ => false,
        };
        if !is_read {
            notes.push(format!("{count} elements `{name}` are left out"));
            continue;
        }
        let properties = element.properties.iter();
        let skipped: Vec<&str> = properties
            .filter(|property| property.role == Role::Skipped)
            .map(|property| property.name.as_str())
            .collect();
        if !skipped.is_empty() {
            let skipped = skipped.join(", ");
            notes.push(format!("of elements `{name}` is left out: {skipped}"));
        }
    }
    notes
}

/// Names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let fields = &mesh.fields;
    let held = fields.points.iter().chain(&fields.cells);
    let inexact = held.filter(|field| Column::of(field).is_none());
    let lost = inexact.chain(&fields.sides);
    lost.map(|field| field.name.clone()).collect()
}

/// The fields whose names change in a file, and their new names.
pub(crate) fn renamed(mesh: &Mesh) -> Vec<(String, String)> {
    let columns = Column::of_mesh(mesh).into_iter().flatten();
    let other = |column: Column| {
        let Field {
            name, components, ..
        } = column.field;
        let is_other = column.names != component_names(name, *components) && !column.is_color;
        let first = &column.names[0];
        let written = match components {
            1 => first.as_str(),
            _ => first.strip_suffix("_0").unwrap_or(first),
        };
        is_other.then(|| (name.clone(), written.to_owned()))
    };
    columns.filter_map(other).collect()
}

/// The sentence on integers that a file holds as doubles, if there are any.
pub(crate) fn retyped(mesh: &Mesh) -> Vec<String> {
    let fields = &mesh.fields;
    let held = fields.points.iter().chain(&fields.cells);
    let are_floats =
        |column: &Column| column.kind == NumberType::F64 && !column.field.values.kind().is_float();
    let columns = held.filter_map(Column::of).filter(are_floats);
    let names: Vec<&str> = columns.map(|column| column.field.name.as_str()).collect();
    let said = (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!(
            "PLY holds integers of 32 bits: those of {names} are larger, and doubles in the output"
        )
    });
    said.into_iter().collect()
}

/// A field in the form of the file.
pub(super) struct Column<'a> {
    names: Vec<String>,
    kind: NumberType,
    field: &'a Field,
    /// Whether it is the colours of faces.
    is_color: bool,
}

impl<'a> Column<'a> {
    /// The columns of an element's fields. `attributes` says whether the file has normals, colours and texture
    /// coordinates.
    ///
    /// A field is renamed if a reader would give its name a special role: `x`, or `u` beside a `v`, but not `u` alone.
    fn all(element: &str, fields: &'a Fields, attributes: [bool; 3]) -> Vec<Column<'a>> {
        let columns = fields.iter().filter_map(Column::of);
        let mut columns: Vec<Column> = columns.collect();
        let is_color = |column: &Column| element == "face" && is_face_color(column.field);
        for column in columns.iter_mut().filter(|column| is_color(column)) {
            column.is_color = true;
            let names = CHANNELS[..column.names.len()].iter();
            column.names = names.map(|&name| name.to_owned()).collect();
        }
        let names = columns.iter().flat_map(|column| &column.names);
        let roles: Vec<Role> = names.map(|name| Element::meaning(element, name)).collect();
        let are_there = |wanted: &[Role]| wanted.iter().all(|role| roles.contains(role));
        let [normals, colors, uvs] = [
            attributes[0] || are_there(&[0, 1, 2].map(Role::Normal)),
            attributes[1] || are_there(&[0, 1, 2].map(Role::Color)),
            attributes[2] || are_there(&[0, 1].map(Role::Uv)),
        ];
        let others = columns.iter_mut().filter(|column| !column.is_color);
        for name in others.flat_map(|column| &mut column.names) {
            let is_taken = match Element::meaning(element, name) {
                Role::Skipped => name.is_empty(),
                Role::Normal(_) => normals,
                Role::Color(_) => colors,
                Role::Uv(_) => uvs,
                _ => true,
            };
            if is_taken {
                *name = format!("field_{name}");
            }
        }
        let mut taken: HashSet<String> = HashSet::new();
        for column in &mut columns {
            let is_free = |names: &Vec<String>| names.iter().all(|name| !taken.contains(name));
            if !is_free(&column.names) {
                let (name, components) =
                    (name_in_file(&column.field.name), column.field.components);
                let numbered = (2..).map(|k| component_names(&format!("{name}_{k}"), components));
                let mut numbered = numbered.filter(is_free);
                column.names = numbered.next().expect("there are more numbers than fields");
            }
            taken.extend(column.names.iter().cloned());
        }
        columns
    }

    /// The columns of a mesh's vertices, and those of its faces.
    pub(super) fn of_mesh(mesh: &'a Mesh) -> [Vec<Column<'a>>; 2] {
        let attributes = &mesh.attributes;
        let of_vertices = [
            attributes.normals.is_some(),
            attributes.colors.is_some(),
            attributes.uvs.is_some(),
        ];
        [
            Column::all("vertex", &mesh.fields.points, of_vertices),
            Column::all("face", &mesh.fields.cells, [false; 3]),
        ]
    }

    /// `None` for integers that no type of the format holds.
    fn of(field: &'a Field) -> Option<Column<'a>> {
        let holds = |least: i64, most: i64| {
            let range = least..=most;
            match &field.values {
                Values::U64(list) => {
                    let number = |&n: &u64| i64::try_from(n).is_ok_and(|n| range.contains(&n));
                    parallel::all(list, number)
                }
                values => {
                    let is_beyond = |i| !range.contains(&values.i64(i));
                    parallel::find(values.len(), is_beyond).is_none()
                }
            }
        };
        const EXACT: i64 = 1 << 53;
        let kind = match field.values.kind() {
            NumberType::I64 | NumberType::U64 => {
                if holds(i32::MIN.into(), i32::MAX.into()) {
                    NumberType::I32
                } else if holds(0, u32::MAX.into()) {
                    NumberType::U32
                } else if holds(-EXACT, EXACT) {
                    NumberType::F64
                } else {
                    return None;
                }
            }
            kind => kind,
        };
        let names = component_names(&name_in_file(&field.name), field.components);
        Some(Column {
            names,
            kind,
            field,
            is_color: false,
        })
    }

    /// Lines of the header.
    pub(super) fn properties(&self) -> String {
        let kind = names_of(self.kind).ply.first().unwrap_or(&"double");
        let lines = self.names.iter();
        lines
            .map(|name| format!("property {kind} {name}\n"))
            .collect()
    }

    /// Passes the numbers of element `i`, and the bytes of each, to `push`.
    pub(super) fn numbers(&self, i: usize, mut push: impl FnMut(Number, usize)) {
        let components = self.field.components;
        for k in i * components..(i + 1) * components {
            let number = Number::of(&self.field.values, k, self.kind);
            push(number, self.kind.size());
        }
    }
}
