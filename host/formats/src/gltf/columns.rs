//! Attributes of vertices, of parts that have them and parts that do not, and tags of parts.

use std::ops::Range;

use super::Read;
use super::accessors::Numbers;
use crate::references::Copies;
use trioxide_mesh::fields::{Field, NumberType, Values};

/// One attribute of all vertices.
pub(super) struct Column<T> {
    values: Vec<T>,
    is_there: bool,
    /// Vertices of parts without it.
    pub(super) missing: Vec<Range<usize>>,
}

impl<T> Default for Column<T> {
    fn default() -> Column<T> {
        Column {
            values: Vec::new(),
            is_there: false,
            missing: Vec::new(),
        }
    }
}

impl<T: Clone> Column<T> {
    /// Adds a part's values of these vertices. `fill` stands where a part has none.
    pub(super) fn push(&mut self, vertices: Range<usize>, part: Option<Vec<T>>, fill: T) {
        match part {
            Some(mut part) => {
                self.is_there = true;
                self.values.resize(vertices.start, fill);
                match self.values.is_empty() {
                    true => self.values = part,
                    false => self.values.append(&mut part),
                }
            }
            None => {
                if self.is_there {
                    self.values.resize(vertices.end, fill);
                }
                if !vertices.is_empty() {
                    self.missing.push(vertices);
                }
            }
        }
    }

    /// Returns the values, if a part had any, and the number of vertices that had none.
    pub(super) fn finish(self) -> (Option<Vec<T>>, usize) {
        let missing = self.missing.iter().map(Range::len).sum();
        match self.is_there {
            true => (Some(self.values), missing),
            false => (None, 0),
        }
    }
}

/// A further attribute, which becomes a field.
pub(super) struct FieldColumn {
    /// Its name in the file.
    pub(super) name: String,
    width: usize,
    kind: Option<NumberType>,
    written_kind: Option<String>,
    /// The first vertex of each part that has it, and the part's numbers.
    parts: Vec<(usize, Vec<f64>)>,
}

impl FieldColumn {
    /// Begins the column of a part's numbers.
    pub(super) fn new(name: &str, first: usize, numbers: Numbers) -> FieldColumn {
        FieldColumn {
            name: name.to_owned(),
            width: numbers.width,
            kind: Some(numbers.kind),
            written_kind: numbers.written_kind,
            parts: vec![(first, numbers.values)],
        }
    }

    /// Adds a part's numbers. Returns whether they have the width of the others.
    pub(super) fn push(&mut self, first: usize, numbers: Numbers) -> bool {
        let fits = numbers.width == self.width;
        if fits {
            self.kind = self.kind.filter(|kind| *kind == numbers.kind);
            if numbers.written_kind != self.written_kind {
                self.written_kind = None;
            }
            self.parts.push((first, numbers.values));
        }
        fits
    }

    /// Returns the field of `count` vertices, and the number of vertices without it, where it is 0.
    pub(super) fn finish(mut self, count: usize, copies: &Copies) -> Read<(Field, usize)> {
        let given: usize = self.parts.iter().map(|(_, values)| values.len()).sum();
        let missing = count - given / self.width;
        let kind = self.kind.unwrap_or(NumberType::F64);
        let values = match (missing, &mut self.parts[..]) {
            (0, [(_, values)]) => std::mem::take(values),
            _ => {
                copies.count(missing, missing * self.width)?;
                let mut all = vec![0.0; count * self.width];
                for (first, values) in &self.parts {
                    all[first * self.width..][..values.len()].copy_from_slice(values);
                }
                all
            }
        };
        let written = self.written_kind.as_deref().and_then(type_named);
        let values = written
            .map(|kind| (kind, Values::of_floats(kind, values.clone())))
            .filter(|(kind, values)| values.kind() == *kind)
            .map_or_else(|| Values::of_floats(kind, values), |(_, values)| values);
        let name = match self.name.strip_prefix('_') {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => self.name,
        };
        let field = Field {
            name,
            components: self.width,
            values,
        };
        Ok((field, missing))
    }
}

/// Returns the type of that name.
fn type_named(name: &str) -> Option<NumberType> {
    use NumberType::*;
    let all = [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    all.into_iter().find(|kind| kind.name() == name)
}

/// The number of a part's node, its material and its region or marker; `None` if it has none.
pub(super) type Tags = [Option<i32>; 3];

/// Tags of consecutive faces or segments.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) runs: Vec<(usize, Tags)>,
}

impl Runs {
    /// Returns a tag of all elements, if one has it. `none` stands for none.
    pub(super) fn tag(&self, k: usize, none: i32) -> Option<Vec<i32>> {
        let is_there = self.runs.iter().any(|(_, tags)| tags[k].is_some());
        let all = self.runs.iter();
        let all =
            all.flat_map(|(count, tags)| std::iter::repeat_n(tags[k].unwrap_or(none), *count));
        is_there.then(|| all.collect())
    }
}
