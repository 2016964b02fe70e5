//! Fields in files: numbers as bytes and text, and lists of elements that are two in the mesh but one in the file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::rows_out::{push_f32, push_f64, push_integer};
use trioxide_mesh::fields::{Field, Fields, MeshFields, NumberType, Values};
use trioxide_mesh::mesh::VertexAttributes;
use trioxide_mesh::parallel;

/// A type of numbers, and its names.
pub(crate) struct NamedType {
    pub(crate) kind: NumberType,
    /// In VTK's XML files.
    pub(crate) xml: &'static str,
    /// In VTK's legacy files, the written one first.
    pub(crate) legacy: &'static [&'static str],
    /// In PLY files, the written one first.
    pub(crate) ply: &'static [&'static str],
}

macro_rules! named_types {
    ($($kind:ident $xml:literal [$($legacy:literal)*] [$($ply:literal)*])*) => {
        [$(NamedType {
            kind: NumberType::$kind,
            xml: $xml,
            legacy: &[$($legacy),*],
            ply: &[$($ply),*],
        }),*]
    };
}

/// Every type of numbers, in the order of [`NumberType`]. PLY has no integers of 64 bits: doubles replace them. VTK's
/// legacy files have ids of 32 bits.
pub(crate) const TYPES: [NamedType; 10] = named_types! {
    I8  "Int8"    ["char" "vtktypeint8"]             ["char" "int8"]
    U8  "UInt8"   ["unsigned_char" "vtktypeuint8"]   ["uchar" "uint8"]
    I16 "Int16"   ["short" "vtktypeint16"]           ["short" "int16"]
    U16 "UInt16"  ["unsigned_short" "vtktypeuint16"] ["ushort" "uint16"]
    I32 "Int32"   ["int" "vtktypeint32" "vtkidtype"] ["int" "int32"]
    U32 "UInt32"  ["unsigned_int" "vtktypeuint32"]   ["uint" "uint32"]
    I64 "Int64"   ["vtktypeint64" "long"]            []
    U64 "UInt64"  ["vtktypeuint64" "unsigned_long"]  []
    F32 "Float32" ["float"]                          ["float" "float32"]
    F64 "Float64" ["double"]                         ["double" "float64"]
};

/// The names of a type.
pub(crate) fn names_of(kind: NumberType) -> &'static NamedType {
    &TYPES[kind as usize]
}

/// The type with these names.
pub(crate) fn type_named(has_name: impl Fn(&NamedType) -> bool) -> Option<NumberType> {
    TYPES
        .iter()
        .find(|names| has_name(names))
        .map(|names| names.kind)
}

/// Whether all numbers are exact as doubles: beyond 2^53 some integers are not.
pub(crate) fn are_exact_doubles(values: &Values) -> bool {
    const MOST: u64 = 1 << 53;
    match values {
        Values::I64(list) => parallel::all(list, |n| n.unsigned_abs() <= MOST),
        Values::U64(list) => parallel::all(list, |&n| n <= MOST),
        _ => true,
    }
}

/// The type that holds the numbers of both, as integers or as floats; `None` if there is none.
fn common(a: NumberType, b: NumberType) -> Option<NumberType> {
    if a.is_float() || b.is_float() {
        return match (a.is_float() && b.is_float(), a == b) {
            (true, true) => Some(a),
            (true, false) => Some(NumberType::F64),
            (false, _) => None,
        };
    }
    let is_signed = |kind: NumberType| kind.name().starts_with('i');
    let holds = |outer: NumberType, inner: NumberType| match (is_signed(outer), is_signed(inner)) {
        (true, false) => outer.size() > inner.size(),
        (false, true) => false,
        _ => outer.size() >= inner.size(),
    };
    let mut integers = TYPES
        .iter()
        .map(|names| names.kind)
        .filter(|kind| !kind.is_float());
    integers.find(|&kind| holds(kind, a) && holds(kind, b))
}

/// Names of cell arrays with a meaning in VTK's formats as trioxide writes them.
pub(crate) const RESERVED: &[&str] = &["region", "marker"];

