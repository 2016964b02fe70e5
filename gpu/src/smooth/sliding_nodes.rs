//! Boundary nodes that slide on planar patches, along straight edges, or along a straight border of a surface; not in
//! the paper.
//!
//! Such a node moves to the mean of its neighbours on the patch, edge or border, which lies on it too. So only the
//! weights make a node slide: the weights of all other neighbours become 0.

use glam::DVec3;
use trioxide_kernel::safe::{In, Own, Scatter};
use trioxide_kernel::{Bits, Each, kernel};

use super::cells::{Face, MOST_FACES, Stars, face_count, next, previous};
use super::neighbours::Adjacency;
use super::quality::square;
use super::weights::dot;
use crate::ids::{CellFace, Corner, Vertex};
use crate::point3::{Point3, Spatial};

/// Square of the largest sine between faces in one plane, or edges on one line: 0.006 degrees, more than the error of
/// most planes in single precision.
const FLAT: f64 = 1e-8;

/// Whether two normals, or two edges, have the same direction.
#[inline(always)]
pub fn is_parallel(m: DVec3, n: DVec3) -> bool {
    dot(m, n) > 0.0 && square(m.cross(n)) <= FLAT * (square(m) * square(n))
}

/// A normal of a face, as long as twice its area; and whether its corners are in one plane. A triangle repeats its
/// first corner in the fourth place.
#[inline(always)]
pub fn face_normal([a, b, c, d]: [DVec3; 4]) -> (DVec3, bool) {
    let normal = (c - a).cross(d - b);
    let height = dot(normal, b - a);
    let is_flat = height * height <= FLAT * square(normal) * square(b - a);
    (normal, is_flat)
}

/// Whether an edge of the face joins two nodes.
#[inline(always)]
fn joins(face: Face, v: Vertex, u: Vertex) -> bool {
    let [a, b, c, d] = face.vertices;
    let is = |p: Vertex, q: Vertex| (p == v && q == u) || (p == u && q == v);
    is(a, b) || is(b, c) || is(c, d) || is(d, a)
}

/// Edges that leave a node.
#[derive(Clone, Copy)]
struct Leaving {
    count: u32,
    first: DVec3,
    is_straight: bool,
}

impl Leaving {
    const NONE: Self = Self {
        count: 0,
        first: DVec3::ZERO,
        is_straight: true,
    };

    #[inline(always)]
    fn and(self, edge: DVec3) -> Self {
        Self {
            count: self.count + 1,
            first: if self.count == 0 { edge } else { self.first },
            is_straight: self.is_straight && (self.count == 0 || is_parallel(self.first, -edge)),
        }
    }

    /// Whether there are two, in opposite directions.
    #[inline(always)]
    fn is_line(self) -> bool {
        self.count == 2 && self.is_straight
    }
}

/// The faces of the boundary at an edge.
#[derive(Clone, Copy, PartialEq)]
enum EdgeKind {
    /// There are none.
    Inside,
    /// Two faces in one plane.
    Flat,
    /// Two faces in different planes.
    Sharp,
    /// Another number of faces.
    Other,
}

