//! Object File Format: `.off`.
//!
//! <http://www.geomview.org/docs/html/OFF.html>. Read are `OFF` and its variants with colours, normals and texture
//! coordinates (`COFF`, `NOFF`, `STOFF` and their mixtures, in capitals or not), whose additions are left out with a note; comments
//! and blank lines anywhere; the counts on one line or several, or right behind the keyword (`OFF490 518 0`); one vertex or face a
//! line. Binary files are read too. Written is text.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{
    Fault, Line, Parsed, Rows, check_vertex, concat, show, text_start, with_line_feeds,
};
use super::volume::bytes::{Bytes, Kind, Order};
use super::{Loaded, map_file};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    if let Some(loaded) = parse_binary(file)? {
        return Ok(loaded);
    }
    let file = &*with_line_feeds(file);
    let rows = Rows::new(file, text_start(file));
    let header = parse_header(&rows)?;
    let Header {
        vertices, faces, ..
    } = header;
    let vertex_rows = rows.expect(header.rows, vertices, "vertices")?;
    let face_rows = rows.expect(vertex_rows.end, faces, "faces")?;
    rows.expect_end(face_rows.end, "the faces")?;
    let points = rows.parse(vertex_rows, |points: &mut Vec<DVec3>, _, line| {
        points.push(parse_point(line)?);
        Ok(())
    })?;
    let faces = rows.parse(face_rows, |faces: &mut FaceList, _, line| {
        let offset = line.offset();
        for _ in 0..line.count("the number of a face's vertices")? {
            faces.push_vertex(line.vertex(0, vertices)?);
        }
        // What follows is a colour.
        faces
            .finish_face()
            .map_err(|reason| Fault::new(offset, reason))
    })?;
    let mut loaded = Loaded::from(Mesh {
        points: concat(points),
        faces: FaceList::concat(faces).map_err(|reason| Fault::new(file.len(), reason))?,
        ..Mesh::default()
    });
    loaded.notes.extend(note_of(&header.variant));
    Ok(loaded)
}

/// What of a variant's vertices is left out.
fn note_of(variant: &[u8]) -> Option<String> {
    let names = [
        (b'C', "colours"),
        (b'N', "normals"),
        (b'S', "texture coordinates"),
    ];
    let names = names.iter().filter(|(letter, _)| variant.contains(letter));
    let names: Vec<&str> = names.map(|(_, name)| *name).collect();
    (!names.is_empty()).then(|| format!("the {} of its vertices are left out", names.join(" and ")))
}

/// A binary file: the header is text, then all is big-endian. `None` for text.
fn parse_binary(file: &[u8]) -> Parsed<Option<Loaded>> {
    let length = memchr::memchr(b'\n', &file[..file.len().min(256)]);
    let Some(length) = length else {
        return Ok(None);
    };
    let mut words = file[..length]
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let (Some(keyword), Some(b"BINARY")) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let variant = variant(keyword).map_err(|reason| Fault::new(0, reason))?;
    let mut bytes = Bytes {
        file,
        at: length + 1,
        order: Order::Big,
        part: length,
    };
    let vertices = bytes.count(Kind::I32, "the number of vertices")?;
    let faces = bytes.count(Kind::I32, "the number of faces")?;
    bytes.count(Kind::I32, "the number of edges")?;
    // Behind the position of a vertex: a normal, a colour, texture coordinates.
    let extra = [(b'N', 3), (b'C', 4), (b'S', 2)].iter();
    let extra: usize = extra
        .filter(|(letter, _)| variant.contains(letter))
        .map(|(_, n)| n)
        .sum();
    let width = 3 + extra;
    let numbers = bytes.numbers(vertices.saturating_mul(width), Kind::F32, "vertices")?;
    let numbers = numbers.into_floats();
    let points = numbers
        .chunks_exact(width)
        .map(|p| DVec3::new(p[0], p[1], p[2]));
    let points = points.collect();
    let mut list = FaceList::default();
    for _ in 0..faces {
        let at = bytes.at;
        let corners = bytes.count(Kind::I32, "the number of a face's vertices")?;
        let corners = bytes.numbers(corners, Kind::I32, "a face's vertices")?;
        for corner in corners.into_integers().unwrap_or_default() {
            let vertex = check_vertex(corner, 0, vertices);
            list.push_vertex(vertex.map_err(|reason| bytes.fault(at, reason))?);
        }
        list.finish_face()
            .map_err(|reason| bytes.fault(at, reason))?;
        let channels = bytes.count(Kind::I32, "the number of a colour's components")?;
        bytes.take(channels, 4, "a colour")?;
    }
    let mut loaded = Loaded::from(Mesh {
        points,
        faces: FaceList::concat(vec![list]).map_err(|reason| Fault::new(file.len(), reason))?,
        ..Mesh::default()
    });
    loaded.notes.extend(note_of(&variant));
    Ok(Some(loaded))
}

