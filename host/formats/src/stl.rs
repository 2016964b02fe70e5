//! Stereolithography: `.stl`, binary or text.
//!
//! A facet is three positions and a normal, so a file is a soup of triangles: on reading, each triangle has three
//! vertices of its own, and welding joins them to a surface. Normals and the two attribute bytes of a binary facet are
//! not read. A file is binary if its length fits its count of facets; it is text if it begins with `solid` otherwise,
//! and has no byte 0 at its head. Bytes after the facets of a longer binary file are left out with a note. Binary files
//! hold 32-bit coordinates; text is read and written as `f64`.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::atomic_file::{Out, write_atomically};
use super::off::{parse_point, push_point};
use super::rows_out::{push_f64, write_records};
use super::text::{
    Fault, Line, Parsed, lines, parse_chunks, split_at_lines, text_start, with_line_feeds,
};
use super::{Encoding, Loaded, parse_file, triangles};
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Error, Result, parallel};

/// Bytes before the facets: a comment of 80, and their number.
const HEADER: usize = 84;
/// Bytes of a facet: a normal, three corners, and 16 bits.
const FACET: usize = 50;
/// Facets of a task.
const FACETS: usize = 1024;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let announced = file.get(80..HEADER).map(|count| {
        let count = count.try_into().expect("four bytes");
        u32::from_le_bytes(count) as usize
    });
    let length = announced.and_then(|count| count.checked_mul(FACET)?.checked_add(HEADER));
    let is_text = || {
        let text = file[text_start(file)..].trim_ascii_start();
        let is_solid = text
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"solid"));
        // A count of facets, or a binary comment, contains a byte 0.
        is_solid && memchr::memchr(0, &file[..file.len().min(HEADER + FACET)]).is_none()
    };
    let mut notes = Vec::new();
    let points = match (length, announced) {
        (Some(length), _) if length == file.len() => parse_binary(&file[HEADER..]),
        _ if is_text() => parse_text(file)?,
        // A count that was never filled in does not make an empty mesh.
        (Some(length), Some(1..)) if length < file.len() => {
            let behind = file.len() - length;
            notes.push(format!("{behind} bytes behind its last facet are left out"));
            parse_binary(&file[HEADER..length])
        }
        (_, Some(count)) => {
            let left = file.len() - HEADER;
            let reason = format!(
                "byte 80: {count} facets of {FACET} bytes are announced, but {left} bytes follow"
            );
            return Err(Fault::new(0, reason));
        }
        _ => return Err(Fault::new(0, "expected solid, or a header of 84 bytes")),
    };
    let corners = points.len();
    let Ok(count) = u32::try_from(corners) else {
        let reason = format!("{corners} vertices are more than 32-bit indices can name");
        return Err(Fault::new(0, reason));
    };
    let mesh = Mesh {
        points,
        faces: Faces::Triangles(parallel::collect(count as usize / 3, |i| {
            let first = 3 * i as u32;
            [first, first + 1, first + 2]
        })),
        ..Mesh::default()
    };
    Ok(Loaded { mesh, notes })
}

fn parse_binary(facets: &[u8]) -> Vec<DVec3> {
    let corner = |bytes: &[u8; 12]| {
        let [x, y, z] = *bytes.as_chunks::<4>().0 else {
            unreachable!("twelve bytes are three times four");
        };
        DVec3::from_array([x, y, z].map(|bytes| f64::from(f32::from_le_bytes(bytes))))
    };
    let mut points: Vec<DVec3> = parallel::zeroed(facets.len() / FACET * 3);
    let triangles = points.as_chunks_mut::<3>().0;
    parallel::for_chunks_mut(triangles, FACETS, |k, triangles| {
        let facets = facets[k * FACETS * FACET..].chunks_exact(FACET);
        for (triangle, facet) in triangles.iter_mut().zip(facets) {
            for (point, bytes) in triangle.iter_mut().zip(facet[12..].as_chunks::<12>().0) {
                *point = corner(bytes);
            }
        }
    });
    points
}

/// Keywords of lines without a position.
const KEYWORDS: [&str; 6] = ["facet", "outer", "endloop", "endfacet", "solid", "endsolid"];