/// One number of a field.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Integer(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
}

impl Number {
    /// Number `i` of the values, converted to type `kind`.
    pub(crate) fn of(values: &Values, i: usize, kind: NumberType) -> Number {
        match (kind, values) {
            (NumberType::F64, _) => Number::Double(values.f64(i)),
            (_, Values::F32(list)) => Number::Single(list[i]),
            (_, Values::U64(list)) => Number::Unsigned(list[i]),
            _ => Number::Integer(values.i64(i)),
        }
    }

    /// Appends the lowest `size` bytes of an integer, or all bytes of a float, in the given byte order.
    pub(crate) fn push_bytes(self, buffer: &mut Vec<u8>, size: usize, is_big: bool) {
        let bits = match self {
            Number::Integer(value) => value as u64,
            Number::Unsigned(value) => value,
            Number::Single(value) => u64::from(value.to_bits()),
            Number::Double(value) => value.to_bits(),
        };
        match is_big {
            true => buffer.extend_from_slice(&bits.to_be_bytes()[8 - size..]),
            false => buffer.extend_from_slice(&bits.to_le_bytes()[..size]),
        }
    }

    /// The nearest float.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Integer(value) => value as f64,
            Number::Unsigned(value) => value as f64,
            Number::Single(value) => f64::from(value),
            Number::Double(value) => value,
        }
    }

    /// Appends its text.
    pub(crate) fn push_text(self, buffer: &mut Vec<u8>) {
        match self {
            Number::Integer(value) => push_integer(buffer, value),
            Number::Unsigned(value) => push_integer(buffer, value),
            Number::Single(value) => push_f32(buffer, value),
            Number::Double(value) => push_f64(buffer, value),
        }
    }
}

/// A field of a file's elements, which are one list of the mesh, or two consecutive lists.
pub(crate) struct Joined<'a> {
    pub(crate) name: Cow<'a, str>,
    /// The name in the mesh.
    original: &'a str,
    pub(crate) components: usize,
    pub(crate) kind: NumberType,
    /// Elements of the first list.
    first: usize,
    /// Elements of both lists.
    pub(crate) count: usize,
    /// Values of each list. Elements of a list without the field get zeros.
    parts: [Option<&'a Values>; 2],
}

