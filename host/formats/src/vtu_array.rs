//! Arrays of VTK's XML files.

use std::borrow::Cow;

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
