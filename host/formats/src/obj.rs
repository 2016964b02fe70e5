//! Wavefront OBJ: `.obj`.
//!
//! It reads `v`, followed by a colour if all have one (three numbers from 0 to 1); `f` with any number of vertices, as
//! `7`, `7/1`, `7//3` or `7/1/3`, indices from 1 or backwards from -1; lines continued by a backslash; comments.
//! Texture coordinates `vt` and normals `vn` belong to the corners of faces: they are read if each vertex has the same
//! one at all of its corners, or, in a file without faces, if their number is the number of vertices. Otherwise they
//! are left out with a note. Objects, groups and materials become numbers in the face fields `object`, `group` and
//! `material`, and a note gives their names. Everything else (smoothing groups, lines, curves) is skipped.

use std::io;
use std::ops::Range;
use std::path::Path;

use glam::{DVec2, DVec3};

use super::atomic_file::{Out, write_atomically};
use super::faces::FaceList;
use super::obj_groups::{self, Mark};
use super::off::parse_point;
use super::printed::{Printed, write_rows};
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{
    Fault, Line, Parsed, check_vertex, lines, parse_chunks, parse_integer, show, split_at_lines,
    text_start, with_line_feeds,
};
use super::{Loaded, parse_file};
use trioxide_mesh::mesh::{Faces, Mesh, NONE, VertexAttributes};
use trioxide_mesh::{Error, Result, parallel};

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

/// Numbers of `v`, `vt` and `vn` lines.
type Counts = [usize; 3];

/// A piece of the file.
struct Chunk {
    range: Range<usize>,
    /// Lines before it: negative indices count back from here.
    before: Counts,
}

/// The content of a piece.
#[derive(Default)]
struct ChunkContent {
    points: Vec<DVec3>,
    /// Colours of the points; shorter if one has none.
    colors: Vec<[u8; 4]>,
    uvs: Vec<DVec2>,
    normals: Vec<DVec3>,
    faces: FaceList,
    /// Texture coordinate and normal of every corner, [`NONE`] if it has none. Empty if no corner has any.
    corners: Vec<[u32; 2]>,
    corner_count: usize,
    marks: Vec<Mark>,
}

/// Keywords of the format, except those of curves and surfaces that only follow `cstype`.
const KEYWORDS: [&[u8]; 22] = [
    b"v",
    b"vt",
    b"vn",
    b"vp",
    b"f",
    b"fo",
    b"l",
    b"p",
    b"g",
    b"o",
    b"s",
    b"mtllib",
    b"usemtl",
    b"usemap",
    b"maplib",
    b"mg",
    b"cstype",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
];

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let file = &*with_line_feeds(file);
    let ranges = split_at_lines(file, text_start(file), true);
    let counts = parse_chunks(&ranges, |range| {
        let mut counts = [0; 3];
        for mut line in lines(file, range.clone(), true) {
            match line.token() {
                Some(b"v") => counts[0] += 1,
                Some(b"vt") => counts[1] += 1,
                Some(b"vn") => counts[2] += 1,
                _ => {}
            }
        }
        Ok(counts)
    })?;
    if counts.iter().all(|counts| *counts == [0; 3]) {
        expect_keywords(file, &ranges)?;
    }
    if counts.iter().all(|[points, ..]| *points == 0) {
        let reason = "the file has no points: it is empty, or has no line `v x y z`";
        return Err(Fault::new(file.len(), reason));
    }
    let mut all = [0; 3];
    let mut chunks = Vec::with_capacity(ranges.len());
    for (range, counts) in ranges.into_iter().zip(counts) {
        chunks.push(Chunk { range, before: all });
        all = std::array::from_fn(|i| all[i] + counts[i]);
    }
    let mut parts = parse_chunks(&chunks, |chunk| parse_chunk(file, chunk, all))?;

    let has_corners = parts.iter().any(|part| !part.corners.is_empty());
    let has_colors = parts
        .iter()
        .all(|part| part.colors.len() == part.points.len());
    let (mut faces, mut marks) = (Vec::new(), Vec::new());
    for part in &mut parts {
        if has_corners {
            part.corners.resize(part.corner_count, [NONE; 2]);
        }
        marks.push((std::mem::take(&mut part.marks), part.faces.len()));
        faces.push(std::mem::take(&mut part.faces));
    }
    let mut mesh = Mesh {
        points: parallel::concat_lists(&mut parts, |part| &mut part.points),
        faces: FaceList::concat(faces).map_err(|reason| Fault::new(file.len(), reason))?,
        ..Mesh::default()
    };
    let uvs = parallel::concat_lists(&mut parts, |part| &mut part.uvs);
    let normals = parallel::concat_lists(&mut parts, |part| &mut part.normals);
    let corners = parallel::concat_lists(&mut parts, |part| &mut part.corners);
    let (fields, mut notes) = obj_groups::fields(&marks);
    mesh.fields.cells = fields;
    mesh.attributes.colors = (has_colors && !mesh.points.is_empty())
        .then(|| parallel::concat_lists(&mut parts, |part| &mut part.colors));
    mesh.attributes.uvs = of_vertices(&mesh, uvs, &corners, 0).unwrap_or_else(|reason| {
        notes.push(format!("texture coordinates are left out: {reason}"));
        None
    });
    mesh.attributes.normals = of_vertices(&mesh, normals, &corners, 1).unwrap_or_else(|reason| {
        notes.push(format!("normals are left out: {reason}"));
        None
    });
    Ok(Loaded { mesh, notes })
}

