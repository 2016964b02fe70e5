//! Polygon File Format, Stanford's: `.ply`.
//!
//! <https://paulbourke.net/dataformats/ply/>. It reads text and both binary encodings; scalars of any type; coordinates
//! of one, two or three of `x`, `y` (required) and `z`; faces as `vertex_indices` or `vertex_index`; an integer
//! `region` of a face; segments in our comments; and segments as an element `edge` with `vertex1` and `vertex2`, and an
//! integer `marker`. A list of all edges of the faces, without markers, gives no segments, and a note reports it.
//! Normals of a vertex are `nx ny nz`, colours `red green blue [alpha]` (integers to 255, 16-bit ones to 65535, floats
//! to 1), texture coordinates `s t`, `u v`, `texture_u texture_v` or `texture_s texture_t`. Other numbers of vertices
//! and faces are fields. An element `tristrips` gives triangles. Other lists and elements are skipped with a note.
//! Numbers in text are read as `f64`, for any declared type, so no digits are lost. Text need not have a line for each
//! vertex or face. A face's `texcoord` is a list of texture coordinates of its corners: corners of one vertex with
//! different ones become points ([`seams`]). `red green blue [alpha]` of faces are a field `color`, and comments
//! `TextureFile` name files of textures.
//!
//! It writes little-endian binary, or the requested encoding, with `double` coordinates. Normals and texture
//! coordinates are `float` if that holds them exactly. Segments are written as comments of the header. Programs that
//! read binary files with a triangle mesh and segments in each form:
//!
//! | form of the segments | trimesh 5.2 | meshio 5.3 | plyfile 1.1 | Open3D 0.20 | MeshLab 2025.07 | VTK 9.7 |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | `edge`: `vertex1 vertex2 marker` | refuses | refuses | mesh, edges, markers | mesh | mesh, edges | mesh |
//! | `edge`: `vertex1 vertex2`, and an element of markers | mesh | refuses | mesh, edges, markers | mesh | mesh, edges | mesh |
//! | an element `segment`: `vertex1 vertex2 marker` | mesh | refuses | mesh, segments | mesh | mesh | mesh |
//! | faces of two vertices | refuses | mesh, lines | mesh | wrong faces | wrong faces | mesh, lines |
//! | comments | mesh | mesh | mesh, comments | mesh | mesh | mesh |
//!
//! All six accept comments. meshio refuses every element but `vertex` and `face`, and, in binary files, any property of
//! faces, so it also refuses files with regions.

use std::borrow::Cow;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::decimals::{self, Decimals};
use super::faces::{FaceList, drop_list_of_edges};
use super::text::{Fault, Line, Parsed, TextRows, check_vertex, whole, with_line_feeds};
use super::volume::vtk_cells::split_strip;
use super::{Loaded, parse_file, seams};
pub(crate) use fields::{lost_fields, renamed, retyped};
use header::{Element, Encoding, Header, Kind, Role};
pub use slices::{Slices, Triangles};
use trioxide_mesh::about::{About, Unit};
use trioxide_mesh::fields::{Fields, MeshFields, NumberType};
use trioxide_mesh::mesh::{Faces, Mesh, Segment, VertexAttributes};
use trioxide_mesh::{Result, parallel};
use vertices::{Vertex, VertexChunk, is_of_vertex};
pub use write::SharedFile;
pub(crate) use write::write;

