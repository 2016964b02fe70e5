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
use crate::rows_out::{push_f64, push_integer, write_records};

/// Appends a line with the number of ids and the ids.
fn push_list(buffer: &mut Vec<u8>, ids: impl ExactSizeIterator<Item = u32>) {
    push_integer(buffer, ids.len());
    for id in ids {
        buffer.push(b' ');
        push_integer(buffer, id);
    }
    buffer.push(b'\n');
}

fn write_to(out: &mut dyn Out, mesh: &PolyhedralMesh) -> io::Result<()> {
    write!(out, "2 2\n{}\n", mesh.points.len())?;
    write_records(out, mesh.points.len(), |buffer, i| {
        for (k, x) in mesh.points[i].to_array().into_iter().enumerate() {
            if k > 0 {
                buffer.push(b' ');
            }
            push_f64(buffer, x);
        }
        buffer.push(b'\n');
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
