//! Writes VTK's XML files: `.vtu` of faces ([`super::vtu`]) and of cells ([`super::volume`]), and `.vtp`
//! ([`super::vtp`]).

use std::io;

use super::Encoding;
use super::fields::{Joined, RESERVED, names_in_file};
use super::rows_out::write_records;
use super::vtu_array::{Array, Numbers, Record};
use super::vtu_blocks::compress;
use crate::atomic_file::Out;
use trioxide_mesh::fields::{Fields, NumberType};

/// Encodings of VTK's XML files.
pub(crate) const ENCODINGS: &[Encoding] = &[Encoding::Binary, Encoding::Text, Encoding::Compressed];

/// An element with arrays: its name, its attributes, the arrays.
pub(crate) type Section<'a> = (&'static str, &'a str, &'a [Array<'a>]);

/// The sections of an unstructured grid: data of points, points, cells, data of cells.
pub(crate) type Sections<'a> = [Section<'a>; 4];

/// An unstructured grid.
pub(crate) struct Grid<'a> {
    /// Number of points.
    points: usize,
    /// Number of cells.
    cells: usize,
    /// Points; connectivity, offsets and types; then arrays of cell data.
    arrays: Vec<Array<'a>>,
    /// Fields of points, and of cells.
    fields: [Vec<Joined<'a>>; 2],
    /// Attributes of `CellData`.
    pub(crate) cell_data: String,
}

impl<'a> Grid<'a> {
    /// A grid whose cells have `corners` corners in total, from the records of points, of each cell's corners, of the
    /// end of its corners, and of its type.
    pub(crate) fn new(
        points: usize,
        cells: usize,
        corners: usize,
        records: [&'a Record<'a>; 4],
    ) -> Grid<'a> {
        // 32-bit indices halve the file.
        let (index, size) = match i32::try_from(points.max(corners)) {
            Ok(_) => ("Int32", 4),
            Err(_) => ("Int64", 8),
        };
        let array = |kind, size, name: &'static str, numbers, record| Array {
            kind,
            size,
            name: name.into(),
            more: "".into(),
            numbers,
            records: cells,
            record,
        };
        let [point, vertices, end, kind] = records;
        let arrays = vec![
            Array {
                more: components(3).into(),
                records: points,
                ..array("Float64", 8, "Points", 3 * points, point)
            },
            array(index, size, "connectivity", corners, vertices),
            array(index, size, "offsets", cells, end),
            array("UInt8", 1, "types", cells, kind),
        ];
        Grid {
            points,
            cells,
            arrays,
            fields: Default::default(),
            cell_data: String::new(),
        }
    }

    /// Adds an integer of each cell.
    pub(crate) fn push_tags(&mut self, name: &'static str, record: &'a Record<'a>) {
        self.arrays.push(Array {
            kind: "Int32",
            size: 4,
            name: name.into(),
            more: "".into(),
            numbers: self.cells,
            records: self.cells,
            record,
        });
    }

    /// Adds the fields of all points.
    pub(crate) fn push_point_fields(&mut self, fields: &'a Fields) {
        self.fields[0].extend(fields.iter().map(Joined::of));
    }

    /// Adds the fields of all cells, from two lists of the mesh with `counts` elements.
    pub(crate) fn push_cell_fields(&mut self, lists: [&'a Fields; 2], counts: [usize; 2]) {
        self.fields[1] = Joined::of_two(lists, counts, RESERVED);
    }
}

fn components(count: usize) -> String {
    format!(" NumberOfComponents=\"{count}\"")
}

/// VTK's name of a type.
fn type_name(kind: NumberType) -> &'static str {
    match kind {
        NumberType::I8 => "Int8",
        NumberType::U8 => "UInt8",
        NumberType::I16 => "Int16",
        NumberType::U16 => "UInt16",
        NumberType::I32 => "Int32",
        NumberType::U32 => "UInt32",
        NumberType::I64 => "Int64",
        NumberType::U64 => "UInt64",
        NumberType::F32 => "Float32",
        NumberType::F64 => "Float64",
    }
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

/// Calls `then` with the counts and the sections of a grid, for [`write_sections`] or [`arrays_of`].
pub(crate) fn with_sections<R>(grid: &Grid, then: impl FnOnce(&str, &Sections) -> R) -> R {
    let Grid {
        points,
        cells,
        arrays,
        fields,
        cell_data,
    } = grid;
    let counts = format!("NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"");
    let records = fields.each_ref().map(|fields| field_records(fields));
    let of_points = field_arrays(&fields[0], &records[0]);
    let mut of_cells = arrays[4..].to_vec();
    of_cells.extend(field_arrays(&fields[1], &records[1]));
    let sections = [
        ("PointData", "", &of_points[..]),
        ("Points", "", &arrays[..1]),
        ("Cells", "", &arrays[1..4]),
        ("CellData", cell_data.as_str(), &of_cells),
    ];
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
        kind: type_name(field.kind),
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
