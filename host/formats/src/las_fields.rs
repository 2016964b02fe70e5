//! The numbers of LiDAR points beside position and colour, with the names of laspy.

use std::ops::Range;

use las::point::Format;

use super::fields::are_exact_doubles;
use super::las::extra::{ExtraColumns, ExtraPlan, take_normals};
use trioxide_mesh::fields::{Field, NumberType, Values};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel::{self, append_chunks};

/// A number of each point, and its place in a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dimension {
    name: &'static str,
    kind: NumberType,
    /// Offset of its first byte.
    at: usize,
    /// Lowest bit and number of bits, for a part of a byte; all bits for other numbers.
    bits: (u32, u32),
    /// Value of a point without this number.
    default: i64,
}

const fn whole(name: &'static str, kind: NumberType, at: usize) -> Dimension {
    Dimension {
        name,
        kind,
        at,
        bits: (0, 0),
        default: 0,
    }
}

const fn part(name: &'static str, at: usize, bits: (u32, u32), default: i64) -> Dimension {
    Dimension {
        name,
        kind: NumberType::U8,
        at,
        bits,
        default,
    }
}

/// Dimensions of the point formats 0 to 5.
const LEGACY: [Dimension; 12] = [
    whole("intensity", NumberType::U16, 12),
    part("return_number", 14, (0, 3), 1),
    part("number_of_returns", 14, (3, 3), 1),
    part("scan_direction_flag", 14, (6, 1), 0),
    part("edge_of_flight_line", 14, (7, 1), 0),
    part("classification", 15, (0, 5), 0),
    part("synthetic", 15, (5, 1), 0),
    part("key_point", 15, (6, 1), 0),
    part("withheld", 15, (7, 1), 0),
    whole("scan_angle_rank", NumberType::I8, 16),
    whole("user_data", NumberType::U8, 17),
    whole("point_source_id", NumberType::U16, 18),
];

/// Dimensions of the point formats 6 to 10.
const EXTENDED: [Dimension; 15] = [
    whole("intensity", NumberType::U16, 12),
    part("return_number", 14, (0, 4), 1),
    part("number_of_returns", 14, (4, 4), 1),
    part("synthetic", 15, (0, 1), 0),
    part("key_point", 15, (1, 1), 0),
    part("withheld", 15, (2, 1), 0),
    part("overlap", 15, (3, 1), 0),
    part("scanner_channel", 15, (4, 2), 0),
    part("scan_direction_flag", 15, (6, 1), 0),
    part("edge_of_flight_line", 15, (7, 1), 0),
    part("classification", 16, (0, 8), 0),
    whole("user_data", NumberType::U8, 17),
    whole("scan_angle", NumberType::I16, 18),
    whole("point_source_id", NumberType::U16, 20),
    whole("gps_time", NumberType::F64, 22),
];

/// The dimensions of a point format.
fn dimensions(format: &Format) -> Vec<Dimension> {
    let mut all = match format.is_extended {
        true => EXTENDED.to_vec(),
        false => LEGACY.to_vec(),
    };
    if format.has_gps_time && !format.is_extended {
        all.push(whole("gps_time", NumberType::F64, 20));
    }
    if format.has_nir {
        all.push(whole("nir", NumberType::U16, 36));
    }
    all
}

/// Offset of the colour in a record.
pub(crate) fn color_offset(format: &Format) -> usize {
    match format.is_extended {
        true => 30,
        false => 20 + 8 * usize::from(format.has_gps_time),
    }
}

/// The dimensions of points during reading.
pub(crate) struct Columns {
    all: Vec<(Dimension, Values)>,
    extra: ExtraColumns,
}

impl Columns {
    /// `extra`: the bytes after those of the format.
    pub(crate) fn new(format: &Format, extra: ExtraColumns) -> Columns {
        let empty = |kind| match kind {
            NumberType::U8 => Values::U8(Vec::new()),
            NumberType::I8 => Values::I8(Vec::new()),
            NumberType::U16 => Values::U16(Vec::new()),
            NumberType::I16 => Values::I16(Vec::new()),
            _ => Values::F64(Vec::new()),
        };
        let all = dimensions(format).into_iter();
        Columns {
            all: all
                .map(|dimension| (dimension, empty(dimension.kind)))
                .collect(),
            extra,
        }
    }

