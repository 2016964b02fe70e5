//! Meshes in VTK's unstructured grid: `.vtu`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. It writes raw appended binary, or text:
//! triangles and polygons as cells, region ids as the cell array `region`; after the faces, segments as lines, with
//! their markers in the cell array `marker`. An array has a value for every cell: lines get region 0 and faces get
//! marker 0, without a meaning. Cells of three
//! dimensions and tagged faces are written likewise. [`super::volume::vtu`] reads the files.

use std::path::Path;

use super::Encoding;
use super::atomic_file::write_atomically;
use super::grid_out::GridMesh;
use super::vtu_array::{Array, Numbers, Record, TAG, index_type};
use super::vtu_out::{self, Sections, write_grid};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;

/// Writes a surface or cloud.
pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    write_mesh(path, GridMesh::Surface(mesh), encoding)
}

/// Writes a mesh.
pub(crate) fn write_mesh(path: &Path, mesh: GridMesh, encoding: Encoding) -> Result<()> {
    with_sections(mesh, mesh.has_markers(), |counts, sections| {
        write_atomically(path, |file| write_grid(file, counts, sections, encoding))
    })
}

/// Calls `then` with the counts and the sections of a mesh's file. With `has_markers`, there is an array of markers
/// even if no element has one.
pub(crate) fn with_sections<R>(
    mesh: GridMesh,
    has_markers: bool,
    then: impl FnOnce(&str, &Sections) -> R,
) -> R {
    let cells = mesh.len();
    let corners = mesh.corners(cells);
    let vertices = |i: usize, numbers: &mut Numbers| {
        for &vertex in mesh.cell(i) {
            numbers.integer(vertex.into());
        }
    };
    let end = |i: usize, numbers: &mut Numbers| numbers.integer(mesh.corners(i + 1) as i64);
    let kind = |i: usize, numbers: &mut Numbers| numbers.integer(mesh.kind(i, false).into());
    let index = index_type(mesh.points().len().max(corners));
    let of_cells = [
        Array::new(index, "connectivity", [corners, cells], &vertices),
        Array::new(index, "offsets", [cells, cells], &end),
        Array::new(("UInt8", 1), "types", [cells, cells], &kind),
    ];
    let tags = mesh.tags(has_markers);
    let record = |tag: usize| {
        let tag = tags[tag].1;
        Box::new(move |i, numbers: &mut Numbers| numbers.integer(tag(mesh, i).into()))
    };
    let records: Vec<Box<Record>> = (0..tags.len()).map(|tag| record(tag) as _).collect();
    let arrays = tags.iter().zip(&records);
    let data = arrays.map(|((name, _), record)| Array::new(TAG, name, [cells, cells], record));
    let scalars = match (mesh, tags.first()) {
        (GridMesh::Surface(_), Some((name, _))) => format!(" Scalars=\"{name}\""),
        _ => String::new(),
    };
    let attributes = mesh.attributes();
    let fields = mesh.fields(&attributes);
    let data = (data.collect(), &*scalars);
    vtu_out::with_sections(mesh.points(), cells, &of_cells, data, &fields, then)
}
