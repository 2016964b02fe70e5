//! Writes OBJ files.

use std::io;
use std::path::Path;

use glam::DVec3;

use super::groups::{self, Held, push_marks, push_name};
use super::{LIBRARY, MARKER};
use crate::atomic_file::{Out, write_atomically};
use crate::printed::{Printed, write_rows};
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::seams;
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Error, Result};

pub(crate) fn write(path: &Path, mesh: &Mesh, printed: &Printed) -> Result<()> {
    if mesh.points.is_empty() {
        let reason = "the mesh has no points, and a file without one is no OBJ: write .ply";
        return Err(Error::format(path, reason));
    }
    write_atomically(path, |file| write_to(file, mesh, printed))
}

/// Appends a keyword and its numbers.
fn push_row(buffer: &mut Vec<u8>, keyword: &[u8], numbers: &[f64]) {
    buffer.extend_from_slice(keyword);
    for number in numbers {
        buffer.push(b' ');
        push_f64(buffer, *number);
    }
    buffer.push(b'\n');
}

/// Appends the row of a vertex without a colour.
pub(crate) fn push_point(buffer: &mut Vec<u8>, point: DVec3) {
    push_row(buffer, b"v", &point.to_array());
}

/// The rows of vertices, where several points have one.
struct Vertices {
    /// The first point of each.
    points: Vec<u32>,
    /// The vertex of each point.
    of_points: Vec<u32>,
}

impl Vertices {
    /// `None` if each point has a row of its own.
    fn of(mesh: &Mesh) -> Option<Vertices> {
        let mut of_points = seams::joined(mesh)?;
        let mut points = Vec::new();
        // A vertex is its first point, so its number is known when another of its points comes.
        for i in 0..of_points.len() {
            of_points[i] = match of_points[i] as usize {
                first if first == i => {
                    points.push(i as u32);
                    points.len() as u32 - 1
                }
                first => of_points[first],
            };
        }
        Some(Vertices { points, of_points })
    }
}

fn write_to(out: &mut dyn Out, mesh: &Mesh, printed: &Printed) -> io::Result<()> {
    for library in &mesh.about.material_libraries {
        let mut line = LIBRARY.to_vec();
        push_name(&mut line, library);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mesh.attributes;
    let push_vertex = |buffer: &mut Vec<u8>, i: usize| {
        let [x, y, z] = mesh.points[i].to_array();
        match colors {
            None => push_point(buffer, mesh.points[i]),
            Some(colors) => {
                let [r, g, b, _] = colors[i].map(|channel| f64::from(channel) / 255.0);
                push_row(buffer, b"v", &[x, y, z, r, g, b]);
            }
        }
    };
    let vertices = Vertices::of(mesh);
    match &vertices {
        None => write_rows(out, mesh.points.len(), printed, push_vertex)?,
        Some(Vertices { points, .. }) => write_records(out, points.len(), |buffer, i| {
            push_vertex(buffer, points[i] as usize);
        })?,
    }
    let uvs = uvs.as_deref().unwrap_or_default();
    write_records(out, uvs.len(), |buffer, i| {
        push_row(buffer, b"vt", &uvs[i].to_array())
    })?;
    let normals = normals.as_deref().unwrap_or_default();
    write_records(out, normals.len(), |buffer, i| {
        push_row(buffer, b"vn", &normals[i].to_array());
    })?;
    let vertex = |point: u32| match &vertices {
        None => point,
        Some(vertices) => vertices.of_points[point as usize],
    };
    let names = &mesh.about.names;
    let of_segments = groups::held(&mesh.fields.sides, names);
    write_segments(out, mesh, &of_segments, vertex)?;
    let mut held = groups::held(&mesh.fields.cells, names);
    for held in &mut held {
        held.before = held.last(&of_segments);
    }
    write_records(out, mesh.faces.len(), |buffer, i| {
        push_marks(buffer, &held, i);
        buffer.push(b'f');
        for &point in mesh.faces.get(i) {
            let index = u64::from(point) + 1;
            buffer.push(b' ');
            push_integer(buffer, vertex(point) + 1);
            if !uvs.is_empty() || !normals.is_empty() {
                buffer.push(b'/');
            }
            if !uvs.is_empty() {
                push_integer(buffer, index);
            }
            if !normals.is_empty() {
                buffer.push(b'/');
                push_integer(buffer, index);
            }
        }
        buffer.push(b'\n');
    })
}

/// Writes the segments as lines. A comment before one gives the marker of the lines that follow.
fn write_segments(
    out: &mut dyn Out,
    mesh: &Mesh,
    held: &[Held],
    vertex: impl Fn(u32) -> u32 + Sync,
) -> io::Result<()> {
    let segments = &mesh.segments;
    write_records(out, segments.len(), |buffer, i| {
        push_marks(buffer, held, i);
        let marker = segments[i].marker;
        if i == 0 || segments[i - 1].marker != marker {
            buffer.extend_from_slice(MARKER);
            push_integer(buffer, marker);
            buffer.push(b'\n');
        }
        buffer.push(b'l');
        for end in segments[i].ends {
            buffer.push(b' ');
            push_integer(buffer, vertex(end) + 1);
        }
        buffer.push(b'\n');
    })
}
