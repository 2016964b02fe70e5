//! Polygon File Format, Stanford's: `.ply`.
//!
//! <https://paulbourke.net/dataformats/ply/>. Read are text and both binary encodings, scalars of any type, coordinates of
//! one or two or three of `x`, `y` (needed) and `z`, faces as `vertex_indices` or `vertex_index`, an integer `region` of a
//! face, and an element `edge` with `vertex1` and `vertex2` as segments, with an integer `marker`; other elements and
//! properties are skipped. Numbers in text are read as `f64`, whatever type the header declares: nothing that the file says
//! is lost. Written is little-endian binary with `double` coordinates.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;

use super::atomic_file::write_atomically;
use super::faces::FaceList;
use super::map_file;
use super::rows_out::write_records;
use super::text::{Fault, Line, Parsed, Rows, check_vertex, concat, whole};
use crate::Result;
use crate::mesh::{Faces, Mesh, Segment};
use header::{Element, Encoding, Header, Kind, Role, Scalar};

mod binary;
mod header;

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Mesh> {
    let header = Header::parse(file)?;
    let body = match header.encoding {
        Encoding::Text => parse_text(file, &header)?,
        Encoding::Binary(endian) => binary::parse(file, &header, endian)?,
    };
    let fault = |reason| Fault::new(header.end, reason);
    let (faces, regions): (Vec<_>, Vec<_>) = body
        .faces
        .into_iter()
        .map(|chunk| (chunk.faces, chunk.regions))
        .unzip();
    let faces = FaceList::concat(faces).map_err(fault)?;
    let regions = concat(regions);
    let has_regions = header.has_regions() && regions.len() == faces.len();
    Ok(Mesh {
        points: body.points,
        faces,
        regions: has_regions.then_some(regions),
        segments: body.segments,
        ..Mesh::default()
    })
}

/// What follows the header.
#[derive(Default)]
struct Body {
    points: Vec<DVec3>,
    faces: Vec<FaceChunk>,
    segments: Vec<Segment>,
}

/// Some of the faces.
#[derive(Default)]
struct FaceChunk {
    faces: FaceList,
    /// Empty where the file has none.
    regions: Vec<i32>,
}

fn parse_text(file: &[u8], header: &Header) -> Parsed<Body> {
    let rows = Rows::new(file, header.end);
    let vertices = header.vertices();
    let mut body = Body::default();
    let mut row = 0;
    for element in header.elements.iter().filter(|e| !e.properties.is_empty()) {
        let range = rows.expect(row, element.count, &format!("rows of {}", element.name))?;
        row = range.end;
        match element.name.as_str() {
            "vertex" => {
                let points = rows.parse(range, |points: &mut Vec<DVec3>, _, line| {
                    points.push(parse_text_vertex(element, line)?);
                    Ok(())
                })?;
                body.points = concat(points);
            }
            "face" => {
                body.faces = rows.parse(range, |chunk: &mut FaceChunk, _, line| {
                    parse_text_face(element, line, vertices, chunk)
                })?;
            }
            "edge" if element.holds_segments() => {
                let segments = rows.parse(range, |segments: &mut Vec<Segment>, _, line| {
                    segments.push(parse_text_segment(element, line, vertices)?);
                    Ok(())
                })?;
                body.segments = concat(segments);
            }
            _ => {}
        }
    }
    rows.expect_end(row, "the last element")?;
    Ok(body)
}

