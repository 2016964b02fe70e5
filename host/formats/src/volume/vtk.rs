//! VTK's legacy format with an unstructured grid: `.vtk`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtk_legacy_file_format.html>. Text and binary of versions 1 to 5.1 are read. Cells,
//! faces, fields and names of arrays are those of the `.vtu` format. Written is version 3.0.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::Encoding;
use super::bytes::{Bytes, Kind, Numbers, Order};
use super::tokens::Text;
use super::vtk_cells::{self, Place, REGION_NAMES, Record, number, turn_wedges};
use super::vtk_fields::{self, Array, Data, colors, decode};
use crate::atomic_file::write_atomically;
use crate::fields::{Joined, split};
use crate::map_file;
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed, check_vertex, show};
use trioxide_mesh::Result;
use trioxide_mesh::volume::{Cells, VolumeMesh};

pub(super) fn read(path: &Path) -> Result<VolumeMesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

/// A file with keywords as text, and numbers as text or binary.
struct Reader<'a> {
    text: Text<'a>,
    is_binary: bool,
}

impl<'a> Reader<'a> {
    /// Goes to the next keyword; its offset and the keyword in upper case.
    fn keyword(&mut self) -> Option<(usize, String)> {
        let begin = self.text.skip_blanks();
        let word = self.text.word()?;
        Some((begin, show(word).to_ascii_uppercase()))
    }

    fn name(&mut self, what: &str) -> Parsed<&'a [u8]> {
        let fault = self.text.unexpected(what);
        self.text.word().ok_or(fault)
    }

    fn kind(&mut self) -> Parsed<Kind> {
        let fault = self.text.unexpected("a type of numbers such as double");
        let name = self.text.word().unwrap_or_default();
        Ok(match name.to_ascii_lowercase().as_slice() {
            b"char" | b"vtktypeint8" => Kind::I8,
            b"unsigned_char" | b"vtktypeuint8" => Kind::U8,
            b"short" | b"vtktypeint16" => Kind::I16,
            b"unsigned_short" | b"vtktypeuint16" => Kind::U16,
            // Ids are written with 32 bits.
            b"int" | b"vtktypeint32" | b"vtkidtype" => Kind::I32,
            b"unsigned_int" | b"vtktypeuint32" => Kind::U32,
            b"long" | b"vtktypeint64" => Kind::I64,
            b"unsigned_long" | b"vtktypeuint64" => Kind::U64,
            b"float" => Kind::F32,
            b"double" => Kind::F64,
            _ => return Err(fault),
        })
    }

    /// The numbers behind this line.
    fn numbers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<Numbers> {
        if !self.is_binary {
            return Ok(match kind {
                Kind::F32 | Kind::F64 => Numbers::Floats(self.text.numbers(count, what)?),
                Kind::U64 => Numbers::of_bits(self.text.numbers(count, what)?),
                _ => Numbers::Integers(self.text.numbers(count, what)?),
            });
        }
        let part = self.text.at.saturating_sub(1);
        self.text.line();
        let mut bytes = Bytes {
            file: self.text.file,
            at: self.text.at,
            order: Order::Big,
            part,
        };
        let numbers = bytes.numbers(count, kind, what)?;
        self.text.at = bytes.at;
        Ok(numbers)
    }

    fn integers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<Vec<i64>> {
        let begin = self.text.at;
        let numbers = self.numbers(count, kind, what)?.into_integers();
        numbers.map_err(|x| {
            Fault::new(
                begin,
                format!("expected whole numbers of {what}, found `{x}`"),
            )
        })
    }
}

/// What a file held up to here, each with where it began.
#[derive(Default)]
struct Grid {
    points: Option<Vec<DVec3>>,
    types: Option<(usize, Vec<i64>)>,
    /// Ends of the cells in the connectivity, the first being where the first cell begins.
    offsets: Option<(usize, Vec<i64>)>,
    connectivity: Vec<i64>,
    /// Whether the number of a cell's vertices stands before them.
    has_sizes: bool,
    /// Attributes of points and cells.
    arrays: Vec<Array>,
}

