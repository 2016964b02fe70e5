//! Clouds of the Point Cloud Library: `.pcd`.
//!
//! <https://pointclouds.org/documentation/tutorials/pcd_file_format.html>. Text, binary, and binary compressed by LZF
//! are read: `x y z`, `normal_x normal_y normal_z`, and `rgb` or `rgba` as colours; other fields are left out with a
//! note. Written is binary, or text; coordinates are 32-bit floats where these hold all of them exactly, as most
//! programs expect, else 64-bit ones.

use std::io;
use std::path::Path;

use glam::DVec3;

use super::atomic_file::{Out, write_atomically};
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{Fault, Parsed, lines, show, text_start, with_line_feeds};
use super::{Encoding, Loaded, map_file};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

#[cfg(test)]
mod tests;

/// A field of the points.
#[derive(Clone, Debug)]
struct Field {
    name: String,
    /// Bytes of a number, and its type: F, I or U.
    size: usize,
    kind: u8,
    count: usize,
    /// Where it begins in a point.
    offset: usize,
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
}

impl Header {
    /// Bytes of a point.
    fn size(&self) -> usize {
        self.fields.iter().map(|f| f.size * f.count).sum()
    }
}

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
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
        Data::Text => parse_text(file, &header),
        Data::Binary => {
            let size = header.size();
            let needed = header.points.checked_mul(size);
            let bytes = needed
                .and_then(|needed| body.get(..needed))
                .ok_or_else(|| {
                    fault(format!(
                        "{} points of {size} bytes are announced, but {} bytes follow",
                        header.points,
                        body.len()
                    ))
                })?;
            let behind = &body[bytes.len()..];
            if size > 0 && behind.len() >= size {
                return Err(fault(format!(
                    "{} points of {size} bytes are announced, but {} bytes follow",
                    header.points,
                    body.len()
                )));
            }
            let loaded = collect(&header, |field, point, k| {
                let at = point * size + field.offset + k * field.size;
                number(field, &bytes[at..at + field.size])
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
            // Field by field: each has the numbers of all points one behind the other.
            let loaded = collect(&header, |field, point, k| {
                let at = header.points * field.offset + (point * field.count + k) * field.size;
                number(field, &bytes[at..at + field.size])
            });
            Ok(with_note_of(behind, loaded))
        }
    }
}

/// Notes the bytes behind the data, unless they are zeros or the end of a line: some writers end a file so.
fn with_note_of(behind: &[u8], mut loaded: Loaded) -> Loaded {
    if behind.iter().any(|byte| !b"\0\r\n".contains(byte)) {
        let note = format!("{} bytes behind its last point are left out", behind.len());
        loaded.notes.push(note);
    }
    loaded
}

/// What LZF packed.
fn inflate(packed: &[u8], length: usize) -> std::result::Result<Vec<u8>, String> {
    // A reference of three bytes gives 264 at most: no more is ever made than the file can hold.
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

/// The number in the bytes of a field.
fn number(field: &Field, bytes: &[u8]) -> f64 {
    macro_rules! read {
        ($type:ty) => {
            <$type>::from_le_bytes(bytes.try_into().expect("the size was checked")) as f64
        };
    }
    match (field.kind, field.size) {
        // A packed colour: its bits count.
        (b'F', 4) if is_color(&field.name) => read!(u32),
        (b'F', 4) => read!(f32),
        (b'F', _) => read!(f64),
        (b'I', 1) => read!(i8),
        (b'I', 2) => read!(i16),
        (b'I', 4) => read!(i32),
        (b'I', _) => read!(i64),
        (_, 1) => read!(u8),
        (_, 2) => read!(u16),
        (_, 4) => read!(u32),
        _ => read!(u64),
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
            b"VERSION" | b"VIEWPOINT" => {}
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

/// The fields of names, sizes, types and counts.
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
        let (size, kind) = match (kinds[i].as_str(), sizes[i].as_str()) {
            ("F", "4") => (4, b'F'),
            ("F", "8") => (8, b'F'),
            ("I" | "U", size @ ("1" | "2" | "4" | "8")) => (
                usize::from(size.as_bytes()[0] - b'0'),
                kinds[i].as_bytes()[0],
            ),
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
            size,
            kind,
            count: count.into(),
            offset,
        });
        offset += size * usize::from(count);
    }
    Ok(fields)
}

