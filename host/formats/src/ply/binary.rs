//! The body of a binary PLY file.

use super::columns::{VertexColumns, read_equal_faces};
use super::header::{Element, Header, Kind, Order, Role};
use super::vertices::{Vertex, VertexChunk, is_of_vertex};
use super::{Body, FaceChunk, push_strips};
use crate::text::{Fault, Parsed, check_tag, check_vertex, parse_chunks, whole};
use crate::volume::bytes::read_f64;
use trioxide_mesh::fields::NumberType;
use trioxide_mesh::mesh::Segment;

/// The remaining bytes of the body.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    file: &'a [u8],
    /// Offset of the next byte.
    at: usize,
    endian: Order,
    /// Offset of the body: a fault's line is the first after the header.
    body: usize,
}

impl<'a> Cursor<'a> {
    fn fault(&self, offset: usize, reason: impl AsRef<str>) -> Fault {
        Fault::new(self.body, format!("byte {offset}: {}", reason.as_ref()))
    }

    fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let left = self.file.len() - self.at;
        if length > left {
            let reason = format!("{length} bytes are expected, but the file ends after {left}");
            return Err(self.fault(self.at, reason));
        }
        self.at += length;
        Ok(&self.file[self.at - length..self.at])
    }

    fn whole_number(&mut self, scalar: NumberType, what: &str) -> Parsed<i64> {
        let offset = self.at;
        let value = read_f64(scalar, self.take(scalar.size())?, self.endian);
        whole(value).ok_or_else(|| self.fault(offset, format!("expected {what}, found `{value}`")))
    }

    /// The bytes of a list's items.
    fn list(&mut self, count: NumberType, item: NumberType) -> Parsed<&'a [u8]> {
        let offset = self.at;
        let count = self.whole_number(count, "the length of a list")?;
        let length = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(item.size()))
            .ok_or_else(|| self.fault(offset, format!("a list has length {count}")))?;
        self.take(length)
    }

    fn skip(&mut self, kind: Kind) -> Parsed<()> {
        match kind {
            Kind::Scalar(scalar) => self.take(scalar.size())?,
            Kind::List { count, item } => self.list(count, item)?,
        };
        Ok(())
    }
}

/// Size in bytes of an element without its lists' items, and whether it has lists.
fn fixed_size(element: &Element) -> (usize, bool) {
    let mut size = 0;
    let mut has_lists = false;
    for property in &element.properties {
        size += match property.kind {
            Kind::Scalar(scalar) => scalar.size(),
            Kind::List { count, .. } => {
                has_lists = true;
                count.size()
            }
        };
    }
    (size, has_lists)
}

pub(super) fn parse(file: &[u8], header: &Header, endian: Order) -> Parsed<Body> {
    let mut cursor = Cursor {
        file,
        at: header.end,
        endian,
        body: header.end,
    };
    let mut body = Body::default();
    for element in &header.elements {
        let (size, has_lists) = fixed_size(element);
        let left = file.len() - cursor.at;
        // Checked before allocating, also for elements with lists, which are longer.
        if element.count.checked_mul(size).is_none_or(|all| all > left) {
            let reason = format!(
                "{} elements {} of at least {size} bytes are expected, but {left} bytes are left",
                element.count, element.name
            );
            return Err(cursor.fault(cursor.at, reason));
        }
        match (element.name.as_str(), has_lists) {
            ("vertex", false) => {
                let columns = VertexColumns {
                    element,
                    bytes: cursor.take(element.count * size)?,
                    size,
                    endian,
                };
                (body.points, body.attributes) = columns.read(header.attributes(), &mut body.notes);
                body.vertex_fields = columns.fields();
            }
            ("vertex", true) => {
                let mut vertices = VertexChunk::default();
                for _ in 0..element.count {
                    let others = &mut vertices.others;
                    let vertex = parse_vertex_with_lists(element, &mut cursor, others)?;
                    vertices.push(&vertex, header.attributes());
                }
                body.set_vertices(vec![vertices], header);
            }
            ("face", _) => {
                let left = &file[cursor.at..];
                match read_equal_faces(element, left, endian, header.vertices()) {
                    Some((faces, regions, fields, length)) => {
                        cursor.take(length)?;
                        (body.faces, body.regions) = (faces, regions);
                        body.face_fields = fields;
                    }
                    None => {
                        let (parts, end) = split_records(element, &cursor);
                        let chunks = parse_chunks(&parts, |&(at, count)| {
                            let mut cursor = Cursor { at, ..cursor };
                            parse_faces(element, count, &mut cursor, header.vertices())
                        })?;
                        cursor.at = end;
                        body.set_faces(chunks, header)?;
                    }
                }
            }
            ("tristrips", _) => {
                let chunk = parse_strips(element, &mut cursor, header.vertices())?;
                body.strips = vec![chunk.faces];
            }
            ("edge", _) if element.holds_segments() => {
                body.segments.reserve_exact(element.count);
                for _ in 0..element.count {
                    let segment = parse_segment(element, &mut cursor, header.vertices())?;
                    body.segments.push(segment);
                }
            }
            (_, false) => {
                cursor.take(element.count * size)?;
            }
            (_, true) => {
                for _ in 0..element.count {
                    for property in &element.properties {
                        cursor.skip(property.kind)?;
                    }
                }
            }
        }
    }
    if cursor.at < file.len() {
        let reason = format!(
            "{} bytes are left behind the last element",
            file.len() - cursor.at
        );
        return Err(cursor.fault(cursor.at, reason));
    }
    Ok(body)
}

