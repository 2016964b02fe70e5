//! Vertices of an OFF file, and the attributes of each.
//!
//! By Geomview's definition a normal precedes a colour; MeshLab writes the colour first, under the same keyword. And
//! some programs write colours under the plain keyword. The numbers of all vertices decide.

use std::cmp::Ordering;
use std::ops::Range;

use glam::{DVec2, DVec3};

use super::variant::Variant;
use crate::Loaded;
use crate::colors::{self, Channels};
use crate::text::{Fault, Line, Parsed, TextRows};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::parallel;

/// Full channels of Geomview's colours, and of MeshLab's and CGAL's.
pub(super) const FULL: &[f32] = &[1.0, 255.0];

/// Reads three coordinates.
pub(crate) fn parse_point(line: &mut Line) -> Parsed<DVec3> {
    let [x, y, z] = ["x", "y", "z"];
    Ok(DVec3::new(line.f64(x)?, line.f64(y)?, line.f64(z)?))
}

/// Reads the numbers of a line except the last `after`, up to four.
pub(super) fn channels(line: &mut Line, after: usize) -> Parsed<Channels> {
    let count = line.clone().tokens().saturating_sub(after).min(4);
    let mut channels = [0.0; 4];
    for channel in &mut channels[..count] {
        *channel = line.f64("a channel of a colour")? as f32;
    }
    Ok((channels, count as u8))
}

/// Vertices with the attributes of the file's variant.
#[derive(Default)]
pub(super) struct Vertices {
    pub(super) points: Vec<DVec3>,
    pub(super) normals: Vec<DVec3>,
    pub(super) colors: Vec<Channels>,
    pub(super) uvs: Vec<DVec2>,
}

impl Vertices {
    fn push(&mut self, line: &mut Line, variant: &Variant) -> Parsed<()> {
        self.points.push(variant.parse_point(line)?);
        if variant.has(b'N') && !variant.is_color_first {
            self.normals.push(parse_point(line)?);
        }
        if variant.has(b'C') {
            let offset = line.offset();
            let color = channels(line, variant.numbers_after_color())?;
            if !matches!(color.1, 3 | 4) {
                let reason = format!("expected a colour of 3 or 4 channels, found {}", color.1);
                return Err(Fault::new(offset, reason));
            }
            self.colors.push(color);
        }
        if variant.has(b'N') && variant.is_color_first {
            self.normals.push(parse_point(line)?);
        }
        if variant.has(b'S') {
            let [s, t] = ["s", "t"];
            self.uvs.push(DVec2::new(line.f64(s)?, line.f64(t)?));
        }
        Ok(())
    }

    fn parse(rows: &TextRows, range: Range<usize>, variant: &Variant) -> Parsed<Vertices> {
        let mut parts = rows.parse(range, |part: &mut Vertices, _, line| {
            part.push(line, variant)
        })?;
        Ok(Vertices {
            points: parallel::concat_lists(&mut parts, |part| &mut part.points),
            normals: parallel::concat_lists(&mut parts, |part| &mut part.normals),
            colors: parallel::concat_lists(&mut parts, |part| &mut part.colors),
            uvs: parallel::concat_lists(&mut parts, |part| &mut part.uvs),
        })
    }

    /// Returns the mesh without faces.
    pub(super) fn into_loaded(self, variant: &Variant) -> Loaded {
        let has = |letter| variant.has(letter);
        let colors = colors::bytes_of(self.colors.len(), FULL, |i| self.colors[i]);
        let mesh = Mesh {
            attributes: VertexAttributes {
                normals: has(b'N').then_some(self.normals),
                colors: has(b'C').then_some(colors.bytes),
                uvs: has(b'S').then_some(self.uvs),
            },
            points: self.points,
            ..Mesh::default()
        };
        let notes = colors.notes;
        Loaded { mesh, notes }
    }

    /// Returns a normal and a colour, read in this order, as they are in the other one.
    fn swapped(&self, i: usize) -> (DVec3, Channels) {
        let (channels, count) = self.colors[i];
        let mut all = [0.0; 7];
        all[..3].copy_from_slice(&self.normals[i].as_vec3().to_array());
        all[3..].copy_from_slice(&channels);
        let end = usize::from(count);
        let mut color = [0.0; 4];
        color[..end].copy_from_slice(&all[..end]);
        let [x, y, z] = [0, 1, 2].map(|k| f64::from(all[end + k]));
        (DVec3::new(x, y, z), (color, count))
    }

