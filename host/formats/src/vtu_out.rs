//! Writes VTK's XML files: `.vtu` of faces ([`super::vtu`]) and of cells ([`super::volume`]), and `.vtp`
//! ([`super::vtp`]).

use std::io;

use glam::DVec3;

use super::Encoding;
use super::fields::{Joined, names_in_file, names_of};
use super::rows_out::write_records;
use super::vtu_array::{Array, Numbers, Record, coordinates};
use super::vtu_blocks::compress;
use crate::atomic_file::Out;

/// Encodings of VTK's XML files.
pub(crate) const ENCODINGS: &[Encoding] = &[Encoding::Binary, Encoding::Text, Encoding::Compressed];

/// An element with arrays: its name, its attributes, the arrays.
pub(crate) type Section<'a> = (&'static str, &'a str, &'a [Array<'a>]);

/// The sections of an unstructured grid: data of points, points, cells, data of cells.
pub(crate) type Sections<'a> = [Section<'a>; 4];

fn components(count: usize) -> String {
    format!(" NumberOfComponents=\"{count}\"")
}

/// The name in letters that XML allows: no controls, and no noncharacters.
pub(crate) fn plain_name(name: &str) -> String {
    let letter = |c: char| match c {
        '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => ' ',
        c => c,
    };
    name.chars().map(letter).collect()
}

/// The name as an attribute's value in XML.
fn escape(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            letter => text.push(letter),
        }
    }
    text
}

/// Calls `then` with the counts and the sections of a grid, for [`write_sections`] or [`arrays_of`]. `data` are arrays
/// of cell data, which has the attributes `scalars`; `fields` are those of points and of cells.
pub(crate) fn with_sections<R>(
    points: &[DVec3],
    cells: usize,
    of_cells: &[Array],
    (mut data, scalars): (Vec<Array>, &str),
    fields: &[Vec<Joined>; 2],
    then: impl FnOnce(&str, &Sections) -> R,
) -> R {
    let coordinates = coordinates(points);
    let points = points.len();
    let records = fields.each_ref().map(|fields| field_records(fields));
    let of_points = field_arrays(&fields[0], &records[0]);
    data.extend(field_arrays(&fields[1], &records[1]));
    let sections = [
        ("PointData", "", &of_points[..]),
        ("Points", "", &[Array::of_points(points, &coordinates)]),
        ("Cells", "", of_cells),
        ("CellData", scalars, &data),
    ];
    let counts = format!("NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"");
    then(&counts, &sections)
}

/// Writes an unstructured grid. `encoding` is text, or raw appended little-endian binary.
pub(crate) fn write_grid(
    out: &mut dyn Out,
    counts: &str,
    sections: &Sections,
    encoding: Encoding,
) -> io::Result<()> {
    write_sections(out, "UnstructuredGrid", counts, sections, encoding)
}

/// The arrays of points and of cells in the sections of an unstructured grid, as elements of a list of pieces with
/// these arrays.
pub(crate) fn arrays_of(sections: &Sections) -> [String; 2] {
    let element = |array: &Array| {
        let Array {
            kind, name, more, ..
        } = array;
        format!("      <PDataArray type=\"{kind}\" Name=\"{name}\"{more}/>\n")
    };
    let [(_, _, of_points), _, _, (_, _, of_cells)] = sections;
    [of_points, of_cells].map(|arrays| arrays.iter().map(element).collect())
}

/// The records of each field.
pub(crate) fn field_records<'a>(fields: &'a [Joined<'a>]) -> Vec<Box<Record<'a>>> {
    fields.iter().map(field_record).collect()
}

/// The arrays of fields, from [`field_records`].
pub(crate) fn field_arrays<'a>(
    fields: &'a [Joined<'a>],
    records: &'a [Box<Record<'a>>],
) -> Vec<Array<'a>> {
    let names = names_in_file(fields.iter().map(|field| &*field.name), plain_name);
    let all = fields.iter().zip(records).zip(names);
    all.map(|((field, record), name)| Array {
        kind: names_of(field.kind).xml,
        size: field.kind.size(),
        name: escape(&name).into(),
        more: match field.components {
            1 => "".into(),
            count => components(count).into(),
        },
        numbers: field.components * field.count,
        records: field.count,
        record: &**record,
    })
    .collect()
}

/// Writes a file with a dataset of this kind, and one piece of these sections. Sections without arrays are left out.
pub(crate) fn write_sections(
    out: &mut dyn Out,
    kind: &str,
    counts: &str,
    sections: &[Section],
    encoding: Encoding,
) -> io::Result<()> {
    let all = || sections.iter().flat_map(|(_, _, arrays)| *arrays);
    let (compressed, compressor): (Vec<_>, _) = match encoding {
        Encoding::Compressed => (
            all().map(compress).collect(),
            " compressor=\"vtkZLibDataCompressor\"",
        ),
        _ => (Vec::new(), ""),
    };
    let mut blocks = compressed.iter();
    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>\n  \
         <{kind}>\n    \
         <Piece {counts}>\n",
    )?;
    let mut offset = 0;
    for (parent, attributes, arrays) in sections {
        if arrays.is_empty() {
            continue;
        }
        writeln!(out, "      <{parent}{attributes}>")?;
        for array in *arrays {
            write_element(out, array, encoding, offset)?;
            offset += match blocks.next() {
                Some(blocks) => blocks.iter().map(Vec::len).sum(),
                // A length precedes each array.
                None => 8 + array.size * array.numbers,
            };
        }
        writeln!(out, "      </{parent}>")?;
    }
    write!(out, "    </Piece>\n  </{kind}>\n")?;
    if encoding != Encoding::Text {
        write!(out, "  <AppendedData encoding=\"raw\">\n_")?;
        for block in compressed.iter().flatten() {
            out.write_all(block)?;
        }
        for array in all().filter(|_| compressed.is_empty()) {
            out.write_all(&((array.size * array.numbers) as u64).to_le_bytes())?;
            let size = Some(array.size);
            write_records(out, array.records, |buffer, i| {
                (array.record)(i, &mut Numbers { buffer, size });
            })?;
        }
        write!(out, "\n  </AppendedData>\n")?;
    }
    writeln!(out, "</VTKFile>")
}

/// The numbers of each element of a field.
fn field_record<'a>(field: &'a Joined) -> Box<Record<'a>> {
    Box::new(move |i, numbers| field.numbers(i, |number| numbers.number(number)))
}

/// Writes the element of an array, with its numbers in a text file, or else with the offset of its numbers.
fn write_element(
    out: &mut dyn Out,
    array: &Array,
    encoding: Encoding,
    offset: usize,
) -> io::Result<()> {
    let Array {
        kind, name, more, ..
    } = array;
    write!(
        out,
        "        <DataArray type=\"{kind}\" Name=\"{name}\"{more}"
    )?;
    if encoding != Encoding::Text {
        return writeln!(out, " format=\"appended\" offset=\"{offset}\"/>");
    }
    writeln!(out, " format=\"ascii\">")?;
    write_records(out, array.records, |buffer, i| {
        let mut numbers = Numbers {
            buffer: &mut *buffer,
            size: None,
        };
        (array.record)(i, &mut numbers);
        if let Some(last) = buffer.last_mut() {
            *last = b'\n';
        }
    })?;
    writeln!(out, "        </DataArray>")
}