mod binary;
mod columns;
mod fields;
mod header;
mod layout;
mod slices;
#[cfg(test)]
mod tests;
mod vertices;
mod write;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let file = &*with_line_ends(file)?;
    let header = Header::parse(file)?;
    let mut body = match header.encoding {
        Encoding::Text => parse_text(file, &header)?,
        Encoding::Binary(endian) => binary::parse(file, &header, endian)?,
    };
    if header.element("face").is_some_and(Element::holds_colors) {
        let notes = fields::join_colors(&mut body.face_fields);
        body.notes.extend(notes);
    }
    body.join_strips(&header)?;
    let has_markers = header.has_markers();
    let has_regions = header.has_regions() && body.regions.len() == body.faces.len();
    let mut loaded = Loaded::from(Mesh {
        points: body.points,
        faces: body.faces,
        regions: has_regions.then_some(body.regions),
        segments: body.segments,
        attributes: body.attributes,
        fields: MeshFields {
            points: body.vertex_fields,
            cells: body.face_fields,
            sides: Fields::default(),
        },
        about: Arc::default(),
    });
    let Loaded { mesh, notes } = &mut loaded;
    notes.extend(fields::notes(&header));
    notes.extend(body.notes);
    if !header.textures.is_empty() || body.unit.is_some() {
        mesh.about = Arc::new(About {
            textures: header.textures,
            unit: body.unit,
            ..About::default()
        });
    }
    if !has_markers {
        notes.extend(drop_list_of_edges(mesh));
    }
    mesh.segments.extend(header.segments);
    if header.has_stale_segments {
        notes.push(
            "the segments in its comments are left out: they belong to a mesh of other counts"
                .into(),
        );
    }
    if !body.corner_uvs.is_empty() {
        let uv = |i: usize| body.corner_uvs.get(i).copied().filter(|uv| !uv.is_nan());
        let split = seams::split(mesh, |i| (uv(i), None));
        notes.extend(split.map_err(|reason| Fault::new(header.end, reason))?);
    }
    Ok(loaded)
}

/// The file with line feeds instead of carriage returns as line ends.
///
/// # Errors
/// A binary file with such a header: in its body a carriage return is a byte like any other.
fn with_line_ends(file: &[u8]) -> Parsed<Cow<'_, [u8]>> {
    let end = memchr::memchr2(b'\r', b'\n', file).unwrap_or(file.len());
    if !file[end..].starts_with(b"\r") || file[end..].starts_with(b"\r\n") {
        return Ok(Cow::Borrowed(file));
    }
    let second = file[end + 1..]
        .split(|byte| *byte == b'\r')
        .find(|line| line.starts_with(b"format"));
    match second.is_some_and(|line| memchr::memmem::find(line, b"ascii").is_some()) {
        true => Ok(with_line_feeds(file)),
        false => Err(Fault::new(
            end,
            "the lines of the header end in carriage returns alone: only text files are read with these, so write line feeds",
        )),
    }
}

/// The content after the header.
#[derive(Default)]
struct Body {
    points: Vec<DVec3>,
    /// Of text: the unit of the coordinates' last digit.
    unit: Option<Unit>,
    attributes: VertexAttributes,
    vertex_fields: Fields,
    face_fields: Fields,
    faces: Faces,
    /// Empty if the file has none.
    regions: Vec<i32>,
    /// Texture coordinates of the faces' corners, NaN for none; empty if the file has none.
    corner_uvs: Vec<DVec2>,
    /// Triangles of strips, which follow the faces.
    strips: Vec<FaceList>,
    segments: Vec<Segment>,
    notes: Vec<String>,
}

impl Body {
    fn set_faces(&mut self, mut chunks: Vec<FaceChunk>, header: &Header) -> Parsed<()> {
        let others: Vec<_> = chunks
            .iter_mut()
            .map(|chunk| take(&mut chunk.others))
            .collect();
        self.face_fields = fields::of_rows(header.element("face"), &others);
        self.notes
            .extend(FaceList::note(chunks.iter().map(|chunk| &chunk.faces)));
        let unmatched: usize = chunks.iter().map(|chunk| chunk.unmatched).sum();
        if unmatched > 0 {
            self.notes.push(format!(
                "left out: texture coordinates of faces that are not two numbers for each corner ({unmatched})"
            ));
        }
        self.corner_uvs = parallel::concat_lists(&mut chunks, |chunk| &mut chunk.uvs);
        self.regions = parallel::concat_lists(&mut chunks, |chunk| &mut chunk.regions);
        let faces = chunks.into_iter().map(|chunk| chunk.faces).collect();
        let fault = |reason| Fault::new(header.end, reason);
        self.faces = FaceList::concat(faces).map_err(fault)?;
        Ok(())
    }

    fn set_vertices(&mut self, mut chunks: Vec<VertexChunk>, header: &Header) {
        let others: Vec<_> = chunks
            .iter_mut()
            .map(|chunk| take(&mut chunk.others))
            .collect();
        self.vertex_fields = fields::of_rows(header.element("vertex"), &others);
        let decimals = chunks.iter().map(|chunk| &chunk.decimals);
        self.unit = decimals::unit(Decimals::most(decimals));
        let kinds = (header.element("vertex")).map_or([None; 4], Element::color_kinds);
        (self.points, self.attributes) =
            VertexChunk::concat(chunks, header.attributes(), kinds, &mut self.notes);
    }

