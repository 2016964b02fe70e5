//! Writes `.vtu` files of cells.

use std::path::Path;

use trioxide_mesh::Result;
use trioxide_mesh::volume::{Cells, VolumeMesh};

use super::super::vtk_cells::number;
use crate::Encoding;
use crate::atomic_file::write_atomically;
use crate::vtu_array::Numbers;
use crate::vtu_out::{self, Grid, Sections, write_grid};

pub(in super::super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    with_sections(mesh, !mesh.faces.is_empty(), |counts, sections| {
        write_atomically(path, |file| write_grid(file, counts, sections, encoding))
    })
}

/// Calls `then` with the counts and the sections of a mesh's file. With `has_markers`, there is an array of markers
/// even if no face is tagged.
pub(crate) fn with_sections<R>(
    mesh: &VolumeMesh,
    has_markers: bool,
    then: impl FnOnce(&str, &Sections) -> R,
) -> R {
    let (points, solid, faces) = (mesh.points.len(), mesh.cells.len(), mesh.faces.len());
    let cells = solid + faces;
    let solid_corners = match &mesh.cells {
        Cells::Tetrahedra(tetrahedra) => 4 * tetrahedra.len(),
        Cells::Mixed(cells) => cells.vertices.len(),
    };
    let corners = solid_corners + mesh.faces.vertices.len();
    let cell = |i: usize| match i.checked_sub(solid) {
        None => mesh.cells.get(i),
        Some(face) => mesh.faces.get(face),
    };
    let point = |i: usize, numbers: &mut Numbers| {
        for coordinate in mesh.points[i].to_array() {
            numbers.float(coordinate);
        }
    };
    let vertices = |i: usize, numbers: &mut Numbers| {
        for &vertex in cell(i) {
            numbers.integer(vertex.into());
        }
    };
    let end = |i: usize, numbers: &mut Numbers| {
        let end = match (i.checked_sub(solid), &mesh.cells) {
            (Some(face), _) => solid_corners + mesh.faces.offsets[face + 1] as usize,
            (None, Cells::Tetrahedra(_)) => 4 * (i + 1),
            (None, Cells::Mixed(cells)) => cells.offsets[i + 1] as usize,
        };
        numbers.integer(end as i64);
    };
    let kind = |i: usize, numbers: &mut Numbers| {
        numbers.integer(number(i >= solid, cell(i).len()).into());
    };
    let region = |i: usize, numbers: &mut Numbers| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        numbers.integer(regions.get(i).copied().unwrap_or(0).into());
    };
    let marker = |i: usize, numbers: &mut Numbers| {
        let tag = i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]);
        numbers.integer(tag.into());
    };
    let mut grid = Grid::new(points, cells, corners, [&point, &vertices, &end, &kind]);
    if mesh.regions.is_some() {
        grid.push_tags("region", &region);
    }
    if has_markers {
        grid.push_tags("marker", &marker);
    }
    grid.push_point_fields(&mesh.fields.points);
    grid.push_cell_fields([&mesh.fields.cells, &mesh.fields.sides], [solid, faces]);
    vtu_out::with_sections(&grid, then)
}
