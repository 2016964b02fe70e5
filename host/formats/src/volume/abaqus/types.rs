//! Names of element types.

use super::super::elements::Shape;
use trioxide_mesh::volume::CellKind;

/// Prefixes of type names, longest first, with the dimension of the elements. Their number of nodes follows.
const TYPES: [(&str, usize); 24] = [
    ("COH3D", 3),
    ("SFM3D", 2),
    ("DCAX", 2),
    ("CGAX", 2),
    ("CPEG", 2),
    ("DC3D", 3),
    ("AC3D", 3),
    ("DC2D", 2),
    ("AC2D", 2),
    ("DC1D", 1),
    ("STRI", 2),
    ("C3D", 3),
    ("CPS", 2),
    ("CPE", 2),
    ("CAX", 2),
    ("M3D", 2),
    ("R3D", 2),
    ("T2D", 1),
    ("T3D", 1),
    ("R2D", 1),
    ("RAX", 1),
    ("SC", 3),
    ("DS", 2),
    ("S", 2),
];

/// The shape of elements of a type, and the number of their nodes that are not corners.
pub(super) fn shape(name: &str) -> Option<(Shape, usize)> {
    let line = |nodes: usize| (Shape::Line, nodes - 2);
    match name.get(..3) {
        Some("B21" | "B31" | "B23" | "B33") => return Some(line(2)),
        Some("B22" | "B32") => return Some(line(3)),
        _ => {}
    }
    let (prefix, dimension) = TYPES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let digits: String = (name[prefix.len()..].chars())
        .take_while(char::is_ascii_digit)
        .collect();
    let nodes: usize = match digits.as_str() {
        "65" => 6,
        digits => digits.parse().ok()?,
    };
    let shape = match (dimension, nodes) {
        (1, 2 | 3) => Shape::Line,
        (2, 3 | 6) => Shape::TRIANGLE,
        (2, 4 | 8 | 9) => Shape::QUADRILATERAL,
        (3, 4 | 10) => Shape::TETRAHEDRON,
        (3, 5 | 13) => Shape::Cell(CellKind::Pyramid),
        (3, 6 | 15 | 18) => Shape::Cell(CellKind::Wedge),
        (3, 8 | 20 | 27) => Shape::Cell(CellKind::Hexahedron),
        _ => return None,
    };
    Some((shape, nodes - shape.vertices()))
}
