//! `$NodeData` and `$ElementData`: fields, by the numbers of nodes and elements.

use std::collections::HashMap;
use std::io;

use super::super::Output;
use super::super::bytes::{Decode, Kind, Order, write_numbers};
use super::data::Data;
use super::{Nodes, Shape};
use crate::atomic_file::Out;
use crate::fields::{Joined, Number, are_exact_doubles, names_in_file, type_named};
use crate::text::{Fault, Parsed, whole};
use trioxide_mesh::fields::{Field, Fields, MeshFields, NumberType, Values};
use trioxide_mesh::mesh::Mesh;

/// A section of data.
struct View {
    name: String,
    /// Its offset.
    at: usize,
    components: usize,
    /// Type and components before the field became doubles, if the file states them.
    original: Option<(NumberType, usize)>,
    /// Numbers of nodes or elements.
    tags: Vec<i64>,
    values: Vec<f64>,
}

/// The data of a file, and the numbers of its elements.
#[derive(Default)]
pub(super) struct Views {
    of_nodes: Vec<View>,
    of_elements: Vec<View>,
    /// Numbers of the cells, then of the faces; empty in a file without data of elements.
    numbers: [Vec<i64>; 2],
    /// Whether the file has data of elements, once this is known.
    wants_numbers: Option<bool>,
}

impl Views {
    /// Stores the numbers of elements, which are in the first column of their rows.
    pub(super) fn push_numbers(&mut self, shape: Shape, values: &[i64], width: usize, file: &[u8]) {
        let numbers = match shape {
            Shape::Point | Shape::Line => return,
            Shape::Cell(_) => &mut self.numbers[0],
            Shape::Face(_) => &mut self.numbers[1],
        };
        let has_data = || memchr::memmem::find(file, b"$ElementData").is_some();
        if *self.wants_numbers.get_or_insert_with(has_data) {
            numbers.extend(values.chunks_exact(width).map(|row| row[0]));
        }
    }

    /// Reads the section after `$NodeData` or `$ElementData`.
    pub(super) fn read(&mut self, data: &mut Data, of_elements: bool) -> Parsed<()> {
        let mut text = data.text();
        let at = text.at;
        let strings = text.count("the number of string tags")?;
        text.line();
        let (mut name, mut original) = (String::new(), None);
        for i in 0..strings {
            if text.at >= text.file.len() {
                return Err(text.unexpected("string tags"));
            }
            let line = String::from_utf8_lossy(text.line());
            let line = line.trim().trim_matches('"');
            match i {
                0 => name = line.to_owned(),
                2 => original = original_of(line),
                _ => {}
            }
        }
        let reals = text.count("the number of real tags")?;
        for _ in 0..reals {
            text.number::<f64>("a real tag")?;
        }
        let integers = text.count("the number of integer tags")?;
        // One by one: binary data may begin after the last one.
        let integers = (0..integers).map(|_| text.number::<i64>("an integer tag"));
        let integers = integers.collect::<Parsed<Vec<i64>>>()?;
        let count = |i: usize| integers.get(i).and_then(|&n| usize::try_from(n).ok());
        let (Some(components @ 1..), Some(count)) = (count(1), count(2)) else {
            let reason = format!("the data {name} does not say how many numbers it has");
            return Err(Fault::new(at, reason));
        };
        if let Data::Binary(..) = data {
            text.finish_line()?;
        }
        data.go_on(&text);
        let width = components.saturating_add(1);
        let (mut tags, mut values) = (Vec::new(), Vec::new());
        match data {
            Data::Text(text) => {
                let rows = text.numbers::<f64>(count.saturating_mul(width), "data")?;
                for row in rows.chunks_exact(width) {
                    let tag = whole(row[0]).ok_or_else(|| {
                        Fault::new(
                            at,
                            format!("expected a number of the mesh, found `{}`", row[0]),
                        )
                    })?;
                    tags.push(tag);
                    values.extend_from_slice(&row[1..]);
                }
            }
            Data::Binary(bytes, _) => {
                let size = components.saturating_mul(8).saturating_add(4);
                for row in bytes.take(count, size, "data")?.chunks_exact(size) {
                    let tag = Kind::I32.numbers(&row[..4], bytes.order).into_floats();
                    tags.push(tag[0] as i64);
                    values.extend(Kind::F64.numbers(&row[4..], bytes.order).into_floats());
                }
            }
        }
        let view = View {
            name,
            at,
            components,
            original,
            tags,
            values,
        };
        match of_elements {
            true => self.of_elements.push(view),
            false => self.of_nodes.push(view),
        }
        Ok(())
    }

