//! VTK's unstructured grid with cells of dimension 3: `.vtu`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. Read are text, inline base64, and appended raw or
//! base64 arrays, uncompressed or by zlib, with 32- and 64-bit headers, in one piece. Cells are tetrahedra, pyramids, wedges,
//! hexahedra and voxels; triangles, quadrilaterals and pixels become tagged faces; points and lines are skipped. The cell
//! array `region` holds region ids, or one that another program writes for them ([`REGION_NAMES`]); `marker` the tags of faces,
//! which without it are those of the region array too.
//!
//! Written is raw appended binary, or text: cells, then faces; `region` is there if there are regions, `marker` if there are
//! faces. An array has a value for every cell: faces are in region 0 and cells have marker 0, and neither means anything.

use std::path::Path;

use glam::DVec3;
use roxmltree::Node;

use super::vtk_cells::{self, REGION_NAMES, turn_wedges};
use crate::input::peek_file;
use crate::map_file;
use crate::text::{Parsed, check_vertex};
use trioxide_mesh::Result;
use trioxide_mesh::volume::VolumeMesh;

pub(crate) mod arrays;
mod write;

use arrays::{Arrays, File, Length, array, child, count, fault};
pub(super) use write::write;

/// Whether there are cells of dimension 3 in the file.
pub(super) fn is_volume(path: &Path) -> bool {
    let has_volume = |file: &[u8]| {
        let file = File::new(file)?;
        let document = file.document()?;
        let root = document.root_element();
        let arrays = Arrays::new(&file, root)?;
        let (piece, cells) = piece_and_cells(root)?;
        let length = Length::Exactly(count(piece, "NumberOfCells")?);
        let types = array(cells, "types").ok_or_else(|| fault(cells, "no types"))?;
        let types = arrays.integers(types, length)?;
        Parsed::Ok(types.iter().any(|&kind| vtk_cells::is_solid(kind)))
    };
    peek_file(path, |file| has_volume(file).unwrap_or(false)).unwrap_or(false)
}

pub(super) fn read(path: &Path) -> Result<VolumeMesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

fn piece_and_cells<'a, 'b>(root: Node<'a, 'b>) -> Parsed<(Node<'a, 'b>, Node<'a, 'b>)> {
    let piece = child(child(root, "UnstructuredGrid")?, "Piece")?;
    Ok((piece, child(piece, "Cells")?))
}

pub(super) fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    let arrays = Arrays::new(&file, root)?;
    let (piece, cell_node) = piece_and_cells(root)?;
    let (point_count, cells) = (
        count(piece, "NumberOfPoints")?,
        count(piece, "NumberOfCells")?,
    );
    let points = child(child(piece, "Points")?, "DataArray")?;
    let numbers = Length::Exactly(point_count.saturating_mul(3));
    let coordinates = arrays.floats(points, numbers)?;
    let points = coordinates.as_chunks().0.iter();
    let points: Vec<DVec3> = points.map(|c| DVec3::from_array(*c)).collect();

    let cell_array = |name, length| {
        let node = array(cell_node, name)
            .ok_or_else(|| fault(cell_node, format!("there is no array {name}")))?;
        Ok((node, arrays.integers(node, length)?))
    };
    let (types_node, types) = cell_array("types", Length::Exactly(cells))?;
    let (offsets_node, offsets) = cell_array("offsets", Length::Exactly(cells))?;
    let reach = offsets.iter().copied().max().unwrap_or(0);
    let reach = Length::AtMost(usize::try_from(reach).unwrap_or(0));
    let (connectivity_node, connectivity) = cell_array("connectivity", reach)?;

    let cell_data = child(piece, "CellData").ok();
    let tags = |name: &str| -> Parsed<Option<Vec<i32>>> {
        let Some(node) = cell_data.and_then(|data| array(data, name)) else {
            return Ok(None);
        };
        // Another program's array of this name may be something else.
        let is_ours = matches!(name, "region" | "marker");
        let is_scalar = matches!(node.attribute("NumberOfComponents"), None | Some("1"));
        if !is_ours && !is_scalar {
            return Ok(None);
        }
        let numbers = arrays.numbers(node, Length::Exactly(cells))?;
        let tags: Option<Vec<i32>> = numbers.into_integers().ok().and_then(|tags| {
            let tag = |tag| i32::try_from(tag).ok();
            tags.into_iter().map(tag).collect()
        });
        if tags.is_none() && is_ours {
            return Err(fault(node, format!("a {name} is no 32-bit integer")));
        }
        Ok(tags)
    };
    let mut regions = None;
    for name in REGION_NAMES {
        if regions.is_none() {
            regions = tags(name)?;
        }
    }
    let markers = tags("marker")?;

    let index = |vertex: i64| check_vertex(vertex, 0, points.len());
    let mut elements = vtk_cells::read(
        &types,
        |i| (i.checked_sub(1).map_or(0, |i| offsets[i]), offsets[i]),
        &connectivity,
        index,
        &[regions.as_deref(), markers.as_deref()],
    )
    .map_err(|(place, reason)| {
        let node = match place {
            vtk_cells::Place::Types => types_node,
            vtk_cells::Place::Offsets => offsets_node,
            vtk_cells::Place::Vertices => connectivity_node,
        };
        fault(node, reason)
    })?;
    elements.has_regions = regions.is_some();
    let mut mesh = elements
        .finish(points)
        .map_err(|reason| fault(piece, reason))?;
    turn_wedges(&mut mesh);
    Ok(mesh)
}
