//! Arrays of VTK's XML files.

use std::borrow::Cow;

use glam::DVec3;

use super::fields::Number;
use super::rows_out::{push_f64, push_integer};

/// Formats the numbers of one point or cell of an array into a buffer.
pub(crate) struct Numbers<'a> {
    pub(crate) buffer: &'a mut Vec<u8>,
    /// Bytes of one number; `None` for text.
    pub(crate) size: Option<usize>,
}

impl<'a> Numbers<'a> {
    /// Numbers of `size` bytes each, the least byte first.
    pub(crate) fn binary(buffer: &'a mut Vec<u8>, size: usize) -> Self {
        Numbers {
            buffer,
            size: Some(size),
        }
    }
}

impl Numbers<'_> {
    /// Appends a number of a `Float64` array.
    pub(crate) fn float(&mut self, value: f64) {
        match self.size {
            Some(_) => self.buffer.extend_from_slice(&value.to_le_bytes()),
            None => {
                push_f64(self.buffer, value);
                self.buffer.push(b' ');
            }
        }
    }

    /// Appends a number of a field.
    pub(crate) fn number(&mut self, number: Number) {
        match self.size {
            Some(size) => number.push_bytes(self.buffer, size, false),
            None => {
                number.push_text(self.buffer);
                self.buffer.push(b' ');
            }
        }
    }

    /// Appends a number of an array of integers.
    pub(crate) fn integer(&mut self, value: i64) {
        match self.size {
            Some(1) => self.buffer.push(value as u8),
            Some(4) => self.buffer.extend_from_slice(&(value as i32).to_le_bytes()),
            Some(_) => self.buffer.extend_from_slice(&value.to_le_bytes()),
            None => {
                push_integer(self.buffer, value);
                self.buffer.push(b' ');
            }
        }
    }
}

/// Appends the numbers of a point or cell.
pub(crate) type Record<'a> = dyn Fn(usize, &mut Numbers) + Sync + 'a;

/// An array of the file.
#[derive(Clone)]
pub(crate) struct Array<'a> {
    /// VTK's name of the numbers' type.
    pub(crate) kind: &'static str,
    /// Bytes of one number.
    pub(crate) size: usize,
    pub(crate) name: Cow<'a, str>,
    /// More attributes of the element.
    pub(crate) more: Cow<'a, str>,
    /// Numbers in all.
    pub(crate) numbers: usize,
    /// Points or cells.
    pub(crate) records: usize,
    pub(crate) record: &'a Record<'a>,
}

/// VTK's type of tags, and its bytes.
pub(crate) const TAG: (&str, usize) = ("Int32", 4);

/// The type of indices up to `most`, and its bytes: 32-bit indices halve the file.
pub(crate) fn index_type(most: usize) -> (&'static str, usize) {
    match i32::try_from(most) {
        Ok(_) => ("Int32", 4),
        Err(_) => ("Int64", 8),
    }
}

impl<'a> Array<'a> {
    /// An array of one component, with these numbers in all and of records.
    pub(crate) fn new(
        (kind, size): (&'static str, usize),
        name: &'static str,
        [numbers, records]: [usize; 2],
        record: &'a Record<'a>,
    ) -> Array<'a> {
        Array {
            kind,
            size,
            name: name.into(),
            more: "".into(),
            numbers,
            records,
            record,
        }
    }

    /// The coordinates of `count` points.
    pub(crate) fn of_points(count: usize, record: &'a Record<'a>) -> Array<'a> {
        Array {
            more: " NumberOfComponents=\"3\"".into(),
            ..Array::new(("Float64", 8), "Points", [3 * count, count], record)
        }
    }
}

/// The record of each point's coordinates.
pub(crate) fn coordinates(points: &[DVec3]) -> impl Fn(usize, &mut Numbers) + Sync {
    |i, numbers| {
        let point = points[i].to_array();
        point.into_iter().for_each(|x| numbers.float(x));
    }
}
