//! Boundary nodes (section 3.2.2): those of faces that one cell alone uses; and which nodes move.
//!
//! The paper sorts all faces. Here a node looks at the faces of which it is the lowest, and for each face among its other
//! cells, about twelve of them until it is found, in the nearest cache; nothing is written but bits of the boundary. The faces of a
//! node of many cells are looked for around their node of the fewest cells.

use crate::point3::Spatial;
use trioxide_kernel::{Atomic, In, Out, kernel};

use super::cells::{Cell, CellView, Face, MOST_FACES, face_count, next, previous};
use super::neighbours::LIGHT;
use crate::point3::Point3;

/// Slots of the check kernels' result: the smallest offending element for each rule, `NONE` where it holds.
pub mod cell_rule {
    /// Node with a coordinate that is no finite number.
    pub const FINITE: u32 = 0;
    /// Cell with an index out of range.
    pub const RANGE: u32 = 1;
    /// Cell that has a vertex twice.
    pub const TWICE: u32 = 2;
    /// Number of rules.
    pub const COUNT: usize = 3;
}

/// Finds node `v` if a coordinate of it is not finite.
#[kernel(P in Spatial)]
pub fn check_nodes<P: Point3>(v: u32, points: In<P>, found: Atomic) {
    if !points.at(v).to_f64().is_finite() {
        found.min(cell_rule::FINITE, v);
    }
}

/// Finds cell `c` if it has an index out of range or a vertex twice.
#[kernel]
pub fn check_cells(
    c: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    nodes: u32,
    found: Atomic,
) {
    let view = CellView::new(offsets, vertices, cells);
    let cell = view.cell(c);
    let mut i = 0;
    while i < cell.size {
        let v = view.vertex(cell.first + i);
        if v >= nodes {
            found.min(cell_rule::RANGE, c);
            return;
        }
        let mut j = 0;
        while j < i {
            if view.vertex(cell.first + j) == v {
                found.min(cell_rule::TWICE, c);
            }
            j += 1;
        }
        i += 1;
    }
}

/// Of two nodes that which fewer cells have.
#[inline(always)]
fn lighter(starts: In<u32>, a: u32, b: u32) -> u32 {
    let weight = |v| starts.at(v + 1) - starts.at(v);
    if weight(b) < weight(a) { b } else { a }
}

/// Whether another tetrahedron than `t` has two vertices, of those around a node at corners `start..end` in the list.
#[inline(always)]
fn shares_triangle(
    view: CellView,
    corners: In<u32>,
    (start, end): (u32, u32),
    t: u32,
    [a, b]: [u32; 2],
) -> bool {
    let mut s = start;
    while s < end {
        let other = corners.at(s) / 4;
        let [p, q, r, w] = view.tetrahedron(other);
        // No branch between the comparisons: most fail at different places.
        let has = |v| (v == p) | (v == q) | (v == r) | (v == w);
        if has(a) & has(b) && other != t {
            return true;
        }
        s += 1;
    }
    false
}

/// Whether another cell than `cell` has its face `face`, of the cells at corners `start..end` in the list.
#[inline(always)]
fn is_shared(
    view: CellView,
    corners: In<u32>,
    (start, end): (u32, u32),
    cell: Cell,
    face: Face,
) -> bool {
    let mut s = start;
    while s < end {
        let other = view.cell_of(corners.at(s));
        s += 1;
        if other.id == cell.id {
            continue;
        }
        let mut k = 0;
        while k < face_count(other.size) {
            if face.is(view.face(other, k)) {
                return true;
            }
            k += 1;
        }
    }
    false
}

/// Marks face `f` of a cell and its nodes.
#[inline(always)]
fn mark(cell: Cell, f: u32, face: Face, faces: Atomic, on_boundary: Atomic) {
    faces.set_bit(MOST_FACES * cell.id + f);
    let [a, b, c, d] = face.vertices;
    on_boundary.set_bit(a);
    on_boundary.set_bit(b);
    on_boundary.set_bit(c);
    on_boundary.set_bit(d);
}

