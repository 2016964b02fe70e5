//! Wavefront OBJ: `.obj`.
//!
//! Read are `v` and `f` with any number of vertices, as `7`, `7/1`, `7//3` or `7/1/3`, indices from 1 or backwards from -1;
//! lines that a backslash continues; comments. Everything else (normals, texture coordinates, groups, materials, lines,
//! curves) is skipped.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use glam::DVec3;

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::map_file;
use super::off::{parse_point, push_point};
use super::rows_out::{push_integer, write_records};
use super::text::{
    Fault, Line, Parsed, check_vertex, concat, lines, parse_chunks, parse_integer, show,
    split_at_lines, text_start,
};
use crate::Result;
use crate::mesh::Mesh;

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

/// A piece of the file.
struct Chunk {
    range: Range<usize>,
    /// Vertices before it: negative indices count back from there.
    vertices: usize,
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Mesh> {
    let ranges = split_at_lines(file, text_start(file), true);
    let counts = parse_chunks(&ranges, |range| {
        Ok(lines(file, range.clone(), true)
            .filter_map(|mut line| line.token())
            .filter(|keyword| keyword == b"v")
            .count())
    })?;
    let mut vertices = 0;
    let mut chunks = Vec::with_capacity(ranges.len());
    for (range, count) in ranges.into_iter().zip(counts) {
        chunks.push(Chunk { range, vertices });
        vertices += count;
    }
    let parts = parse_chunks(&chunks, |chunk| parse_chunk(file, chunk, vertices))?;
    let (points, faces): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Ok(Mesh {
        points: concat(points),
        faces: FaceList::concat(faces).map_err(|reason| Fault::new(file.len(), reason))?,
        ..Mesh::default()
    })
}

fn parse_chunk(file: &[u8], chunk: &Chunk, vertices: usize) -> Parsed<(Vec<DVec3>, FaceList)> {
    let mut points = Vec::new();
    let mut faces = FaceList::default();
    for mut line in lines(file, chunk.range.clone(), true) {
        let offset = line.offset();
        match line.token() {
            Some(b"v") => points.push(parse_point(&mut line)?),
            Some(b"f") => {
                while !line.is_finished() {
                    let before = chunk.vertices + points.len();
                    faces.push_vertex(parse_corner(&mut line, before, vertices)?);
                }
                faces
                    .finish_face()
                    .map_err(|reason| Fault::new(offset, reason))?;
            }
            _ => {}
        }
    }
    Ok((points, faces))
}

/// The vertex of a corner such as `7/1/3`, where `before` of the `count` vertices stand before this line.
fn parse_corner(line: &mut Line, before: usize, count: usize) -> Parsed<u32> {
    let offset = line.offset();
    let token = line.token().unwrap_or_default();
    let fault = |reason| Fault::new(offset, reason);
    match parse_integer(token) {
        Some((index, length)) if matches!(token.get(length), None | Some(b'/')) => {
            if index >= 0 {
                return check_vertex(index, 1, count).map_err(fault);
            }
            let vertex = before as i64 + index;
            check_vertex(vertex, 0, count).map_err(|_| {
                fault(format!(
                    "vertex {index} does not exist: {before} vertices stand before this face"
                ))
            })
        }
        _ => Err(fault(format!(
            "expected a vertex index, found `{}`",
            show(token)
        ))),
    }
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
    write_records(out, mesh.points.len(), |buffer, i| {
        buffer.extend_from_slice(b"v ");
        push_point(buffer, mesh.points[i]);
    })?;
    write_records(out, mesh.faces.len(), |buffer, i| {
        buffer.push(b'f');
        for vertex in mesh.faces.get(i) {
            buffer.push(b' ');
            push_integer(buffer, u64::from(*vertex) + 1);
        }
        buffer.push(b'\n');
    })
}