/// Checks that a file without a vertex is OBJ: other keywords are skipped, so a file of another format would be an
/// empty mesh.
fn expect_keywords(file: &[u8], ranges: &[Range<usize>]) -> Parsed<()> {
    for range in ranges {
        for mut line in lines(file, range.clone(), true) {
            let before = line.clone();
            if let Some(token) = line.token()
                && !KEYWORDS.contains(&token)
            {
                return Err(before.clone().unexpected("a keyword of OBJ such as v or f"));
            }
        }
    }
    Ok(())
}

/// The value of each vertex, if `corners` give the same value at all of its corners. `None` if they give none.
fn of_vertices<T: Copy + Default + PartialEq>(
    mesh: &Mesh,
    values: Vec<T>,
    corners: &[[u32; 2]],
    which: usize,
) -> Result<Option<Vec<T>>, String> {
    let count = mesh.points.len();
    if mesh.faces.is_empty() {
        return match values.len() {
            0 => Ok(None),
            equal if equal == count => Ok(Some(values)),
            other => Err(format!(
                "there are {other}, for {count} vertices without faces"
            )),
        };
    }
    if corners.iter().all(|corner| corner[which] == NONE) {
        return Ok(None);
    }
    let vertices = match &mesh.faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    };
    let mut index = vec![NONE; count];
    for (vertex, corner) in vertices.iter().zip(corners) {
        let (known, given) = (&mut index[*vertex as usize], corner[which]);
        let Some(value) = values.get(given as usize) else {
            return Err(format!(
                "vertex {} has none at one of its corners",
                vertex + 1
            ));
        };
        match *known {
            NONE => *known = given,
            same if same == given || values[same as usize] == *value => {}
            _ => {
                return Err(format!(
                    "vertex {} has different ones at different corners",
                    vertex + 1
                ));
            }
        }
    }
    // A vertex that no face uses has no value.
    let value = |i: &u32| values.get(*i as usize).copied().unwrap_or_default();
    Ok(Some(index.iter().map(value).collect()))
}

fn parse_chunk(file: &[u8], chunk: &Chunk, counts: Counts) -> Parsed<ChunkContent> {
    let mut part = ChunkContent::default();
    for mut line in lines(file, chunk.range.clone(), true) {
        let offset = line.offset();
        match line.token() {
            Some(b"v") => {
                part.points.push(parse_point(&mut line)?);
                part.colors.extend(parse_color(line));
            }
            Some(b"vt") => {
                let u = line.f64("u")?;
                let v = if line.is_finished() {
                    0.0
                } else {
                    line.f64("v")?
                };
                part.uvs.push(DVec2::new(u, v));
            }
            Some(b"vn") => part.normals.push(parse_point(&mut line)?),
            Some(b"f") => {
                while !line.is_finished() {
                    let in_part = [part.points.len(), part.uvs.len(), part.normals.len()];
                    let before = std::array::from_fn(|i| chunk.before[i] + in_part[i]);
                    let [vertex, others @ ..] = parse_corner(&mut line, before, counts)?;
                    part.faces.push_vertex(vertex);
                    if others != [NONE; 2] || !part.corners.is_empty() {
                        part.corners.resize(part.corner_count, [NONE; 2]);
                        part.corners.push(others);
                    }
                    part.corner_count += 1;
                }
                part.faces
                    .finish_face()
                    .map_err(|reason| Fault::new(offset, reason))?;
            }
            Some(keyword) => part
                .marks
                .extend(Mark::new(keyword, line, part.faces.len())),
            None => {}
        }
    }
    Ok(part)
}