    /// The fields of the mesh. Nodes and elements without a value have NaN.
    pub(super) fn finish(self, nodes: &Nodes, notes: &mut Vec<String>) -> Parsed<MeshFields> {
        let mut fields = MeshFields::default();
        for view in &self.of_nodes {
            let vertices = view.tags.iter().map(|&tag| nodes.vertex(tag));
            let vertices = vertices.collect::<Result<Vec<u32>, String>>();
            let vertices = vertices.map_err(|reason| Fault::new(view.at, reason))?;
            let places = (0..).zip(vertices);
            fields
                .points
                .push(view.field(nodes.points.len(), places, notes));
        }
        if self.of_elements.is_empty() {
            return Ok(fields);
        }
        let lists: [&mut Fields; 2] = [&mut fields.cells, &mut fields.sides];
        for (list, numbers) in lists.into_iter().zip(&self.numbers) {
            let ids: HashMap<i64, u32> = numbers.iter().copied().zip(0..).collect();
            for view in &self.of_elements {
                // Other elements belong to the other list, or are points and lines.
                let found = (0..).zip(&view.tags);
                let found: Vec<(usize, u32)> = found
                    .filter_map(|(row, tag)| Some((row, *ids.get(tag)?)))
                    .collect();
                if !found.is_empty() {
                    list.push(view.field(numbers.len(), found.into_iter(), notes));
                }
            }
        }
        Ok(fields)
    }
}

impl View {
    /// The field of `count` elements, from pairs of a row and an element, with its original type.
    fn field(
        &self,
        count: usize,
        places: impl Iterator<Item = (usize, u32)>,
        notes: &mut Vec<String>,
    ) -> Field {
        let width = self.components;
        let mut values = vec![f64::NAN; count * width];
        for (row, i) in places {
            let to = &mut values[i as usize * width..][..width];
            to.copy_from_slice(&self.values[row * width..][..width]);
        }
        let name = self.name.clone();
        if let Some((kind, components)) = self.original {
            if let Some(values) = restored(&values, width, kind, components) {
                return Field {
                    name,
                    components,
                    values,
                };
            }
            notes.push(format!(
                "the field {name} has numbers that are no {} in {components} components, as its third tag says: read as doubles",
                kind.name()
            ));
        }
        Field {
            name,
            components: width,
            values: values.into(),
        }
    }
}

/// First word of the tag with a field's type before it became doubles.
const ORIGINAL: &str = "trioxide";

/// The original type and components in a tag of ours.
fn original_of(tag: &str) -> Option<(NumberType, usize)> {
    let [ORIGINAL, name, components] = tag.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let kind = type_named(|names| names.kind.name() == name)?;
    let components = components.parse().ok().filter(|n| (1..=9).contains(n))?;
    Some((kind, components))
}

/// Rows of `width` doubles as numbers of another type with fewer components. `None` if that changes one of them.
fn restored(doubles: &[f64], width: usize, kind: NumberType, components: usize) -> Option<Values> {
    let rows = || doubles.chunks_exact(width);
    let is_filled = |row: &[f64]| row[components..].iter().all(|&x| x == 0.0);
    if components > width || !rows().all(is_filled) {
        return None;
    }
    let kept: Vec<f64> = rows().flat_map(|row| &row[..components]).copied().collect();
    let is_single = |&x: &f64| f64::from(x as f32) == x || x.is_nan();
    if kind == NumberType::F32 && !kept.iter().all(is_single) {
        return None;
    }
    Some(Values::of_floats(kind, kept)).filter(|values| values.kind() == kind)
}

/// Whether a file can hold a field: up to nine components, exact as doubles.
pub(in super::super) fn keeps(field: &Field) -> bool {
    field.components <= 9 && are_exact_doubles(&field.values)
}

/// The sentences on fields that become doubles in the file.
pub(crate) fn retyped(fields: &MeshFields) -> Vec<String> {
    let mut said = Joined::renamed(fields, &[]);
    let MeshFields {
        points,
        cells,
        sides,
    } = fields;
    let all = points.iter().chain(cells).chain(sides);
    let are_integers = |field: &&Field| keeps(field) && !field.values.kind().is_float();
    let mut names: Vec<&str> = Vec::new();
    for field in all.filter(are_integers) {
        if !names.contains(&field.name.as_str()) {
            names.push(&field.name);
        }
    }
    if !names.is_empty() {
        let names = names.join(", ");
        said.push(format!(
            "Gmsh holds doubles only: the integers of {names} are doubles in the output, which trioxide alone reads as integers again"
        ));
    }
    said
}