/// Whether node `v` of the boundary stays. If it slides, neighbours off its patch or edge get the weight 0.
///
/// It slides on a patch if all faces of the boundary around it are in one plane; along an edge if exactly two sharp
/// edges leave it, in opposite directions. `faces` are the faces of the boundary.
#[kernel(
    P in Spatial,
    requires(
        stars.fit(n),
        faces.len() == words(MOST_FACES as usize * stars.cells.count()),
        on_boundary.len() == words(n),
        adjacency.rows.len() == n + 1,
        points.len() == n,
        weights.len() == adjacency.neighbours.len()
    )
)]
pub fn slide_nodes<P: Point3>(
    v: Own<Vertex>,
    stars: Stars,
    faces: In<Bits<CellFace>>,
    on_boundary: In<Bits<Vertex>>,
    adjacency: Adjacency,
    points: In<P, Vertex>,
    weights: Scatter<f64>,
) -> bool {
    if !on_boundary.bit(*v) {
        return false;
    }
    let cells = stars.cells;
    let at = |u: Vertex| points.at(u).to_f64();
    let kind = |u: Vertex| {
        let mut count = 0;
        let mut first = DVec3::ZERO;
        let mut is_flat = true;
        let mut s = stars.start(v);
        while s < stars.end(*v) {
            let cell = cells.cell_of(stars.corner(s));
            s += 1;
            let mut f = 0;
            while f < face_count(cell.size) {
                if faces.bit(CellFace::of(cell.id, f)) {
                    let face = cells.face(cell, f);
                    if joins(face, *v, u) {
                        let corners = points.at_all(face.vertices).each(P::to_f64);
                        let (normal, is_plane) = face_normal(corners);
                        is_flat &= is_plane;
                        if count == 0 {
                            first = normal;
                        } else {
                            is_flat &= is_parallel(first, normal);
                        }
                        count += 1;
                    }
                }
                f += 1;
            }
        }
        match count {
            0 => EdgeKind::Inside,
            2 if is_flat => EdgeKind::Flat,
            2 => EdgeKind::Sharp,
            _ => EdgeKind::Other,
        }
    };
    let here = at(*v);
    let mut sharp = Leaving::NONE;
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        let u = adjacency.neighbours.at(s);
        match kind(u) {
            EdgeKind::Inside | EdgeKind::Flat => {}
            EdgeKind::Sharp => sharp = sharp.and(at(u) - here),
            EdgeKind::Other => return true,
        }
        s += 1;
    }
    if !(sharp.count == 0 || sharp.is_line()) {
        return true;
    }
    let kept = if sharp.count == 0 {
        EdgeKind::Flat
    } else {
        EdgeKind::Sharp
    };
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        if kind(adjacency.neighbours.at(s)) != kept {
            weights.set(s, 0.0);
        }
        s += 1;
    }
    false
}

/// Whether node `v` of a surface's border stays. If it slides, neighbours off the border get the weight 0.
///
/// It slides if exactly two edges of the border leave it, in opposite directions. `edges` are the corners whose edge to
/// the next corner is on the border.
#[kernel(
    P in Spatial,
    requires(
        stars.fit(n),
        edges.len() == words(stars.corners.len()),
        on_border.len() == words(n),
        adjacency.rows.len() == n + 1,
        points.len() == n,
        weights.len() == adjacency.neighbours.len()
    )
)]
pub fn slide_border_nodes<P: Point3>(
    v: Own<Vertex>,
    stars: Stars,
    edges: In<Bits<Corner>>,
    on_border: In<Bits<Vertex>>,
    adjacency: Adjacency,
    points: In<P, Vertex>,
    weights: Scatter<f64>,
) -> bool {
    if !on_border.bit(*v) {
        return false;
    }
    let cells = stars.cells;
    let at = |u: Vertex| points.at(u).to_f64();
    let is_border = |u: Vertex| {
        let mut s = stars.start(v);
        while s < stars.end(*v) {
            let corner = stars.corner(s);
            let face = cells.cell_of(corner);
            let own = face.place(corner);
            let ahead = face.corner(next(own, face.size));
            let behind = face.corner(previous(own, face.size));
            if edges.bit(corner) && cells.vertices.at(ahead) == u
                || edges.bit(behind) && cells.vertices.at(behind) == u
            {
                return true;
            }
            s += 1;
        }
        false
    };
    let here = at(*v);
    let mut border = Leaving::NONE;
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        let u = adjacency.neighbours.at(s);
        if is_border(u) {
            border = border.and(at(u) - here);
        }
        s += 1;
    }
    if !border.is_line() {
        return true;
    }
    let mut s = adjacency.start(v);
    while s < adjacency.end(*v) {
        if !is_border(adjacency.neighbours.at(s)) {
            weights.set(s, 0.0);
        }
        s += 1;
    }
    false
}