fn parse_text(file: &[u8]) -> Parsed<Vec<DVec3>> {
    let file = &*with_line_feeds(file);
    let is = |token: &[u8], word: &str| token.eq_ignore_ascii_case(word.as_bytes());
    let ranges = split_at_lines(file, text_start(file), false);
    let counts = parse_chunks(&ranges, |range| {
        let keywords = lines(file, range.clone(), false).filter_map(|mut line| line.token());
        Ok(keywords.filter(|token| is(token, "vertex")).count())
    })?;
    // Each range with the number of vertices before it: a facet may begin in one range and end in the next.
    let mut vertices = 0;
    let mut chunks = Vec::with_capacity(ranges.len());
    for (range, count) in ranges.into_iter().zip(counts) {
        chunks.push((range, vertices));
        vertices += count;
    }
    let parts = parse_chunks(&chunks, |(range, before)| {
        let mut points = Vec::new();
        for mut line in lines(file, range.clone(), false) {
            let mut start: Line = line.clone();
            match line.token() {
                None => {}
                Some(token) if is(token, "vertex") => points.push(parse_point(&mut line)?),
                Some(token)
                    if (is(token, "endloop") || is(token, "outer"))
                        && (before + points.len()) % 3 != 0 =>
                {
                    let reason = "the facet before here has not three vertices";
                    return Err(Fault::new(start.offset(), reason));
                }
                Some(token) if KEYWORDS.iter().any(|word| is(token, word)) => {}
                Some(_) => {
                    return Err(start.unexpected("facet, outer, vertex, endloop or endfacet"));
                }
            }
        }
        Ok(points)
    })?;
    if vertices % 3 != 0 {
        return Err(Fault::new(
            file.len(),
            "the last facet has not three vertices",
        ));
    }
    Ok(parallel::concat(parts))
}

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    let triangles = triangles(path, &mesh.faces)?;
    let corners = |i: usize| triangles[i].map(|v| mesh.points[v as usize]);
    let error = |reason: String| Err(Error::format(path, reason));
    if triangles.is_empty() && !mesh.points.is_empty() {
        return error(format!(
            "the format holds triangles only, and the mesh has {} points without faces: write .ply, .xyz or .las",
            mesh.points.len()
        ));
    }
    if encoding == Encoding::Text {
        return write_atomically(path, |file| write_text(file, triangles.len(), corners));
    }
    let is_too_large = |p: &DVec3| p.abs().max_element() > f64::from(f32::MAX) && p.is_finite();
    if let Some(i) = parallel::position(&mesh.points, is_too_large) {
        return error(format!(
            "vertex {i} has a coordinate that is too large for 32 bits: scale the mesh, or write text"
        ));
    }
    let Ok(count) = u32::try_from(triangles.len()) else {
        return error(format!(
            "{} facets are more than 32 bits can count",
            triangles.len()
        ));
    };
    write_atomically(path, |file| {
        // A binary file must not begin with `solid`.
        let mut header = [b' '; 80];
        let comment = b"trioxide: facets of three 32-bit corners";
        header[..comment.len()].copy_from_slice(comment);
        file.write_all(&header)?;
        file.write_all(&count.to_le_bytes())?;
        write_records(file, triangles.len(), |buffer, i| {
            let [a, b, c] = corners(i);
            for point in [normal([a, b, c]), a, b, c] {
                for x in point.to_array() {
                    buffer.extend_from_slice(&(x as f32).to_le_bytes());
                }
            }
            buffer.extend_from_slice(&[0; 2]);
        })
    })
}

fn write_text(
    out: &mut dyn Out,
    count: usize,
    corners: impl Fn(usize) -> [DVec3; 3] + Sync,
) -> io::Result<()> {
    out.write_all(b"solid trioxide\n")?;
    write_records(out, count, |buffer, i| {
        buffer.extend_from_slice(b"facet normal");
        for x in normal(corners(i)).to_array() {
            buffer.push(b' ');
            push_f64(buffer, f64::from(x as f32));
        }
        buffer.extend_from_slice(b"\nouter loop\n");
        for point in corners(i) {
            buffer.extend_from_slice(b"vertex ");
            push_point(buffer, point);
        }
        buffer.extend_from_slice(b"endloop\nendfacet\n");
    })?;
    out.write_all(b"endsolid trioxide\n")
}

/// The normal of length 1, or 0 for a degenerate facet.
fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// The sentence on coordinates that the file does not hold exactly.
pub(crate) fn rounding(mesh: &Mesh, encoding: Encoding) -> Option<String> {
    let is_exact = |p: &DVec3| p.as_vec3().as_dvec3() == *p;
    let is_rounded = encoding != Encoding::Text && !parallel::all(&mesh.points, is_exact);
    is_rounded.then(|| "binary STL holds 32-bit coordinates: those of the input are rounded".into())
}
