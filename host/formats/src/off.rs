//! Object File Format: `.off`.
//!
//! <http://www.geomview.org/docs/html/OFF.html>. It reads `OFF` and its variants with colours, normals and texture
//! coordinates (`COFF`, `NOFF`, `STOFF` and their mixtures, in upper or lower case); colours of faces, as their field
//! `color`; comments and blank lines anywhere; the counts on one line or several, or directly after the keyword
//! (`OFF490 518 0`); one vertex or face per line. Binary files are read too. It writes text, in the variant that holds
//! the vertices' attributes.
//!
//! In `4OFF` the fourth coordinate divides the first three. Polytopes of four dimensions, which Stella4D writes with a
//! count of cells, are refused. `nOFF` is read with two or three dimensions.
//!
//! Geomview's colours run from 0 to 1, MeshLab's and CGAL's from 0 to 255. A file with a channel above 1 has the
//! latter, which are also written. MeshLab writes the colour of a vertex before its normal, and other programs colours
//! under the plain keyword: the numbers decide, with a note.

mod binary;
mod variant;
mod vertices;

use std::io;
use std::path::Path;

use glam::DVec3;

use super::atomic_file::{Out, write_atomically};
use super::colors::{self, Channels, FACE_COLOR, is_face_color};
use super::faces::FaceList;
use super::printed::{Printed, write_rows};
use super::rows_out::{push_after_blanks, push_f64, push_integer, write_records};
use super::text::{Fault, Line, Parsed, TextRows, text_start, with_line_feeds};
use super::{Loaded, parse_file};
use trioxide_mesh::fields::Values;
use trioxide_mesh::mesh::{Faces, Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};
use variant::Variant;
pub(crate) use vertices::parse_point;
use vertices::{Vertices, channels};

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    if let Some(loaded) = binary::parse(file)? {
        return Ok(loaded);
    }
    let file = &*with_line_feeds(file);
    let rows = TextRows::new(file, text_start(file));
    let header = parse_header(&rows)?;
    let Header {
        vertices, faces, ..
    } = header;
    let vertex_rows = rows.expect(header.rows, vertices, "vertices")?;
    let face_rows = rows.expect(vertex_rows.end, faces, "faces")?;
    rows.expect_end(face_rows.end, "the faces")?;
    let mut loaded = vertices::parse(&rows, vertex_rows, &header.variant)?;
    let triangle = |line: &mut Line| {
        if let Some(corners) = short_triangle(line.clone(), vertices) {
            return Some(corners);
        }
        let size = line.integer("").ok().filter(|&size| size == 3);
        size?;
        let mut corner = || line.vertex(0, vertices).ok();
        let corners = [corner()?, corner()?, corner()?];
        line.is_finished().then_some(corners)
    };
    // Most files have triangles without colours. For others, and for faults, the general code reads all faces again.
    let is_short = faces < u32::MAX as usize / 3;
    let triangles = is_short.then(|| rows.parse_in_place(face_rows.clone(), triangle));
    if let Some(triangles) = triangles.flatten() {
        loaded.mesh.faces = Faces::Triangles(triangles);
        return Ok(loaded);
    }
    let parsed = rows.parse(
        face_rows,
        |part: &mut (FaceList, Vec<Channels>), _, line| {
            let offset = line.offset();
            let (faces, colors) = part;
            for _ in 0..line.count("the number of a face's vertices")? {
                faces.push_vertex(line.vertex(0, vertices)?);
            }
            let color = channels(line, 0)?;
            let is_kept = faces
                .finish_face()
                .map_err(|reason| Fault::new(offset, reason))?;
            if is_kept && color.1 > 0 {
                colors.push(color);
            }
            Ok(())
        },
    )?;
    let (faces, colors): (Vec<FaceList>, Vec<Vec<Channels>>) = parsed.into_iter().unzip();
    loaded
        .set_faces(faces, parallel::concat(colors))
        .map_err(|reason| Fault::new(file.len(), reason))?;
    Ok(loaded)
}

/// A triangle in the most common form: short numbers, separated by single blanks.
fn short_triangle(mut line: Line, vertices: usize) -> Option<[u32; 3]> {
    let mut number = || line.short_integer();
    let [size, a, b, c] = [number()?, number()?, number()?, number()?];
    let is_good = size == 3 && [a, b, c].iter().all(|&v| (v as usize) < vertices);
    (is_good && line.is_finished()).then_some([a, b, c])
}

impl Loaded {
    /// Sets the faces, with a field of their colours if all have one. Colours of some faces, and indices of a palette,
    /// are left out with a note.
    fn set_faces(&mut self, faces: Vec<FaceList>, colors: Vec<Channels>) -> Result<(), String> {
        self.notes.extend(FaceList::note(faces.iter()));
        self.mesh.faces = FaceList::concat(faces)?;
        if colors.is_empty() {
            return Ok(());
        }
        let is_color = |(_, count): &Channels| matches!(count, 3 | 4);
        if colors.len() < self.mesh.faces.len() || !colors.iter().all(is_color) {
            let note =
                "the colours of faces are left out: not every face has one of 3 or 4 channels";
            self.notes.push(note.to_owned());
            return Ok(());
        }
        let components = colors.iter().map(|(_, count)| usize::from(*count)).max();
        let components = components.unwrap_or(3);
        let bytes = colors::bytes_of(colors.len(), vertices::FULL, |i| colors[i]);
        self.notes.extend(bytes.notes);
        let field = colors::face_color(&bytes.bytes, components);
        self.mesh.fields.cells.push(field);
        Ok(())
    }
}