    /// Reads records of `size` bytes.
    pub(crate) fn append(&mut self, records: &[u8], size: usize) {
        for (dimension, values) in &mut self.all {
            let Dimension { at, bits, .. } = *dimension;
            fn bytes<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
                *row[at..]
                    .first_chunk()
                    .expect("a record has its format's size")
            }
            macro_rules! append {
                ($list:ident, $type:ty) => {
                    append_chunks($list, records, size, |row| {
                        <$type>::from_le_bytes(bytes(row, at))
                    })
                };
            }
            match values {
                Values::U8(list) => append_chunks(list, records, size, |row| match bits {
                    (_, 0) => row[at],
                    (low, count) => row[at] >> low & mask(count),
                }),
                Values::I8(list) => append!(list, i8),
                Values::U16(list) => append!(list, u16),
                Values::I16(list) => append!(list, i16),
                Values::F64(list) => append!(list, f64),
                _ => unreachable!("no dimension has this type"),
            }
        }
        self.extra.append(records, size);
    }

    /// Puts the fields into a mesh, without those of default values only: a file without them has the same numbers.
    pub(crate) fn put(self, mesh: &mut Mesh) {
        let said = self.all.into_iter().filter(|(dimension, values)| {
            let is_said = |i| values.f64(i) != dimension.default as f64;
            parallel::find(values.len(), is_said).is_some()
        });
        let said = said.map(|(dimension, values)| Field::scalars(dimension.name, values));
        mesh.fields.points = said.chain(self.extra.into_fields()).collect();
        mesh.attributes.normals = take_normals(&mut mesh.fields.points);
    }
}

/// A mask of the lowest `count` bits.
fn mask(count: u32) -> u8 {
    (0xff_u16 >> (8 - count)) as u8
}

impl Dimension {
    /// Whether it holds all numbers of a field, whose least and largest are given if they are whole.
    fn holds(&self, field: &Field, extent: Option<[f64; 2]>) -> bool {
        let [least, most] = match (self.kind, self.bits.1) {
            (NumberType::F64, _) => {
                return field.components == 1 && are_exact_doubles(&field.values);
            }
            (NumberType::I8, _) => [f64::from(i8::MIN), f64::from(i8::MAX)],
            (NumberType::I16, _) => [f64::from(i16::MIN), f64::from(i16::MAX)],
            (NumberType::U16, _) => [0.0, f64::from(u16::MAX)],
            (_, 0) => [0.0, 255.0],
            (_, bits) => [0.0, f64::from(mask(bits))],
        };
        extent.is_some_and(|[low, high]| least <= low && high <= most)
    }
}

/// The least and the largest number of a field; `None` unless it has one whole number for each point.
fn extent(field: &Field) -> Option<[f64; 2]> {
    const NONE: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];
    let of_piece = |range: Range<usize>| {
        let mut extent = NONE;
        for i in range {
            let value = field.values.f64(i);
            if value.fract() != 0.0 {
                return None;
            }
            extent = [extent[0].min(value), extent[1].max(value)];
        }
        Some(extent)
    };
    let is_scalar = field.components == 1;
    let pieces = is_scalar.then(|| parallel::map_pieces(field.len(), parallel::GRAIN, of_piece))?;
    let join = |a: [f64; 2], b: Option<[f64; 2]>| b.map(|b| [a[0].min(b[0]), a[1].max(b[1])]);
    pieces.into_iter().try_fold(NONE, join)
}

/// The plan for writing the fields of a cloud.
pub(crate) struct Plan<'a> {
    /// Number of the point format.
    pub(crate) format: u8,
    dimensions: Vec<(Dimension, &'a Field)>,
    /// Whether the number of a return is above 5.
    has_high_returns: bool,
    /// The first return of one, unless a field gives it.
    default_returns: u8,
    /// The other fields.
    pub(crate) extra: ExtraPlan<'a>,
}

