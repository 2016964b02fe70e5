//! The files of Medit: `.mesh` as text and `.meshb` as binary.
//!
//! <https://www.ljll.fr/frey/publications/RT-0253.pdf>, and libMeshb for the binary form. Vertices, tetrahedra, pyramids, prisms and
//! hexahedra are read, with their references as regions; triangles and quadrilaterals become tagged faces. References that
//! are 0 throughout are no regions. Everything else (edges, corners, required elements, normals) is skipped.
//!
//! Versions 1 to 4 of the binary form are read, in either byte order; 2 is written, or 3 where positions in the file have
//! more than 32 bits.

use std::path::Path;

use glam::DVec3;

use super::elements::{Elements, Shape};
use crate::map_file;
use crate::text::{Fault, Parsed};
use trioxide_mesh::Result;
use trioxide_mesh::volume::{CellKind, VolumeMesh};

mod binary;
mod text;

pub(super) use binary::write as write_binary;
pub(super) use text::write as write_text;

/// Sections of elements: keyword, number in the binary form, shape. They are written in this order.
const SECTIONS: [(&str, i32, Shape); 6] = [
    ("Tetrahedra", 8, Shape::TETRAHEDRON),
    ("Pyramids", 49, Shape::Cell(CellKind::Pyramid)),
    ("Prisms", 9, Shape::Cell(CellKind::Wedge)),
    ("Hexahedra", 10, Shape::Cell(CellKind::Hexahedron)),
    ("Triangles", 6, Shape::TRIANGLE),
    ("Quadrilaterals", 7, Shape::QUADRILATERAL),
];

/// Sections of second order, by keyword and number.
const SECOND_ORDER: [(&str, i32); 4] = [
    ("TrianglesP2", 24),
    ("QuadrilateralsQ2", 27),
    ("TetrahedraP2", 30),
    ("HexahedraQ2", 33),
];

pub(super) fn read(path: &Path) -> Result<VolumeMesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

/// A file of either form: the binary one begins with the number 1.
pub(super) fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
    match file.first_chunk() {
        Some([1, 0, 0, 0] | [0, 0, 0, 1]) => binary::parse(file),
        _ => text::parse(file),
    }
}

fn check_dimension(dimension: i64) -> Result<(), String> {
    match dimension {
        3 => Ok(()),
        _ => Err(format!("the dimension is {dimension}, but 3 is needed")),
    }
}

fn second_order(keyword: &str) -> String {
    format!("{keyword} are of second order: write a mesh of first order")
}

fn finish(elements: Elements, points: Option<Vec<DVec3>>, end: usize) -> Parsed<VolumeMesh> {
    let points = points.ok_or_else(|| Fault::new(end, "there are no Vertices"))?;
    elements
        .finish(points)
        .map_err(|reason| Fault::new(end, reason))
}
