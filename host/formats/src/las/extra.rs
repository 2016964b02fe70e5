//! Extra bytes: numbers of points beside those of the point formats, which a record of the file describes.
//!
//! A description has 192 bytes: 2 reserved, a type, options, 32 of a name, 4 unused, three numbers each for missing
//! values, least and largest values, scales and offsets, and 32 of text.

use glam::DVec3;
use trioxide_mesh::about::About;
use trioxide_mesh::fields::{Field, Fields, NumberType, Values};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel;

use super::super::fields::names_in_file;
use super::records::{is_description, text};
use super::units::multiple;

const SIZE: usize = 192;
const TYPE: usize = 2;
const OPTIONS: usize = 3;
const NAME: usize = 4;
const NAME_SIZE: usize = 32;
const MISSING: usize = 40;
const LIMITS: usize = 64;
const SCALES: usize = 112;
const OFFSETS: usize = 136;
const TEXT: usize = 160;

/// Bits of the options.
const HAS_MISSING: u8 = 1;
const HAS_SCALE: u8 = 8;
const HAS_OFFSET: u8 = 16;

/// The types from number 1 on; 10 more mean two numbers, 20 more three. Type 0 has as many bytes as the options say.
const TYPES: [NumberType; 10] = [
    NumberType::U8,
    NumberType::I8,
    NumberType::U16,
    NumberType::I16,
    NumberType::U32,
    NumberType::I32,
    NumberType::U64,
    NumberType::I64,
    NumberType::F32,
    NumberType::F64,
];

/// Names of the vertices' normals.
const NORMALS: [&str; 3] = ["NormalX", "NormalY", "NormalZ"];

/// Names that laspy gives to other numbers of a point.
const RESERVED: [&str; 12] = [
    "X",
    "Y",
    "Z",
    "x",
    "y",
    "z",
    "xyz",
    "red",
    "green",
    "blue",
    "bit_fields",
    "raw_classification",
];

/// A description of extra bytes.
type Description = [u8; SIZE];

/// Extra bytes of each point.
#[derive(Clone, Debug, PartialEq)]
struct Extra {
    name: String,
    kind: NumberType,
    components: usize,
    /// Offset of its first byte in a record.
    at: usize,
    /// Scale and offset of each component, if the numbers are multiples of a unit.
    units: Option<Vec<[f64; 2]>>,
}

impl Extra {
    /// The extra bytes of a description; `None` for an unknown type.
    fn of(description: &Description, at: usize) -> Option<Extra> {
        let options = description[OPTIONS];
        let (kind, components) = match description[TYPE] {
            0 => (NumberType::U8, usize::from(options)),
            number @ 1..=30 => {
                let number = usize::from(number - 1);
                (TYPES[number % 10], number / 10 + 1)
            }
            _ => return None,
        };
        let has = |bit: u8| description[TYPE] != 0 && options & bit != 0;
        let number = |bit: u8, from: usize, k: usize, other: f64| match has(bit) {
            true => {
                let bytes = description[from + 8 * k..].first_chunk();
                f64::from_le_bytes(*bytes.expect("there are three numbers"))
            }
            false => other,
        };
        let unit = |k| {
            [
                number(HAS_SCALE, SCALES, k, 1.0),
                number(HAS_OFFSET, OFFSETS, k, 0.0),
            ]
        };
        Some(Extra {
            name: text(&description[NAME..NAME + NAME_SIZE]),
            kind,
            components,
            at,
            units: has(HAS_SCALE | HAS_OFFSET).then(|| (0..components).map(unit).collect()),
        })
    }

    fn size(&self) -> usize {
        self.kind.size() * self.components
    }
}

/// The extra bytes of points during reading.
pub(crate) struct ExtraColumns {
    columns: Vec<(Extra, Values)>,
    /// Bytes of each point without a description.
    pub(crate) unknown: usize,
}

impl ExtraColumns {
    /// Reads the descriptions of the bytes of a record from `at` on, up to its size.
    pub(crate) fn new(descriptions: &[u8], mut at: usize, size: usize) -> ExtraColumns {
        let mut columns = Vec::new();
        for description in descriptions.as_chunks().0 {
            let Some(extra) = Extra::of(description, at).filter(|e| e.at + e.size() <= size) else {
                break;
            };
            at += extra.size();
            if extra.components > 0 {
                let none = Values::of_integers(extra.kind, Vec::new());
                columns.push((extra, none));
            }
        }
        ExtraColumns {
            columns,
            unknown: size - at,
        }
    }

