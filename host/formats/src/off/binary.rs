//! Binary OFF.

use glam::{DVec2, DVec3};

use super::super::Loaded;
use super::super::faces::FaceList;
use super::super::text::{Fault, Parsed, check_vertex};
use super::super::volume::bytes::{Bytes, Kind, Order};
use super::{Variant, Vertices};

/// A binary file: the header is text, the rest is big-endian. `None` for text.
pub(super) fn parse(file: &[u8]) -> Parsed<Option<Loaded>> {
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
    let mut variant = Variant::of(keyword).map_err(|reason| Fault::new(0, reason))?;
    let mut bytes = Bytes {
        file,
        at: length + 1,
        order: Order::Big,
        part: length,
    };
    if variant.dimensions.is_none() {
        let at = bytes.at;
        let count = bytes.count(Kind::I32, "the number of dimensions")?;
        let is_set = variant.set_dimensions(count);
        is_set.map_err(|reason| bytes.fault(at, reason))?;
    }
    let vertices = bytes.count(Kind::I32, "the number of vertices")?;
    let faces = bytes.count(Kind::I32, "the number of faces")?;
    bytes.count(Kind::I32, "the number of edges")?;
    // After the position of a vertex: a normal, a colour, texture coordinates.
    let extra = [(b'N', 3), (b'C', 4), (b'S', 2)].iter();
    let extra: usize = extra
        .filter(|(letter, _)| variant.has(*letter))
        .map(|(_, n)| n)
        .sum();
    let dimensions = variant.dimensions();
    let width = dimensions + usize::from(variant.is_homogeneous) + extra;
    let begin = bytes.at;
    let numbers = bytes.numbers(vertices.saturating_mul(width), Kind::F32, "vertices")?;
    let numbers = numbers.into_floats();
    let mut all = Vertices::default();
    for row in numbers.chunks_exact(width) {
        let point = |at: usize| DVec3::new(row[at], row[at + 1], row[at + 2]);
        let mut coordinates = [0.0; 4];
        coordinates[..dimensions].copy_from_slice(&row[..dimensions]);
        let mut at = dimensions;
        if variant.is_homogeneous {
            coordinates[3] = row[at];
            at += 1;
        }
        let position = variant.position(coordinates);
        let position = position.map_err(|reason| {
            let before = all.points.len() * width * Kind::F32.size();
            bytes.fault(begin + before, reason)
        })?;
        all.points.push(position);
        if variant.has(b'N') {
            all.normals.push(point(at));
            at += 3;
        }
        if variant.has(b'C') {
            let channel = |k: usize| row[at + k] as f32;
            all.colors.push(([0, 1, 2, 3].map(channel), 4));
            at += 4;
        }
        if variant.has(b'S') {
            all.uvs.push(DVec2::new(row[at], row[at + 1]));
        }
    }
    let (mut list, mut colors) = (FaceList::default(), Vec::new());
    for _ in 0..faces {
        let at = bytes.at;
        let corners = bytes.count(Kind::I32, "the number of a face's vertices")?;
        let corners = bytes.numbers(corners, Kind::I32, "a face's vertices")?;
        for corner in corners.into_integers().unwrap_or_default() {
            let vertex = check_vertex(corner, 0, vertices);
            list.push_vertex(vertex.map_err(|reason| bytes.fault(at, reason))?);
        }
        let is_kept = list
            .finish_face()
            .map_err(|reason| bytes.fault(at, reason))?;
        let count = bytes.count(Kind::I32, "the number of a colour's components")?;
        let numbers = bytes.numbers(count, Kind::F32, "a colour")?.into_floats();
        let mut channels = [0.0; 4];
        for (channel, number) in channels.iter_mut().zip(numbers) {
            *channel = number as f32;
        }
        if is_kept && count > 0 {
            colors.push((channels, count.min(5) as u8));
        }
    }
    let mut loaded = all.into_loaded(&variant);
    loaded
        .set_faces(vec![list], colors)
        .map_err(|reason| Fault::new(file.len(), reason))?;
    Ok(Some(loaded))
}
