//! Writes legacy `.vtk` files: an unstructured grid of version 3.0, with the content of the `.vtu` files.

use std::io;
use std::path::Path;

use super::Encoding;
use super::bytes::{Order, write_numbers};
use super::vtk_fields;
use crate::atomic_file::{Out, write_atomically};
use crate::fields::Number;
use crate::grid_out::GridMesh;
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::volume::VolumeMesh;

/// Writes a volume mesh: cells, then tagged faces.
pub(super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    write_mesh(path, GridMesh::Volume(mesh), encoding)
}

/// Writes a surface or cloud: faces, then segments as lines.
pub(crate) fn write_surface(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    write_mesh(path, GridMesh::Surface(mesh), encoding)
}

/// Writes a mesh.
pub(crate) fn write_mesh(path: &Path, mesh: GridMesh, encoding: Encoding) -> Result<()> {
    let is_binary = encoding != Encoding::Text;
    write_atomically(path, |file| write_to(file, mesh, is_binary))
}

fn write_to(out: &mut dyn Out, mesh: GridMesh, is_binary: bool) -> io::Result<()> {
    let (points, cells) = (mesh.points(), mesh.len());
    let order = is_binary.then_some(Order::Big);
    let attributes = mesh.attributes();
    let [of_points, of_cells] = mesh.fields(&attributes);
    let tags = mesh.tags(mesh.has_markers());
    write!(
        out,
        "# vtk DataFile Version 3.0\nwritten by trioxide\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        if is_binary { "BINARY" } else { "ASCII" },
        points.len()
    )?;
    write_numbers(out, points.len(), order, |i, push| {
        let point = points[i].to_array();
        point.into_iter().for_each(|x| push(Number::Double(x), 8));
    })?;
    write!(out, "\nCELLS {cells} {}\n", cells + mesh.corners(cells))?;
    write_numbers(out, cells, order, |i, push| {
        let cell = mesh.cell(i);
        push(Number::Integer(cell.len() as i64), 4);
        cell.iter()
            .for_each(|&vertex| push(Number::Integer(vertex.into()), 4));
    })?;
    write!(out, "\nCELL_TYPES {cells}\n")?;
    write_numbers(out, cells, order, |i, push| {
        push(Number::Integer(mesh.kind(i, true).into()), 4);
    })?;
    if !of_points.is_empty() {
        let (points, count) = (points.len(), of_points.len());
        write!(out, "\nPOINT_DATA {points}\nFIELD FieldData {count}\n")?;
        vtk_fields::write(out, &of_points, is_binary)?;
    }
    let count = tags.len() + of_cells.len();
    if count > 0 {
        // VTK reads only the first of several SCALARS.
        write!(out, "\nCELL_DATA {cells}\nFIELD FieldData {count}\n")?;
    }
    for (name, tag) in tags {
        writeln!(out, "{name} 1 {cells} int")?;
        write_numbers(out, cells, order, |i, push| {
            push(Number::Integer(tag(mesh, i).into()), 4);
        })?;
        writeln!(out)?;
    }
    vtk_fields::write(out, &of_cells, is_binary)
}