pub(super) fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
    let mut text = Text::new(file, 0);
    let first = text.line();
    if !first.starts_with(b"# vtk DataFile Version") {
        let reason = "expected `# vtk DataFile Version` on the first line";
        return Err(Fault::new(0, reason));
    }
    text.line();
    let fault = text.unexpected("ASCII or BINARY");
    let mut reader = Reader {
        is_binary: match text.word().unwrap_or_default() {
            b"ASCII" => false,
            b"BINARY" => true,
            _ => return Err(fault),
        },
        text,
    };
    let mut grid = Grid::default();
    let mut data = Data::None;
    let mut is_grid = false;
    while let Some((begin, keyword)) = reader.keyword() {
        match keyword.as_str() {
            "DATASET" => {
                let kind = reader.name("a kind of dataset")?;
                if kind != b"UNSTRUCTURED_GRID" {
                    let reason = format!(
                        "the dataset is {}, but UNSTRUCTURED_GRID is needed",
                        show(kind)
                    );
                    return Err(Fault::new(begin, reason));
                }
                is_grid = true;
            }
            "POINTS" if is_grid && grid.points.is_none() => {
                let count = reader.text.count("the number of points")?;
                let kind = reader.kind()?;
                let numbers = reader.numbers(count.saturating_mul(3), kind, "points")?;
                let coordinates = numbers.into_floats();
                let points = coordinates.as_chunks().0.iter();
                grid.points = Some(points.map(|p| DVec3::from_array(*p)).collect());
            }
            "CELLS" if is_grid && grid.offsets.is_none() => {
                let count = reader.text.count("the number of cells")?;
                let size = reader.text.count("the size of the cells")?;
                let mut ahead = reader.text.clone();
                if ahead.word() == Some(b"OFFSETS") {
                    // Version 5.1: one more offset than there are cells.
                    reader.text = ahead;
                    let kind = reader.kind()?;
                    let offsets = reader.integers(count, kind, "offsets")?;
                    let fault = reader.text.unexpected("CONNECTIVITY");
                    if reader.text.word() != Some(b"CONNECTIVITY") {
                        return Err(fault);
                    }
                    let kind = reader.kind()?;
                    grid.connectivity = reader.integers(size, kind, "connectivity")?;
                    grid.offsets = Some((begin, offsets));
                } else {
                    let connectivity = reader.integers(size, Kind::I32, "cells")?;
                    let mut offsets = Vec::with_capacity(count.min(size) + 1);
                    let mut at = 0;
                    offsets.push(0);
                    while let Some(&vertices) = connectivity.get(at) {
                        let end = usize::try_from(vertices)
                            .ok()
                            .and_then(|vertices| (at + 1).checked_add(vertices))
                            .filter(|&end| end <= size);
                        at = end.ok_or_else(|| {
                            let cell = offsets.len() - 1;
                            let reason = format!(
                                "cell {cell} is said to have {vertices} vertices, more than there are"
                            );
                            Fault::new(begin, reason)
                        })?;
                        offsets.push(at as i64);
                    }
                    if offsets.len() != count + 1 {
                        let found = offsets.len() - 1;
                        let reason = format!("expected {count} cells, found {found}");
                        return Err(Fault::new(begin, reason));
                    }
                    grid.connectivity = connectivity;
                    grid.has_sizes = true;
                    grid.offsets = Some((begin, offsets));
                }
            }
            "CELL_TYPES" if is_grid && grid.types.is_none() => {
                let count = reader.text.count("the number of cells")?;
                let types = reader.integers(count, Kind::I32, "types")?;
                grid.types = Some((begin, types));
            }
            "POINT_DATA" => data = Data::Points(reader.text.count("the number of points")?),
            "CELL_DATA" => data = Data::Cells(reader.text.count("the number of cells")?),
            "METADATA" => skip_metadata(&mut reader.text),
            _ => read_attribute(&mut reader, begin, &keyword, data, &mut grid.arrays)?,
        }
    }
    finish(grid, file.len())
}

/// Metadata ends at an empty line.
fn skip_metadata(text: &mut Text) {
    text.line();
    while text.at < text.file.len() && !text.line().trim_ascii().is_empty() {}
}

