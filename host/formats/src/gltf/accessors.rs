//! The numbers of a document's accessors.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::buffers::Buffer;
use super::{Read, array, index};
use crate::references::Copies;
use crate::volume::bytes::{Order, read_f64};
use trioxide_mesh::fields::NumberType;
use trioxide_mesh::parallel;

/// A document and its buffers.
pub(super) struct Accessors<'a> {
    pub(super) document: &'a Value,
    pub(super) buffers: Vec<Buffer<'a>>,
    /// Count of accessors' copies: nodes may share a mesh, and primitives an accessor, any number of times.
    pub(super) copies: Copies,
}

/// Numbers of an accessor.
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    /// Numbers of an element.
    pub(super) width: usize,
    /// Their type; that of integers which stand for fractions is `f32`.
    pub(super) kind: NumberType,
    /// The type of the numbers that trioxide wrote.
    pub(super) written_kind: Option<String>,
}

impl Accessors<'_> {
    /// Returns the bytes of a buffer: the declared number, or all.
    fn bytes_of_buffer(&self, i: usize) -> Option<&[u8]> {
        let bytes = self.buffers.get(i)?;
        let length = index(&self.document["buffers"][i]["byteLength"]);
        bytes.get(..length.unwrap_or(bytes.len()))
    }

    /// Returns the bytes of a view, and the distance of its elements; 0 if they follow one another.
    pub(super) fn view(&self, i: usize) -> Read<(&[u8], usize)> {
        let view = array(&self.document["bufferViews"]).get(i);
        let view = view.ok_or("it has no bufferView")?;
        let buffer = index(&view["buffer"]).and_then(|i| self.bytes_of_buffer(i));
        let buffer = buffer.ok_or("there is no such buffer")?;
        let number = |name: &str| index(&view[name]).unwrap_or(0);
        let begin = number("byteOffset");
        let end = begin.checked_add(number("byteLength"));
        let bytes = end.and_then(|end| buffer.get(begin..end));
        let bytes = bytes.ok_or("its data is outside of the buffer")?;
        Ok((bytes, number("byteStride")))
    }

    /// Returns the numbers of an accessor. `widths` are the allowed numbers per element.
    pub(super) fn numbers(&self, number: usize, widths: RangeInclusive<usize>) -> Read<Numbers> {
        self.read(number, widths)
            .map_err(|reason| format!("accessor {number}: {reason}"))
    }

    fn read(&self, number: usize, widths: RangeInclusive<usize>) -> Read<Numbers> {
        let accessor = array(&self.document["accessors"])
            .get(number)
            .ok_or("it does not exist")?;
        if accessor.get("sparse").is_some() {
            return Err("sparse accessors are not read: write it dense".to_owned());
        }
        let width = match accessor["type"].as_str().unwrap_or_default() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            other => return Err(format!("its type is `{other}`")),
        };
        let (kind, most) = match accessor["componentType"].as_u64().unwrap_or(0) {
            5120 => (NumberType::I8, 127.0),
            5121 => (NumberType::U8, 255.0),
            5122 => (NumberType::I16, 32767.0),
            5123 => (NumberType::U16, 65535.0),
            5125 => (NumberType::U32, 1.0),
            5126 => (NumberType::F32, 1.0),
            other => return Err(format!("its component type is {other}")),
        };
        let size = kind.size();
        if !widths.contains(&width) {
            return Err(format!(
                "its elements have {width} numbers, not {}",
                widths.start()
            ));
        }
        let count = index(&accessor["count"]).ok_or("it has no count")?;
        let view = index(&accessor["bufferView"]).ok_or("it has no bufferView")?;
        let (bytes, stride) = self.view(view)?;
        let bytes = bytes
            .get(index(&accessor["byteOffset"]).unwrap_or(0)..)
            .ok_or("its data is outside of the buffer")?;
        let stride = match stride {
            0 => width * size,
            stride => stride,
        };
        let last = count.saturating_sub(1).checked_mul(stride);
        let end = last.and_then(|last| last.checked_add(width * size));
        if stride < width * size || (count > 0 && end.is_none_or(|end| end > bytes.len())) {
            return Err(format!(
                "{count} elements are announced, but {} bytes are there",
                bytes.len()
            ));
        }
        let is_scaled = accessor["normalized"].as_bool().unwrap_or(false) && most > 1.0;
        self.copies.count(count, count)?;
        let number = |i: usize| {
            let at = i / width * stride + i % width * size;
            let value = read_f64(kind, &bytes[at..at + size], Order::Little);
            match is_scaled {
                true => (value / most).max(-1.0),
                false => value,
            }
        };
        Ok(Numbers {
            values: parallel::collect(count * width, number),
            width,
            kind: if is_scaled { NumberType::F32 } else { kind },
            written_kind: accessor["extras"]["type"].as_str().map(str::to_owned),
        })
    }
}
