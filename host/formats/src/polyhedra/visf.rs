//! VisF, the format of the visualiser Camarón (Universidad de Chile), which the prototypes of Polylla in three
//! dimensions write.
//!
//! The text form, as Camarón reads it (github.com/PlusLabUChile/Camaron3D, `ModelLoading/modelloadingvisf.cpp`): `2 2`,
//! for text and for polyhedra; the number of points, and a point per line; the number of faces, and a line for each
//! face with its number of vertices and its vertices; `0`, since neighbours of faces are not listed; the number of
//! polyhedra, and a line for each with its number of faces and its faces. All numbers count from 0. A face between two
//! polyhedra is listed once, counter-clockwise as seen from outside of the first polyhedron. The format has no regions,
//! tags or fields, and no rule for the direction of faces, which the reader turns outward.

use std::io;
use std::path::Path;

use glam::DVec3;
use trioxide_mesh::polyhedra::{PolyhedraBuilder, PolyhedralMesh};
use trioxide_mesh::{Error, Result};

use super::Noted;
use crate::ReadOptions;
use crate::atomic_file::{Out, write_atomically};
use crate::input::parse_file;
use crate::off::push_point;
use crate::references::Copies;
use crate::rows_out::{push_after_blanks, push_integer, write_records};
use crate::text::{Fault, Parsed, check_vertex, text_start};
use crate::volume::tokens::Text;

pub(super) fn read(path: &Path, _: ReadOptions) -> Result<Noted> {
    parse_file(path, parse)
}

fn parse(file: &[u8]) -> Parsed<Noted> {
    let mut text = Text::new(file, text_start(file));
    for what in ["text", "polyhedra"] {
        let fault = text.unexpected(&format!("2, for {what}"));
        if text.number("2").ok() != Some(2i64) {
            return Err(fault);
        }
    }
    let count = text.count("the number of points")?;
    let coordinates = text.numbers::<f64>(count.saturating_mul(3), "points")?;
    let points = coordinates.as_chunks().0.iter();
    let points: Vec<DVec3> = points.map(|p| DVec3::from_array(*p)).collect();
    let begin = text.skip_blanks();
    let numbers = text.numbers_until::<i64>(file.len())?;
    solids(points, &numbers).map_err(|reason| Fault::new(begin, reason))
}

/// The mesh of these points, and of the numbers after them.
fn solids(points: Vec<DVec3>, numbers: &[i64]) -> Result<Noted, String> {
    let mut rest = numbers;
    let faces = lists(&mut rest, "faces")?;
    match rest.split_first() {
        Some((0, behind)) => rest = behind,
        _ => {
            return Err(
                "expected 0 after the faces: lists of their neighbours are not read".to_owned(),
            );
        }
    }
    let solids = lists(&mut rest, "polyhedra")?;
    // Any number of polyhedra may name one face.
    let copies = Copies::new(numbers.len());
    let mut builder = PolyhedraBuilder::default();
    let said = |error: Error| error.to_string();
    let mut vertices = Vec::new();
    let mut has_polyhedron = vec![false; faces.len()];
    for (p, solid) in solids.iter().enumerate() {
        for &id in *solid {
            let face = usize::try_from(id).ok().and_then(|id| faces.get(id));
            let face = face.ok_or_else(|| format!("polyhedron {p}: there is no face {id}"))?;
            copies.count(1 + face.len(), 1 + face.len())?;
            vertices.clear();
            for &v in *face {
                let vertex = check_vertex(v, 0, points.len());
                vertices.push(vertex.map_err(|reason| format!("face {id}: {reason}"))?);
            }
            // A face is listed once, as its first polyhedron sees it.
            if std::mem::replace(&mut has_polyhedron[id as usize], true) {
                vertices.reverse();
            }
            builder.push_face(vertices.iter().copied()).map_err(said)?;
        }
        builder.end().map_err(said)?;
    }
    let mut notes = builder.notes();
    let mut mesh = PolyhedralMesh {
        points,
        ..builder.finish().map_err(said)?
    };
    notes.extend(mesh.orient().map_err(said)?.notes());
    Ok((mesh, notes))
}

/// The lists at the start of `rest`, after their number: each the number of its elements, and these.
fn lists<'n>(rest: &mut &'n [i64], what: &str) -> Result<Vec<&'n [i64]>, String> {
    let missing = || format!("the list of {what} ends before the last of them");
    let (&count, mut behind) = rest.split_first().ok_or_else(missing)?;
    let mut lists = Vec::new();
    for _ in 0..count {
        let (&size, after) = behind.split_first().ok_or_else(missing)?;
        let size = usize::try_from(size).map_err(|_| missing())?;
        let (list, after) = after.split_at_checked(size).ok_or_else(missing)?;
        lists.push(list);
        behind = after;
    }
    *rest = behind;
    Ok(lists)
}

/// Appends a line with the number of ids and the ids.
fn push_list(buffer: &mut Vec<u8>, ids: impl ExactSizeIterator<Item = u32>) {
    push_integer(buffer, ids.len());
    push_after_blanks(buffer, ids);
    buffer.push(b'\n');
}

fn write_to(out: &mut dyn Out, mesh: &PolyhedralMesh) -> io::Result<()> {
    write!(out, "2 2\n{}\n", mesh.points.len())?;
    write_records(out, mesh.points.len(), |buffer, i| {
        push_point(buffer, mesh.points[i]);
    })?;
    writeln!(out, "{}", mesh.faces.len())?;
    write_records(out, mesh.faces.len(), |buffer, i| {
        push_list(buffer, mesh.faces.get(i).iter().copied());
    })?;
    write!(out, "0\n{}\n", mesh.len())?;
    write_records(out, mesh.len(), |buffer, p| {
        push_list(buffer, mesh.sides_of(p).iter().map(|side| side / 2));
    })
}

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh) -> Result<()> {
    write_atomically(path, |file| write_to(file, mesh))
}