/// Reads an attribute of points or cells.
fn read_attribute(
    reader: &mut Reader,
    begin: usize,
    keyword: &str,
    data: Data,
    arrays: &mut Vec<Array>,
) -> Parsed<()> {
    let (Data::Points(count) | Data::Cells(count)) = data else {
        // Arrays of the whole dataset.
        if keyword == "FIELD" {
            return read_fields(reader, Data::None, arrays);
        }
        let reason = format!("expected POINTS, CELLS or CELL_TYPES, found `{keyword}`");
        return Err(Fault::new(begin, reason));
    };
    let mut push = |name: &[u8], components, kind, values| {
        arrays.push(Array {
            name: decode(name),
            at: begin,
            data,
            components,
            kind,
            values,
        });
    };
    let (name, components) = match keyword {
        "SCALARS" => {
            let name = reader.name("a name")?;
            let kind = reader.kind()?;
            // On the same line only: behind it numbers may begin.
            let rest = &reader.text.file[reader.text.at..];
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let mut line = Text::new(&rest[..end], 0);
            let mut components = 1;
            if line.skip_blanks() < end {
                components = reader.text.count("the number of components")?;
            }
            let mut ahead = reader.text.clone();
            if ahead.word() == Some(b"LOOKUP_TABLE") {
                ahead.word();
                reader.text = ahead;
            }
            let values = reader.numbers(count.saturating_mul(components), kind, "scalars")?;
            push(name, components, kind, values);
            return Ok(());
        }
        "FIELD" => return read_fields(reader, data, arrays),
        "LOOKUP_TABLE" => {
            reader.name("a name")?;
            let size = reader.text.count("the size of the table")?;
            let kind = if reader.is_binary {
                Kind::U8
            } else {
                Kind::F32
            };
            reader.numbers(size.saturating_mul(4), kind, "colours")?;
            return Ok(());
        }
        "COLOR_SCALARS" => {
            let name = reader.name("a name")?;
            let components = reader.text.count("the number of components")?;
            let kind = if reader.is_binary {
                Kind::U8
            } else {
                Kind::F32
            };
            let values = reader.numbers(count.saturating_mul(components), kind, "colours")?;
            push(name, components, Kind::U8, colors(values));
            return Ok(());
        }
        "TEXTURE_COORDINATES" => {
            let name = reader.name("a name")?;
            (name, reader.text.count("the number of components")?)
        }
        "VECTORS" | "NORMALS" => (reader.name("a name")?, 3),
        "TENSORS" => (reader.name("a name")?, 9),
        "TENSORS6" => (reader.name("a name")?, 6),
        "GLOBAL_IDS" | "PEDIGREE_IDS" => (reader.name("a name")?, 1),
        _ => {
            let reason = format!("expected an attribute such as SCALARS, found `{keyword}`");
            return Err(Fault::new(begin, reason));
        }
    };
    let kind = reader.kind()?;
    let values = reader.numbers(count.saturating_mul(components), kind, "an attribute")?;
    push(name, components, kind, values);
    Ok(())
}

fn read_fields(reader: &mut Reader, data: Data, arrays: &mut Vec<Array>) -> Parsed<()> {
    reader.name("a name")?;
    for _ in 0..reader.text.count("the number of arrays")? {
        let at = reader.text.skip_blanks();
        let mut name = reader.name("an array's name")?;
        if name == b"METADATA" {
            skip_metadata(&mut reader.text);
            name = reader.name("an array's name")?;
        }
        let components = reader.text.count("the number of components")?;
        let tuples = reader.text.count("the number of tuples")?;
        let kind = reader.kind()?;
        let values = reader.numbers(tuples.saturating_mul(components), kind, "an array")?;
        arrays.push(Array {
            name: decode(name),
            at,
            data,
            components,
            kind,
            values,
        });
    }
    Ok(())
}

fn finish(grid: Grid, end: usize) -> Parsed<VolumeMesh> {
    let missing = |what: &str| Fault::new(end, format!("there are no {what}"));
    let points = grid.points.ok_or_else(|| missing("POINTS"))?;
    let (cells_at, offsets) = match grid.offsets {
        None => (end, Vec::new()),
        Some(offsets) => offsets,
    };
    let (types_at, types) = match grid.types {
        None if offsets.len() > 1 => return Err(missing("CELL_TYPES")),
        None => (end, Vec::new()),
        Some(types) => types,
    };
    if types.len() != offsets.len().saturating_sub(1) {
        let reason = format!(
            "expected a type for each of {} cells, found {}",
            offsets.len().saturating_sub(1),
            types.len()
        );
        return Err(Fault::new(types_at, reason));
    }
    let tags = |name: &str| -> Parsed<Option<Vec<i32>>> {
        let named = |array: &&Array| array.name == name;
        let found = grid.arrays.iter().filter(named);
        let Some((array, values)) = found.filter_map(|a| Some((a, a.tags()?))).next() else {
            return Ok(None);
        };
        let values = values.iter();
        let tags: Option<Vec<i32>> = values.map(|&tag| i32::try_from(tag).ok()).collect();
        let tags = tags.filter(|tags| tags.len() == types.len());
        match tags {
            Some(tags) => Ok(Some(tags)),
            None => {
                let reason = format!("the array {name} has no 32-bit integer for each cell");
                Err(Fault::new(array.at, reason))
            }
        }
    };
    let (mut regions, mut region_name) = (None, "marker");
    for name in REGION_NAMES {
        if regions.is_none() {
            (regions, region_name) = (tags(name)?, name);
        }
    }
    if regions.is_none() {
        region_name = "marker";
    }
    let markers = tags("marker")?;
    let before = i64::from(grid.has_sizes);
    let mut elements = vtk_cells::read(
        &types,
        |i| (offsets[i].saturating_add(before), offsets[i + 1]),
        &grid.connectivity,
        |vertex| check_vertex(vertex, 0, points.len()),
        &[regions.as_deref(), markers.as_deref()],
    )
    .map_err(|(place, reason)| match place {
        Place::Types => Fault::new(types_at, reason),
        Place::Offsets | Place::Vertices => Fault::new(cells_at, reason),
    })?;
    elements.has_regions = regions.is_some();
    let skipped = [region_name, "marker"];
    let counts = [points.len(), types.len()];
    let [of_points, of_cells] = vtk_fields::fields(grid.arrays, counts, &skipped)?;
    let sources = std::mem::take(&mut elements.sources);
    let mut mesh = elements
        .finish(points)
        .map_err(|reason| Fault::new(cells_at, reason))?;
    mesh.fields.points = of_points.into_iter().collect();
    let of_parts = split(of_cells, types.len(), sources.each_ref().map(Vec::as_slice));
    [mesh.fields.cells, mesh.fields.sides] = of_parts;
    turn_wedges(&mut mesh);
    Ok(mesh)
}