/// The letters before OFF, in upper case.
fn variant(keyword: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let is_lower = keyword.iter().all(u8::is_ascii_lowercase);
    let upper = match is_lower {
        true => keyword.to_ascii_uppercase(),
        false => keyword.to_vec(),
    };
    let variant = upper
        .strip_suffix(b"OFF")
        .ok_or_else(|| format!("expected OFF, found `{}`", show(keyword)))?;
    match variant.iter().all(|letter| b"STCN".contains(letter)) {
        true => Ok(variant.to_vec()),
        false => Err(format!("{} is not read: write it as OFF", show(keyword))),
    }
}

/// Three coordinates.
pub(crate) fn parse_point(line: &mut Line) -> Parsed<DVec3> {
    let [x, y, z] = ["x", "y", "z"];
    Ok(DVec3::new(line.f64(x)?, line.f64(y)?, line.f64(z)?))
}

/// What stands before the vertices.
struct Header {
    variant: Vec<u8>,
    vertices: usize,
    faces: usize,
    /// Number of rows that it takes.
    rows: usize,
}

fn parse_header(rows: &Rows) -> Parsed<Header> {
    let mut row = 0;
    let mut line = rows.row(row, "OFF")?;
    let mut letters = Vec::new();
    // The keyword may be missing.
    if line.clone().integer("").is_err() {
        let offset = line.offset();
        let mut behind = line.clone();
        let keyword = behind.token().unwrap_or_default();
        // Some programs write no blank between it and the counts.
        let length = keyword
            .iter()
            .take_while(|byte| !byte.is_ascii_digit())
            .count();
        let is_glued =
            length > 0 && length < keyword.len() && keyword[..length].eq_ignore_ascii_case(b"OFF");
        if is_glued {
            line.skip(length);
        } else {
            letters = variant(keyword).map_err(|reason| Fault::new(offset, reason))?;
            line = behind;
        }
    }
    let mut counts = [0; 2];
    for (count, what) in counts.iter_mut().zip(["vertices", "faces"]) {
        let what = format!("the number of {what}");
        if line.is_finished() {
            row += 1;
            line = rows.row(row, &what)?;
        }
        *count = line.count(&what)?;
    }
    let [vertices, faces] = counts;
    row += 1;
    if !line.is_finished() {
        line.integer("the number of edges")?;
        return Ok(Header {
            variant: letters,
            vertices,
            faces,
            rows: row,
        });
    }
    // The number of edges may be missing, or stand on a line of its own, as no vertex does.
    let is_alone = |mut line: Line| line.integer("").is_ok() && line.is_finished();
    let has_edges = rows.row(row, "").is_ok_and(is_alone);
    Ok(Header {
        variant: letters,
        vertices,
        faces,
        rows: row + usize::from(has_edges),
    })
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut (impl Write + Send), mesh: &Mesh) -> io::Result<()> {
    let faces = mesh.faces.len();
    writeln!(out, "OFF\n{} {faces} 0", mesh.points.len())?;
    write_records(out, mesh.points.len(), |buffer, i| {
        push_point(buffer, mesh.points[i]);
    })?;
    write_records(out, faces, |buffer, i| {
        let polygon = mesh.faces.get(i);
        push_integer(buffer, polygon.len());
        for vertex in polygon {
            buffer.push(b' ');
            push_integer(buffer, *vertex);
        }
        buffer.push(b'\n');
    })
}

/// Appends three coordinates and a line end.
pub(crate) fn push_point(buffer: &mut Vec<u8>, point: DVec3) {
    push_f64(buffer, point.x);
    buffer.push(b' ');
    push_f64(buffer, point.y);
    buffer.push(b' ');
    push_f64(buffer, point.z);
    buffer.push(b'\n');
}