    /// Appends the triangles of strips to the faces, in region 0 if the faces have regions. Fields of faces have no
    /// values for them, so they are left out.
    fn join_strips(&mut self, header: &Header) -> Parsed<()> {
        if self.strips.is_empty() {
            return Ok(());
        }
        let count = self.faces.len();
        let has_regions = header.has_regions() && self.regions.len() == count;
        let mut all = FaceList::default();
        let fault = |reason| Fault::new(header.end, reason);
        for i in 0..count {
            let face = self.faces.get(i);
            face.iter().for_each(|&v| all.push_vertex(v));
            all.finish_face().map_err(fault)?;
        }
        let mut lists = vec![all];
        lists.append(&mut self.strips);
        self.faces = FaceList::concat(lists).map_err(fault)?;
        let added = self.faces.len() - count;
        if has_regions {
            self.regions.resize(self.faces.len(), 0);
        }
        let fields = take(&mut self.face_fields);
        if count == 0 || added == 0 {
            return Ok(());
        }
        if has_regions {
            let note = format!("the triangles of its strips are in region 0: {added}");
            self.notes.push(note);
        }
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            self.notes.push(format!(
                "left out: fields of faces, because the triangles of its strips have none: {names}"
            ));
        }
        Ok(())
    }
}

/// A part of the faces.
#[derive(Default)]
struct FaceChunk {
    faces: FaceList,
    /// Empty if the file has none.
    regions: Vec<i32>,
    /// Numbers of fields, face by face.
    others: Vec<f64>,
    /// Texture coordinates of the corners, NaN for none; empty if the file has none.
    uvs: Vec<DVec2>,
    /// The list of texture coordinates of the face that is being read.
    uv: Vec<f64>,
    /// Number of such lists that have another length than their face.
    unmatched: usize,
}

/// A face that is being read.
struct Face {
    is_kept: bool,
    has_uvs: bool,
    /// Numbers of regions and fields before it.
    before: [usize; 2],
}

impl FaceChunk {
    fn begin(&self, element: &Element) -> Face {
        Face {
            is_kept: false,
            has_uvs: element.holds_uvs(),
            before: [self.regions.len(), self.others.len()],
        }
    }

    /// Ends a face, or leaves out its numbers.
    fn end(&mut self, face: Face) {
        if !face.is_kept {
            self.regions.truncate(face.before[0]);
            self.others.truncate(face.before[1]);
        } else if face.has_uvs {
            let corners = self.faces.corners();
            let (pairs, rest) = self.uv.as_chunks::<2>();
            if rest.is_empty() && self.uvs.len() + pairs.len() == corners {
                self.uvs.extend(pairs.iter().map(|&uv| DVec2::from(uv)));
            } else {
                self.unmatched += usize::from(!self.uv.is_empty());
                self.uvs.resize(corners, DVec2::NAN);
            }
        }
        self.uv.clear();
    }
}

fn parse_text(file: &[u8], header: &Header) -> Parsed<Body> {
    let rows = TextRows::new(file, header.end);
    let counts = header.elements.iter().map(Element::rows);
    let expected = counts.fold(0, usize::saturating_add);
    let laid = (rows.count != expected).then(|| layout::with_rows(file, header));
    match laid.flatten() {
        Some(laid) => parse_rows(&TextRows::new(&laid, header.end), header),
        None => parse_rows(&rows, header),
    }
}

