//! The files of TetGen: `.node` with points, `.ele` with tetrahedra, `.face` with triangles that have a marker.
//!
//! <https://wias-berlin.de/software/tetgen/fformats.html>. A mesh is a `.node` and an `.ele` file of one stem; either
//! path, or the bare stem, names both. A `.face` file of the same stem adds its faces. Points are numbered from 0 or
//! from 1, as the first point is. Attributes and markers are read as those of [`crate::triangle`], which reads the
//! points. Tetrahedra of second order (`-o2`) and their faces are read by their corners.

use std::io::Write as _;
use std::path::Path;

use super::Noted;
use super::elements::{Elements, Grid, Shape, Tags};
use crate::atomic_file::AtomicFile;
use crate::input::{is_pipe, parse_existing, peek_file};
use crate::parse_file;
use crate::text::{Fault, Parsed, TextRows, text_start};
use crate::triangle::{
    Nodes, SimplexChunk, header_count, parse_nodes, parse_simplices, sibling, write_lists,
    write_nodes,
};
use trioxide_mesh::error::Conversion;
use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::volume::{CellKind, Cells, VolumeMesh};
use trioxide_mesh::{Error, Result};

/// Whether `path` names a pair of files with tetrahedra.
pub(super) fn is_volume(path: &Path) -> bool {
    let corners = |file: &[u8]| {
        // One line suffices: the others need not be counted.
        let head = &file[..file.len().min(1 << 16)];
        let rows = TextRows::new(head, text_start(head));
        let mut header = rows.row(0, "").ok()?;
        header.count("").ok()?;
        header.count("").ok()
    };
    // In the reader's order: a program that writes to two pipes writes the points first.
    let node_path = sibling(path, "node");
    if is_pipe(&node_path) && peek_file(&node_path, |_| ()).is_err() {
        return false;
    }
    let corners = peek_file(&sibling(path, "ele"), corners);
    matches!(corners, Ok(Some(4 | 10)))
}

pub(super) fn read(path: &Path) -> Result<Noted> {
    let nodes = parse_file(&sibling(path, "node"), parse_nodes)?;
    let ele_path = sibling(path, "ele");
    let mut parts = parse_file(&ele_path, |file| parse_elements(file, &nodes))?;
    let face_path = sibling(path, "face");
    parse_existing(&face_path, |file| parse_faces(file, &nodes, &mut parts))?;
    finish(parts, nodes).map_err(|fault| fault.in_text(&ele_path, &[]))
}

/// Elements with the fields of the cells.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) elements: Elements,
    fields: Fields,
}

pub(super) fn parse_elements(file: &[u8], nodes: &Nodes) -> Parsed<Parts> {
    let names = ["tetrahedron", "tetrahedra"];
    let (chunks, attributes) = parse_simplices(file, nodes, 4, names)?;
    let mut elements = Elements::default();
    for chunk in chunks {
        push(&mut elements, Shape::TETRAHEDRON, &chunk, Tags::All(0))?;
    }
    elements.has_regions = attributes.regions.is_some();
    if let Some(regions) = attributes.regions {
        elements.regions = regions;
    }
    elements.notes = attributes.notes;
    let fields = attributes.fields;
    Ok(Parts { elements, fields })
}

fn push(elements: &mut Elements, shape: Shape, chunk: &SimplexChunk, tags: Tags) -> Parsed<()> {
    elements
        .push(shape, &chunk.vertices, tags)
        .map_err(|reason| Fault::new(0, reason))?;
    if !chunk.side_nodes.is_empty() {
        let count = chunk.vertices.len() / shape.vertices();
        elements.push_side_nodes(count, &chunk.side_nodes);
    }
    Ok(())
}

