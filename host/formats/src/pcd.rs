//! Clouds of the Point Cloud Library: `.pcd`.
//!
//! <https://pointclouds.org/documentation/tutorials/pcd_file_format.html>. It reads text, binary, and binary compressed
//! by LZF: `x y z`, `normal_x normal_y normal_z`, and `rgb` or `rgba` as colours. Other fields are fields of the mesh,
//! with their types and counts. It writes binary or text. Coordinates are 32-bit floats if these hold all of them
//! exactly, as most programs expect, or else 64-bit floats.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;

use super::decimals::{self, Decimals};
use super::text::{Fault, Line, Parsed, TextRows, lines, show, text_start, whole, with_line_feeds};
use super::volume::bytes::{Decode as _, Numbers, Order, read_f64};
use super::{Loaded, parse_file};
use trioxide_mesh::fields::{self, Fields, MeshFields, NumberType, Values};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

#[cfg(test)]
mod tests;
mod write;

pub(crate) use write::{renamed, write};

/// A field of the points.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    kind: NumberType,
    count: usize,
    /// Offset in a point.
    offset: usize,
}

impl Field {
    /// Bytes in a point.
    fn size(&self) -> usize {
        self.kind.size() * self.count
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Data {
    Text,
    Binary,
    Compressed,
}

struct Header {
    fields: Vec<Field>,
    points: usize,
    data: Data,
    /// Offset of the data.
    end: usize,
    /// Sentences on parts of the header that a mesh does not have.
    notes: Vec<String>,
}

impl Header {
    /// Bytes of a point.
    fn size(&self) -> usize {
        self.fields.iter().map(Field::size).sum()
    }
}

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let is_text = memchr::memchr(b'\n', file).is_none();
    let file = &*match is_text {
        true => with_line_feeds(file),
        false => file.into(),
    };
    let header = parse_header(file)?;
    let body = &file[header.end..];
    let fault = |reason: String| Fault::new(header.end, reason);
    match header.data {
        Data::Text => parse_text(file, header),
        Data::Binary => {
            let size = header.size();
            let (points, left) = (header.points, body.len());
            let wrong = || {
                fault(format!(
                    "{points} points of {size} bytes are announced, but {left} bytes follow"
                ))
            };
            let needed = points.checked_mul(size);
            let bytes = needed
                .and_then(|needed| body.get(..needed))
                .ok_or_else(wrong)?;
            let behind = &body[bytes.len()..];
            if size > 0 && behind.len() >= size {
                return Err(wrong());
            }
            let loaded = collect(&header, |field, point| {
                &bytes[point * size + field.offset..][..field.size()]
            });
            Ok(with_note_of(behind, loaded))
        }
        Data::Compressed => {
            let sizes = body
                .first_chunk::<8>()
                .ok_or_else(|| fault("the sizes of the compressed data are missing".to_owned()))?;
            let size = |at: usize| {
                u32::from_le_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]])
                    as usize
            };
            let (packed, plain) = (size(0), size(4));
            let (packed, behind) = body[8..].split_at_checked(packed).ok_or_else(|| {
                fault(format!(
                    "{packed} compressed bytes are announced, but {} follow",
                    body.len() - 8
                ))
            })?;
            if header.points.checked_mul(header.size()) != Some(plain) {
                return Err(fault(format!(
                    "{} points of {} bytes are announced, but {plain} bytes are compressed",
                    header.points,
                    header.size()
                )));
            }
            let bytes = inflate(packed, plain).map_err(fault)?;
            // Field by field: each has the numbers of all points.
            let loaded = collect(&header, |field, point| {
                &bytes[header.points * field.offset + point * field.size()..][..field.size()]
            });
            Ok(with_note_of(behind, loaded))
        }
    }
}

/// Notes the bytes after the data, unless they are zeros or the end of a line, as some writers end a file.
fn with_note_of(behind: &[u8], mut loaded: Loaded) -> Loaded {
    if behind.iter().any(|byte| !b"\0\r\n".contains(byte)) {
        let note = format!("{} bytes behind its last point are left out", behind.len());
        loaded.notes.push(note);
    }
    loaded
}

