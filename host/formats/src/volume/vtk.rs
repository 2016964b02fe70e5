//! VTK's legacy format with an unstructured grid or polygons: `.vtk`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtk_legacy_file_format.html>. Text and binary of versions 1 to 5.1
//! are read. Cells, faces, fields and names of arrays are those of the `.vtu` format. Lines of POLYDATA become
//! segments; its polygons and the triangles of its strips become faces. Version 3.0 is written, always as an
//! unstructured grid ([`super::vtk_write`]).

use glam::DVec3;

use super::bytes::Kind;
use super::elements::Grid;
use super::tokens::Text;
use super::vtk_cells::{self, FaultyArray};
use super::vtk_fields::{self, Array, Data, colors, decode};
use super::vtk_lists::{Lists, POLYDATA, join};
use super::vtk_reader::Reader;
use crate::text::{Fault, Parsed, check_vertex, show, text_start, with_line_feeds};

/// Kinds of datasets that are read.
#[derive(Clone, Copy, PartialEq)]
enum Dataset {
    Unstructured,
    Poly,
}

/// The content of a file so far, each part with its place.
#[derive(Default)]
struct Content {
    dataset: Option<Dataset>,
    points: Option<Vec<DVec3>>,
    types: Option<(usize, Vec<i64>)>,
    cells: Option<Lists>,
    /// Lists of a POLYDATA, in the order of [`POLYDATA`].
    lists: [Option<Lists>; 4],
    /// Attributes of points and cells.
    arrays: Vec<Array>,
}

/// The mesh of a file.
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    into_grid(parse(file)?)
}

/// The points, cells and arrays of a file.
pub(crate) fn parse(file: &[u8]) -> Parsed<Parts> {
    let head = &file[..file.len().min(1024)];
    let content = match memchr::memmem::find(head, b"BINARY") {
        None => parse_content(&with_line_feeds(file)),
        Some(_) => parse_content(file),
    };
    content?.into_parts(file.len())
}

/// Whether the file has cells of three dimensions, from their types only.
pub(super) fn is_volume(file: &[u8]) -> bool {
    has_cells(file, &|types| {
        types.iter().any(|&kind| vtk_cells::is_solid(kind))
    })
}

/// Whether the types of the cells are `wanted`.
pub(crate) fn has_cells(file: &[u8], wanted: &dyn Fn(&[i64]) -> bool) -> bool {
    let head = &file[..file.len().min(1024)];
    let is_binary = memchr::memmem::find(head, b"BINARY").is_some();
    memchr::memmem::find_iter(file, b"\nCELL_TYPES").any(|at| {
        let text = Text::new(file, at + b"\nCELL_TYPES".len());
        let mut reader = Reader { text, is_binary };
        let count = reader.text.count("");
        let types = count.and_then(|count| reader.integers(count, Kind::I32, ""));
        types.is_ok_and(|types| wanted(&types))
    })
}

fn parse_content(file: &[u8]) -> Parsed<Content> {
    let mut text = Text::new(file, text_start(file));
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
    let mut parts = Content::default();
    let mut data = Data::None;
    while let Some((begin, keyword)) = reader.keyword() {
        let dataset = parts.dataset;
        let is_grid = dataset == Some(Dataset::Unstructured);
        let list = POLYDATA.iter().position(|(name, _)| *name == keyword);
        match (keyword.as_str(), list) {
            ("DATASET", _) => parts.dataset = Some(read_dataset(&mut reader, begin)?),
            ("POINTS", _) if dataset.is_some() && parts.points.is_none() => {
                let count = reader.text.count("the number of points")?;
                let kind = reader.kind()?;
                let numbers = reader.numbers(count.saturating_mul(3), kind, "points")?;
                let coordinates = numbers.into_floats();
                let points = coordinates.as_chunks().0.iter();
                parts.points = Some(points.map(|p| DVec3::from_array(*p)).collect());
            }
            ("CELLS", _) if is_grid && parts.cells.is_none() => {
                parts.cells = Some(Lists::read(&mut reader, begin)?);
            }
            ("CELL_TYPES", _) if is_grid && parts.types.is_none() => {
                let count = reader.text.count("the number of cells")?;
                let types = reader.integers(count, Kind::I32, "types")?;
                parts.types = Some((begin, types));
            }
            (_, Some(list)) if dataset == Some(Dataset::Poly) && parts.lists[list].is_none() => {
                parts.lists[list] = Some(Lists::read(&mut reader, begin)?);
            }
            ("POINT_DATA", _) => data = Data::Points(reader.text.count("the number of points")?),
            ("CELL_DATA", _) => data = Data::Cells(reader.text.count("the number of cells")?),
            ("METADATA", _) => skip_metadata(&mut reader.text),
            _ => read_attribute(&mut reader, begin, &keyword, data, &mut parts.arrays)?,
        }
    }
    Ok(parts)
}

