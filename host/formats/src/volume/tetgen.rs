//! The files of TetGen: `.node` with points, `.ele` with tetrahedra, `.face` with triangles that have a marker.
//!
//! <https://wias-berlin.de/software/tetgen/fformats.html>. A mesh is a `.node` and an `.ele` file of one stem; either
//! path, or the bare stem, names both. A `.face` file of the same stem adds its faces. Points are numbered from 0 or
//! from 1, as the first point is. The first attribute of the tetrahedra is their region, if it is a whole number
//! throughout. Attributes and markers of points are skipped. Tetrahedra of second order (`-o2`) and their faces are
//! read by their corners. [`triangle`] reads the points.

use std::path::Path;

use super::Noted;
use super::elements::{Elements, Grid, Shape, Tags};
use crate::atomic_file::{AtomicFile, Out};
use crate::input::{is_pipe, peek_file};
use crate::map_file;
use crate::rows_out::{push_integer, write_records};
use crate::text::{Fault, Line, Parsed, TextRows, text_start};
use crate::triangle::{self, Nodes, header_count, sibling, write_nodes};
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
    let node_path = sibling(path, "node");
    let node_file = map_file(&node_path)?;
    let nodes =
        triangle::parse_nodes(&node_file).map_err(|fault| fault.in_text(&node_path, &node_file))?;

    let ele_path = sibling(path, "ele");
    let ele_file = map_file(&ele_path)?;
    let mut elements =
        parse_elements(&ele_file, &nodes).map_err(|fault| fault.in_text(&ele_path, &ele_file))?;

    let face_path = sibling(path, "face");
    match face_path.try_exists() {
        Ok(true) => {
            let face_file = map_file(&face_path)?;
            parse_faces(&face_file, &nodes, &mut elements)
                .map_err(|fault| fault.in_text(&face_path, &face_file))?;
        }
        Ok(false) => {}
        Err(source) => return Err(Error::file(&face_path, source)),
    }
    finish(elements, nodes).map_err(|fault| fault.in_text(&ele_path, &ele_file))
}

/// Elements in a chunk of rows: vertices and tags.
#[derive(Default)]
struct ElementChunk {
    vertices: Vec<u32>,
    side_nodes: Vec<u32>,
    tags: Vec<i32>,
    /// Whether an attribute is no whole number.
    is_fractional: bool,
}

pub(super) fn parse_elements(file: &[u8], nodes: &Nodes) -> Parsed<Elements> {
    let rows = TextRows::new(file, text_start(file));
    let mut header = rows.row(0, "the number of tetrahedra")?;
    let count = header.count("the number of tetrahedra")?;
    let offset = header.offset();
    let corners = header_count(&mut header, "the number of nodes per tetrahedron", 4)?;
    if !matches!(corners, 4 | 10) {
        let reason = format!("the elements have {corners} nodes, but 4 or 10 are needed");
        return Err(Fault::new(offset, reason));
    }
    let attributes = header_count(&mut header, "the number of attributes", 0)?;
    let range = rows.expect(1, count, "tetrahedra")?;
    rows.expect_end(range.end, "the tetrahedra")?;
    let parts = rows.parse(range, |part: &mut ElementChunk, _, line| {
        line.integer("a tetrahedron's number")?;
        for _ in 0..4 {
            part.vertices
                .push(line.vertex(nodes.base, nodes.points.len())?);
        }
        for _ in 4..corners {
            part.side_nodes
                .push(line.vertex(nodes.base, nodes.points.len())?);
        }
        if attributes > 0 {
            let region = line.f64("an attribute")?;
            part.is_fractional |= f64::from(region as i32) != region;
            part.tags.push(region as i32);
        }
        Ok(())
    })?;
    let has_regions = attributes > 0 && !parts.iter().any(|part| part.is_fractional);
    let mut elements = Elements::default();
    elements.has_regions = has_regions;
    for part in parts {
        let tags = match has_regions {
            true => Tags::Each(&part.tags),
            false => Tags::All(0),
        };
        elements
            .push(Shape::TETRAHEDRON, &part.vertices, tags)
            .map_err(|reason| Fault::new(0, reason))?;
        if corners > 4 {
            elements.push_side_nodes(part.vertices.len() / 4, &part.side_nodes);
        }
    }
    Ok(elements)
}

