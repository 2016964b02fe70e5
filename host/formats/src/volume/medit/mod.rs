//! The files of Medit: `.mesh` as text and `.meshb` as binary.
//!
//! <https://www.ljll.fr/frey/publications/RT-0253.pdf>, and libMeshb for the binary form. Vertices, tetrahedra,
//! pyramids, prisms and hexahedra are read, with their references as regions; triangles and quadrilaterals as faces
//! with their references, edges as segments of a surface. References of 0 throughout are no regions. Elements of second
//! order are read by their corners. References of vertices, corners, ridges and required elements are fields, which are
//! written back ([`marks`]). Other sections, such as normals, are left out with a note. In `Dimension 2` points are at
//! z = 0; a surface in that plane is written so, as programs for planar meshes expect it.
//!
//! Versions 1 to 4 of the binary form are read, in either byte order. Version 2 is written, or 3 if offsets in the file
//! need more than 32 bits.

use glam::DVec3;

use super::elements::{Elements, Grid, Shape};
use super::{Output, mfem};
use marks::Marks;

use crate::text::{Fault, Parsed, with_line_feeds};
use trioxide_mesh::volume::CellKind;

mod binary;
mod marks;
mod text;

pub(super) use marks::keeps_in_volume;
pub(crate) use marks::lost_fields;

pub(crate) use binary::write as write_binary;
pub(crate) use text::write as write_text;

/// Sections of elements: keyword, number in the binary form, shape. They are written in this order.
const SECTIONS: [(&str, i32, Shape); 7] = [
    ("Tetrahedra", 8, Shape::TETRAHEDRON),
    ("Pyramids", 49, Shape::Cell(CellKind::Pyramid)),
    ("Prisms", 9, Shape::Cell(CellKind::Wedge)),
    ("Hexahedra", 10, Shape::Cell(CellKind::Hexahedron)),
    ("Triangles", 6, Shape::TRIANGLE),
    ("Quadrilaterals", 7, Shape::QUADRILATERAL),
    ("Edges", 5, Shape::Line),
];

/// Sections of second order: keyword, number, shape of the corners, and number of nodes after these.
const SECOND_ORDER: [(&str, i32, Shape, usize); 5] = [
    ("TrianglesP2", 24, Shape::TRIANGLE, 3),
    ("EdgesP2", 25, Shape::Line, 1),
    ("QuadrilateralsQ2", 27, Shape::QUADRILATERAL, 5),
    ("TetrahedraP2", 30, Shape::TETRAHEDRON, 6),
    ("HexahedraQ2", 33, Shape::Cell(CellKind::Hexahedron), 19),
];

/// Keyword, shape and number of other nodes of the section that `is_it` accepts by keyword and number.
fn section(is_it: impl Fn(&str, i32) -> bool) -> Option<(&'static str, Shape, usize)> {
    let first_order = SECTIONS
        .iter()
        .map(|&(word, number, shape)| (word, number, shape, 0));
    let mut all = first_order.chain(SECOND_ORDER);
    all.find(|&(word, number, ..)| is_it(word, number))
        .map(|(word, _, shape, side_nodes)| (word, shape, side_nodes))
}

/// The mesh of a file of either form, or of MFEM's: the binary form begins with the number 1, MFEM's with its name.
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    match file.first_chunk() {
        Some([1, 0, 0, 0] | [0, 0, 0, 1]) => binary::parse(file),
        _ if mfem::is_mfem(file) => mfem::parse(&with_line_feeds(file)),
        _ => text::parse(&with_line_feeds(file)),
    }
}

/// Whether the file has cells of three dimensions.
pub(super) fn is_volume(file: &[u8]) -> bool {
    match file.first_chunk() {
        Some([1, 0, 0, 0] | [0, 0, 0, 1]) => binary::is_volume(file),
        _ if mfem::is_mfem(file) => mfem::is_volume(&with_line_feeds(file)),
        _ => text::is_volume(file),
    }
}

fn is_solid(shape: Shape) -> bool {
    matches!(shape, Shape::Cell(_))
}

/// The number of coordinates of a point.
fn check_dimension(dimension: i64) -> Result<usize, String> {
    match dimension {
        2 | 3 => Ok(dimension as usize),
        _ => Err(format!(
            "the dimension is {dimension}, but 2 or 3 is needed"
        )),
    }
}

/// The number of coordinates per written point.
fn dimension(mesh: Output) -> usize {
    let is_flat = mesh.cells.is_empty() && mesh.points.iter().all(|point| point.z == 0.0);
    if is_flat && !mesh.points.is_empty() {
        2
    } else {
        3
    }
}

fn finish(
    mut elements: Elements,
    marks: Marks,
    points: Option<Vec<DVec3>>,
    end: usize,
) -> Parsed<Grid> {
    elements.has_copies = true;
    elements.notes.extend(marks.note());
    let points = points.ok_or_else(|| Fault::new(end, "there are no Vertices"))?;
    let counts = [points.len(), elements.face_tags.len(), elements.lines.len()];
    let (fields, of_lines) = marks.fields(counts)?;
    let grid = Grid::new(points, elements).map_err(|reason| Fault::new(end, reason))?;
    Ok(grid.with_mesh_fields(fields).with_line_fields(of_lines))
}