fn read_dataset(reader: &mut Reader, begin: usize) -> Parsed<Dataset> {
    match reader.name("a kind of dataset")? {
        b"UNSTRUCTURED_GRID" => Ok(Dataset::Unstructured),
        b"POLYDATA" => Ok(Dataset::Poly),
        kind => {
            let reason = format!(
                "the dataset is {}, but UNSTRUCTURED_GRID or POLYDATA is needed",
                show(kind)
            );
            Err(Fault::new(begin, reason))
        }
    }
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
    let push = |arrays: &mut Vec<Array>, name: &[u8], components, kind, values| {
        arrays.push(Array {
            name: decode(name),
            at: begin,
            data,
            components,
            kind,
            values,
            notes: Vec::new(),
        });
    };
    let (name, components) = match keyword {
        "SCALARS" => {
            let name = reader.name("a name")?;
            let kind = reader.kind()?;
            // Only on the same line: numbers may begin on the next one.
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
            push(arrays, name, components, kind, values);
            return Ok(());
        }
        "FIELD" => return read_fields(reader, data, arrays),
        "LOOKUP_TABLE" => {
            let name = decode(reader.name("a name")?);
            let size = reader.text.count("the size of the table")?;
            let kind = if reader.is_binary {
                Kind::U8
            } else {
                Kind::F32
            };
            reader.numbers(size.saturating_mul(4), kind, "colours")?;
            let note = format!("the lookup table {name}, of {size} colours, is left out");
            arrays.push(Array::left_out(name, begin, note));
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
            let (values, notes) = colors(values, components);
            let name = decode(name);
            let notes = notes.iter().map(|note| format!("colours {name}: {note}"));
            arrays.push(Array {
                at: begin,
                data,
                components,
                kind: Kind::U8,
                values,
                notes: notes.collect(),
                name,
            });
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
    push(arrays, name, components, kind, values);
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
        let name = decode(name);
        if data == Data::None {
            let note = format!("the field {name} of the whole dataset is left out");
            arrays.push(Array::left_out(name, at, note));
            continue;
        }
        arrays.push(Array {
            name,
            at,
            data,
            components,
            kind,
            values,
            notes: Vec::new(),
        });
    }
    Ok(())
}

/// The points and cells of a file, and all its arrays.
pub(crate) struct Parts {
    pub(crate) points: Vec<DVec3>,
    /// The place of the types in the file.
    pub(crate) types_at: usize,
    pub(crate) types: Vec<i64>,
    pub(crate) cells: Lists,
    pub(crate) arrays: Vec<Array>,
}

impl Content {
    /// Checks that there are points, and a type for each cell.
    fn into_parts(self, end: usize) -> Parsed<Parts> {
        let missing = |what: &str| Fault::new(end, format!("there are no {what}"));
        let points = self.points.ok_or_else(|| missing("POINTS"))?;
        let (types_at, types, cells) = match self.dataset {
            Some(Dataset::Poly) => {
                let (types, cells) = join(self.lists);
                (cells.at, types, cells)
            }
            _ => {
                let cells = self.cells.unwrap_or_default();
                let (at, types) = match self.types {
                    None if cells.len() > 0 => return Err(missing("CELL_TYPES")),
                    None => (end, Vec::new()),
                    Some(types) => types,
                };
                (at, types, cells)
            }
        };
        if types.len() != cells.len() {
            let reason = format!(
                "expected a type for each of {} cells, found {}",
                cells.len(),
                types.len()
            );
            return Err(Fault::new(types_at, reason));
        }
        Ok(Parts {
            points,
            types_at,
            types,
            cells,
            arrays: self.arrays,
        })
    }
}

impl Parts {
    /// The cell array of this name, if it has whole numbers.
    pub(crate) fn tags(&self, name: &str) -> Parsed<Option<Vec<i32>>> {
        let named = |array: &&Array| array.name == name;
        let found = self.arrays.iter().filter(named);
        let Some((array, values)) = found.filter_map(|a| Some((a, a.tags()?))).next() else {
            return Ok(None);
        };
        let values = values.iter();
        let tags: Option<Vec<i32>> = values.map(|&tag| i32::try_from(tag).ok()).collect();
        let tags = tags.filter(|tags| tags.len() == self.types.len());
        match tags {
            Some(tags) => Ok(Some(tags)),
            None => {
                let reason = format!("the array {name} has no 32-bit integer for each cell");
                Err(Fault::new(array.at, reason))
            }
        }
    }
}

fn into_grid(parts: Parts) -> Parsed<Grid> {
    let (regions, name) = vtk_cells::find_regions(|name| parts.tags(name))?;
    let markers = parts.tags("marker")?;
    let Parts {
        points,
        types_at,
        types,
        cells,
        arrays,
    } = parts;
    let mut skipped = Vec::from_iter(name);
    // In a surface without lines a marker is an ordinary field.
    let has_markers = |&kind: &i64| vtk_cells::is_solid(kind) || vtk_cells::is_line(kind);
    if types.iter().any(has_markers) {
        skipped.push("marker");
    }
    let mut elements = vtk_cells::read(
        &types,
        |i| cells.range(i),
        &cells.connectivity,
        |vertex| check_vertex(vertex, 0, points.len()),
        &[regions.as_deref(), markers.as_deref()],
    )
    .map_err(|(place, reason)| match place {
        FaultyArray::Types => Fault::new(types_at, reason),
        FaultyArray::Offsets | FaultyArray::Vertices => Fault::new(cells.at, reason),
    })?;
    elements.has_regions = regions.is_some();
    elements.has_copies = name.is_some_and(|name| name != "region");
    elements.notes.extend(Array::notes(&arrays));
    elements.notes.extend(note_on_vertices(&types, &arrays));
    let counts = [points.len(), types.len()];
    let [of_points, of_cells] = vtk_fields::fields(arrays, counts, &skipped)?;
    let grid = Grid::new(points, elements).map_err(|reason| Fault::new(cells.at, reason))?;
    Ok(grid.with_fields(of_points, of_cells, types.len()))
}

/// The note on cells of one point, or of a list of points, which are not elements of a mesh. In a cloud without data
/// they add nothing to its points.
fn note_on_vertices(types: &[i64], arrays: &[Array]) -> Option<String> {
    let count = types.iter().filter(|kind| matches!(kind, 1 | 2)).count();
    let has_data = arrays.iter().any(Array::is_of_cells);
    let is_said = count > 0 && (count < types.len() || has_data);
    let data = if has_data { ", with their data" } else { "" };
    is_said.then(|| format!("left out: cells of type vertex ({count}){data}"))
}
