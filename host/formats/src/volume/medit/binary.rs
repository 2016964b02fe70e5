//! The binary form: sections of a keyword's number, the offset of the next section, a count, and rows.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::super::bytes::{Bytes, Decode, Kind, Numbers, Order};
use super::super::elements::{Elements, Grid, Shape, Table, Tag};
use super::super::{Output, select};
use super::marks::{Marks, list, lists, references};
use super::{SECTIONS, check_dimension, dimension, finish, is_solid, section};
use crate::atomic_file::{Out, write_atomically};
use crate::rows_out::write_records;
use crate::text::{Parsed, check_vertex};
use trioxide_mesh::Result;

const DIMENSION: i64 = 3;
const VERTICES: i64 = 4;
const END: i64 = 54;

/// Types of coordinates, of whole numbers and of offsets in the file, and the data after the version.
fn open(file: &[u8]) -> Parsed<([Kind; 3], Bytes<'_>)> {
    let mut bytes = Bytes {
        file,
        at: file.len().min(4),
        order: match file.first() {
            Some(1) => Order::Little,
            _ => Order::Big,
        },
        part: 0,
    };
    let version = bytes.integer(Kind::I32, "a version")?;
    let kinds = match version {
        1 => [Kind::F32, Kind::I32, Kind::I32],
        2 => [Kind::F64, Kind::I32, Kind::I32],
        3 => [Kind::F64, Kind::I32, Kind::I64],
        4 => [Kind::F64, Kind::I64, Kind::I64],
        _ => {
            let reason = format!("version {version} is none of 1 to 4");
            return Err(bytes.fault(4, reason));
        }
    };
    Ok((kinds, bytes))
}

/// Whether the file has cells of three dimensions, from the keywords and counts only.
pub(super) fn is_volume(file: &[u8]) -> bool {
    let search = || -> Parsed<bool> {
        let ([_, integer, position], mut bytes) = open(file)?;
        while bytes.at < file.len() {
            let begin = bytes.at;
            let keyword = bytes.integer(Kind::I32, "a keyword")?;
            if keyword == END {
                break;
            }
            let next = bytes.count(position, "a position")?;
            let found = section(|_, number| i64::from(number) == keyword);
            if found.is_some_and(|(_, shape, _)| is_solid(shape)) && bytes.count(integer, "")? > 0 {
                return Ok(true);
            }
            if next <= begin {
                break;
            }
            bytes.at = next.min(file.len());
        }
        Ok(false)
    };
    search().unwrap_or(false)
}

pub(super) fn parse(file: &[u8]) -> Parsed<Grid> {
    let ([real, integer, position], mut bytes) = open(file)?;
    let mut points = None;
    let mut elements = Elements::default();
    let mut marks = Marks::default();
    let mut dimension = None;
    while bytes.at < file.len() {
        let begin = bytes.at;
        let keyword = bytes.integer(Kind::I32, "a keyword")?;
        if keyword == END {
            break;
        }
        let next = bytes.integer(position, "a position")?;
        if keyword == DIMENSION {
            let found = bytes.integer(Kind::I32, "a dimension")?;
            let found = check_dimension(found).map_err(|reason| bytes.fault(begin, reason))?;
            dimension = Some(found);
        } else if keyword == VERTICES {
            let (Some(dimension), None) = (dimension, &points) else {
                let reason = "Vertices must stand once, behind the Dimension";
                return Err(bytes.fault(begin, reason));
            };
            let kinds = [real, integer];
            points = Some(read_points(&mut bytes, dimension, kinds, &mut marks)?);
        } else if let Some((keyword, shape, side_nodes)) =
            section(|_, number| i64::from(number) == keyword)
        {
            let points = points.as_ref().ok_or_else(|| {
                bytes.fault(begin, format!("{keyword} stand before the Vertices"))
            })?;
            marks.begin(keyword, &elements);
            let shape = (shape, side_nodes);
            let points = points.len();
            read_elements(&mut bytes, keyword, shape, integer, points, &mut elements)?;
        } else if let Some(list) = list(|_, number| i64::from(number) == keyword) {
            let count = bytes.count(integer, "the number of elements")?;
            let rows = bytes.take(count, integer.size(), "numbers of elements")?;
            let Numbers::Integers(numbers) = integer.numbers(rows, bytes.order) else {
                unreachable!("elements are whole numbers");
            };
            marks.add(list, begin, numbers);
        } else if next == 0 {
            break;
        } else {
            marks.skip(format!("keyword {keyword}"));
        }
        match usize::try_from(next) {
            // The last section has no next one.
            Ok(0) => {}
            Ok(next) if next >= bytes.at && next <= file.len() => bytes.at = next,
            _ => {
                let reason = format!(
                    "the section of keyword {keyword} is said to end at byte {next}, but it ends at byte {} or later, and \
                     the file at byte {}",
                    bytes.at,
                    file.len()
                );
                return Err(bytes.fault(begin, reason));
            }
        }
    }
    finish(elements, marks, points, 0)
}

