//! Welding of meshes of cells.

use std::collections::HashSet;

use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;

use super::{Options, Report, weld};
use crate::error::Result;
use crate::input::check_ids;
use crate::machine::Start;
use crate::report::Note;

/// Welds the vertices of a mesh of cells, with its fields, regions and tagged faces. Cells and tagged faces of which
/// two vertices merged are dropped, as are those with the vertices of an earlier one, unless the options keep them.
///
/// ```
/// use trioxide_operations::{weld, weld_volume};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cubes = trioxide::generate::tet_grid(27, 1)?;
/// let (welded, _) = weld_volume(&device, cubes.into(), &weld::Options::new(0.0))?;
/// assert_eq!((welded.points.len(), welded.cells.len()), (27, 48));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`weld()`]; a cell or a tagged face with a vertex that is not there; a field of another length than the mesh's.
pub fn weld_volume(
    on: &dyn Start,
    mut mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    let (vertices, cells) = (mesh.points.len(), mesh.cells.len());
    mesh.fields.check(vertices, cells, mesh.faces.len())?;
    for (i, cell) in mesh.cells.iter().enumerate() {
        check_ids("cell", i, cell, vertices)?;
    }
    for (i, face) in mesh.faces.iter().enumerate() {
        check_ids("tagged face", i, face, vertices)?;
    }
    let mut options = options.clone();
    if std::mem::take(&mut options.locks.boundary) {
        options.locks.vertices.resize(vertices, false);
        for v in mesh.boundary_vertices() {
            options.locks.vertices[v as usize] = true;
        }
    }
    let mut cloud = Mesh {
        points: std::mem::take(&mut mesh.points),
        ..Mesh::default()
    };
    cloud.fields.points = std::mem::take(&mut mesh.fields.points);
    let (cloud, mut report) = weld(on, cloud, &options)?;
    (mesh.points, mesh.fields.points) = (cloud.points, cloud.fields.points);
    let kept = left(&mut mesh.cells.iter(), &report.map, &options);
    let tagged = left(&mut mesh.faces.iter(), &report.map, &options);
    mesh.keep(&kept, &tagged);
    let ids = mesh.cells.vertices_mut().iter_mut();
    ids.chain(&mut mesh.faces.vertices)
        .for_each(|v| *v = report.map[*v as usize]);
    report.totals.is_volume = true;
    report.totals.faces = cells as u64;
    report.totals.welded_faces = mesh.cells.len() as u64;
    report
        .notes
        .extend(Note::dropped_cells(cells - mesh.cells.len()));
    Ok((mesh, report))
}

/// The ids of the elements that are left.
fn left(lists: &mut dyn Iterator<Item = &[u32]>, map: &[u32], options: &Options) -> Vec<u32> {
    let (mut left, mut seen) = (Vec::new(), HashSet::new());
    for (i, list) in (0u32..).zip(lists) {
        let mut sorted: Vec<u32> = list.iter().map(|&v| map[v as usize]).collect();
        sorted.sort_unstable();
        let is_whole = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        if options.keep_degenerate || (is_whole && seen.insert(sorted)) {
            left.push(i);
        }
    }
    left
}
