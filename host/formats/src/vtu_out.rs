//! Writing of VTK's XML files: `.vtu` of faces ([`super::vtu`]) and of cells ([`super::volume`]), and `.vtp` ([`super::vtp`]).

use std::io::{self, Write};

use super::Encoding;
use super::rows_out::{push_f64, push_integer, write_records};

/// The numbers of an array that belong to one point or cell, formatted into a buffer.
pub(crate) struct Numbers<'a> {
    buffer: &'a mut Vec<u8>,
    /// Bytes of one number; `None` for text.
    size: Option<usize>,
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
pub(crate) struct Array<'a> {
    /// VTK's name of the numbers' type.
    pub(crate) kind: &'static str,
    /// Bytes of one number.
    pub(crate) size: usize,
    pub(crate) name: &'static str,
    /// More attributes of the element.
    pub(crate) more: &'static str,
    /// Numbers in all.
    pub(crate) numbers: usize,
    /// Points or cells.
    pub(crate) records: usize,
    pub(crate) record: &'a Record<'a>,
}

/// An element with arrays: its name, its attributes, the arrays.
pub(crate) type Section<'a> = (&'static str, &'a str, &'a [Array<'a>]);

/// An unstructured grid.
pub(crate) struct Grid<'a> {
    /// Number of points.
    points: usize,
    /// Number of cells.
    cells: usize,
    /// Points; connectivity, offsets and types; then those of cell data.
    arrays: Vec<Array<'a>>,
    /// Attributes of `CellData`.
    pub(crate) cell_data: String,
}

impl<'a> Grid<'a> {
    /// A grid whose cells have so many corners in all, from the records of points, and of each cell's corners, of the end of its
    /// corners, and of its type.
    pub(crate) fn new(
        points: usize,
        cells: usize,
        corners: usize,
        records: [&'a Record<'a>; 4],
    ) -> Grid<'a> {
        // 32 bits are half the file.
        let (index, size) = match i32::try_from(points.max(corners)) {
            Ok(_) => ("Int32", 4),
            Err(_) => ("Int64", 8),
        };
        let array = |kind, size, name, numbers, record| Array {
            kind,
            size,
            name,
            more: "",
            numbers,
            records: cells,
            record,
        };
        let [point, vertices, end, kind] = records;
        let arrays = vec![
            Array {
                more: " NumberOfComponents=\"3\"",
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
            cell_data: String::new(),
        }
    }

    /// Adds an integer of each cell.
    pub(crate) fn push_tags(&mut self, name: &'static str, record: &'a Record<'a>) {
        self.arrays.push(Array {
            kind: "Int32",
            size: 4,
            name,
            more: "",
            numbers: self.cells,
            records: self.cells,
            record,
        });
    }
}

/// Writes a file; `encoding` is text, or little-endian binary appended raw.
pub(crate) fn write(
    out: &mut (impl Write + Send),
    grid: &Grid,
    encoding: Encoding,
) -> io::Result<()> {
    let Grid {
        points,
        cells,
        arrays,
        cell_data,
    } = grid;
    let counts = format!("NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\"");
    let sections = [
        ("Points", "", &arrays[..1]),
        ("Cells", "", &arrays[1..4]),
        ("CellData", cell_data.as_str(), &arrays[4..]),
    ];
    write_sections(out, "UnstructuredGrid", &counts, &sections, encoding)
}

/// Writes a file with a dataset of this kind: one piece of these sections. Sections without arrays are left out.
pub(crate) fn write_sections(
    out: &mut (impl Write + Send),
    kind: &str,
    counts: &str,
    sections: &[Section],
    encoding: Encoding,
) -> io::Result<()> {
    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
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
            // Each array has its length before it.
            offset += 8 + array.size * array.numbers;
        }
        writeln!(out, "      </{parent}>")?;
    }
    write!(out, "    </Piece>\n  </{kind}>\n")?;
    if encoding != Encoding::Text {
        write!(out, "  <AppendedData encoding=\"raw\">\n_")?;
        for array in sections.iter().flat_map(|(_, _, arrays)| *arrays) {
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

/// Writes the element of an array: with its numbers in a file that is text, else with the place where they are.
fn write_element(
    out: &mut (impl Write + Send),
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