fn parse_rows(rows: &TextRows, header: &Header) -> Parsed<Body> {
    let vertices = header.vertices();
    let mut body = Body::default();
    let mut row = 0;
    for element in header.elements.iter().filter(|e| !e.properties.is_empty()) {
        let range = rows.expect(row, element.count, &format!("rows of {}", element.name))?;
        row = range.end;
        match element.name.as_str() {
            "vertex" => {
                let attributes = header.attributes();
                let chunks = rows.parse(range, |chunk: &mut VertexChunk, _, line| {
                    let vertex = parse_text_vertex(element, line, chunk)?;
                    chunk.push(&vertex, attributes);
                    Ok(())
                })?;
                body.set_vertices(chunks, header);
            }
            "face" => {
                let chunks = rows.parse(range, |chunk: &mut FaceChunk, _, line| {
                    parse_text_face(element, line, vertices, chunk)
                })?;
                body.set_faces(chunks, header)?;
            }
            "tristrips" => {
                let chunks = rows.parse(range, |chunk: &mut FaceChunk, _, line| {
                    parse_text_strips(element, line, vertices, chunk)
                })?;
                body.strips = chunks.into_iter().map(|chunk| chunk.faces).collect();
            }
            "edge" if element.holds_segments() => {
                body.segments =
                    rows.parse_each(range, |_, line| parse_text_segment(element, line, vertices))?;
            }
            _ => {}
        }
    }
    rows.expect_end(row, "the last element")?;
    Ok(body)
}

/// Adds the triangles of strips, given as the values of a list.
fn push_strips(
    values: &[i64],
    vertices: usize,
    faces: &mut FaceList,
) -> std::result::Result<(), String> {
    let mut triangles = Vec::new();
    for strip in values.split(|value| *value == -1) {
        let strip = strip.iter().map(|&value| check_vertex(value, 0, vertices));
        let strip: Vec<u32> = strip.collect::<std::result::Result<_, _>>()?;
        split_strip(&strip, &mut triangles);
    }
    for triangle in triangles.as_chunks::<3>().0 {
        triangle.iter().for_each(|&v| faces.push_vertex(v));
        faces.finish_face()?;
    }
    Ok(())
}

fn parse_text_strips(
    element: &Element,
    line: &mut Line,
    vertices: usize,
    chunk: &mut FaceChunk,
) -> Parsed<()> {
    let begin = line.offset();
    for property in &element.properties {
        match property.role {
            Role::Strip => {
                let count = line.count("the length of the strips")?;
                // Each number is in the file, so the list is no longer than the file.
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(line.integer("a vertex index")?);
                }
                push_strips(&values, vertices, &mut chunk.faces)
                    .map_err(|reason| Fault::new(begin, reason))?;
            }
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    Ok(())
}

fn parse_text_vertex(
    element: &Element,
    line: &mut Line,
    chunk: &mut VertexChunk,
) -> Parsed<Vertex> {
    let mut vertex = Vertex::new();
    for property in &element.properties {
        if is_of_vertex(property.role) {
            let before = line.clone();
            let value = line.f64(&property.name)?;
            vertex.set(property.role, value);
            if matches!(property.role, Role::Coordinate(_)) {
                chunk.decimals.add(line.since(&before));
            }
        } else if property.role == Role::Field {
            chunk.others.push(line.f64(&property.name)?);
        } else {
            skip_text(property.kind, &property.name, line)?;
        }
    }
    Ok(vertex)
}

fn parse_text_face(
    element: &Element,
    line: &mut Line,
    vertices: usize,
    chunk: &mut FaceChunk,
) -> Parsed<()> {
    let begin = line.offset();
    let mut face = chunk.begin(element);
    for property in &element.properties {
        match (property.role, property.kind) {
            (Role::Corners, Kind::List { item, .. }) => {
                for _ in 0..line.count("the number of a face's vertices")? {
                    chunk.faces.push_vertex(text_vertex(line, item, vertices)?);
                }
                face.is_kept = chunk
                    .faces
                    .finish_face()
                    .map_err(|reason| Fault::new(begin, reason))?;
            }
            (Role::CornerUvs, _) => {
                for _ in 0..line.count("the number of texture coordinates")? {
                    chunk.uv.push(line.f64("a texture coordinate")?);
                }
            }
            (Role::Region, _) => {
                let region = line.tag("a region", "region")?;
                chunk.regions.push(region);
            }
            (Role::Field, _) => chunk.others.push(line.f64(&property.name)?),
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    chunk.end(face);
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
            (Role::Marker, _) => segment.marker = line.tag("a marker", "marker")?,
            _ => skip_text(property.kind, &property.name, line)?,
        }
    }
    Ok(segment)
}

/// The index of a vertex, which may be declared as a float and written as `3.0`.
fn text_vertex(line: &mut Line, scalar: NumberType, vertices: usize) -> Parsed<u32> {
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
