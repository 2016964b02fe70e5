//! Faces of tetrahedra: the two sides of each find each other.
//!
//! T tetrahedra, V vertices. Side 4t + i ([`FaceSide`]) is the face of tetrahedron t opposite to its vertex i. `twins`
//! (4T) is the same face seen from the other tetrahedron, or `NONE` on the boundary.
//!
//! | stage | does |
//! | --- | --- |
//! | [`match_face_sides()`], [`match_scattered_face_sides()`] | the sides of each face meet in a hash table |
//! | [`mark_boundary_sides()`] | sides without a twin, a bit each; refuses faces that the match could not |
//! | [`find_tagged_faces()`] | the side of each tagged triangle |
//!
//! The method is that of the half-edges of a triangulation ([`crate::half_edges::match_twins()`]), in a table of
//! 4 bytes a slot: the slot holds a side, whose vertices are read from the mesh. Sorting 4T faces by their vertices
//! would move over 300 bytes a tetrahedron.
//!
//! # Refused faces
//!
//! A face belongs to one tetrahedron, or to two that see its vertices run in opposite directions. Of three or more
//! sides of a face two see the same direction. The first side waits in the table. A second one in the same direction is
//! found at once. If two or more sides have the other direction, each takes the waiting side as its twin, but the
//! waiting side has only one of them as its own: [`mark_boundary_sides()`] finds the others.

pub mod find_tagged_faces;
pub mod mark_boundary_sides;
pub mod match_face_sides;

pub use kernels::*;

/// The kernels and their launches. In the family's own module a stage's file hides the launch of its name.
pub mod kernels {
    pub use super::find_tagged_faces::*;
    pub use super::mark_boundary_sides::*;
    pub use super::match_face_sides::*;
}

use trioxide_kernel::safe::In;

use crate::ids::{FaceSide, Tet, Vertex};

/// Slots of the kernels' result: the smallest offending element for each rule, `NONE` where it holds.
pub mod face_rule {
    /// Side of a face with three tetrahedra or more, or with two on the same side.
    pub const OVERLAP: u32 = 0;
    /// Tetrahedron for whose faces the table has no room.
    pub const CROWDED: u32 = 1;
    /// Tagged triangle that is not a face.
    pub const LOOSE: u32 = 2;
    /// Number of rules.
    pub const COUNT: usize = 3;
}

/// The vertices of tetrahedron `t`, each opposite to the side of the same number.
#[inline(always)]
pub fn corners_of(tetrahedra: In<Vertex, FaceSide>, t: Tet) -> [Vertex; 4] {
    tetrahedra.quad(FaceSide::of(t, 0))
}

/// Vertices of the face opposite to the vertex at `place`, counter-clockwise as seen from outside.
#[inline(always)]
pub fn face_vertices([a, b, c, d]: [Vertex; 4], place: u32) -> [Vertex; 3] {
    match place {
        0 => [b, c, d],
        1 => [a, d, c],
        2 => [a, b, d],
        _ => [a, c, b],
    }
}

/// The vertex at `place`.
#[inline(always)]
pub fn corner_at([a, b, c, d]: [Vertex; 4], place: u32) -> Vertex {
    match place {
        0 => a,
        1 => b,
        2 => c,
        _ => d,
    }
}

/// A face: its vertices in ascending order, and the direction in which they are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Face {
    /// Lowest vertex.
    pub low: Vertex,
    /// The vertex between.
    pub middle: Vertex,
    /// Highest vertex.
    pub high: Vertex,
    /// Whether the ascending order runs clockwise as seen from outside of the tetrahedron.
    pub reversed: bool,
}

impl Face {
    /// The face of these vertices, counter-clockwise.
    #[inline(always)]
    pub fn new([x, y, z]: [Vertex; 3]) -> Self {
        let (low, high) = (x.min(y).min(z), x.max(y).max(z));
        // The remaining one of the three.
        let middle = x.index() ^ y.index() ^ z.index() ^ low.index() ^ high.index();
        Self {
            low,
            middle: Vertex::new(middle),
            high,
            reversed: (x > y) ^ (y > z) ^ (x > z),
        }
    }

    /// The face of a side.
    #[inline(always)]
    pub fn of(tetrahedra: In<Vertex, FaceSide>, side: FaceSide) -> Self {
        Self::new(face_vertices(
            corners_of(tetrahedra, side.tet()),
            side.place(),
        ))
    }

    /// Whether both have the same vertices.
    #[inline(always)]
    pub fn is_face(self, other: Self) -> bool {
        (self.low == other.low) & (self.middle == other.middle) & (self.high == other.high)
    }

    /// Whether `other` is the same face seen from the other side.
    #[inline(always)]
    pub fn is_behind(self, other: Self) -> bool {
        self.is_face(other) & (self.reversed != other.reversed)
    }
}
