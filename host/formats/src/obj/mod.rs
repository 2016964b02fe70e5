//! Wavefront OBJ: `.obj`.
//!
//! | line | meaning |
//! | --- | --- |
//! | `v` | a vertex: three coordinates, and after them a weight, which divides them, or a colour of three or four channels, from 0 to 1 or to 255 |
//! | `f` | a face of any number of vertices, as `7`, `7/1`, `7//3` or `7/1/3`, indices from 1 or backwards from -1 |
//! | `vt`, `vn` | texture coordinates and normals of the corners of faces; corners of one vertex with different ones become points ([`seams`]). Without faces they are those of the vertices, if their numbers agree |
//! | `l` | segments between consecutive vertices |
//! | `o`, `g`, `usemtl` | the object, group and material of the faces and lines after it: numbers in the fields `object`, `group` and `material`, whose names stand in the mesh's [`About`]; the keyword alone ends a group |
//! | `mtllib` | a file of materials, by its name |
//! | `# trioxide marker 7` | our comment: the marker of the lines after it |
//!
//! A backslash continues a line. A note counts what is left out: vertices and corners of faces that lack a part, faces
//! of fewer than three corners, lines with other keywords.

mod chunk;
mod groups;
#[cfg(test)]
mod tests;
mod write;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::colors::{self, Channels};
use super::decimals::{self, Decimals};
use super::faces::{FaceList, drop_list_of_edges};
use super::text::{
    Fault, Parsed, lines, parse_chunks, split_at_lines, text_start, with_line_feeds,
};
use super::{Loaded, faces, parse_file, seams};
use chunk::{Chunk, ChunkContent, NO_COLOR, Odd, parse_chunk};
use groups::Marked;
pub(crate) use groups::{NAMED, lost_fields};
#[expect(unused_imports, reason = "for the documentation")]
use trioxide_mesh::about::About;
use trioxide_mesh::mesh::{Mesh, NONE};
use trioxide_mesh::{Result, parallel};
pub(crate) use write::{push_point, write};

/// The keyword of files of materials.
const LIBRARY: &[u8] = b"mtllib";
/// The comment that gives markers.
const MARKER: &[u8] = b"# trioxide marker ";

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
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
    LIBRARY,
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
    if counts.iter().all(|[vertices, ..]| *vertices == 0) {
        expect_keywords(file, &ranges)?;
        let reason = "the file has no points: it is empty, or has no line `v x y z`";
        return Err(Fault::new(file.len(), reason));
    }
    let mut all = [0; 3];
    let mut chunks = Vec::with_capacity(ranges.len());
    for (range, counts) in ranges.into_iter().zip(counts) {
        chunks.push(Chunk { range, before: all });
        all = std::array::from_fn(|i| all[i] + counts[i]);
    }
    let parts = parse_chunks(&chunks, |chunk| parse_chunk(file, chunk, all))?;
    joined(parts).map_err(|reason| Fault::new(file.len(), reason))
}

/// Returns the mesh of all pieces.
fn joined(mut parts: Vec<ChunkContent>) -> Result<Loaded, String> {
    let mut notes = Vec::new();
    let has_corners = parts.iter().any(|part| !part.corners.is_empty());
    let has_colors = parts.iter().any(|part| !part.colors.is_empty());
    let has_markers = parts.iter().any(|part| !part.markers.is_empty());
    notes.extend(FaceList::note(parts.iter().map(|part| &part.faces)));
    notes.extend(Odd::notes(parts.iter().map(|part| &part.odd)));
    let (mut faces, mut marks, mut libraries) = (Vec::new(), Vec::<Marked>::new(), Vec::new());
    let mut marker = 0;
    for part in &mut parts {
        if has_corners {
            part.corners.resize(part.faces.corners(), [NONE; 2]);
        }
        if has_colors {
            part.colors.resize(part.points.len(), NO_COLOR);
        }
        let mut markers = part.markers.iter().peekable();
        for (i, segment) in part.segments.iter_mut().enumerate() {
            while let Some((_, next)) = markers.next_if(|(first, _)| *first <= i) {
                marker = *next;
            }
            segment.marker = marker;
        }
        marker = markers.last().map_or(marker, |(_, last)| *last);
        let counts = [part.faces.len(), part.segments.len()];
        marks.push((std::mem::take(&mut part.marks), counts));
        libraries.append(&mut part.libraries);
        faces.push(std::mem::take(&mut part.faces));
    }
    let mut mesh = Mesh {
        points: parallel::concat_lists(&mut parts, |part| &mut part.points),
        faces: FaceList::concat(faces)?,
        segments: parallel::concat_lists(&mut parts, |part| &mut part.segments),
        ..Mesh::default()
    };
    groups::add_fields(&mut mesh, &marks);
    let unit = decimals::unit(Decimals::most(parts.iter().map(|part| &part.decimals)));
    if unit.is_some() {
        Arc::make_mut(&mut mesh.about).unit = unit;
    }
    if !libraries.is_empty() {
        Arc::make_mut(&mut mesh.about).material_libraries = libraries;
    }
    if has_colors {
        let channels = parallel::concat_lists(&mut parts, |part| &mut part.colors);
        mesh.attributes.colors = Some(colors_of(&channels, &mut notes));
    }
    if !has_markers {
        notes.extend(drop_list_of_edges(&mut mesh));
    }
    let uvs = parallel::concat_lists(&mut parts, |part| &mut part.uvs);
    let normals = parallel::concat_lists(&mut parts, |part| &mut part.normals);
    let corners = parallel::concat_lists(&mut parts, |part| &mut part.corners);
    give_values(&mut mesh, uvs, normals, &corners, &mut notes)?;
    Ok(Loaded { mesh, notes })
}

