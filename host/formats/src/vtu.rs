//! Surfaces in VTK's unstructured grid: `.vtu`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. It writes raw appended binary, or text:
//! triangles and polygons as cells, region ids as the cell array `region`; after the faces, segments as lines, with
//! their markers in the cell array `marker`. An array has a value for every cell: lines get region 0 and faces get
//! marker 0, without a meaning. [`super::volume::vtu`] reads the files.

use std::path::Path;

use super::Encoding;
use super::atomic_file::write_atomically;
use super::fields::of_attributes;
use super::vtu_array::Numbers;
use super::vtu_out::{self, Grid, Sections, write_grid};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::{Faces, Mesh};

const LINE: u8 = 3;
const TRIANGLE: u8 = 5;
const POLYGON: u8 = 7;

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    with_sections(mesh, !mesh.segments.is_empty(), |counts, sections| {
        write_atomically(path, |file| write_grid(file, counts, sections, encoding))
    })
}

/// Calls `then` with the counts and the sections of a mesh's file. With `has_markers`, there is an array of markers
/// even if there are no segments.
pub(crate) fn with_sections<R>(
    mesh: &Mesh,
    has_markers: bool,
    then: impl FnOnce(&str, &Sections) -> R,
) -> R {
    let (points, faces, lines) = (mesh.points.len(), mesh.faces.len(), mesh.segments.len());
    let cells = faces + lines;
    let face_corners = match &mesh.faces {
        Faces::Triangles(triangles) => 3 * triangles.len(),
        Faces::Polygons(polygons) => polygons.vertices.len(),
    };
    let cell = |i: usize| match i.checked_sub(faces) {
        None => mesh.faces.get(i),
        Some(line) => &mesh.segments[line].ends,
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
        let end = match (i.checked_sub(faces), &mesh.faces) {
            (Some(line), _) => face_corners + 2 * (line + 1),
            (None, Faces::Triangles(_)) => 3 * (i + 1),
            (None, Faces::Polygons(polygons)) => polygons.offsets[i + 1] as usize,
        };
        numbers.integer(end as i64);
    };
    let kind = |i: usize, numbers: &mut Numbers| {
        let kind = match (i < faces, cell(i).len()) {
            (false, _) => LINE,
            (true, 3) => TRIANGLE,
            (true, _) => POLYGON,
        };
        numbers.integer(kind.into());
    };
    let region = |i: usize, numbers: &mut Numbers| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        let region = if i < faces { regions[i] } else { 0 };
        numbers.integer(region.into());
    };
    let marker = |i: usize, numbers: &mut Numbers| {
        let line = i.checked_sub(faces);
        let marker = line.map_or(0, |line| mesh.segments[line].marker);
        numbers.integer(marker.into());
    };
    let corners = face_corners + 2 * lines;
    let mut grid = Grid::new(points, cells, corners, [&point, &vertices, &end, &kind]);
    if has_markers {
        grid.cell_data = " Scalars=\"marker\"".to_owned();
    }
    if mesh.regions.is_some() {
        grid.cell_data = " Scalars=\"region\"".to_owned();
        grid.push_tags("region", &region);
    }
    if has_markers {
        grid.push_tags("marker", &marker);
    }
    let attributes = of_attributes(&mesh.attributes);
    grid.push_point_fields(&attributes);
    grid.push_point_fields(&mesh.fields.points);
    grid.push_cell_fields([&mesh.fields.cells, &mesh.fields.sides], [faces, lines]);
    vtu_out::with_sections(&grid, then)
}