impl<'a> Joined<'a> {
    /// A field of a single list.
    pub(crate) fn of(field: &'a Field) -> Joined<'a> {
        Joined {
            name: Cow::Borrowed(&field.name),
            original: &field.name,
            components: field.components,
            kind: field.values.kind(),
            first: field.len(),
            count: field.len(),
            parts: [Some(&field.values), None],
        }
    }

    /// The fields of two lists of elements, joined by name. A name in `reserved` is replaced, and so is the name of a
    /// field of the second list whose components or type do not fit those of the first.
    pub(crate) fn of_two(
        lists: [&'a Fields; 2],
        counts: [usize; 2],
        reserved: &[&str],
    ) -> Vec<Joined<'a>> {
        let [first, second] = lists;
        let count = counts[0] + counts[1];
        let mut all: Vec<Joined> = Vec::new();
        for field in first {
            all.push(Joined {
                first: counts[0],
                count,
                ..Joined::of(field)
            });
        }
        for field in second {
            let kind = field.values.kind();
            let same = all.iter_mut().find_map(|other| {
                let is_same = other.name == field.name && other.components == field.components;
                let kind = common(other.kind, kind).filter(|_| is_same)?;
                Some((other, kind))
            });
            match same {
                Some((same, kind)) => {
                    same.parts[1] = Some(&field.values);
                    same.kind = kind;
                }
                None => all.push(Joined {
                    first: counts[0],
                    count,
                    parts: [None, Some(&field.values)],
                    ..Joined::of(field)
                }),
            }
        }
        for i in 0..all.len() {
            let is_taken = |name: &str, all: &[Joined]| {
                reserved.contains(&name) || all[..i].iter().any(|other| other.name == name)
            };
            if is_taken(&all[i].name, &all) {
                let names = (2..).map(|k| format!("{}_{k}", all[i].name));
                let mut free = names.filter(|name| {
                    !is_taken(name, &all) && all[i..].iter().all(|other| other.name != **name)
                });
                all[i].name = Cow::Owned(free.next().expect("there are more names than fields"));
            }
        }
        all
    }

    /// The sentence on fields whose names change in a file of two lists of elements, if there are any.
    pub(crate) fn renamed(fields: &MeshFields, reserved: &[&str]) -> Vec<String> {
        let joined = Joined::of_two([&fields.cells, &fields.sides], [0, 0], reserved);
        let others = joined.iter().filter(|field| field.name != field.original);
        let names: Vec<String> = others
            .map(|field| format!("{} is {}", field.original, field.name))
            .collect();
        let said = (!names.is_empty()).then(|| {
            format!(
                "fields have other names in the output, where theirs are taken: {}",
                names.join(", ")
            )
        });
        said.into_iter().collect()
    }

    /// Whether element `i` has numbers of its own.
    pub(crate) fn has(&self, i: usize) -> bool {
        self.parts[usize::from(i >= self.first)].is_some()
    }

    /// Passes the numbers of element `i` to `push`.
    pub(crate) fn numbers(&self, i: usize, mut push: impl FnMut(Number)) {
        let (values, i) = match i.checked_sub(self.first) {
            None => (self.parts[0], i),
            Some(i) => (self.parts[1], i),
        };
        for k in 0..self.components {
            push(match values {
                Some(values) => Number::of(values, i * self.components + k, self.kind),
                None if self.kind == NumberType::F32 => Number::Single(0.0),
                None if self.kind == NumberType::F64 => Number::Double(0.0),
                None => Number::Integer(0),
            });
        }
    }
}

/// Columns of numbers as fields: consecutive ones of one type called `v_0`, `v_1` and so on are the field `v`. Returns
/// each field's name, and its columns.
pub(crate) fn joined<'n>(columns: &[(&'n str, NumberType)]) -> Vec<(&'n str, Range<usize>)> {
    let mut fields = Vec::new();
    let mut rest = columns;
    while let Some((&(name, kind), _)) = rest.split_first() {
        let first = columns.len() - rest.len();
        let stem = name.strip_suffix("_0").filter(|stem| !stem.is_empty());
        let is_next = |k: usize| {
            let expected = stem.map(|stem| format!("{stem}_{k}"));
            expected.is_some_and(|name| rest.get(k) == Some(&(name.as_str(), kind)))
        };
        let count = (1..).find(|&k| !is_next(k)).expect("lists have an end");
        let name = match count {
            1 => name,
            _ => stem.unwrap_or(name),
        };
        fields.push((name, first..first + count));
        rest = &rest[count..];
    }
    fields
}

/// Unique names of fields in a file that holds names as `plain` converts them: `a_2` if two would be `a`.
pub(crate) fn names_in_file<'n>(
    names: impl Iterator<Item = &'n str>,
    plain: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |name: &str| {
        let name = plain(name);
        let numbered = (2..).map(|k| format!("{name}_{k}"));
        let mut all = std::iter::once(name.clone()).chain(numbered);
        let free = all.find(|name| taken.insert(name.clone()));
        free.expect("there are more numbers than fields")
    };
    names.map(name).collect()
}

/// The fields whose name `plain` changes, and their names in the file.
pub(crate) fn renamed(fields: &MeshFields, plain: fn(&str) -> String) -> Vec<(String, String)> {
    let MeshFields {
        points,
        cells,
        sides,
    } = fields;
    let mut renamed = Vec::new();
    for list in [points, cells, sides] {
        let names = || list.iter().map(|field| field.name.as_str());
        for (name, written) in names().zip(names_in_file(names(), plain)) {
            let pair = (name.to_owned(), written);
            if pair.0 != pair.1 && !renamed.contains(&pair) {
                renamed.push(pair);
            }
        }
    }
    renamed
}