/// Returns colours of vertices as bytes: white where a vertex has none.
fn colors_of(channels: &[Channels], notes: &mut Vec<String>) -> Vec<[u8; 4]> {
    let colors = colors::bytes_of(channels.len(), &[1.0], |i| channels[i]);
    notes.extend(colors.notes);
    let missing = parallel::count(channels.len(), |i| channels[i].1 == 0);
    if missing > 0 {
        let all = channels.len();
        notes.push(format!(
            "vertices without a colour are white: {missing} of {all}"
        ));
    }
    colors.bytes
}

/// Gives the mesh its texture coordinates and normals, as `corners` name them.
fn give_values(
    mesh: &mut Mesh,
    uvs: Vec<DVec2>,
    normals: Vec<DVec3>,
    corners: &[[u32; 2]],
    notes: &mut Vec<String>,
) -> Result<(), String> {
    let uvs = Values::new(mesh, uvs, corners, 0, notes);
    let normals = Values::new(mesh, normals, corners, 1, notes);
    mesh.attributes.uvs = uvs.of_vertices;
    mesh.attributes.normals = normals.of_vertices;
    let (uvs, normals) = (uvs.of_corners, normals.of_corners);
    if !uvs.is_empty() || !normals.is_empty() {
        let given = |i: usize| {
            let [uv, normal] = corners[i].map(|index| index as usize);
            (uvs.get(uv).copied(), normals.get(normal).copied())
        };
        notes.extend(seams::split(mesh, given)?);
    }
    Ok(())
}

/// Values by the elements that they belong to.
struct Values<T> {
    of_vertices: Option<Vec<T>>,
    /// By the indices of corners; empty if no corner names one.
    of_corners: Vec<T>,
}

impl<T> Values<T> {
    /// `which` of the two indices of each corner names its value. Values that belong to nothing are left out, with a
    /// note.
    fn new(
        mesh: &Mesh,
        values: Vec<T>,
        corners: &[[u32; 2]],
        which: usize,
        notes: &mut Vec<String>,
    ) -> Self {
        let (count, all) = (values.len(), mesh.points.len());
        let vertices = faces::corners(&mesh.faces);
        let is_other = |i: usize| corners[i][which] != vertices[i];
        // Most files of one value a vertex, as ours, number both alike.
        let is_alike = || {
            let is_empty = vertices.is_empty() || corners.is_empty();
            is_empty == vertices.is_empty() && parallel::find(corners.len(), is_other).is_none()
        };
        let (mut of_vertices, mut of_corners) = (None, Vec::new());
        let name = ["texture coordinates", "normals"][which];
        if count == 0 {
        } else if count == all && is_alike() {
            of_vertices = Some(values);
        } else if vertices.is_empty() {
            notes.push(format!(
                "{name} are left out: there are {count}, for {all} vertices without faces"
            ));
        } else if parallel::any(corners, |corner| corner[which] != NONE) {
            of_corners = values;
        } else {
            notes.push(format!("left out: {name} that no face names ({count})"));
        }
        Self {
            of_vertices,
            of_corners,
        }
    }
}

/// Returns an error for a file without a vertex that is not OBJ: other keywords are skipped, so a file of another
/// format would be an empty mesh.
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