    /// Reads records of `size` bytes.
    pub(crate) fn append(&mut self, records: &[u8], size: usize) {
        for (extra, values) in &mut self.columns {
            let Extra { at, components, .. } = *extra;
            let count = records.len() / size * components;
            macro_rules! append {
                ($($variant:ident $type:ty),*) => {
                    match values {
                        $(Values::$variant(list) => {
                            parallel::append(list, count, parallel::GRAIN, |i| {
                                let (row, k) = match components {
                                    1 => (i, 0),
                                    _ => (i / components, i % components),
                                };
                                let from = row * size + at + k * size_of::<$type>();
                                let bytes = records[from..].first_chunk();
                                <$type>::from_le_bytes(*bytes.expect("a record has its bytes"))
                            });
                        })*
                    }
                };
            }
            append!(
                U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32, F64 f64
            );
        }
    }

    /// The fields. Multiples of a unit become doubles.
    pub(crate) fn into_fields(self) -> impl Iterator<Item = Field> {
        self.columns.into_iter().map(|(extra, values)| {
            let values = match &extra.units {
                None => values,
                Some(units) => Values::F64(parallel::collect(values.len(), |i| {
                    let [scale, offset] = units[i % extra.components];
                    values.f64(i) * scale + offset
                })),
            };
            Field {
                name: extra.name,
                components: extra.components,
                values,
            }
        })
    }
}

/// Takes the normals out of the fields of points.
pub(crate) fn take_normals(fields: &mut Fields) -> Option<Vec<DVec3>> {
    let is_float = |name: &&str| {
        let field = fields.get(name);
        field.is_some_and(|field| field.components == 1 && field.values.kind().is_float())
    };
    if !NORMALS.iter().all(is_float) {
        return None;
    }
    let [x, y, z] = NORMALS.map(|name| fields.take(name).expect("it is there").values);
    Some(parallel::collect(x.len(), |i| {
        DVec3::new(x.f64(i), y.f64(i), z.f64(i))
    }))
}

/// Numbers of a mesh's points that are written as extra bytes.
enum Source<'a> {
    Field(&'a Values),
    Normals(&'a [DVec3], usize),
}

impl Source<'_> {
    fn f64(&self, i: usize) -> f64 {
        match self {
            Source::Field(values) => values.f64(i),
            Source::Normals(normals, axis) => normals[i][*axis],
        }
    }
}

/// The plan for writing extra bytes.
#[derive(Default)]
pub(crate) struct ExtraPlan<'a> {
    columns: Vec<(Extra, Source<'a>)>,
    /// The content of the record that describes them.
    pub(crate) descriptions: Vec<u8>,
    /// Bytes of a point.
    pub(crate) size: usize,
    /// Fields with another name in the file, and that name.
    pub(crate) renamed: Vec<(String, String)>,
    /// Names of the fields that are left out.
    pub(crate) lost: Vec<String>,
}

impl<'a> ExtraPlan<'a> {
    /// The plan for normals and fields whose bytes follow the first `at` bytes of a record. `is_taken` names other
    /// numbers of a point.
    pub(crate) fn of(
        mesh: &'a Mesh,
        fields: Vec<&'a Field>,
        at: usize,
        is_taken: impl Fn(&str) -> bool,
    ) -> ExtraPlan<'a> {
        let mut plan = ExtraPlan::default();
        let normals = mesh.attributes.normals.as_deref();
        if let Some(normals) = normals {
            let is_single = |n: &DVec3| n.to_array().iter().all(|&x| f64::from(x as f32) == x);
            let kind = match parallel::all(normals, is_single) {
                true => NumberType::F32,
                false => NumberType::F64,
            };
            for (axis, name) in NORMALS.into_iter().enumerate() {
                let mut description = [0; SIZE];
                description[TYPE] = type_number(kind) as u8;
                plan.push(name, description, Source::Normals(normals, axis), at);
            }
        }
        let is_other = |name: &str| {
            let is_normal = normals.is_some() && NORMALS.contains(&name);
            is_normal || RESERVED.contains(&name) || is_taken(name)
        };
        let names = fields.iter().map(|field| &*field.name);
        let names = names_in_file(names, |name| plain(name, is_other));
        for (field, name) in fields.into_iter().zip(names) {
            let description = description_of(&mesh.about, field);
            let source = Source::Field(&field.values);
            let is_written = description.is_some_and(|it| plan.push(&name, it, source, at));
            if !is_written {
                plan.lost.push(field.name.clone());
            } else if name != field.name {
                plan.renamed.push((field.name.clone(), name));
            }
        }
        plan
    }

    /// Adds a column, if the record and the descriptions have room.
    fn push(
        &mut self,
        name: &str,
        mut description: Description,
        source: Source<'a>,
        at: usize,
    ) -> bool {
        if name.len() > NAME_SIZE {
            return false;
        }
        description[NAME..NAME + NAME_SIZE].fill(0);
        description[NAME..][..name.len()].copy_from_slice(name.as_bytes());
        let extra = Extra::of(&description, at + self.size).expect("the type is known");
        let most = usize::from(u16::MAX);
        if extra.at + extra.size() > most || self.descriptions.len() + SIZE > most {
            return false;
        }
        self.size += extra.size();
        self.descriptions.extend_from_slice(&description);
        self.columns.push((extra, source));
        true
    }

    /// Writes the numbers of point `i` into a record.
    pub(crate) fn fill(&self, record: &mut [u8], i: usize) {
        for (extra, source) in &self.columns {
            let (components, width) = (extra.components, extra.kind.size());
            let numbers = record[extra.at..][..extra.size()].chunks_exact_mut(width);
            for (k, bytes) in numbers.enumerate() {
                let i = i * components + k;
                let bits = match (&extra.units, extra.kind, source) {
                    (Some(units), kind, _) => {
                        whole(source.f64(i), units[k], kind).unwrap_or(0) as u64
                    }
                    (_, NumberType::F32, _) => u64::from((source.f64(i) as f32).to_bits()),
                    (_, NumberType::F64, _) => source.f64(i).to_bits(),
                    (_, _, Source::Field(values)) => values.i64(i) as u64,
                    (_, _, Source::Normals(..)) => unreachable!("normals are floats"),
                };
                bytes.copy_from_slice(&bits.to_le_bytes()[..width]);
            }
        }
    }
}

