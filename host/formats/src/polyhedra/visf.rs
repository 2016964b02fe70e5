//! VisF, the format of the visualiser Camarón (Universidad de Chile), which the prototypes of Polylla in three
//! dimensions write.
//!
//! The text form, as Camarón reads it (github.com/PlusLabUChile/Camaron3D, `ModelLoading/modelloadingvisf.cpp`): `2 2`,
//! for text and for polyhedra; the number of points, and a point per line; the number of faces, and a line for each
//! face with its number of vertices and its vertices; `0`, since neighbours of faces are not listed; the number of
//! polyhedra, and a line for each with its number of faces and its faces. All numbers count from 0. A face between two
//! polyhedra is listed once, counter-clockwise as seen from outside of the first polyhedron. The format has no regions,
//! tags or fields, and no rule for the direction of faces: so it is written but not read.

use std::io;
use std::path::Path;

use trioxide_mesh::Result;
use trioxide_mesh::polyhedra::PolyhedralMesh;

use crate::atomic_file::{Out, write_atomically};
use crate::off::push_point;
use crate::rows_out::{push_after_blanks, push_integer, write_records};

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

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh) -> Result<Vec<String>> {
    write_atomically(path, |file| write_to(file, mesh))?;
    let parts = [
        ("regions", mesh.regions.is_some()),
        ("tags of faces", !mesh.tagged.is_empty()),
    ];
    let lost = parts.iter().filter(|(_, is_there)| *is_there);
    let sentence = |(what, _): &(&str, bool)| format!("{}: {what} are not in VisF", path.display());
    Ok(lost.map(sentence).collect())
}