/// Names of the fields of a surface that a file does not hold: those of segments, and those with too many numbers.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let MeshFields {
        points,
        cells,
        sides,
    } = &mesh.fields;
    let held = points.iter().chain(cells).filter(|field| !keeps(field));
    let lost = held.chain(sides).map(|field| field.name.clone());
    lost.collect()
}

/// Writes the fields of a mesh. `order` gives the elements in the order of their numbers, each with its id among those
/// of its dimension. Lines have no fields.
pub(super) fn write(
    out: &mut dyn Out,
    mesh: Output,
    order: impl Iterator<Item = (Shape, u32)>,
    is_binary: bool,
) -> io::Result<()> {
    let held =
        |fields: &Fields| -> Fields { fields.iter().filter(|f| keeps(f)).cloned().collect() };
    let points = held(&mesh.fields.points);
    let points: Vec<Joined> = points.iter().map(Joined::of).collect();
    for (field, name) in with_names(&points) {
        let ids: Vec<(u32, u32)> = (0..field.count as u32).map(|i| (i, i + 1)).collect();
        write_view(out, ("NodeData", &name), field, &ids, is_binary)?;
    }
    let lists = [held(&mesh.fields.cells), held(&mesh.fields.sides)];
    if lists.iter().all(Fields::is_empty) {
        return Ok(());
    }
    let counts = [mesh.cells.len(), mesh.faces.len()];
    let place = |((shape, id), number): ((Shape, u32), u32)| match shape {
        Shape::Cell(_) => Some((id, number)),
        Shape::Face(_) => Some((id + counts[0] as u32, number)),
        Shape::Point | Shape::Line => None,
    };
    let ids: Vec<(u32, u32)> = order.zip(1..).filter_map(place).collect();
    let fields = Joined::of_two([&lists[0], &lists[1]], counts, &[]);
    for (field, name) in with_names(&fields) {
        let has = |(i, _): &(u32, u32)| field.has(*i as usize);
        let ids: Vec<(u32, u32)> = ids.iter().copied().filter(has).collect();
        write_view(out, ("ElementData", &name), field, &ids, is_binary)?;
    }
    Ok(())
}

/// A name between quotes, in one line. Readers drop blanks at its ends.
pub(crate) fn plain_name(name: &str) -> String {
    let letter = |c: char| match c {
        '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    let name: String = name.chars().map(letter).collect();
    name.trim().to_owned()
}

/// Fields with their names in the file.
fn with_names<'f, 'a>(fields: &'f [Joined<'a>]) -> impl Iterator<Item = (&'f Joined<'a>, String)> {
    let names = names_in_file(fields.iter().map(|field| &*field.name), plain_name);
    fields.iter().zip(names)
}

/// Writes a section of this name. `ids` are the field's elements and their numbers in the file.
fn write_view(
    out: &mut dyn Out,
    (section, name): (&str, &str),
    field: &Joined,
    ids: &[(u32, u32)],
    is_binary: bool,
) -> io::Result<()> {
    // Scalars, vectors and tensors: other sizes are padded with zeros.
    let width = match field.components {
        1 => 1,
        2 | 3 => 3,
        _ => 9,
    };
    // The second tag would name an interpolation scheme: there is none.
    let tags = match (field.kind, field.components == width) {
        (NumberType::F64, true) => format!("1\n\"{name}\""),
        (kind, _) => {
            let (kind, components) = (kind.name(), field.components);
            format!("3\n\"{name}\"\n\"\"\n\"{ORIGINAL} {kind} {components}\"")
        }
    };
    write!(
        out,
        "${section}\n{tags}\n1\n0\n3\n0\n{width}\n{}\n",
        ids.len()
    )?;
    let order = is_binary.then_some(Order::Little);
    write_numbers(out, ids.len(), order, |k, push| {
        let (i, number) = ids[k];
        push(Number::Integer(number.into()), 4);
        let mut push = |number: f64| push(Number::Double(number), 8);
        field.numbers(i as usize, |number| push(number.as_f64()));
        (field.components..width).for_each(|_| push(0.0));
    })?;
    if is_binary {
        writeln!(out)?;
    }
    writeln!(out, "$End{section}")
}
