//! Columns of numbers beside the points and the elements of Triangle's and TetGen's files.

use super::rows_out::{push_after_blanks, push_f64};
use super::text::{Line, Parsed, whole};
use trioxide_mesh::fields::{Field, Fields, MeshFields, Values};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel;

/// Most values that are no whole numbers and name regions: more are measurements.
const MOST_VALUES: usize = 256;

/// Number of the columns: attributes, and a marker after them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Columns {
    pub(crate) attributes: usize,
    pub(crate) has_marker: bool,
}

impl Columns {
    pub(crate) fn is_empty(self) -> bool {
        self.attributes == 0 && !self.has_marker
    }

    /// Reads the numbers of a row. A marker that is absent is 0.
    pub(crate) fn read(self, line: &mut Line, numbers: &mut Vec<f64>) -> Parsed<()> {
        for _ in 0..self.attributes {
            numbers.push(line.f64("an attribute")?);
        }
        if self.has_marker {
            numbers.push(match line.is_finished() {
                true => 0.0,
                false => line.f64("a marker")?,
            });
        }
        Ok(())
    }

    /// The columns of all rows as fields: attributes of doubles, markers of integers that are not all 0.
    pub(crate) fn fields(self, numbers: &[f64]) -> Fields {
        let mut fields = Fields::default();
        // A file without rows may say any number of columns.
        if numbers.is_empty() {
            return fields;
        }
        for k in 0..self.attributes {
            fields.push(Field::scalars(name(k), self.column(numbers, k)));
        }
        if self.has_marker {
            let markers = self.column(numbers, self.attributes);
            let values = match integers(&markers) {
                Some(markers) => Values::from(markers),
                None => Values::from(markers),
            };
            if !values.are_zero() {
                fields.push(Field::scalars(MARKER, values));
            }
        }
        fields
    }

    fn column(self, numbers: &[f64], k: usize) -> Vec<f64> {
        let width = self.attributes + usize::from(self.has_marker);
        parallel::collect(numbers.len() / width, |i| numbers[i * width + k])
    }
}

/// Fields that files of points hold: attributes numbered without gaps, and the marker.
pub(crate) struct Kept<'a> {
    attributes: Vec<&'a [f64]>,
    marker: Option<&'a [i32]>,
}

impl<'a> Kept<'a> {
    pub(crate) fn of(fields: &'a Fields) -> Kept<'a> {
        let scalars = |name: &str| fields.get(name).filter(|field| field.components == 1);
        let attributes = (0..).map_while(|k| match &scalars(&name(k))?.values {
            Values::F64(values) => Some(values.as_slice()),
            _ => None,
        });
        Kept {
            attributes: attributes.collect(),
            marker: scalars(MARKER).and_then(|field| match &field.values {
                Values::I32(values) => Some(values.as_slice()),
                _ => None,
            }),
        }
    }

    /// Numbers of attributes and of markers, as a header says them.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.attributes.len(), usize::from(self.marker.is_some())]
    }

    /// Appends the numbers of point `i`.
    pub(crate) fn push(&self, buffer: &mut Vec<u8>, i: usize) {
        for attribute in &self.attributes {
            buffer.push(b' ');
            push_f64(buffer, attribute[i]);
        }
        push_after_blanks(buffer, self.marker.map(|markers| markers[i]));
    }
}

/// Names of the fields of a mesh that files of points do not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let [attributes, markers] = Kept::of(&mesh.fields.points).counts();
    let kept: Vec<String> = (0..attributes).map(name).collect();
    let is_kept = |other: &str| {
        let is_marker = markers > 0 && other == MARKER;
        is_marker || kept.iter().any(|name| name == other)
    };
    let MeshFields {
        points,
        cells,
        sides,
    } = &mesh.fields;
    let points = points.iter().filter(|field| !is_kept(&field.name));
    let all = points.chain(cells).chain(sides);
    let mut names: Vec<String> = Vec::new();
    for field in all {
        if !names.contains(&field.name) {
            names.push(field.name.clone());
        }
    }
    names
}

/// The name of markers of points as a field.
const MARKER: &str = "marker";

/// The name of attribute `k` as a field.
fn name(k: usize) -> String {
    format!("attribute_{}", k + 1)
}

/// `numbers` as integers of 32 bits, if all are.
pub(crate) fn integers(numbers: &[f64]) -> Option<Vec<i32>> {
    let is_other = |&number: &f64| f64::from(number as i32) != number;
    let all_are = parallel::position(numbers, is_other).is_none();
    all_are.then(|| parallel::map(numbers, |&number| number as i32))
}

/// Attributes of elements: the first gives the regions.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) regions: Option<Vec<i32>>,
    pub(crate) fields: Fields,
    pub(crate) notes: Vec<String>,
}

impl Attributes {
    /// From the numbers of all elements, `count` each.
    ///
    /// The first attribute is the region. If its values are not all whole numbers, it is a field, and the regions are
    /// the places of the values in ascending order.
    pub(crate) fn new(count: usize, numbers: &[f64]) -> Attributes {
        let mut all = Attributes::default();
        if count == 0 {
            return all;
        }
        let columns = Columns {
            attributes: count,
            has_marker: false,
        };
        let first = match numbers {
            [] => Vec::new(),
            _ => columns.column(numbers, 0),
        };
        all.regions = integers(&first);
        all.fields = match (&all.regions, count) {
            (Some(_), 1) => return all,
            _ => columns.fields(numbers),
        };
        if all.regions.is_some() {
            all.fields.take(&name(0));
            return all;
        }
        let values = number_values(first.iter().copied());
        let is_measured = values.len() > MOST_VALUES;
        all.notes.push(match is_measured {
            true => format!(
                "its first attribute has {} values that are no whole numbers of 32 bits: it is the field {}, and gives no regions",
                values.len(),
                name(0)
            ),
            false => format!(
                "its first attribute, the field {}, has values that are no whole numbers of 32 bits, so regions number them: {}",
                name(0),
                shown(&values)
            ),
        });
        all.regions =
            (!is_measured).then(|| parallel::map(&first, |&value| number_of(&values, value)));
        all
    }
}

/// The different values, ascending.
pub(crate) fn number_values(values: impl Iterator<Item = f64>) -> Vec<f64> {
    // Positive and negative zero are one value.
    let mut values: Vec<f64> = values.map(|value| value + 0.0).collect();
    parallel::sort_floats(&mut values);
    values.dedup_by(|a, b| a.to_bits() == b.to_bits());
    values
}

/// The number of a value among the ascending `values`, from 1.
pub(crate) fn number_of(values: &[f64], value: f64) -> i32 {
    values.partition_point(|other| other.total_cmp(&(value + 0.0)).is_lt()) as i32 + 1
}

/// Numbers with their values.
pub(crate) fn shown(values: &[f64]) -> String {
    let pairs = (1..)
        .zip(values)
        .map(|(i, value)| format!("{i} is {value}"));
    super::text::listed(pairs)
}

/// `value` as the number of a region.
pub(crate) fn region(value: f64) -> Option<i32> {
    whole(value).and_then(|id| i32::try_from(id).ok())
}