/// Adds the triangles of a `.face` file.
pub(super) fn parse_faces(file: &[u8], nodes: &Nodes, parts: &mut Parts) -> Parsed<()> {
    let elements = &mut parts.elements;
    let rows = TextRows::new(file, text_start(file));
    let mut header = rows.row(0, "the number of faces")?;
    let count = header.count("the number of faces")?;
    let markers = header_count(&mut header, "the number of markers", 0)?;
    let range = rows.expect(1, count, "faces")?;
    rows.expect_end(range.end, "the faces")?;
    // The header does not state it: nodes on sides follow the corners.
    let has_side_nodes = elements.has_side_nodes()
        && match count {
            0 => false,
            _ => rows.row(1, "a face")?.tokens() >= 7 + markers.min(1),
        };
    let side_nodes = if has_side_nodes { 3 } else { 0 };
    let chunks = rows.parse(range, |chunk: &mut SimplexChunk, _, line| {
        line.integer("a face's number")?;
        chunk.read_nodes(line, nodes, [3, side_nodes])?;
        chunk.tags.push(match markers {
            0 => 0,
            _ => line.tag("a marker", "marker")?,
        });
        Ok(())
    })?;
    for chunk in chunks {
        push(elements, Shape::TRIANGLE, &chunk, Tags::Each(&chunk.tags))?;
    }
    Ok(())
}

pub(super) fn finish(parts: Parts, nodes: Nodes) -> Parsed<Noted> {
    let fields = MeshFields {
        points: nodes.fields,
        cells: parts.fields,
        ..MeshFields::default()
    };
    Grid::new(nodes.points, parts.elements)
        .and_then(|grid| grid.with_mesh_fields(fields).into_volume())
        .map_err(|reason| Fault::new(0, reason))
}

/// Writes a `.node` and an `.ele` file, numbered from 0, and a `.face` file if there are tagged faces.
pub(super) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    let refuse = |reason: String| Error::Unconverted {
        reason: format!("{}: {reason}", path.display()),
        conversion: Conversion::Tetrahedra,
    };
    let others = "(.vtu, .vtk, .mesh, .meshb and .msh hold other cells)";
    if let Cells::Mixed(_) = &mesh.cells
        && let Some((i, cell)) = mesh.cells.iter().enumerate().find(|(_, c)| c.len() != 4)
    {
        let kind = CellKind::of(cell.len()).map_or("cell", CellKind::name);
        return Err(refuse(format!(
            "the format holds tetrahedra only {others}, but cell {i} is a {kind}"
        )));
    }
    if let Some(i) = mesh.faces.iter().position(|face| face.len() != 3) {
        return Err(refuse(format!(
            "the format holds tagged triangles only {others}, but tagged face {i} has {} vertices",
            mesh.faces.get(i).len()
        )));
    }
    for (extension, what, is_written) in [
        ("face", "its tagged faces", !mesh.faces.is_empty()),
        ("poly", "its segments", false),
    ] {
        let path = sibling(path, extension);
        if !is_written && path.exists() {
            let reason = format!(
                "stands beside the output and would be read as {what}: move it away or choose another name"
            );
            return Err(Error::format(&path, reason));
        }
    }
    // They are committed only when all are complete.
    let regions = mesh.regions.as_deref();
    let mut files = vec![
        AtomicFile::written(&sibling(path, "node"), |out| {
            write_nodes(out, &mesh.points, &Fields::default())
        })?,
        AtomicFile::written(&sibling(path, "ele"), |out| {
            let (cells, attributes) = (mesh.cells.len(), u8::from(regions.is_some()));
            writeln!(out, "{cells} 4 {attributes}")?;
            write_lists(out, cells, |i| mesh.cells.get(i), |i| Some(regions?[i]))
        })?,
    ];
    if !mesh.faces.is_empty() {
        files.push(AtomicFile::written(&sibling(path, "face"), |out| {
            writeln!(out, "{} 1", mesh.faces.len())?;
            let tag = |i: usize| Some(mesh.face_tags[i]);
            write_lists(out, mesh.faces.len(), |i| mesh.faces.get(i), tag)
        })?);
    }
    AtomicFile::commit_all(files)
}