fn read_points(
    bytes: &mut Bytes,
    dimension: usize,
    [real, integer]: [Kind; 2],
    marks: &mut Marks,
) -> Parsed<Vec<DVec3>> {
    let count = bytes.count(integer, "the number of vertices")?;
    let size = dimension * real.size();
    let width = size + integer.size();
    let rows = bytes.take(count, width, "vertices")?;
    let mut coordinates = Vec::with_capacity(rows.len() / width * size);
    let mut references = Vec::with_capacity(rows.len() / width * integer.size());
    for row in rows.chunks_exact(width) {
        coordinates.extend_from_slice(&row[..size]);
        references.extend_from_slice(&row[size..]);
    }
    marks.references = integer.numbers(&references, bytes.order).into_floats();
    let coordinates = real.numbers(&coordinates, bytes.order).into_floats();
    let points = coordinates.chunks_exact(dimension);
    Ok(points
        .map(|p| DVec3::new(p[0], p[1], p.get(2).copied().unwrap_or(0.0)))
        .collect())
}

fn read_elements(
    bytes: &mut Bytes,
    keyword: &str,
    (shape, side_nodes): (Shape, usize),
    integer: Kind,
    points: usize,
    elements: &mut Elements,
) -> Parsed<()> {
    let count = bytes.count(integer, "the number of elements")?;
    let start = bytes.at;
    let width = shape.vertices() + side_nodes + 1;
    let rows = bytes.take(count, width * integer.size(), keyword)?;
    let Numbers::Integers(values) = integer.numbers(rows, bytes.order) else {
        unreachable!("elements are whole numbers");
    };
    let table = Table {
        values: &values,
        width,
        vertices: 0,
        side_nodes,
        tag: Tag::Column(width - 1),
    };
    table.read(
        elements,
        shape,
        |vertex| check_vertex(vertex, 1, points),
        |i, reason| bytes.fault(start + i * integer.size(), reason),
    )
}

pub(crate) fn write(path: &Path, mesh: Output) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut dyn Out, mesh: Output) -> io::Result<()> {
    let sections: Vec<_> = SECTIONS
        .iter()
        .map(|&(_, number, shape)| (number, shape, select(mesh, shape)))
        .filter(|(_, _, ids)| !ids.is_empty())
        .collect();
    let (references, lists) = (references(mesh), lists(mesh));
    let rows = |shape: Shape| 4 * (shape.vertices() + 1);
    let dimension = dimension(mesh);
    let vertices = (8 * dimension + 4) * mesh.points.len();
    let elements: usize = sections
        .iter()
        .map(|(_, shape, ids)| rows(*shape) * ids.len())
        .sum();
    let marks: usize = lists
        .iter()
        .map(|(.., numbers)| 16 + 4 * numbers.len())
        .sum();
    let is_small = i32::try_from(vertices + elements + marks + 1024).is_ok();
    let head = if is_small { 12 } else { 16 };
    let mut at = 8;
    // Writes a section's keyword and the offset of the next one. `length` counts the bytes after these, including the
    // count.
    let mut section = |out: &mut dyn Write, number: i32, length: usize| {
        at += head - 4 + length;
        out.write_all(&number.to_le_bytes())?;
        match is_small {
            true => out.write_all(&(at as i32).to_le_bytes()),
            false => out.write_all(&(at as i64).to_le_bytes()),
        }
    };
    let version: i32 = if is_small { 2 } else { 3 };
    out.write_all(&1i32.to_le_bytes())?;
    out.write_all(&version.to_le_bytes())?;
    section(out, DIMENSION as i32, 4)?;
    out.write_all(&(dimension as i32).to_le_bytes())?;
    section(out, VERTICES as i32, 4 + vertices)?;
    out.write_all(&(mesh.points.len() as i32).to_le_bytes())?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for coordinate in &mesh.points[i].to_array()[..dimension] {
            buffer.extend_from_slice(&coordinate.to_le_bytes());
        }
        let reference = references.map_or(0, |references| references[i]);
        buffer.extend_from_slice(&reference.to_le_bytes());
    })?;
    for (number, shape, ids) in &sections {
        section(out, *number, 4 + rows(*shape) * ids.len())?;
        out.write_all(&(ids.len() as i32).to_le_bytes())?;
        write_records(out, ids.len(), |buffer, k| {
            let (vertices, tag) = ids.element(mesh, *shape, k);
            for &vertex in vertices {
                buffer.extend_from_slice(&(vertex as i32 + 1).to_le_bytes());
            }
            buffer.extend_from_slice(&tag.to_le_bytes());
        })?;
    }
    for (_, number, numbers) in &lists {
        section(out, *number, 4 + 4 * numbers.len())?;
        out.write_all(&(numbers.len() as i32).to_le_bytes())?;
        write_records(out, numbers.len(), |buffer, k| {
            buffer.extend_from_slice(&(numbers[k] as i32).to_le_bytes());
        })?;
    }
    out.write_all(&(END as i32).to_le_bytes())?;
    match is_small {
        true => out.write_all(&0i32.to_le_bytes()),
        false => out.write_all(&0i64.to_le_bytes()),
    }
}