fn parse_text_vertex(element: &Element, line: &mut Line) -> Parsed<DVec3> {
    let mut point = DVec3::ZERO;
    for property in &element.properties {
        match (property.role, property.kind) {
            (Role::Coordinate(axis), _) => point[axis] = line.f64(&property.name)?,
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    Ok(point)
}

fn parse_text_face(
    element: &Element,
    line: &mut Line,
    vertices: usize,
    chunk: &mut FaceChunk,
) -> Parsed<()> {
    let begin = line.offset();
    for property in &element.properties {
        match (property.role, property.kind) {
            (Role::Corners, Kind::List { item, .. }) => {
                for _ in 0..line.count("the number of a face's vertices")? {
                    chunk.faces.push_vertex(text_vertex(line, item, vertices)?);
                }
                chunk
                    .faces
                    .finish_face()
                    .map_err(|reason| Fault::new(begin, reason))?;
            }
            (Role::Region, _) => {
                let region = text_tag(line, "region")?;
                chunk.regions.push(region);
            }
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    Ok(())
}

fn parse_text_segment(element: &Element, line: &mut Line, vertices: usize) -> Parsed<Segment> {
    let mut segment = Segment {
        ends: [0; 2],
        marker: 0,
    };
    for property in &element.properties {
        match (property.role, property.kind) {
            (Role::End(end), Kind::Scalar(scalar)) => {
                segment.ends[end] = text_vertex(line, scalar, vertices)?;
            }
            (Role::Marker, _) => segment.marker = text_tag(line, "marker")?,
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    Ok(segment)
}

/// The index of a vertex, which may be declared as a float and stand there as `3.0`.
fn text_vertex(line: &mut Line, scalar: Scalar, vertices: usize) -> Parsed<u32> {
    let offset = line.offset();
    let index = if scalar.is_float() {
        let index = line.f64("a vertex index")?;
        whole(index).ok_or_else(|| {
            let reason = format!("expected a vertex index, found `{index}`");
            Fault::new(offset, reason)
        })?
    } else {
        line.integer("a vertex index")?
    };
    check_vertex(index, 0, vertices).map_err(|reason| Fault::new(offset, reason))
}

/// A region or marker.
fn text_tag(line: &mut Line, what: &str) -> Parsed<i32> {
    let offset = line.offset();
    let tag = line.integer(&format!("a {what}"))?;
    check_tag(tag, what).map_err(|reason| Fault::new(offset, reason))
}

fn skip_text(kind: Kind, name: &str, line: &mut Line) -> Parsed<()> {
    let count = match kind {
        Kind::Scalar(_) => 1,
        Kind::List { .. } => line.count(&format!("the length of {name}"))?,
    };
    for _ in 0..count {
        line.f64(name)?;
    }
    Ok(())
}

fn check_tag(tag: i64, what: &str) -> Result<i32, String> {
    i32::try_from(tag).map_err(|_| format!("{what} {tag} has more than 32 bits"))
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}

fn write_to(out: &mut impl Write, mesh: &Mesh) -> io::Result<()> {
    let faces = mesh.faces.len();
    let longest = match &mesh.faces {
        Faces::Triangles(_) => 3,
        Faces::Polygons(polygons) => polygons.iter().map(<[u32]>::len).max().unwrap_or(0),
    };
    // The types that most programs read, as long as they are wide enough.
    let is_short = longest <= usize::from(u8::MAX);
    let length = if is_short { "uchar" } else { "uint" };
    let is_signed = i32::try_from(mesh.points.len()).is_ok();
    let index = if is_signed { "int" } else { "uint" };
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment trioxide\n\
         element vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {faces}\nproperty list {length} {index} vertex_indices\n",
        mesh.points.len()
    )?;
    if mesh.regions.is_some() {
        writeln!(out, "property int region")?;
    }
    if !mesh.segments.is_empty() {
        write!(
            out,
            "element edge {}\nproperty {index} vertex1\nproperty {index} vertex2\nproperty int marker\n",
            mesh.segments.len()
        )?;
    }
    writeln!(out, "end_header")?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for coordinate in mesh.points[i].to_array() {
            buffer.extend_from_slice(&coordinate.to_le_bytes());
        }
    })?;
    write_records(out, faces, |buffer, i| {
        let polygon = mesh.faces.get(i);
        if is_short {
            buffer.push(polygon.len() as u8);
        } else {
            buffer.extend_from_slice(&(polygon.len() as u32).to_le_bytes());
        }
        for vertex in polygon {
            buffer.extend_from_slice(&vertex.to_le_bytes());
        }
        if let Some(regions) = &mesh.regions {
            buffer.extend_from_slice(&regions[i].to_le_bytes());
        }
    })?;
    write_records(out, mesh.segments.len(), |buffer, i| {
        let Segment { ends, marker } = mesh.segments[i];
        for end in ends {
            buffer.extend_from_slice(&end.to_le_bytes());
        }
        buffer.extend_from_slice(&marker.to_le_bytes());
    })
}