fn parse_vertex_with_lists(
    element: &Element,
    cursor: &mut Cursor,
    others: &mut Vec<f64>,
) -> Parsed<Vertex> {
    let mut vertex = Vertex::new();
    for property in &element.properties {
        match property.kind {
            Kind::Scalar(scalar) if is_of_vertex(property.role) => {
                let value = read_f64(scalar, cursor.take(scalar.size())?, cursor.endian);
                vertex.set(property.role, value);
            }
            Kind::Scalar(scalar) if property.role == Role::Field => {
                others.push(read_f64(scalar, cursor.take(scalar.size())?, cursor.endian));
            }
            kind => cursor.skip(kind)?,
        }
    }
    Ok(vertex)
}

/// Records that one task reads.
const RECORDS: usize = if cfg!(test) { 5 } else { 1 << 14 };

/// Splits the records of an element from the cursor on into parts that threads can read: the offset and the first
/// record of each. Also returns the end of the records. A faulty record ends the split: it is in the last part, whose
/// reader finds the fault.
fn split_records(element: &Element, cursor: &Cursor) -> (Vec<(usize, usize)>, usize) {
    let mut cursor = *cursor;
    let mut parts = Vec::new();
    if element.count == 0 {
        parts.push((cursor.at, 0));
    }
    for i in 0..element.count {
        if i % RECORDS == 0 {
            parts.push((cursor.at, RECORDS.min(element.count - i)));
        }
        for property in &element.properties {
            let is_short = match property.kind {
                // By far the most common: a list whose length is a byte.
                Kind::List {
                    count: NumberType::U8,
                    item,
                } => match cursor.file.get(cursor.at) {
                    Some(&count) => {
                        cursor.at += 1 + usize::from(count) * item.size();
                        cursor.at > cursor.file.len()
                    }
                    None => true,
                },
                kind => cursor.skip(kind).is_err(),
            };
            if is_short {
                return (parts, cursor.at);
            }
        }
    }
    (parts, cursor.at)
}

fn parse_faces(
    element: &Element,
    count: usize,
    cursor: &mut Cursor,
    vertices: usize,
) -> Parsed<FaceChunk> {
    let mut chunk = FaceChunk::default();
    for _ in 0..count {
        let mut face = chunk.begin(element);
        for property in &element.properties {
            let offset = cursor.at;
            match (property.role, property.kind) {
                (Role::Corners, Kind::List { count, item }) => {
                    let bytes = cursor.list(count, item)?;
                    face.is_kept = parse_corners(bytes, item, cursor.endian, vertices, &mut chunk)
                        .map_err(|reason| cursor.fault(offset, reason))?;
                }
                (Role::CornerUvs, Kind::List { count, item }) => {
                    let bytes = cursor.list(count, item)?.chunks_exact(item.size());
                    chunk
                        .uv
                        .extend(bytes.map(|bytes| read_f64(item, bytes, cursor.endian)));
                }
                (Role::Region, Kind::Scalar(scalar)) => {
                    let region = cursor.whole_number(scalar, "a region")?;
                    let region = check_tag(region, "region")
                        .map_err(|reason| cursor.fault(offset, reason))?;
                    chunk.regions.push(region);
                }
                (Role::Field, Kind::Scalar(scalar)) => {
                    let bytes = cursor.take(scalar.size())?;
                    chunk.others.push(read_f64(scalar, bytes, cursor.endian));
                }
                (_, kind) => cursor.skip(kind)?,
            }
        }
        chunk.end(face);
    }
    Ok(chunk)
}

