//! Writes legacy `.vtk` files: an unstructured grid of version 3.0, with the content of the `.vtu` files.

use std::io;
use std::path::Path;

use glam::DVec3;

use super::Encoding;
use super::vtk_cells::{Record, number};
use super::vtk_fields;
use crate::atomic_file::{Out, write_atomically};
use crate::fields::{Joined, RESERVED, of_attributes};
use crate::rows_out::{push_f64, push_integer, write_records};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::volume::{Cells, VolumeMesh};

/// Cells by their vertices and VTK's type, and arrays of whole numbers, one per cell.
struct Grid<'a> {
    points: &'a [DVec3],
    cells: usize,
    /// Vertices of all cells.
    corners: usize,
    cell: &'a (dyn Fn(usize) -> &'a [u32] + Sync),
    kind: &'a (dyn Fn(usize) -> u8 + Sync),
    arrays: Vec<(&'static str, &'a (dyn Fn(usize) -> i32 + Sync))>,
    /// Fields of points, and of cells.
    fields: [Vec<Joined<'a>>; 2],
}

pub(super) fn write(path: &Path, mesh: &VolumeMesh, encoding: Encoding) -> Result<()> {
    let (solid, faces) = (mesh.cells.len(), mesh.faces.len());
    let cell = |i: usize| match i.checked_sub(solid) {
        None => mesh.cells.get(i),
        Some(face) => mesh.faces.get(face),
    };
    let kind = |i: usize| number(i >= solid, cell(i).len());
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]);
    let lists = [&mesh.fields.cells, &mesh.fields.sides];
    let mut grid = Grid {
        points: &mesh.points,
        cells: solid + faces,
        corners: mesh.faces.vertices.len()
            + match &mesh.cells {
                Cells::Tetrahedra(tetrahedra) => 4 * tetrahedra.len(),
                Cells::Mixed(cells) => cells.vertices.len(),
            },
        cell: &cell,
        kind: &kind,
        arrays: Vec::new(),
        fields: [
            mesh.fields.points.iter().map(Joined::of).collect(),
            Joined::of_two(lists, [solid, faces], RESERVED),
        ],
    };
    if mesh.regions.is_some() {
        grid.arrays.push(("region", &region));
    }
    if faces > 0 {
        grid.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| {
        write_to(file, &grid, encoding != Encoding::Text)
    })
}

/// Writes a surface or cloud: faces, then segments as lines.
pub(crate) fn write_surface(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    let (faces, lines) = (mesh.faces.len(), mesh.segments.len());
    let cell = |i: usize| match i.checked_sub(faces) {
        None => mesh.faces.get(i),
        Some(line) => &mesh.segments[line].ends[..],
    };
    let kind = |i: usize| match (i < faces, cell(i).len()) {
        (false, _) => 3,
        (true, 3) => 5,
        (true, 4) => 9,
        (true, _) => 7,
    };
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| {
        i.checked_sub(faces)
            .map_or(0, |line| mesh.segments[line].marker)
    };
    let attributes = of_attributes(&mesh.attributes);
    let of_points = attributes.iter().chain(&mesh.fields.points);
    let lists = [&mesh.fields.cells, &mesh.fields.sides];
    let mut grid = Grid {
        points: &mesh.points,
        cells: faces + lines,
        corners: 2 * lines
            + match &mesh.faces {
                Faces::Triangles(triangles) => 3 * triangles.len(),
                Faces::Polygons(polygons) => polygons.vertices.len(),
            },
        cell: &cell,
        kind: &kind,
        arrays: Vec::new(),
        fields: [
            of_points.map(Joined::of).collect(),
            Joined::of_two(lists, [faces, lines], RESERVED),
        ],
    };
    if mesh.regions.is_some() {
        grid.arrays.push(("region", &region));
    }
    if lines > 0 {
        grid.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| {
        write_to(file, &grid, encoding != Encoding::Text)
    })
}

fn write_to(out: &mut dyn Out, grid: &Grid, is_binary: bool) -> io::Result<()> {
    let Grid {
        points,
        cells,
        corners,
        cell,
        kind,
        arrays,
        fields: [of_points, of_cells],
    } = grid;
    // Writes integers of each cell: vertices with their number, types, and tags.
    let integers = |out: &mut dyn Out, record: &Record<i32>| {
        write_records(out, *cells, |buffer, i| {
            record(i, &mut |value| {
                if is_binary {
                    buffer.extend_from_slice(&value.to_be_bytes());
                } else {
                    push_integer(buffer, value);
                    buffer.push(b' ');
                }
            });
            if !is_binary && let Some(last) = buffer.last_mut() {
                *last = b'\n';
            }
        })
    };
    write!(
        out,
        "# vtk DataFile Version 3.0\nwritten by trioxide\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        if is_binary { "BINARY" } else { "ASCII" },
        points.len()
    )?;
    write_records(out, points.len(), |buffer, i| {
        for coordinate in points[i].to_array() {
            if is_binary {
                buffer.extend_from_slice(&coordinate.to_be_bytes());
            } else {
                push_f64(buffer, coordinate);
                buffer.push(b' ');
            }
        }
        if !is_binary && let Some(last) = buffer.last_mut() {
            *last = b'\n';
        }
    })?;
    write!(out, "\nCELLS {cells} {}\n", cells + corners)?;
    integers(out, &|i, push| {
        push(cell(i).len() as i32);
        cell(i).iter().for_each(|&vertex| push(vertex as i32));
    })?;
    write!(out, "\nCELL_TYPES {cells}\n")?;
    integers(out, &|i, push| push(kind(i).into()))?;
    if !of_points.is_empty() {
        let (points, count) = (points.len(), of_points.len());
        write!(out, "\nPOINT_DATA {points}\nFIELD FieldData {count}\n")?;
        vtk_fields::write(out, of_points, is_binary)?;
    }
    let count = arrays.len() + of_cells.len();
    if count > 0 {
        // VTK reads only the first of several SCALARS.
        write!(out, "\nCELL_DATA {cells}\nFIELD FieldData {count}\n")?;
    }
    for (name, value) in arrays {
        writeln!(out, "{name} 1 {cells} int")?;
        integers(out, &|i, push| push(value(i)))?;
        writeln!(out)?;
    }
    vtk_fields::write(out, of_cells, is_binary)
}