/// Marks the faces of which node `v` is the lowest and that one cell alone uses, face f of cell c by bit 6c + f, and their
/// nodes. A node of too many cells is left out.
#[kernel]
pub fn mark_boundary_faces(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    faces: Atomic,
    on_boundary: Atomic,
) {
    let range = (starts.at(v), starts.at(v + 1));
    if range.1 - range.0 > LIGHT {
        return;
    }
    let view = CellView::new(offsets, vertices, cells);
    let mut s = range.0;
    while s < range.1 {
        view.prefetch(corners, s);
        if view.only_tetrahedra() {
            let corner = corners.at(s);
            let (t, own) = (corner / 4, corner % 4);
            let [a, b, c, d] = view.tetrahedron(t);
            let (p, at_p) = if own == 0 { (b, 1) } else { (a, 0) };
            let (q, at_q) = if own <= 1 { (c, 2) } else { (b, 1) };
            let (r, at_r) = if own <= 2 { (d, 3) } else { (c, 2) };
            // The face of v, x and y, which is without the vertex at place `without`.
            let look = |without: u32, x: u32, y: u32| {
                if v < x && v < y && !shares_triangle(view, corners, range, t, [x, y]) {
                    // Faces without vertex 0, 1, 2, 3 are 1, 2, 0, 3 of a cell.
                    faces.set_bit(MOST_FACES * t + (0x3021 >> (4 * without) & 0xF));
                    on_boundary.set_bit(v);
                    on_boundary.set_bit(x);
                    on_boundary.set_bit(y);
                }
            };
            look(at_p, q, r);
            look(at_q, p, r);
            look(at_r, p, q);
            s += 1;
            continue;
        }
        let cell = view.cell_of(corners.at(s));
        let mut f = 0;
        while f < face_count(cell.size) {
            let face = view.face(cell, f);
            if face.lowest() == v && !is_shared(view, corners, range, cell, face) {
                mark(cell, f, face, faces, on_boundary);
            }
            f += 1;
        }
        s += 1;
    }
}

/// As [`mark_boundary_faces()`], for face `i % 6` of cell `i / 6` if its lowest node is of too many cells.
#[kernel]
pub fn mark_heavy_faces(
    i: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    faces: Atomic,
    on_boundary: Atomic,
) {
    let view = CellView::new(offsets, vertices, cells);
    let (cell, f) = (view.cell(i / MOST_FACES), i % MOST_FACES);
    if f >= face_count(cell.size) {
        return;
    }
    let face = view.face(cell, f);
    let lowest = face.lowest();
    if starts.at(lowest + 1) - starts.at(lowest) <= LIGHT {
        return;
    }
    let [a, b, c, d] = face.vertices;
    let node = lighter(starts, lighter(starts, a, b), lighter(starts, c, d));
    let range = (starts.at(node), starts.at(node + 1));
    if !is_shared(view, corners, range, cell, face) {
        mark(cell, f, face, faces, on_boundary);
    }
}

/// Whether the edge from corner `i` to the next around its polygon is used by that polygon alone.
#[kernel]
pub fn mark_border_edges(
    i: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    on_boundary: Atomic,
) -> bool {
    let view = CellView::new(offsets, vertices, cells);
    let cell = view.cell_of(i);
    let (a, b) = (
        view.vertex(i),
        view.vertex(cell.first + next(i - cell.first, cell.size)),
    );
    let node = lighter(starts, a, b);
    let opposite = if node == a { b } else { a };
    let mut s = starts.at(node);
    while s < starts.at(node + 1) {
        let corner = corners.at(s);
        let other = view.cell_of(corner);
        let k = corner - other.first;
        let along = view.vertex(other.first + next(k, other.size));
        let back = view.vertex(other.first + previous(k, other.size));
        if other.id != cell.id && (along == opposite || back == opposite) {
            return false;
        }
        s += 1;
    }
    on_boundary.set_bit(a);
    on_boundary.set_bit(b);
    true
}

/// Whether cells of two regions have node `v`.
#[kernel]
pub fn mark_interfaces(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    regions: In<i32>,
) -> bool {
    let view = CellView::new(offsets, vertices, cells);
    let region = |s| regions.at(view.cell_of(corners.at(s)).id);
    let first = starts.at(v);
    let mut s = first + 1;
    while s < starts.at(v + 1) {
        if region(s) != region(first) {
            return true;
        }
        s += 1;
    }
    false
}

/// Fixes the nodes of word `w` of a bit set that another tells.
#[kernel]
pub fn join_bits(w: u32, others: In<u32>, bits: Out<u32>) {
    bits.set(w, bits.at(w) | others.at(w));
}

/// Whether node `v` moves, and whether it stays: it moves if it is not fixed and has neighbours.
#[kernel]
pub fn mark_moving(v: u32, fixed: In<u32>, rows: In<u32>) -> (bool, bool) {
    let moves = !fixed.bit(v) && rows.at(v + 1) > rows.at(v);
    (moves, !moves)
}
