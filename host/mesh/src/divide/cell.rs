//! The tetrahedra of one cell.
//!
//! **Rule** (Dompierre, Labbé, Vallet, Camarero, How to subdivide pyramids, prisms, and hexahedra into tetrahedra,
//! 1999). The diagonal of a quadrilateral starts at its lowest vertex id, so two cells that share a face divide it
//! alike without knowing of each other. A cell is divided from its own lowest vertex v: a tetrahedron for v and each
//! triangle of the faces without v. A face with v is divided from v too, which is its lowest vertex. So pyramids have
//! 2 tetrahedra, wedges 3, and hexahedra 6.
//!
//! The paper has 5 for a hexahedron where none of the three diagonals away from v meets the corner opposite to v.
//! Three of the six tetrahedra share the edge from v to that corner then. They are replaced by the two that share the
//! triangle of these diagonals.
//!
//! Cells with repeated vertices, as some programs write wedges as hexahedra, are divided by the same rule, and
//! tetrahedra with a repeated vertex are left out.

use crate::volume::{CellKind, faces};

/// The corner of a hexahedron opposite to each.
const OPPOSITE: [usize; 8] = [6, 7, 4, 5, 2, 3, 0, 1];

/// Calls `push` with the triangles of a face by its diagonals from the lowest vertex, without those of repeated
/// vertices.
pub(super) fn divide_face(face: &[u32], mut push: impl FnMut([u32; 3])) {
    let n = face.len();
    let start = (0..n).min_by_key(|&k| face[k]).unwrap_or(0);
    for k in 1..n.saturating_sub(1) {
        let [a, b, c] = [0, k, k + 1].map(|k| face[(start + k) % n]);
        if a != b && b != c && c != a {
            push([a, b, c]);
        }
    }
}

/// Calls `push` with the tetrahedra of a cell, positive where the cell is convex.
pub(super) fn divide_cell(cell: &[u32], kind: CellKind, mut push: impl FnMut([u32; 4])) {
    if kind == CellKind::Tetrahedron {
        push([cell[0], cell[1], cell[2], cell[3]]);
        return;
    }
    let lowest = (0..cell.len()).min_by_key(|&k| cell[k]);
    let lowest = lowest.expect("a cell has corners");
    let apex = cell[lowest];
    let mut outer: [[u32; 3]; 6] = [[0; 3]; 6];
    let mut count = 0;
    for face in faces(kind) {
        let mut corners = [0; 4];
        let corners = &mut corners[..face.len()];
        (corners.iter_mut().zip(*face)).for_each(|(corner, &k)| *corner = cell[k]);
        if !corners.contains(&apex) {
            divide_face(corners, |triangle| {
                outer[count] = triangle;
                count += 1;
            });
        }
    }
    let outer = &outer[..count];
    let is_whole = kind == CellKind::Hexahedron && (1..8).all(|k| !cell[..k].contains(&cell[k]));
    let far = cell[if is_whole { OPPOSITE[lowest] } else { lowest }];
    let is_around = |triangle: &&[u32; 3]| triangle.contains(&far);
    if outer.iter().filter(is_around).count() != 3 {
        outer.iter().for_each(|&[a, b, c]| push([apex, a, b, c]));
        return;
    }
    let others = outer.iter().filter(|triangle| !is_around(triangle));
    others.for_each(|&[a, b, c]| push([apex, a, b, c]));
    // From a triangle around the far corner to the next, over its last vertex.
    let after = |v: u32| {
        let mut around = outer.iter().filter(is_around);
        let found = around.find_map(|triangle| {
            let k = (0..3).find(|&k| triangle[k] == far && triangle[(k + 1) % 3] == v)?;
            Some(triangle[(k + 2) % 3])
        });
        found.expect("three triangles surround the far corner")
    };
    let first = outer.iter().find(is_around).expect("there are three");
    let k = (0..3)
        .find(|&k| first[k] == far)
        .expect("it has the corner");
    let a = first[(k + 1) % 3];
    let b = after(a);
    let c = after(b);
    push([apex, a, b, c]);
    push([c, far, a, b]);
}
