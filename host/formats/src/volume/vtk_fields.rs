//! The attributes of a legacy `.vtk` file as fields.

use std::io;

use super::bytes::{Kind, Numbers, Order, write_numbers};
use super::vtu::fields::values;
use crate::atomic_file::Out;
use crate::colors;
use crate::fields::{Joined, names_of};
use crate::percent;
use crate::text::{Fault, Parsed};
use trioxide_mesh::fields::Field;

/// The elements that an attribute belongs to.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Data {
    None,
    Points(usize),
    Cells(usize),
}

/// An attribute of points or cells.
pub(crate) struct Array {
    pub(super) name: String,
    /// Its offset.
    pub(super) at: usize,
    pub(super) data: Data,
    pub(super) components: usize,
    pub(super) kind: Kind,
    pub(super) values: Numbers,
    /// Sentences on how it is read.
    pub(super) notes: Vec<String>,
}

impl Array {
    /// An array without numbers: its note says what was at this place.
    pub(super) fn left_out(name: String, at: usize, note: String) -> Array {
        Array {
            name,
            at,
            data: Data::None,
            components: 0,
            kind: Kind::U8,
            values: Numbers::Integers(Vec::new()),
            notes: vec![note],
        }
    }

    /// Whether it has numbers of cells.
    pub(super) fn is_of_cells(&self) -> bool {
        matches!(self.data, Data::Cells(_)) && self.components > 0
    }

    /// The sentences on how arrays are read.
    pub(crate) fn notes(arrays: &[Array]) -> Vec<String> {
        arrays
            .iter()
            .flat_map(|array| array.notes.clone())
            .collect()
    }

    /// Its numbers, if they are whole and one for each of the cells.
    pub(super) fn tags(&self) -> Option<Vec<i64>> {
        let is_fine = matches!(self.data, Data::Cells(_)) && self.components == 1;
        let values = is_fine.then(|| self.values.clone())?;
        values.into_integers().ok()
    }

    /// The field of `count` points or cells.
    fn into_field(self, count: usize) -> Parsed<Field> {
        if count.checked_mul(self.components) != Some(self.values.len()) {
            let reason = format!(
                "the array {} has {} numbers, but {count} times {} are needed",
                self.name,
                self.values.len(),
                self.components
            );
            return Err(Fault::new(self.at, reason));
        }
        Ok(Field {
            name: self.name,
            components: self.components,
            values: values(self.kind, self.values),
        })
    }
}

/// The fields of points, and of cells without the arrays named in `skipped`.
pub(crate) fn fields(
    arrays: Vec<Array>,
    [points, cells]: [usize; 2],
    skipped: &[&str],
) -> Parsed<[Vec<Field>; 2]> {
    let mut fields = [Vec::new(), Vec::new()];
    for array in arrays.into_iter().filter(|array| array.components > 0) {
        match array.data {
            Data::Points(_) => fields[0].push(array.into_field(points)?),
            Data::Cells(_) if !skipped.contains(&array.name.as_str()) => {
                fields[1].push(array.into_field(cells)?);
            }
            _ => {}
        }
    }
    Ok(fields)
}

/// Returns colours of this number of components as bytes, which they are in binary files, and notes. In text they run
/// from 0 to 1, or as their numbers say.
pub(super) fn colors(values: Numbers, components: usize) -> (Numbers, Vec<String>) {
    let floats = match values {
        Numbers::Floats(floats) if (1..=4).contains(&components) => floats,
        values => return (values, Vec::new()),
    };
    let colors = colors::bytes_of(floats.len() / components, &[1.0], |i| {
        let mut channels = [0.0; 4];
        let color = &floats[components * i..components * (i + 1)];
        for (channel, number) in channels.iter_mut().zip(color) {
            *channel = *number as f32;
        }
        (channels, components as u8)
    });
    let bytes = colors.bytes.iter().flat_map(|color| &color[..components]);
    let integers = bytes.map(|&byte| i64::from(byte)).collect();
    (Numbers::Integers(integers), colors.notes)
}

/// The name of an array: VTK writes `%20` for a blank.
pub(super) fn decode(name: &[u8]) -> String {
    String::from_utf8_lossy(&percent::decode(name, |_| true)).into_owned()
}

/// The name as VTK writes it: a word of the file, so it is never empty.
fn encode(name: &str) -> String {
    match name {
        "" => "unnamed".to_owned(),
        name => percent::encode(name, |byte| {
            matches!(byte, b'"' | b'%' | b'#' | ..=32 | 127..)
        }),
    }
}

/// Writes fields as arrays of a `FIELD`.
pub(super) fn write(out: &mut dyn Out, fields: &[Joined], is_binary: bool) -> io::Result<()> {
    for field in fields {
        let (components, count) = (field.components, field.count);
        let (name, kind) = (encode(&field.name), names_of(field.kind).legacy[0]);
        writeln!(out, "{name} {components} {count} {kind}")?;
        let (size, order) = (field.kind.size(), is_binary.then_some(Order::Big));
        write_numbers(out, count, order, |i, push| {
            field.numbers(i, |number| push(number, size));
        })?;
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_in_the_file() {
        let name = "heat flux [%] \u{b5}\"#";
        let encoded = encode(name);
        assert_eq!(encoded, "heat%20flux%20[%25]%20%C2%B5%22%23");
        assert_eq!(decode(encoded.as_bytes()), name);
        assert_eq!((&*decode(b"100%"), &*encode("")), ("100%", "unnamed"));
    }
}