/// The decompressed data of LZF.
fn inflate(packed: &[u8], length: usize) -> std::result::Result<Vec<u8>, String> {
    // A reference of three bytes gives at most 264 bytes: no more memory is allocated than the file can fill.
    if length / 264 > packed.len() {
        return Err(format!("{} bytes cannot hold {length}", packed.len()));
    }
    let broken = || "the compressed data is broken".to_owned();
    let mut plain = Vec::with_capacity(length);
    let mut at = 0;
    let mut next = || {
        let byte = packed.get(at).copied();
        at += 1;
        byte
    };
    while let Some(control) = next() {
        let control = usize::from(control);
        if control < 32 {
            for _ in 0..=control {
                plain.push(next().ok_or_else(broken)?);
            }
        } else {
            let mut count = control >> 5;
            if count == 7 {
                count += usize::from(next().ok_or_else(broken)?);
            }
            let low = usize::from(next().ok_or_else(broken)?);
            let back = ((control & 31) << 8) + low + 1;
            let from = plain.len().checked_sub(back).ok_or_else(broken)?;
            for k in 0..count + 2 {
                plain.push(plain[from + k]);
            }
        }
        if plain.len() > length {
            return Err(broken());
        }
    }
    match plain.len() == length {
        true => Ok(plain),
        false => Err(broken()),
    }
}

fn is_color(name: &str) -> bool {
    matches!(name, "rgb" | "rgba")
}

fn parse_header(file: &[u8]) -> Parsed<Header> {
    let start = text_start(file);
    let mut names: Vec<String> = Vec::new();
    let (mut sizes, mut kinds, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut width, mut height, mut points) = (None, 1, None);
    let mut viewpoint = Vec::new();
    for mut line in lines(file, start..file.len(), false) {
        let offset = line.offset();
        let Some(keyword) = line.token() else {
            continue;
        };
        let words = |line: &mut super::text::Line| {
            let mut words = Vec::new();
            while let Some(word) = line.token() {
                words.push(String::from_utf8_lossy(word).into_owned());
            }
            words
        };
        match keyword {
            b"VERSION" => {}
            b"VIEWPOINT" => viewpoint = words(&mut line),
            b"FIELDS" | b"COLUMNS" => names = words(&mut line),
            b"SIZE" => sizes = words(&mut line),
            b"TYPE" => kinds = words(&mut line),
            b"COUNT" => counts = words(&mut line),
            b"WIDTH" => width = Some(line.count("the width")?),
            b"HEIGHT" => height = line.count("the height")?,
            b"POINTS" => points = Some(line.count("the number of points")?),
            b"DATA" => {
                let before = line.clone();
                let data = match line.token() {
                    Some(b"ascii") => Data::Text,
                    Some(b"binary") => Data::Binary,
                    Some(b"binary_compressed") => Data::Compressed,
                    _ => {
                        return Err(before
                            .clone()
                            .unexpected("ascii, binary or binary_compressed"));
                    }
                };
                let fields = fields(&names, [&sizes, &kinds, &counts])
                    .map_err(|reason| Fault::new(offset, reason))?;
                let in_rows = width.and_then(|width| width.checked_mul(height));
                if let (Some(points), Some(in_rows)) = (points, in_rows)
                    && points != in_rows
                {
                    let reason = format!(
                        "POINTS declares {points} points, but WIDTH times HEIGHT are {in_rows}"
                    );
                    return Err(Fault::new(offset, reason));
                }
                let points = points
                    .or(in_rows)
                    .ok_or_else(|| Fault::new(offset, "the header has no POINTS"))?;
                let length = memchr::memchr(b'\n', &file[offset..]);
                return Ok(Header {
                    fields,
                    points,
                    data,
                    end: length.map_or(file.len(), |length| offset + length + 1),
                    notes: header_notes(width.unwrap_or(points), height, &viewpoint),
                });
            }
            other => {
                let reason = format!(
                    "expected a line of the header such as FIELDS, found `{}`",
                    show(other)
                );
                return Err(Fault::new(offset, reason));
            }
        }
    }
    Err(Fault::new(file.len(), "the header has no DATA line"))
}