/// The colours of faces in the form of the file.
fn face_colors(mesh: &Mesh) -> Option<(&[u8], usize)> {
    let field = mesh.fields.cells.get(FACE_COLOR)?;
    match &field.values {
        Values::U8(bytes) if is_face_color(field) => Some((bytes, field.components)),
        _ => None,
    }
}

/// Names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let fields = &mesh.fields;
    let cells = fields.cells.iter().filter(|field| !is_face_color(field));
    let lost = fields.points.iter().chain(&fields.sides).chain(cells);
    lost.map(|field| field.name.clone()).collect()
}

/// The content before the vertices.
struct Header {
    variant: Variant,
    vertices: usize,
    faces: usize,
    /// Number of its rows.
    rows: usize,
}

fn parse_header(rows: &TextRows) -> Parsed<Header> {
    let mut row = 0;
    let mut line = rows.row(row, "OFF")?;
    let mut variant = Variant::default();
    // The keyword may be missing.
    if line.clone().integer("").is_err() {
        let offset = line.offset();
        let mut behind = line.clone();
        let keyword = behind.token().unwrap_or_default();
        // Some programs write no blank between the keyword and the counts.
        let length = keyword
            .iter()
            .take_while(|byte| !byte.is_ascii_digit())
            .count();
        let is_glued =
            length > 0 && length < keyword.len() && keyword[..length].eq_ignore_ascii_case(b"OFF");
        if is_glued {
            line.skip(length);
        } else {
            variant = Variant::of(keyword).map_err(|reason| Fault::new(offset, reason))?;
            line = behind;
        }
    }
    let mut next_count = |what: &str| {
        let what = format!("the number of {what}");
        if line.is_finished() {
            row += 1;
            line = rows.row(row, &what)?;
        }
        let offset = line.offset();
        Ok((line.count(&what)?, offset))
    };
    if variant.dimensions.is_none() {
        let (count, offset) = next_count("dimensions")?;
        let is_set = variant.set_dimensions(count);
        is_set.map_err(|reason| Fault::new(offset, reason))?;
    }
    let [(vertices, _), (faces, _)] = [next_count("vertices")?, next_count("faces")?];
    row += 1;
    if !line.is_finished() {
        line.integer("the number of edges")?;
        let offset = line.offset();
        if variant.is_homogeneous && !line.is_finished() {
            let reason = "these are cells of four dimensions, as Stella4D writes them: of 4OFF surfaces are read";
            return Err(Fault::new(offset, reason));
        }
        return Ok(Header {
            variant,
            vertices,
            faces,
            rows: row,
        });
    }
    // The number of edges may be missing, or be on a line of its own; no vertex has one number.
    let is_alone = |mut line: Line| line.integer("").is_ok() && line.is_finished();
    let has_edges = rows.row(row, "").is_ok_and(is_alone);
    Ok(Header {
        variant,
        vertices,
        faces,
        rows: row + usize::from(has_edges),
    })
}

pub(crate) fn write(path: &Path, mesh: &Mesh, printed: &Printed) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh, printed))
}

fn write_to(out: &mut dyn Out, mesh: &Mesh, printed: &Printed) -> io::Result<()> {
    let faces = mesh.faces.len();
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mesh.attributes;
    for (prefix, is_there) in [
        ("ST", uvs.is_some()),
        ("C", colors.is_some()),
        ("N", normals.is_some()),
    ] {
        if is_there {
            out.write_all(prefix.as_bytes())?;
        }
    }
    writeln!(out, "OFF\n{} {faces} 0", mesh.points.len())?;
    write_rows(out, mesh.points.len(), printed, |buffer, i| {
        let mut numbers = |list: &[f64]| {
            for &number in list {
                push_f64(buffer, number);
                buffer.push(b' ');
            }
        };
        numbers(&mesh.points[i].to_array());
        if let Some(normals) = normals {
            numbers(&normals[i].to_array());
        }
        if let Some(colors) = colors {
            numbers(&colors[i].map(f64::from));
        }
        if let Some(uvs) = uvs {
            numbers(&uvs[i].to_array());
        }
        buffer.pop();
        buffer.push(b'\n');
    })?;
    let colors = face_colors(mesh);
    write_records(out, faces, |buffer, i| {
        let polygon = mesh.faces.get(i);
        push_integer(buffer, polygon.len());
        push_after_blanks(buffer, polygon.iter().copied());
        if let Some((bytes, components)) = colors {
            let channels = bytes[i * components..(i + 1) * components].iter();
            push_after_blanks(buffer, channels.copied());
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

#[cfg(test)]
mod tests;