/// The colour after a position, if exactly three numbers remain.
fn parse_color(mut line: Line) -> Option<[u8; 4]> {
    let mut color = [0, 0, 0, u8::MAX];
    for channel in &mut color[..3] {
        *channel = (255.0 * line.f64("").ok()?).round() as u8;
    }
    line.is_finished().then_some(color)
}

/// Vertex, texture coordinate and normal of a corner such as `7/1/3`. `before` of the `counts` lines precede this one.
fn parse_corner(line: &mut Line, before: Counts, counts: Counts) -> Parsed<[u32; 3]> {
    const NAMES: [&str; 3] = ["vertex", "texture coordinate", "normal"];
    let offset = line.offset();
    let token = line.token().unwrap_or_default();
    let fault = |reason| Fault::new(offset, reason);
    let mut corner = [NONE; 3];
    let mut rest = token;
    for (i, name) in NAMES.iter().enumerate() {
        // Texture coordinate or normal may be missing.
        if i == 0 || !matches!(rest.first(), None | Some(b'/')) {
            let index = match parse_integer(rest) {
                Some((index, length)) if matches!(rest.get(length), None | Some(b'/')) => {
                    rest = &rest[length..];
                    index
                }
                _ => {
                    let token = show(token);
                    return Err(fault(format!("expected a {name} index, found `{token}`")));
                }
            };
            let (from, base) = match index < 0 {
                true => (before[i] as i64 + index, 0),
                false => (index, 1),
            };
            corner[i] = check_vertex(from, base, counts[i]).map_err(|_| {
                fault(match index < 0 {
                    true => format!(
                        "{name} {index} does not exist: {} {} stand before this face",
                        before[i],
                        plural(name)
                    ),
                    false => format!(
                        "{name} {index} does not exist: {} {} are numbered from 1",
                        counts[i],
                        plural(name)
                    ),
                })
            })?;
        }
        match rest.split_first() {
            Some((b'/', behind)) => rest = behind,
            _ => break,
        }
    }
    Ok(corner)
}

fn plural(name: &str) -> String {
    match name {
        "vertex" => "vertices".into(),
        other => format!("{other}s"),
    }
}

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

fn write_to(out: &mut dyn Out, mesh: &Mesh, printed: &Printed) -> io::Result<()> {
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mesh.attributes;
    write_rows(out, mesh.points.len(), printed, |buffer, i| {
        let [x, y, z] = mesh.points[i].to_array();
        match colors {
            None => push_point(buffer, mesh.points[i]),
            Some(colors) => {
                let [r, g, b, _] = colors[i].map(|channel| f64::from(channel) / 255.0);
                push_row(buffer, b"v", &[x, y, z, r, g, b]);
            }
        }
    })?;
    let uvs = uvs.as_deref().unwrap_or_default();
    write_records(out, uvs.len(), |buffer, i| {
        push_row(buffer, b"vt", &uvs[i].to_array())
    })?;
    let normals = normals.as_deref().unwrap_or_default();
    write_records(out, normals.len(), |buffer, i| {
        push_row(buffer, b"vn", &normals[i].to_array());
    })?;
    let held = obj_groups::held(mesh);
    write_records(out, mesh.faces.len(), |buffer, i| {
        obj_groups::push_marks(buffer, &held, i);
        buffer.push(b'f');
        for vertex in mesh.faces.get(i) {
            let index = u64::from(*vertex) + 1;
            buffer.push(b' ');
            push_integer(buffer, index);
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
