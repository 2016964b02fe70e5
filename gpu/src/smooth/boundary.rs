//! Boundary nodes (section 3.2.2): the nodes of faces that only one cell has.
//!
//! The paper sorts all faces. Here a node takes the faces whose lowest node it is, and searches each among its other
//! cells. It reads about twelve cells until it finds the face, from the nearest cache, and writes only bits of the
//! boundary. Faces whose lowest node has more than [`LIGHT`] cells are searched around their node with the fewest
//! cells. Meshes of tetrahedra have a kernel of their own ([`mark_tet_boundary()`](super::mark_tet_boundary())).

use trioxide_kernel::safe::{Atomic, Own};
use trioxide_kernel::{Bits, kernel};

use super::cells::{CellSpan, Face, MOST_FACES, Stars, face_count, next, previous};
use super::cells_of_nodes::LIGHT;
use crate::ids::{Cell, CellFace, Corner, Vertex};

/// The one of two nodes with fewer cells.
#[inline(always)]
fn lighter(stars: Stars, a: Vertex, b: Vertex) -> Vertex {
    if stars.degree(b) < stars.degree(a) {
        b
    } else {
        a
    }
}

/// Whether a tetrahedron other than `t` has the vertices `a` and `b`; it searches the corners `start..end` in the list.
#[inline(always)]
pub(super) fn shares_triangle(
    stars: Stars,
    (start, end): (u32, u32),
    t: Cell,
    [a, b]: [Vertex; 2],
) -> bool {
    let mut s = start;
    while s < end {
        let other = Cell::new(stars.corner(s).index() / 4);
        let [p, q, r, w] = stars.cells.tetrahedron(other);
        // No branch between the comparisons: they fail at unpredictable places.
        let has = |v| (v == p) | (v == q) | (v == r) | (v == w);
        if has(a) & has(b) && other != t {
            return true;
        }
        s += 1;
    }
    false
}

/// Whether a cell other than `cell` has the face `face`; it searches the corners `start..end` in the list.
#[inline(always)]
fn is_shared(stars: Stars, (start, end): (u32, u32), cell: CellSpan, face: Face) -> bool {
    let mut s = start;
    while s < end {
        let other = stars.cells.cell_of(stars.corner(s));
        s += 1;
        if other.id == cell.id {
            continue;
        }
        let mut k = 0;
        while k < face_count(other.size) {
            if face.is(stars.cells.face(other, k)) {
                return true;
            }
            k += 1;
        }
    }
    false
}

/// Marks face `f` of a cell, and its nodes.
#[inline(always)]
fn mark(
    cell: CellSpan,
    f: u32,
    face: Face,
    faces: Atomic<Bits<CellFace>>,
    on_boundary: Atomic<Bits<Vertex>>,
) {
    faces.set_bit(CellFace::of(cell.id, f));
    let [a, b, c, d] = face.vertices;
    on_boundary.set_bit(a);
    on_boundary.set_bit(b);
    on_boundary.set_bit(c);
    on_boundary.set_bit(d);
}

/// Marks the faces whose lowest node is `v` and that only one cell has, and their nodes. A node of more than [`LIGHT`]
/// cells is skipped.
#[kernel(
    requires(
        stars.fit(n),
        faces.len() == words(MOST_FACES as usize * stars.cells.count()),
        on_boundary.len() == words(n)
    ),
    moves(stars.bytes())
)]
pub fn mark_boundary_faces(
    v: Own<Vertex>,
    stars: Stars,
    faces: Atomic<Bits<CellFace>>,
    on_boundary: Atomic<Bits<Vertex>>,
) {
    let range = (stars.start(v), stars.end(*v));
    if range.1 - range.0 > LIGHT {
        return;
    }
    let cells = stars.cells;
    let mut s = range.0;
    while s < range.1 {
        stars.prefetch(s);
        let cell = cells.cell_of(stars.corner(s));
        let mut f = 0;
        while f < face_count(cell.size) {
            let face = cells.face(cell, f);
            if face.lowest() == *v && !is_shared(stars, range, cell, face) {
                mark(cell, f, face, faces, on_boundary);
            }
            f += 1;
        }
        s += 1;
    }
}

/// As [`mark_boundary_faces()`], for one face, if one of its nodes has more than [`LIGHT`] cells: this covers the faces
/// that the other kernels skip.
#[kernel(requires(
    n == MOST_FACES as usize * stars.cells.count(),
    stars.fit(stars.nodes()),
    faces.len() == words(n),
    on_boundary.len() == words(stars.nodes())
))]
pub fn mark_heavy_faces(
    i: Own<CellFace>,
    stars: Stars,
    faces: Atomic<Bits<CellFace>>,
    on_boundary: Atomic<Bits<Vertex>>,
) {
    let (cell, f) = (stars.cells.cell(i.cell()), i.side());
    if f >= face_count(cell.size) {
        return;
    }
    let face = stars.cells.face(cell, f);
    let [a, b, c, d] = face.vertices;
    let is_heavy = |v| stars.degree(v) > LIGHT;
    if !(is_heavy(a) || is_heavy(b) || is_heavy(c) || is_heavy(d)) {
        return;
    }
    let node = lighter(stars, lighter(stars, a, b), lighter(stars, c, d));
    let range = (stars.start(node), stars.end(node));
    if !is_shared(stars, range, cell, face) {
        mark(cell, f, face, faces, on_boundary);
    }
}

/// Whether only one polygon has the edge from corner `i` to the next corner around the polygon.
#[kernel(requires(
    stars.fit(stars.nodes()),
    n == stars.corners.len(),
    on_boundary.len() == words(stars.nodes())
))]
pub fn mark_border_edges(i: Own<Corner>, stars: Stars, on_boundary: Atomic<Bits<Vertex>>) -> bool {
    let cells = stars.cells;
    let cell = cells.cell_of(*i);
    let (a, b) = (
        cells.vertices.at(i),
        cells.vertex(cell, next(cell.place(*i), cell.size)),
    );
    let node = lighter(stars, a, b);
    let opposite = if node == a { b } else { a };
    let mut s = stars.start(node);
    while s < stars.end(node) {
        let corner = stars.corner(s);
        let other = cells.cell_of(corner);
        let k = other.place(corner);
        let along = cells.vertex(other, next(k, other.size));
        let back = cells.vertex(other, previous(k, other.size));
        if other.id != cell.id && (along == opposite || back == opposite) {
            return false;
        }
        s += 1;
    }
    on_boundary.set_bit(a);
    on_boundary.set_bit(b);
    true
}