/// The fields from their names, sizes, types and counts.
fn fields(names: &[String], columns: [&Vec<String>; 3]) -> std::result::Result<Vec<Field>, String> {
    let [sizes, kinds, counts] = columns;
    if !["x", "y", "z"]
        .iter()
        .all(|axis| names.iter().any(|name| name == axis))
    {
        return Err("the header names no fields x, y and z".to_owned());
    }
    if sizes.len() != names.len() || kinds.len() != names.len() {
        return Err("FIELDS, SIZE and TYPE have different lengths".to_owned());
    }
    let mut offset = 0usize;
    let mut fields = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let kind = match (kinds[i].as_str(), sizes[i].as_str()) {
            ("I", "1") => NumberType::I8,
            ("I", "2") => NumberType::I16,
            ("I", "4") => NumberType::I32,
            ("I", "8") => NumberType::I64,
            ("U", "1") => NumberType::U8,
            ("U", "2") => NumberType::U16,
            ("U", "4") => NumberType::U32,
            ("U", "8") => NumberType::U64,
            ("F", "4") => NumberType::F32,
            ("F", "8") => NumberType::F64,
            (kind, size) => {
                return Err(format!("the field {name} has type {kind} and size {size}"));
            }
        };
        let count: u16 = match counts.get(i) {
            None => 1,
            Some(count) => {
                (count.parse()).map_err(|_| format!("the field {name} has count {count}"))?
            }
        };
        fields.push(Field {
            name: name.clone(),
            kind,
            count: count.into(),
            offset,
        });
        offset += kind.size() * usize::from(count);
    }
    Ok(fields)
}

/// Notes on the grid of the points, and on the pose of the scanner.
fn header_notes(width: usize, height: usize, viewpoint: &[String]) -> Vec<String> {
    let is_default = |(i, word): (usize, &String)| {
        let expected = if i == 3 { 1.0 } else { 0.0 };
        word.parse() == Ok(expected)
    };
    let mut notes = Vec::new();
    if height > 1 {
        notes.push(format!(
            "its grid of {width} times {height} points is not kept: the points follow each other row by row"
        ));
    }
    if !viewpoint.iter().enumerate().all(is_default) {
        notes.push(format!("its VIEWPOINT {} is left out", viewpoint.join(" ")));
    }
    notes
}

/// The cloud, where `bytes` gives the bytes of a field of a point.
fn collect<'b>(header: &Header, bytes: impl Fn(&Field, usize) -> &'b [u8] + Sync) -> Loaded {
    let field = |name: &str| header.fields.iter().find(|f| f.name == name && f.count > 0);
    let vectors = |names: [&str; 3]| -> Option<Vec<DVec3>> {
        let [x, y, z] = [field(names[0])?, field(names[1])?, field(names[2])?];
        let number = |field: &Field, i| read_f64(field.kind, bytes(field, i), Order::Little);
        let vector = |i| DVec3::new(number(x, i), number(y, i), number(z, i));
        Some(parallel::collect(header.points, vector))
    };
    // A packed colour is the bits of a float or an integer.
    let packed = field("rgb")
        .or(field("rgba"))
        .filter(|field| field.size() >= 4);
    let colors = packed.map(|field| {
        let color = |i: usize| {
            let &[b, g, r, a] = bytes(field, i).first_chunk().expect("it has 4 bytes");
            [r, g, b, if field.name == "rgba" { a } else { u8::MAX }]
        };
        parallel::collect(header.points, color)
    });
    let normals = vectors(NORMALS);
    let is_taken = |field: &&Field| {
        let name = field.name.as_str();
        let is_packed = packed.is_some_and(|packed| packed.name == name);
        COORDINATES.contains(&name) || normals.is_some() && NORMALS.contains(&name) || is_packed
    };
    let is_scalar = |field: &&Field| !is_taken(field) && field.name != "_" && field.count > 0;
    let fields = header.fields.iter().filter(is_scalar).map(|field| {
        let size = field.size();
        let mut list = parallel::zeroed::<u8>(header.points * size);
        parallel::for_chunks_mut(&mut list, size, |i, number| {
            number.copy_from_slice(bytes(field, i));
        });
        fields::Field {
            name: field.name.clone(),
            components: field.count,
            values: match field.kind.numbers(&list, Order::Little) {
                Numbers::Integers(integers) => Values::of_integers(field.kind, integers),
                Numbers::Floats(floats) => Values::of_floats(field.kind, floats),
            },
        }
    });
    let points = Fields::from_iter(fields);
    Loaded {
        mesh: Mesh {
            points: vectors(COORDINATES).unwrap_or_default(),
            attributes: VertexAttributes {
                normals,
                colors,
                ..VertexAttributes::default()
            },
            fields: MeshFields {
                points,
                ..MeshFields::default()
            },
            ..Mesh::default()
        },
        notes: header.notes.clone(),
    }
}

