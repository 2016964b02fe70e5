//! Legacy `.vtk` files of polyhedra: cells of type 42, each with its number of faces, and for each face its number of
//! vertices and its vertices, in place of its vertices.
//!
//! VTK writes them so in all versions up to 5.1 (`vtkUnstructuredGridWriter`). Version 3.0 is written.

use std::path::Path;

use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result};

use super::Noted;
use super::listed::{Cells, Listed};
use super::vtu::pass_stream;
use crate::grid_out::{GridMesh, streams};
use crate::input::{parse_file, peek_file};
use crate::references::Copies;
use crate::text::{Fault, Parsed};
use crate::volume::vtk::{has_cells, parse};
use crate::volume::vtk_cells::{find_regions, is_polyhedron};
use crate::volume::vtk_fields::{self, Array};
use crate::volume::vtk_write;
use crate::{Encoding, ReadOptions};

pub(super) fn has_polyhedra(path: &Path, _: ReadOptions) -> bool {
    let has_some = |types: &[i64]| types.iter().any(|&kind| is_polyhedron(kind));
    peek_file(path, |file| has_cells(file, &has_some)).unwrap_or(false)
}

pub(super) fn read(path: &Path, _: ReadOptions) -> Result<Noted> {
    parse_file(path, parse_polyhedra)
}

fn parse_polyhedra(file: &[u8]) -> Parsed<Noted> {
    let parts = parse(file)?;
    let (regions, name) = find_regions(|name| parts.tags(name))?;
    let markers = parts.tags("marker")?;
    let mut skipped = vec!["marker"];
    skipped.extend(name);
    let (types, cells) = (parts.types, parts.cells);
    let counts = [parts.points.len(), types.len()];
    let notes = Array::notes(&parts.arrays);
    let fields = vtk_fields::fields(parts.arrays, counts, &skipped)?;
    // Cells of version 5.1 may have one part of the list.
    let copies = Copies::new(cells.connectivity.len());
    let numbers = |i: usize| {
        let (begin, end) = cells.range(i);
        let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        let numbers = range.and_then(|(begin, end)| cells.connectivity.get(begin..end));
        let numbers = numbers.ok_or_else(|| format!("its offset {end} is outside of the list"))?;
        copies.count(numbers.len(), numbers.len())?;
        Ok(numbers)
    };
    let in_cells = |reason: String| Fault::new(cells.at, reason);
    let mut listed = Listed::default();
    let pushed = listed.push(
        parts.points,
        Cells {
            types: &types,
            vertices: &numbers,
            faces: &|i, push| pass_stream(numbers(i)?, push),
            regions: regions.as_deref(),
            markers: markers.as_deref(),
            fields,
        },
    );
    pushed.map_err(in_cells)?;
    let (mesh, mut all) = listed.finish().map_err(in_cells)?;
    all.extend(notes);
    Ok((mesh, all))
}

/// Most numbers of the list of cells: VTK reads their count as one of 32 bits.
const MOST: usize = i32::MAX as usize;

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh, encoding: Encoding) -> Result<()> {
    let of_sides = |p: usize| mesh.sides_of(p).iter().map(|&side| side as usize / 2);
    let corners = (0..mesh.len())
        .flat_map(of_sides)
        .map(|face| 1 + mesh.faces.get(face).len());
    let tagged = (mesh.tagged.iter()).map(|tagged| 1 + mesh.faces.get(tagged.face as usize).len());
    let numbers = corners.sum::<usize>() + 2 * mesh.len() + tagged.sum::<usize>();
    if numbers > MOST {
        return Err(Error::format(
            path,
            format!(
                "the polyhedra and tagged faces have {numbers} numbers, more than the format counts: write .vtu"
            ),
        ));
    }
    let streams = streams(mesh);
    vtk_write::write_mesh(path, GridMesh::Polyhedra(mesh, &streams), encoding)
}