/// The description of a field, without its name; `None` if no type has its components. The text of the description that
/// the mesh's file had stays.
fn description_of(about: &About, field: &Field) -> Option<Description> {
    let (kind, components) = (field.values.kind(), field.components);
    let old = old_description(about, &field.name);
    if let Some((mut old, extra)) = old.clone()
        && let Some(units) = &extra.units
        && kind == NumberType::F64
        && extra.components == components
    {
        // Multiples of the unit that they had are whole numbers again.
        let is_other = |i| whole(field.values.f64(i), units[i % components], extra.kind).is_none();
        if parallel::find(field.values.len(), is_other).is_none() {
            old[OPTIONS] &= HAS_MISSING | HAS_SCALE | HAS_OFFSET;
            old[LIMITS..SCALES].fill(0);
            return Some(old);
        }
    }
    let (number, options) = match components {
        1..=3 => (type_number(kind) + 10 * (components - 1), 0),
        4..=255 if kind == NumberType::U8 => (0, components),
        _ => return None,
    };
    let mut new = [0; SIZE];
    (new[TYPE], new[OPTIONS]) = (number as u8, options as u8);
    if let Some((old, extra)) = old {
        new[TEXT..].copy_from_slice(&old[TEXT..]);
        if extra.units.is_none() && old[TYPE] == new[TYPE] && number > 0 {
            new[OPTIONS] = old[OPTIONS] & HAS_MISSING;
            new[MISSING..LIMITS].copy_from_slice(&old[MISSING..LIMITS]);
        }
    }
    Some(new)
}

/// The description of that name which the mesh's file had.
fn old_description(about: &About, name: &str) -> Option<(Description, Extra)> {
    let records = &about.las.as_ref()?.records;
    let mut all = records
        .iter()
        .filter(|record| is_description(record))
        .flat_map(|record| record.data.as_chunks::<SIZE>().0)
        .filter_map(|description| Some((*description, Extra::of(description, 0)?)));
    all.find(|(_, extra)| extra.name == name)
}

/// Number of the type of a single number.
fn type_number(kind: NumberType) -> usize {
    let place = TYPES.iter().position(|&other| other == kind);
    1 + place.expect("every type has a number")
}

/// The whole number of type `kind` for a multiple of a unit.
fn whole(x: f64, [scale, offset]: [f64; 2], kind: NumberType) -> Option<i64> {
    // Beyond 2^53 doubles do not hold all whole numbers.
    let bits = (8 * kind.size() as i32).min(53);
    let [least, most] = match kind {
        NumberType::F32 | NumberType::F64 => return None,
        NumberType::U8 | NumberType::U16 | NumberType::U32 | NumberType::U64 => {
            [0.0, 2f64.powi(bits) - 1.0]
        }
        _ => [-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0],
    };
    let number = multiple(x, scale, offset)?;
    (least..=most).contains(&number).then_some(number as i64)
}

/// The name in the file: at most 32 bytes, without a zero. A long name leaves room for a number after it.
fn plain(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = name.replace('\0', "_");
    if name.is_empty() || is_taken(&name) {
        name.insert_str(0, "field_");
    }
    if name.len() > NAME_SIZE {
        name.truncate(name.floor_char_boundary(NAME_SIZE - 4));
    }
    name
}