const COORDINATES: [&str; 3] = ["x", "y", "z"];
const NORMALS: [&str; 3] = ["normal_x", "normal_y", "normal_z"];

/// Reads text as records of bytes. Coordinates and normals are doubles, so that no digit is lost.
fn parse_text(file: &[u8], mut header: Header) -> Parsed<Loaded> {
    let mut offset = 0;
    let declared: Vec<NumberType> = header.fields.iter().map(|field| field.kind).collect();
    for field in &mut header.fields {
        let name = field.name.as_str();
        if COORDINATES.contains(&name) || NORMALS.contains(&name) {
            field.kind = NumberType::F64;
        }
        field.offset = offset;
        offset += field.size();
    }
    let rows = TextRows::new(file, header.end);
    if rows.count > header.points {
        let reason = format!(
            "expected the end of the file after {} points",
            header.points
        );
        return Err(Fault::new(rows.row(header.points, "")?.offset(), reason));
    }
    let row = |rows: &mut Rows, _, line: &mut Line| {
        for (field, declared) in header.fields.iter().zip(&declared) {
            for _ in 0..field.count {
                let text = push_number(&mut rows.records, line, field, *declared)?;
                if COORDINATES.contains(&field.name.as_str()) {
                    rows.decimals.add(text);
                }
            }
        }
        line.expect_end()
    };
    let mut parts = rows.parse(0..rows.count, row)?;
    let records = parallel::concat_lists(&mut parts, |part| &mut part.records);
    if rows.count != header.points {
        let reason = format!(
            "expected {} points, but the file ends after {}",
            header.points, rows.count
        );
        return Err(Fault::new(file.len(), reason));
    }
    let size = header.size();
    let mut loaded = collect(&header, |field, point| {
        &records[point * size + field.offset..][..field.size()]
    });
    let about = Arc::make_mut(&mut loaded.mesh.about);
    about.unit = decimals::unit(Decimals::most(parts.iter().map(|part| &part.decimals)));
    Ok(loaded)
}

/// Rows of a text, as records of bytes.
#[derive(Default)]
struct Rows {
    records: Vec<u8>,
    /// Digits of the coordinates.
    decimals: Decimals,
}

/// Appends the bytes of the next number of a line. Returns its text.
fn push_number<'a>(
    records: &mut Vec<u8>,
    line: &mut Line<'a>,
    field: &Field,
    declared: NumberType,
) -> Parsed<&'a [u8]> {
    let before = line.clone();
    let (value, text) = line.number(&field.name)?;
    let bits = match field.kind {
        NumberType::F64 => value.to_bits(),
        NumberType::F32 => (value as f32).to_bits().into(),
        kind => {
            let word = std::str::from_utf8(text).unwrap_or_default();
            let number = word.parse::<i128>().ok().or(whole(value).map(i128::from));
            let bits = 8 * kind.size();
            let (least, most) = match kind.name().starts_with('u') {
                true => (0, (1 << bits) - 1),
                false => (-1 << (bits - 1), (1 << (bits - 1)) - 1),
            };
            let number = number.filter(|number| (least..=most).contains(number));
            let expected = || format!("{}, a number of type {}", field.name, declared.name());
            number.ok_or_else(|| before.clone().unexpected(&expected()))? as u64
        }
    };
    records.extend_from_slice(&bits.to_le_bytes()[..field.kind.size()]);
    Ok(text)
}
