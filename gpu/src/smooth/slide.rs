//! Boundary nodes that slide, on planar patches and along straight edges, or along a straight border of a surface; not in the
//! paper.
//!
//! Such a node goes to the mean of its neighbours on the patch, edge or border, which is on it again. So sliding is a matter of weights:
//! those of all other neighbours become 0.

use crate::point3::Spatial;
use glam::DVec3;
use trioxide_kernel::{In, Out, kernel};

use super::cells::{CellView, Face, MOST_FACES, face_count, next, previous};
use super::quality::square;
use super::weights::dot;
use crate::point3::Point3;

/// Square of the largest sine between faces of one plane, or edges of one line: 0.006 degrees, more than single precision
/// bends most planes.
const FLAT: f64 = 1e-8;

/// Whether two normals, or two edges, are of one direction.
#[inline(always)]
pub fn is_parallel(m: DVec3, n: DVec3) -> bool {
    dot(m, n) > 0.0 && square(m.cross(n)) <= FLAT * (square(m) * square(n))
}

/// A normal of a face, of twice its area; and whether its corners are on one plane. Of a triangle the first is the last too.
#[inline(always)]
pub fn face_normal([a, b, c, d]: [DVec3; 4]) -> (DVec3, bool) {
    let normal = (c - a).cross(d - b);
    let height = dot(normal, b - a);
    let is_flat = height * height <= FLAT * square(normal) * square(b - a);
    (normal, is_flat)
}

/// Whether an edge of the face joins two nodes.
#[inline(always)]
fn joins(face: Face, v: u32, u: u32) -> bool {
    let [a, b, c, d] = face.vertices;
    let is = |p: u32, q: u32| (p == v && q == u) || (p == u && q == v);
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

    /// Whether they are two, in opposite directions.
    #[inline(always)]
    fn is_line(self) -> bool {
        self.count == 2 && self.is_straight
    }
}

/// What the faces of the boundary at an edge are.
#[derive(Clone, Copy, PartialEq)]
enum EdgeKind {
    /// There are none.
    Inside,
    /// Two of one plane.
    Flat,
    /// Two of two planes.
    Sharp,
    /// Some other number.
    Other,
}

/// Whether node `v` of the boundary stays. If it slides, neighbours off its patch or edge get the weight 0.
///
/// It slides on a patch if all faces of the boundary around it are of one plane; along an edge if exactly two sharp edges
/// leave it, in opposite directions. Bit 6c + f of `faces`: face f of cell c is of the boundary.
#[kernel(P in Spatial)]
pub fn slide_nodes<P: Point3>(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    faces: In<u32>,
    on_boundary: In<u32>,
    rows: In<u32>,
    neighbours: In<u32>,
    points: In<P>,
    weights: Out<f64>,
) -> bool {
    if !on_boundary.bit(v) {
        return false;
    }
    let view = CellView::new(offsets, vertices, cells);
    let at = |u: u32| points.at(u).to_f64();
    let kind = |u: u32| {
        let mut count = 0;
        let mut first = DVec3::ZERO;
        let mut is_flat = true;
        let mut s = starts.at(v);
        while s < starts.at(v + 1) {
            let cell = view.cell_of(corners.at(s));
            s += 1;
            let mut f = 0;
            while f < face_count(cell.size) {
                if faces.bit(MOST_FACES * cell.id + f) {
                    let face = view.face(cell, f);
                    if joins(face, v, u) {
                        let [a, b, c, d] = face.vertices;
                        let (normal, is_plane) = face_normal([at(a), at(b), at(c), at(d)]);
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
    let here = at(v);
    let mut sharp = Leaving::NONE;
    let mut s = rows.at(v);
    while s < rows.at(v + 1) {
        let u = neighbours.at(s);
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
    let mut s = rows.at(v);
    while s < rows.at(v + 1) {
        if kind(neighbours.at(s)) != kept {
            weights.set(s, 0.0);
        }
        s += 1;
    }
    false
}

/// Whether node `v` of a surface's border stays. If it slides, neighbours off the border get the weight 0.
///
/// It slides if exactly two edges of the border leave it, in opposite directions. Bit i of `edges`: the edge from corner i on is of
/// the border.
#[kernel(P in Spatial)]
pub fn slide_border_nodes<P: Point3>(
    v: u32,
    offsets: In<u32>,
    vertices: In<u32>,
    cells: In<u32>,
    starts: In<u32>,
    corners: In<u32>,
    edges: In<u32>,
    on_border: In<u32>,
    rows: In<u32>,
    neighbours: In<u32>,
    points: In<P>,
    weights: Out<f64>,
) -> bool {
    if !on_border.bit(v) {
        return false;
    }
    let view = CellView::new(offsets, vertices, cells);
    let at = |u: u32| points.at(u).to_f64();
    let is_border = |u: u32| {
        let mut s = starts.at(v);
        while s < starts.at(v + 1) {
            let corner = corners.at(s);
            let face = view.cell_of(corner);
            let own = corner - face.first;
            let ahead = face.first + next(own, face.size);
            let behind = face.first + previous(own, face.size);
            if edges.bit(corner) && view.vertex(ahead) == u
                || edges.bit(behind) && view.vertex(behind) == u
            {
                return true;
            }
            s += 1;
        }
        false
    };
    let here = at(v);
    let mut border = Leaving::NONE;
    let mut s = rows.at(v);
    while s < rows.at(v + 1) {
        let u = neighbours.at(s);
        if is_border(u) {
            border = border.and(at(u) - here);
        }
        s += 1;
    }
    if !border.is_line() {
        return true;
    }
    let mut s = rows.at(v);
    while s < rows.at(v + 1) {
        if !is_border(neighbours.at(s)) {
            weights.set(s, 0.0);
        }
        s += 1;
    }
    false
}