/// The cloud of which `number` gives number `k` of a field of a point.
fn collect(header: &Header, number: impl Fn(&Field, usize, usize) -> f64 + Sync) -> Loaded {
    let field = |name: &str| header.fields.iter().find(|f| f.name == name && f.count > 0);
    let vectors = |names: [&str; 3]| -> Option<Vec<DVec3>> {
        let [x, y, z] = [field(names[0])?, field(names[1])?, field(names[2])?];
        let vector = |i| DVec3::new(number(x, i, 0), number(y, i, 0), number(z, i, 0));
        Some(parallel::collect(header.points, vector))
    };
    let colors = field("rgb").or(field("rgba")).map(|field| {
        let color = |i: usize| {
            let [b, g, r, a] = (number(field, i, 0) as u32).to_le_bytes();
            [r, g, b, if field.name == "rgba" { a } else { u8::MAX }]
        };
        parallel::collect(header.points, color)
    });
    let known = [
        "x", "y", "z", "normal_x", "normal_y", "normal_z", "rgb", "rgba", "_",
    ];
    let others = header.fields.iter().map(|field| field.name.as_str());
    let others: Vec<&str> = others.filter(|name| !known.contains(name)).collect();
    let mut loaded = Loaded::from(Mesh {
        points: vectors(["x", "y", "z"]).unwrap_or_default(),
        attributes: VertexAttributes {
            normals: vectors(["normal_x", "normal_y", "normal_z"]),
            colors,
            ..VertexAttributes::default()
        },
        ..Mesh::default()
    });
    if !others.is_empty() {
        let note = format!("its fields {} are left out", others.join(", "));
        loaded.notes.push(note);
    }
    loaded
}

fn parse_text(file: &[u8], header: &Header) -> Parsed<Loaded> {
    let columns: usize = header.fields.iter().map(|field| field.count).sum();
    let mut values = Vec::new();
    let mut points = 0;
    for mut line in lines(file, header.end..file.len(), false) {
        if line.is_finished() {
            continue;
        }
        if points == header.points {
            let reason = format!("expected the end of the file after {points} points");
            return Err(Fault::new(line.offset(), reason));
        }
        for field in &header.fields {
            for _ in 0..field.count {
                let value = line.f64(&field.name)?;
                // A packed colour as a float: its bits count.
                values.push(match is_color(&field.name) && field.kind == b'F' {
                    true => f64::from((value as f32).to_bits()),
                    false => value,
                });
            }
        }
        points += 1;
    }
    if points != header.points {
        let reason = format!(
            "expected {} points, but the file ends after {points}",
            header.points
        );
        return Err(Fault::new(file.len(), reason));
    }
    let mut first = 0;
    let starts: Vec<(String, usize)> = (header.fields.iter())
        .map(|field| {
            first += field.count;
            (field.name.clone(), first - field.count)
        })
        .collect();
    Ok(collect(header, |field, point, k| {
        let start = starts.iter().find(|(name, _)| *name == field.name);
        values[point * columns + start.map_or(0, |start| start.1) + k]
    }))
}

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    write_atomically(path, |file| {
        write_to(file, mesh, encoding != Encoding::Text)
    })
}

fn write_to(out: &mut dyn Out, mesh: &Mesh, is_binary: bool) -> io::Result<()> {
    let VertexAttributes {
        normals, colors, ..
    } = &mesh.attributes;
    let is_exact = |p: &DVec3| {
        p.to_array()
            .iter()
            .all(|&x| x.is_nan() || f64::from(x as f32) == x)
    };
    let is_single = parallel::all(&mesh.points, is_exact)
        && normals
            .as_ref()
            .is_none_or(|normals| parallel::all(normals, is_exact));
    let size = if is_single { 4 } else { 8 };
    let mut fields = vec![("x", size, 'F'), ("y", size, 'F'), ("z", size, 'F')];
    if normals.is_some() {
        fields.extend(["normal_x", "normal_y", "normal_z"].map(|name| (name, size, 'F')));
    }
    if let Some(colors) = colors {
        let is_opaque = parallel::all(colors, |color| color[3] == u8::MAX);
        fields.push((if is_opaque { "rgb" } else { "rgba" }, 4, 'U'));
    }
    let join = |word: &dyn Fn(&(&str, usize, char)) -> String| {
        fields.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    let points = mesh.points.len();
    write!(
        out,
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS {}\nSIZE {}\nTYPE {}\nCOUNT {}\n\
         WIDTH {points}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\nDATA {}\n",
        join(&|field| field.0.to_owned()),
        join(&|field| field.1.to_string()),
        join(&|field| field.2.to_string()),
        join(&|_| "1".to_owned()),
        if is_binary { "binary" } else { "ascii" },
    )?;
    write_records(out, points, |buffer, i| {
        let normal = normals.as_ref().map(|normals| normals[i]);
        for x in [Some(mesh.points[i]), normal].into_iter().flatten() {
            for x in x.to_array() {
                match (is_binary, is_single) {
                    (true, true) => buffer.extend_from_slice(&(x as f32).to_le_bytes()),
                    (true, false) => buffer.extend_from_slice(&x.to_le_bytes()),
                    (false, _) => {
                        push_f64(buffer, x);
                        buffer.push(b' ');
                    }
                }
            }
        }
        if let Some(colors) = colors {
            let [r, g, b, a] = colors[i];
            let packed = u32::from_le_bytes([b, g, r, a]);
            match is_binary {
                true => buffer.extend_from_slice(&packed.to_le_bytes()),
                false => push_integer(buffer, packed),
            }
        }
        if !is_binary {
            buffer.push(b'\n');
        }
    })
}
