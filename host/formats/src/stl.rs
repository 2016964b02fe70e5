//! Stereolithography: `.stl`, binary or text.
//!
//! A facet is three positions and a normal, so a file is a soup of triangles: on reading, each triangle has three
//! vertices of its own, and welding joins them to a surface. Normals are not read. A file is binary if its length fits
//! its count of facets; it is text if it begins with `solid` or `facet` otherwise, and has no byte 0 at its head. A
//! binary file of another length may have data after each facet, whose length the facet's last two bytes give, a count
//! of 0 or 2^32 - 1 that was never filled in, or bytes after its last facet, which are left out with a note.
//!
//! Binary files hold 32-bit coordinates; text is read and written as `f64`. The last two bytes of a binary facet are a
//! colour in VisCAM's and in Magics' files: the face field `color`. Several solids of a text are numbered in the face
//! field `solid`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;

use super::atomic_file::{Out, write_atomically};
use super::off::push_point;
use super::rows_out::{push_f64, push_integer, write_records};
use super::text::{Fault, Parsed, text_start};
use super::{Encoding, Loaded, parse_file, triangles};
use binary::{FACET, Facets, HEADER};
use text::Text;
use trioxide_mesh::about::About;
use trioxide_mesh::fields::Field;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Error, Result, parallel};

mod binary;
mod text;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    parse_file(path, parse)
}

/// Name of the face field of the numbers of solids.
pub(crate) const SOLID: &str = "solid";

pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    let is_text = || {
        let text = file[text_start(file)..].trim_ascii_start();
        let begins = |word: &[u8]| {
            let start = text.get(..5);
            start.is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        let is_solid = begins(b"solid") || begins(b"facet");
        // A count of facets, or a binary comment, contains a byte 0.
        is_solid && memchr::memchr(0, &file[..file.len().min(HEADER + FACET)]).is_none()
    };
    let mut notes = Vec::new();
    let facets = match Facets::exact(file) {
        Some(facets) => facets,
        None if is_text() => {
            let Text { points, solids } = text::parse(file)?;
            let mut mesh = soup(points)?;
            notes.extend(add_solids(&mut mesh, solids));
            return Ok(Loaded { mesh, notes });
        }
        None => {
            let (facets, note) = Facets::inexact(file)?;
            notes.push(note);
            facets
        }
    };
    let (points, bits) = facets.corners();
    let mut mesh = soup(points)?;
    match facets.colors(bits) {
        Ok(field) => mesh.fields.cells = field.into_iter().collect(),
        Err(note) => notes.push(note),
    }
    Ok(Loaded { mesh, notes })
}

/// Returns the mesh of triangles with these corners.
fn soup(points: Vec<DVec3>) -> Parsed<Mesh> {
    let corners = points.len();
    let Ok(count) = u32::try_from(corners) else {
        let reason = format!("{corners} vertices are more than 32-bit indices can name");
        return Err(Fault::new(0, reason));
    };
    Ok(Mesh {
        points,
        faces: Faces::Triangles(parallel::collect(count as usize / 3, |i| {
            let first = 3 * i as u32;
            [first, first + 1, first + 2]
        })),
        ..Mesh::default()
    })
}

/// Adds the numbers of several solids as a face field, with their names. Returns a note.
fn add_solids(mesh: &mut Mesh, mut solids: Vec<(usize, String)>) -> Option<String> {
    let faces = mesh.faces.len();
    let mut end = faces;
    // Those without facets have no number.
    solids.reverse();
    solids.retain(|&(begin, _)| std::mem::replace(&mut end, begin) > begin);
    solids.reverse();
    if solids.len() < 2 {
        return None;
    }
    let (begins, names): (Vec<usize>, Vec<String>) = solids.into_iter().unzip();
    let number = |i: usize| begins.partition_point(|&begin| begin <= i) as i32 - 1;
    let numbers: Vec<i32> = parallel::collect(faces, number);
    mesh.fields.cells.push(Field::scalars(SOLID, numbers));
    const MOST: usize = 20;
    let mut list: Vec<String> = (names.iter().take(MOST))
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > MOST {
        list.push(format!("and {} more", names.len() - MOST));
    }
    let note = format!(
        "its {} solids are numbered in the face field {SOLID}, from 0: {}",
        names.len(),
        list.join(", ")
    );
    let names = BTreeMap::from([(SOLID.to_owned(), names)]);
    mesh.about = Arc::new(About {
        names,
        ..About::default()
    });
    Some(note)
}

/// The numbers of solids of a mesh's faces, if it has them.
fn solids(mesh: &Mesh) -> Option<&Field> {
    let field = mesh.fields.cells.get(SOLID)?;
    (field.components == 1 && !field.values.kind().is_float()).then_some(field)
}

/// Returns the names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let solids = solids(mesh);
    let fields = &mesh.fields;
    let cells = fields.cells.iter();
    let cells = cells.filter(|field| solids.is_none_or(|solids| solids.name != field.name));
    let all = fields.points.iter().chain(cells).chain(&fields.sides);
    all.map(|field| field.name.clone()).collect()
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
        return write_atomically(path, |file| {
            write_text(file, triangles.len(), corners, mesh)
        });
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
    mesh: &Mesh,
) -> io::Result<()> {
    let solids = solids(mesh);
    let names = mesh.about.names.get(SOLID);
    let push_name = |buffer: &mut Vec<u8>, i: usize| {
        let number = solids.map(|field| field.values.i64(i));
        let index = number.and_then(|number| usize::try_from(number).ok());
        let name = index.and_then(|index| names?.get(index));
        match (name, number) {
            (Some(name), _) => {
                // A `#` or a line end would end the name.
                let is_fine = |letter: char| letter != '#' && !letter.is_control();
                let letters = name.chars();
                let name = letters.map(|letter| if is_fine(letter) { letter } else { '_' });
                buffer.extend_from_slice(name.collect::<String>().as_bytes());
            }
            (None, Some(number)) => {
                buffer.extend_from_slice(b"solid_");
                push_integer(buffer, number);
            }
            (None, None) => buffer.extend_from_slice(b"trioxide"),
        }
        buffer.push(b'\n');
    };
    let begins = |i: usize| {
        i == 0 || solids.is_some_and(|field| field.values.i64(i) != field.values.i64(i - 1))
    };
    if count == 0 {
        return out.write_all(b"solid trioxide\nendsolid trioxide\n");
    }
    write_records(out, count, |buffer, i| {
        if begins(i) {
            buffer.extend_from_slice(b"solid ");
            push_name(buffer, i);
        }
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
        if i + 1 == count || begins(i + 1) {
            buffer.extend_from_slice(b"endsolid ");
            push_name(buffer, i);
        }
    })
}

/// The normal of length 1, or 0 for a degenerate facet.
fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Returns the sentence on data that a binary file does not hold, or not exactly.
pub(crate) fn rounding(mesh: &Mesh, encoding: Encoding) -> Option<String> {
    if encoding == Encoding::Text {
        return None;
    }
    let is_exact = |p: &DVec3| p.as_vec3().as_dvec3() == *p;
    let is_rounded = !parallel::all(&mesh.points, is_exact);
    let sentences = [
        is_rounded.then_some("binary STL holds 32-bit coordinates: those of the input are rounded"),
        solids(mesh).map(|_| {
            "binary STL holds one solid: the field solid is not in the output, but as text it is"
        }),
    ];
    let sentences: Vec<&str> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

#[cfg(test)]
mod tests;