/// Splits fields of a file's elements into fields of the mesh's elements `cells` and `sides`.
///
/// A part of zeros is dropped if the other part is not all zeros, or if there is only one part: writers fill missing
/// fields with zeros.
pub(crate) fn split(all: Vec<Field>, count: usize, ids: [&[u32]; 2]) -> [Fields; 2] {
    let [cells, sides] = ids;
    let mut parts = [Fields::default(), Fields::default()];
    let is_every_cell = sides.is_empty() && cells.len() == count;
    for field in all {
        if is_every_cell {
            parts[0].push(field);
            continue;
        }
        let [of_cells, of_sides] = [cells, sides].map(|ids| field.gather(ids));
        let has_sides = !of_sides.is_empty() && !of_sides.values.are_zero();
        let is_filled = has_sides && of_cells.values.are_zero();
        if !of_cells.is_empty() && !is_filled {
            parts[0].push(of_cells);
        }
        if has_sides {
            parts[1].push(of_sides);
        }
    }
    parts
}

/// The attributes of vertices as fields, with the names of VTK's programs.
pub(crate) fn of_attributes(attributes: &VertexAttributes) -> Fields {
    let mut fields = Fields::default();
    let mut push = |name: &str, components, values| {
        fields.push(Field {
            name: name.to_owned(),
            components,
            values,
        });
    };
    if let Some(normals) = &attributes.normals {
        let numbers: Vec<f64> = normals.iter().flat_map(|n| n.to_array()).collect();
        push(NORMALS, 3, numbers.into());
    }
    if let Some(colors) = &attributes.colors {
        match colors.iter().all(|color| color[3] == u8::MAX) {
            true => {
                let rgb: Vec<u8> = colors.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
                push(RGB, 3, rgb.into());
            }
            false => push(RGBA, 4, colors.as_flattened().to_vec().into()),
        }
    }
    if let Some(uvs) = &attributes.uvs {
        let numbers: Vec<f64> = uvs.iter().flat_map(|uv| uv.to_array()).collect();
        push(UVS, 2, numbers.into());
    }
    fields
}

/// Takes the attributes of vertices out of their fields: the inverse of [`of_attributes`].
pub(crate) fn take_attributes(fields: &mut Fields) -> VertexAttributes {
    let mut take = |names: &[&str], components: usize, is_fine: fn(NumberType) -> bool| {
        let is_one = |name: &&&str| {
            let found = fields.get(name);
            found.is_some_and(|f| f.components == components && is_fine(f.values.kind()))
        };
        let name = *names.iter().find(is_one)?;
        fields.take(name).map(|field| field.values)
    };
    let is_byte = |kind| kind == NumberType::U8;
    let normals = take(&[NORMALS], 3, NumberType::is_float);
    let rgba = take(&[RGBA, "Colors"], 4, is_byte);
    let rgb = match rgba {
        Some(_) => None,
        None => take(&[RGB, "Colors"], 3, is_byte),
    };
    let uvs = take(
        &[UVS, "TextureCoordinates", "Texture Coordinates"],
        2,
        NumberType::is_float,
    );
    let rows = |values: &Values| 0..values.len();
    VertexAttributes {
        normals: normals.map(|values| {
            let starts = rows(&values).step_by(3);
            starts
                .map(|i| [i, i + 1, i + 2].map(|i| values.f64(i)).into())
                .collect()
        }),
        colors: rgba
            .map(|values| {
                let starts = rows(&values).step_by(4);
                starts
                    .map(|i| [i, i + 1, i + 2, i + 3].map(|i| values.i64(i) as u8))
                    .collect()
            })
            .or(rgb.map(|values| {
                let starts = rows(&values).step_by(3);
                let color = |i| [values.i64(i), values.i64(i + 1), values.i64(i + 2), 255];
                starts.map(|i| color(i).map(|c| c as u8)).collect()
            })),
        uvs: uvs.map(|values| {
            let starts = rows(&values).step_by(2);
            starts
                .map(|i| [i, i + 1].map(|i| values.f64(i)).into())
                .collect()
        }),
    }
}

const NORMALS: &str = "Normals";
const RGB: &str = "RGB";
const RGBA: &str = "RGBA";
const UVS: &str = "TCoords";