impl<'a> Plan<'a> {
    /// The point format that holds most fields; of several, the lowest.
    pub(crate) fn of(mesh: &'a Mesh) -> Plan<'a> {
        let (fields, has_colors) = (&mesh.fields.points, mesh.attributes.colors.is_some());
        let known =
            |name: &str| LEGACY.iter().chain(&EXTENDED).any(|d| d.name == name) || name == "nir";
        let extents = fields.iter().map(|field| match known(&field.name) {
            true => extent(field),
            false => None,
        });
        let extents: Vec<_> = extents.collect();
        let plan = |number: u8| {
            let format = Format::new(number).expect("the format exists");
            let all = dimensions(&format);
            let found = fields.iter().zip(&extents).filter_map(|(field, &extent)| {
                let mut all = all.iter();
                let is_its = |d: &&Dimension| d.name == field.name && d.holds(field, extent);
                Some((*all.find(is_its)?, field))
            });
            Plan {
                format: number,
                dimensions: found.collect(),
                has_high_returns: false,
                default_returns: if format.is_extended {
                    1 | 1 << 4
                } else {
                    1 | 1 << 3
                },
                extra: ExtraPlan::default(),
            }
        };
        let choices: &[u8] = match has_colors {
            true => &[2, 3, 7, 8],
            false => &[0, 1, 6],
        };
        let plans = choices.iter().map(|&number| plan(number));
        let better = |best: Plan<'a>, other: Plan<'a>| match other.dimensions.len()
            > best.dimensions.len()
        {
            true => other,
            false => best,
        };
        let mut plan = plans.reduce(better).expect("there are formats");
        let format = Format::new(plan.format).expect("the format exists");
        let is_dimension =
            |field: &Field| plan.dimensions.iter().any(|(_, f)| f.name == field.name);
        let others = fields.iter().filter(|field| !is_dimension(field)).collect();
        let names = dimensions(&format);
        let is_taken = |name: &str| names.iter().any(|dimension| dimension.name == name);
        plan.extra = ExtraPlan::of(mesh, others, usize::from(format.len()), is_taken);
        let mut with_extents = fields.iter().zip(&extents);
        let returns = with_extents.find(|(field, _)| field.name == "return_number");
        plan.has_high_returns = returns.is_some_and(|(_, e)| e.is_some_and(|[_, most]| most > 5.0));
        plan
    }

    /// The version with this point format, and with return numbers this high.
    pub(crate) fn version(&self) -> (u8, u8) {
        if self.format > 5 || self.has_high_returns {
            (1, 4)
        } else {
            (1, 2)
        }
    }

    /// Names of the fields that are not written.
    pub(crate) fn lost(&self, mesh: &Mesh) -> Vec<String> {
        let others = (mesh.fields.cells.iter()).chain(&mesh.fields.sides);
        let others = others.map(|field| field.name.clone());
        self.extra.lost.iter().cloned().chain(others).collect()
    }

    /// Names of the fields of floats that are written as integers, or of integers written as floats.
    pub(crate) fn retyped(&self, are_floats: bool) -> Vec<&'a str> {
        let is_other = |(dimension, field): &&(Dimension, &'a Field)| {
            let is_float = field.values.kind().is_float();
            is_float == are_floats && (dimension.kind == NumberType::F64) != are_floats
        };
        let fields = self.dimensions.iter().filter(is_other);
        fields.map(|(_, field)| field.name.as_str()).collect()
    }

    /// Writes the numbers of point `i` into a record of zeros.
    pub(crate) fn fill(&self, record: &mut [u8], i: usize) {
        record[14] = self.default_returns;
        for (dimension, field) in &self.dimensions {
            let Dimension { at, bits, .. } = *dimension;
            let value = field.values.i64(i);
            match (dimension.kind, bits) {
                (NumberType::F64, _) => {
                    record[at..at + 8].copy_from_slice(&field.values.f64(i).to_le_bytes());
                }
                (NumberType::U16 | NumberType::I16, _) => {
                    record[at..at + 2].copy_from_slice(&value.to_le_bytes()[..2]);
                }
                (_, (_, 0)) => record[at] = value as u8,
                (_, (low, count)) => {
                    record[at] &= !(mask(count) << low);
                    record[at] |= (value as u8) << low;
                }
            }
        }
        self.extra.fill(record, i);
    }
}