pub(super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    write_atomically(path, |file| {
        write_to(file, mesh, encoding == Encoding::Binary)
    })
}

fn write_to(out: &mut (impl Write + Send), mesh: &VolumeMesh, is_binary: bool) -> io::Result<()> {
    let (solid, faces) = (mesh.cells.len(), mesh.faces.len());
    let cells = solid + faces;
    let corners = mesh.faces.vertices.len()
        + match &mesh.cells {
            Cells::Tetrahedra(tetrahedra) => 4 * tetrahedra.len(),
            Cells::Mixed(cells) => cells.vertices.len(),
        };
    let cell = |i: usize| match i.checked_sub(solid) {
        None => mesh.cells.get(i),
        Some(face) => mesh.faces.get(face),
    };
    // Of cells with their numbers of vertices, types and tags.
    let integers = |out: &mut _, record: &Record<i32>| {
        write_records(out, cells, |buffer, i| {
            record(i, &mut |value| {
                if is_binary {
                    buffer.extend_from_slice(&value.to_be_bytes());
                } else {
                    push_integer(buffer, value);
                    buffer.push(b' ');
                }
            });
            if !is_binary && let Some(last) = buffer.last_mut() {
                *last = b'\n';
            }
        })
    };
    write!(
        out,
        "# vtk DataFile Version 3.0\nwritten by trioxide\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        if is_binary { "BINARY" } else { "ASCII" },
        mesh.points.len()
    )?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for coordinate in mesh.points[i].to_array() {
            if is_binary {
                buffer.extend_from_slice(&coordinate.to_be_bytes());
            } else {
                push_f64(buffer, coordinate);
                buffer.push(b' ');
            }
        }
        if !is_binary && let Some(last) = buffer.last_mut() {
            *last = b'\n';
        }
    })?;
    write!(out, "\nCELLS {cells} {}\n", cells + corners)?;
    integers(out, &|i, push| {
        push(cell(i).len() as i32);
        cell(i).iter().for_each(|&vertex| push(vertex as i32));
    })?;
    write!(out, "\nCELL_TYPES {cells}\n")?;
    integers(out, &|i, push| {
        push(number(i >= solid, cell(i).len()).into())
    })?;
    let of_points: Vec<Joined> = mesh.fields.points.iter().map(Joined::of).collect();
    if !of_points.is_empty() {
        let (points, arrays) = (mesh.points.len(), of_points.len());
        write!(out, "\nPOINT_DATA {points}\nFIELD FieldData {arrays}\n")?;
        vtk_fields::write(out, &of_points, is_binary)?;
    }
    let lists = [&mesh.fields.cells, &mesh.fields.sides];
    let of_cells = Joined::of_two(lists, [solid, faces], &["region", "marker"]);
    let arrays = usize::from(mesh.regions.is_some()) + usize::from(faces > 0) + of_cells.len();
    if arrays > 0 {
        // Of several SCALARS, VTK reads the first one only.
        write!(out, "\nCELL_DATA {cells}\nFIELD FieldData {arrays}\n")?;
    }
    if let Some(regions) = &mesh.regions {
        writeln!(out, "region 1 {cells} int")?;
        integers(out, &|i, push| push(regions.get(i).copied().unwrap_or(0)))?;
        writeln!(out)?;
    }
    if faces > 0 {
        writeln!(out, "marker 1 {cells} int")?;
        integers(out, &|i, push| {
            push(i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]));
        })?;
        writeln!(out)?;
    }
    vtk_fields::write(out, &of_cells, is_binary)
}