/// Adds the triangles of a `.face` file.
pub(super) fn parse_faces(file: &[u8], nodes: &Nodes, elements: &mut Elements) -> Parsed<()> {
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
            _ => numbers_in(rows.row(1, "a face")?) >= 7 + markers.min(1),
        };
    let parts =
        rows.parse(range, |part: &mut ElementChunk, _, line| {
            line.integer("a face's number")?;
            for _ in 0..3 {
                part.vertices
                    .push(line.vertex(nodes.base, nodes.points.len())?);
            }
            if has_side_nodes {
                for _ in 0..3 {
                    let node = line.vertex(nodes.base, nodes.points.len())?;
                    part.side_nodes.push(node);
                }
            }
            let offset = line.offset();
            let marker = match markers {
                0 => 0,
                _ => line.integer("a marker")?,
            };
            part.tags.push(i32::try_from(marker).map_err(|_| {
                Fault::new(offset, format!("marker {marker} has more than 32 bits"))
            })?);
            Ok(())
        })?;
    for part in parts {
        elements
            .push(Shape::TRIANGLE, &part.vertices, Tags::Each(&part.tags))
            .map_err(|reason| Fault::new(0, reason))?;
        if has_side_nodes {
            elements.push_side_nodes(part.vertices.len() / 3, &part.side_nodes);
        }
    }
    Ok(())
}

fn numbers_in(mut line: Line) -> usize {
    std::iter::from_fn(|| line.token()).count()
}

pub(super) fn finish(elements: Elements, nodes: Nodes) -> Parsed<Noted> {
    Grid::new(nodes.points, elements)
        .and_then(Grid::into_volume)
        .map_err(|reason| Fault::new(0, reason))
}

/// Writes a `.node` and an `.ele` file, numbered from 0, and a `.face` file if there are tagged faces.
pub(super) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    let refuse = |path: &Path, reason: String| Error::Format {
        path: path.to_owned(),
        reason,
    };
    let use_another = "write .vtu, .vtk, .mesh, .meshb or .msh";
    if let Cells::Mixed(_) = &mesh.cells
        && let Some((i, cell)) = mesh.cells.iter().enumerate().find(|(_, c)| c.len() != 4)
    {
        let kind = CellKind::of(cell.len()).map_or("cell", CellKind::name);
        let reason =
            format!("the format holds tetrahedra only, but cell {i} is a {kind}: {use_another}");
        return Err(refuse(path, reason));
    }
    if let Some(i) = mesh.faces.iter().position(|face| face.len() != 3) {
        let reason = format!(
            "the format holds tagged triangles only, but tagged face {i} has {} vertices: {use_another}",
            mesh.faces.get(i).len()
        );
        return Err(refuse(path, reason));
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
            return Err(refuse(&path, reason));
        }
    }
    // They are committed only when all are complete.
    let mut files = vec![
        AtomicFile::written(&sibling(path, "node"), |out| write_nodes(out, &mesh.points))?,
        AtomicFile::written(&sibling(path, "ele"), |out| write_elements(out, mesh))?,
    ];
    if !mesh.faces.is_empty() {
        files.push(AtomicFile::written(&sibling(path, "face"), |out| {
            write_faces(out, mesh)
        })?);
    }
    AtomicFile::commit_all(files)
}

fn write_elements(out: &mut dyn Out, mesh: &VolumeMesh) -> std::io::Result<()> {
    let attributes = usize::from(mesh.regions.is_some());
    writeln!(out, "{} 4 {attributes}", mesh.cells.len())?;
    write_records(out, mesh.cells.len(), |buffer, i| {
        push_integer(buffer, i);
        for &vertex in mesh.cells.get(i) {
            buffer.push(b' ');
            push_integer(buffer, vertex);
        }
        if let Some(regions) = &mesh.regions {
            buffer.push(b' ');
            push_integer(buffer, regions[i]);
        }
        buffer.push(b'\n');
    })
}

fn write_faces(out: &mut dyn Out, mesh: &VolumeMesh) -> std::io::Result<()> {
    writeln!(out, "{} 1", mesh.faces.len())?;
    write_records(out, mesh.faces.len(), |buffer, i| {
        push_integer(buffer, i);
        for &vertex in mesh.faces.get(i) {
            buffer.push(b' ');
            push_integer(buffer, vertex);
        }
        buffer.push(b' ');
        push_integer(buffer, mesh.face_tags[i]);
        buffer.push(b'\n');
    })
}