fn parse_strips(element: &Element, cursor: &mut Cursor, vertices: usize) -> Parsed<FaceChunk> {
    let mut chunk = FaceChunk::default();
    for _ in 0..element.count {
        for property in &element.properties {
            let offset = cursor.at;
            match (property.role, property.kind) {
                (Role::Strip, Kind::List { count, item }) => {
                    let bytes = cursor.list(count, item)?.chunks_exact(item.size());
                    // A number that is not whole is no vertex either.
                    let value =
                        |bytes| whole(read_f64(item, bytes, cursor.endian)).unwrap_or(i64::MIN);
                    let values: Vec<i64> = bytes.map(value).collect();
                    push_strips(&values, vertices, &mut chunk.faces)
                        .map_err(|reason| cursor.fault(offset, reason))?;
                }
                (_, kind) => cursor.skip(kind)?,
            }
        }
    }
    Ok(chunk)
}

fn parse_segment(element: &Element, cursor: &mut Cursor, vertices: usize) -> Parsed<Segment> {
    let mut segment = Segment {
        ends: [0; 2],
        marker: 0,
    };
    for property in &element.properties {
        let offset = cursor.at;
        match (property.role, property.kind) {
            (Role::End(end), Kind::Scalar(scalar)) => {
                let index = cursor.whole_number(scalar, "a vertex index")?;
                segment.ends[end] = check_vertex(index, 0, vertices)
                    .map_err(|reason| cursor.fault(offset, reason))?;
            }
            (Role::Marker, Kind::Scalar(scalar)) => {
                let marker = cursor.whole_number(scalar, "a marker")?;
                segment.marker =
                    check_tag(marker, "marker").map_err(|reason| cursor.fault(offset, reason))?;
            }
            (_, kind) => cursor.skip(kind)?,
        }
    }
    Ok(segment)
}

fn parse_corners(
    bytes: &[u8],
    item: NumberType,
    endian: Order,
    vertices: usize,
    chunk: &mut FaceChunk,
) -> Result<bool, String> {
    for bytes in bytes.chunks_exact(item.size()) {
        let value = read_f64(item, bytes, endian);
        let index =
            whole(value).ok_or_else(|| format!("expected a vertex index, found `{value}`"))?;
        chunk.faces.push_vertex(check_vertex(index, 0, vertices)?);
    }
    chunk.faces.finish_face()
}

#[cfg(test)]
mod tests {
    /// A file with faces of 3 to 6 vertices, more faces than a task reads.
    fn file(faces: usize) -> Vec<u8> {
        let mut file = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n\
             element face {faces}\nproperty int region\nproperty list uchar int vertex_indices\nproperty float area\nend_header\n"
        )
        .into_bytes();
        file.extend((0..18).flat_map(|i| (i as f32).to_le_bytes()));
        for i in 0..faces {
            file.extend((i as i32).to_le_bytes());
            let size = 3 + i % 4;
            file.push(size as u8);
            file.extend((0..size).flat_map(|k| (((i + k) % 6) as i32).to_le_bytes()));
            file.extend((0.5 * i as f32).to_le_bytes());
        }
        file
    }

    #[test]
    fn faces_of_any_size_are_read_in_parts() {
        for count in [0, 1, 4, 5, 6, 23] {
            let mesh = crate::ply::parse(&file(count)).unwrap().mesh;
            assert_eq!(mesh.faces.len(), count);
            for i in 0..count {
                let expected: Vec<u32> = (0..3 + i % 4).map(|k| ((i + k) % 6) as u32).collect();
                assert_eq!(mesh.faces.get(i), expected);
            }
            let regions: Vec<i32> = (0..count as i32).collect();
            assert_eq!(mesh.regions.unwrap_or_default(), regions);
        }
    }

    #[test]
    fn the_first_fault_of_all_parts_is_told() {
        let whole = file(23);
        let fault = |file: &[u8]| crate::ply::parse(file).err().map(|fault| fault.reason);
        for length in 0..whole.len() {
            assert!(fault(&whole[..length]).is_some(), "{length} bytes");
        }
        let mut bad = whole.clone();
        let last = bad.len() - 8;
        bad[last..last + 4].copy_from_slice(&77_i32.to_le_bytes());
        assert!(fault(&bad).unwrap().contains("vertex 77"));
        // A list in the second part that is longer than the file hides the faces after it. A fault before it comes
        // first.
        let record = |i: usize| whole.len() - file_tail(i);
        bad[record(7) + 4] = 255;
        assert!(fault(&bad).unwrap().contains("bytes are expected"));
        let first = record(2) + 5;
        bad[first..first + 4].copy_from_slice(&(-1_i32).to_le_bytes());
        assert!(fault(&bad).unwrap().contains("vertex -1"));
    }

    /// Bytes from face `first` to the end of [`file`] with 23 faces.
    fn file_tail(first: usize) -> usize {
        (first..23).map(|i| 4 + 1 + 4 * (3 + i % 4) + 4).sum()
    }
}