    /// Returns which of normals and colours, read in this order, comes first: by the numbers that are possible as
    /// colours, else by the lengths of the normals, which are closer to 1 than those of colours.
    fn first(&self) -> First {
        let n = self.points.len();
        // Distance of a normal's length from 1; none for 0 and NaN.
        let distance = |normal: DVec3| Some(normal.length().ln().abs()).filter(|x| x.is_finite());
        let is_unit = |normal| distance(normal).is_none_or(|x| x < 0.01);
        let is_plausible = colors::are_plausible(n, |i| self.colors[i]);
        if is_plausible && parallel::all(&self.normals, |&normal| is_unit(normal)) {
            return First::Normal;
        }
        match (
            is_plausible,
            colors::are_plausible(n, |i| self.swapped(i).1),
        ) {
            (true, false) => return First::Normal,
            (false, true) => return First::Color,
            _ => {}
        }
        let distances = |i: usize| {
            let [here, there] = [self.normals[i], self.swapped(i).0].map(distance);
            Some((here?, there?))
        };
        let count = |is_so: &(dyn Fn((f64, f64)) -> bool + Sync)| {
            parallel::count(n, |i| distances(i).is_some_and(is_so))
        };
        match count(&|(here, there)| here < there).cmp(&count(&|(here, there)| there < here)) {
            Ordering::Greater => First::Normal,
            Ordering::Less => First::Color,
            Ordering::Equal => First::Unclear,
        }
    }
}

/// Which of a vertex's normal and colour comes first.
enum First {
    Normal,
    Color,
    Unclear,
}

/// Reads the vertices, as a mesh without faces yet.
pub(super) fn parse(rows: &TextRows, range: Range<usize>, variant: &Variant) -> Parsed<Loaded> {
    if *variant == Variant::default() {
        let point = |line: &mut Line| parse_point(line).ok().filter(|_| line.is_finished());
        if let Some(points) = rows.parse_in_place(range.clone(), point) {
            return Ok(Loaded::from(Mesh {
                points,
                ..Mesh::default()
            }));
        }
    }
    let mut notes = Vec::new();
    let mut variant = variant.clone();
    if !range.is_empty() {
        let numbers = rows.row(range.start, "a vertex")?.tokens();
        let extra = numbers.saturating_sub(variant.numbers_of_position());
        if !variant.fits(extra) || numbers == variant.dimensions() && variant.is_homogeneous {
            let (other, note) = guess(rows, &range, &variant, extra);
            variant = other;
            notes.push(note);
        }
    }
    let mut vertices = Vertices::parse(rows, range.clone(), &variant)?;
    if variant.has(b'N') && variant.has(b'C') {
        match vertices.first() {
            First::Normal => {}
            First::Unclear => notes.push(
                "the numbers of its normals and colours fit in either order: the normals are taken as first, by the \
                 format's definition"
                    .to_owned(),
            ),
            First::Color => {
                variant.is_color_first = true;
                vertices = Vertices::parse(rows, range, &variant)?;
                let note = "its colours stand before its normals, as MeshLab writes them";
                notes.push(note.to_owned());
            }
        }
    }
    let mut loaded = vertices.into_loaded(&variant);
    notes.append(&mut loaded.notes);
    loaded.notes = notes;
    Ok(loaded)
}

/// Returns the variant of vertices whose keyword does not fit the `extra` numbers after each position, and a note.
fn guess(
    rows: &TextRows,
    range: &Range<usize>,
    variant: &Variant,
    extra: usize,
) -> (Variant, String) {
    if extra == 0 {
        let note = "its vertices have positions only, though its keyword names more";
        let bare = Variant {
            dimensions: variant.dimensions,
            ..Variant::default()
        };
        return (bare, note.to_owned());
    }
    let tries: &[(&[u8], &str)] = match extra {
        _ if variant.has(b'S') => &[],
        3 if !variant.has(b'C') => &[(b"C", "colours"), (b"N", "normals")],
        3 => &[(b"C", "colours")],
        4 if !variant.has(b'N') || variant.has(b'C') => &[(b"C", "colours")],
        6 | 7 => &[(b"NC", "normals and colours")],
        _ => &[],
    };
    let note = format!("its keyword does not name the {extra} numbers after the first position");
    for (letters, what) in tries {
        let other = variant.with_letters(letters);
        let Ok(vertices) = Vertices::parse(rows, range.clone(), &other) else {
            continue;
        };
        let n = vertices.points.len();
        let is_good = match *letters {
            b"N" => true,
            b"C" => colors::are_plausible(n, |i| vertices.colors[i]),
            _ => {
                let swapped = |i| vertices.swapped(i).1;
                colors::are_plausible(n, |i| vertices.colors[i])
                    || colors::are_plausible(n, swapped)
            }
        };
        if is_good {
            return (other, format!("{note}: they are read as {what}"));
        }
    }
    let note = format!("{note}: numbers of vertices that it does not name are left out");
    (variant.clone(), note)
}
