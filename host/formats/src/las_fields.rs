//! The numbers of LiDAR points beside position and colour, with the names of laspy.

use las::point::Format;

use super::fields::are_exact_doubles;
use trioxide_mesh::fields::{Field, Fields, NumberType, Values};
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
pub(crate) struct Columns(Vec<(Dimension, Values)>);

impl Columns {
    pub(crate) fn new(format: &Format) -> Columns {
        let empty = |kind| match kind {
            NumberType::U8 => Values::U8(Vec::new()),
            NumberType::I8 => Values::I8(Vec::new()),
            NumberType::U16 => Values::U16(Vec::new()),
            NumberType::I16 => Values::I16(Vec::new()),
            _ => Values::F64(Vec::new()),
        };
        let all = dimensions(format).into_iter();
        Columns(
            all.map(|dimension| (dimension, empty(dimension.kind)))
                .collect(),
        )
    }

    /// Reads records of `size` bytes.
    pub(crate) fn append(&mut self, records: &[u8], size: usize) {
        for (dimension, values) in &mut self.0 {
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
    }

    /// The fields, without those of default values only: a file without them has the same numbers.
    pub(crate) fn into_fields(self) -> Fields {
        let said = self.0.into_iter().filter(|(dimension, values)| {
            let is_said = |i| values.f64(i) != dimension.default as f64;
            parallel::find(values.len(), is_said).is_some()
        });
        said.map(|(dimension, values)| Field::scalars(dimension.name, values))
            .collect()
    }
}

/// A mask of the lowest `count` bits.
fn mask(count: u32) -> u8 {
    (0xff_u16 >> (8 - count)) as u8
}

impl Dimension {
    /// Whether it holds all numbers of a field.
    fn holds(&self, field: &Field) -> bool {
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
        let is_beyond = |i| {
            let value = field.values.f64(i);
            value.fract() != 0.0 || !(least..=most).contains(&value)
        };
        field.components == 1 && parallel::find(field.len(), is_beyond).is_none()
    }
}

/// The plan for writing the fields of a cloud.
pub(crate) struct Plan<'a> {
    /// Number of the point format.
    pub(crate) format: u8,
    dimensions: Vec<(Dimension, &'a Field)>,
    /// The first return of one, unless a field gives it.
    default_returns: u8,
}

impl<'a> Plan<'a> {
    /// The point format that holds most fields; of several, the lowest.
    pub(crate) fn of(mesh: &'a Mesh) -> Plan<'a> {
        let (fields, has_colors) = (&mesh.fields.points, mesh.attributes.colors.is_some());
        let plan = |number: u8| {
            let format = Format::new(number).expect("the format exists");
            let found = fields.iter().filter_map(|field| {
                let all = dimensions(&format);
                let dimension = all
                    .into_iter()
                    .find(|d| d.name == field.name && d.holds(field));
                Some((dimension?, field))
            });
            Plan {
                format: number,
                dimensions: found.collect(),
                default_returns: if format.is_extended {
                    1 | 1 << 4
                } else {
                    1 | 1 << 3
                },
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
        plans.reduce(better).expect("there are formats")
    }

    /// The version with this point format, and with return numbers this high.
    pub(crate) fn version(&self) -> (u8, u8) {
        let mut returns = self.dimensions.iter();
        let returns = returns.find(|(dimension, _)| dimension.name == "return_number");
        let are_many = returns.is_some_and(|(_, field)| {
            parallel::find(field.len(), |i| field.values.i64(i) > 5).is_some()
        });
        if self.format > 5 || are_many {
            (1, 4)
        } else {
            (1, 2)
        }
    }

    /// Names of the fields that are not written.
    pub(crate) fn lost(&self, mesh: &Mesh) -> Vec<String> {
        let is_written = |name: &str| self.dimensions.iter().any(|(_, field)| field.name == name);
        let fields = &mesh.fields;
        let points = fields
            .points
            .iter()
            .filter(|field| !is_written(&field.name));
        let all = points.chain(&fields.cells).chain(&fields.sides);
        all.map(|field| field.name.clone()).collect()
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
    }
}
